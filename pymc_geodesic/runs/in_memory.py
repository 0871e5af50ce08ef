#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Draws kept in memory, in arrays that are allocated before the first draw, or their moments."""

from __future__ import annotations

import time

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import xarray as xr

from pymc.model import Model

from pymc_geodesic.run_record import SUPERCHAINS, ModesRecord, with_modes
from pymc_geodesic.runs.deterministics import Traced
from pymc_geodesic.runs.run_loop import Phase
from pymc_geodesic.runs.running_moments import RunningMoments
from pymc_geodesic.runs.traces import Drawn, to_datatree
from pymc_geodesic.sampling import Chain
from pymc_geodesic.sampling.mode_search import modes_of
from pymc_geodesic.sampling.run import Arrays
from pymc_geodesic.validation import whole

__all__ = ["InMemory", "KeepArgument", "Running", "running_of"]


class InMemory:
    """The draws of the phases of a run.

    Parameters
    ----------
    phases : sequence of Phase
        The tuning phase, and the phase after it.
    model : Model
        The model, for coordinates and data.
    traced : Traced
        Variables to return.
    record : str
        Record of the step.
    began : float
        When the run began, by ``time.perf_counter``.
    running : Running, optional
        Takes what is kept in place of draws.
    n_superchains : int, optional
        Number of chains from which the others continue, if there are more.
    """

    def __init__(
        self,
        phases: tuple[Phase, Phase],
        *,
        model: Model,
        traced: Traced,
        record: str,
        began: float,
        running: Running | None = None,
        n_superchains: int | None = None,
    ) -> None:
        self._phases, self._model, self._traced = phases, model, traced
        self._running, self._n_superchains = running, n_superchains
        self._record, self._began = record, began
        self._modes: ModesRecord | None = None
        self._values: dict[str, Arrays] = defaultdict(dict)
        self._statistics: dict[str, Arrays] = defaultdict(dict)

    def put(
        self, phase: Phase, values: Arrays, statistics: Arrays, chains: Sequence[Chain]
    ) -> None:
        """Append what a segment of a phase has drawn."""
        self._modes = modes_of(chains)
        shape, n_kept = next(iter(statistics.values())).shape, phase.n_kept
        if self._running is not None and not phase.is_tuning:
            self._running.put(values, shape)
        if not phase.is_kept:
            return
        n, values = shape[1], {name: values[name] for name in self._traced.value_names}
        stores = self._values[phase.name], self._statistics[phase.name]
        for store, found in zip(stores, (values, statistics), strict=True):
            for name, array in found.items():
                if name not in store:
                    shape = (len(array), phase.most, *array.shape[2:])
                    store[name] = np.empty(shape, array.dtype)
                store[name][:, n_kept : n_kept + n] = array

    def close(self, *, failed: bool) -> None:
        """Do nothing."""

    def datatree(self, *, plain: bool = False) -> xr.DataTree | None:
        """Return all draws in the form of ``pm.sample``; None if there are none.

        Parameters
        ----------
        plain : bool
            Whether to leave out all but the draws.
        """
        tuning, sampling = phases = self._phases
        if not any(phase.n_kept for phase in phases):
            return None
        drawn = [
            Drawn(
                _first(self._values[phase.name], phase.n_kept),
                _first(self._statistics[phase.name], phase.n_kept),
                is_tuning=phase.is_tuning,
            )
            for phase in phases
            if phase.n_kept
        ]
        idata = to_datatree(
            drawn,
            model=self._model,
            traced=self._traced,
            record=with_modes(self._record, self._modes),
            tune=tuning.n_draws,
            seconds=time.perf_counter() - self._began,
            plain=plain,
        )
        if self._n_superchains is not None and sampling.n_kept:
            idata["posterior"].attrs[SUPERCHAINS] = self._n_superchains
        if self._running is not None and sampling.n_kept:
            idata["running"] = self._running.to_datatree()
        return idata


def _first(arrays: Arrays, n: int) -> Arrays:
    return {name: x[:, :n] for name, x in arrays.items()}


KeepArgument = Mapping[str, Literal["mean"] | int] | None
"""By variable name: ``"mean"`` keeps moments alone, a number keeps every so many draws too."""


class Running:
    """Moments of some variables in all chains, updated segment by segment.

    Parameters
    ----------
    model : Model
        The model.
    keep : mapping of str to "mean" or int
        As for :func:`pymc_geodesic.runs.sample`.

    Attributes
    ----------
    value_names : list of str
        Value variables that they depend on.

    Raises
    ------
    ValueError
        If the model has no such variable, one depends on a minibatch, or numbers differ.
    """

    def __init__(self, model: Model, keep: Mapping[str, Literal["mean"] | int]) -> None:
        self._moments = RunningMoments(list(keep), every=_every(keep), model=model)
        self._traced = Traced(model, list(keep))
        self.value_names = self._traced.value_names

    def n_bytes(self, n_chains: int, n_draws: int) -> int:
        """Return the bytes of the moments of chains, and of the draws that are kept."""
        every = self._moments.every
        n_kept = 0 if every is None else n_draws // every
        # The mean, the sum of squares, and the difference from the mean.
        return n_chains * (3 + n_kept) * sum(self._traced.n_bytes.values())

    def put(self, values: Arrays, shape: tuple[int, int]) -> None:
        """Add draws, given PyMC's values of shape ``(chain, draw, ...)``."""
        found = self._traced(values, shape)
        arrays = [found[name] for name in self._moments.var_names]
        for chain in range(shape[0]):
            for draw in range(shape[1]):
                self._moments.add(chain, [x[chain, draw] for x in arrays])

    def to_datatree(self) -> xr.DataTree:
        """Return groups ``mean``, ``sd`` and, if draws are kept, ``draws``."""
        return self._moments.to_datatree()


def running_of(model: Model, keep: KeepArgument, *, checkpoint: Path | None) -> Running | None:
    """Read ``keep``.

    Raises
    ------
    ValueError
        As for :class:`Running`, and with a ``checkpoint``.
    """
    if not keep:
        return None
    if checkpoint is not None:
        raise ValueError(
            "`keep` expected no `checkpoint`, because moments are held in memory and would be lost "
            "with the process, got one. Leave out `keep`: a checkpoint holds all draws on disk."
        )
    return Running(model, keep)


def _every(keep: Mapping[str, Literal["mean"] | int]) -> int | None:
    asked: set[Any] = {value for value in keep.values() if value != "mean"}
    for value in asked:
        if isinstance(value, str):
            raise ValueError(
                f"`keep` expected 'mean', or a number k for every k-th draw too; got {value!r}."
            )
        whole("keep", value)
    if len(asked) > 1 or (asked and "mean" in keep.values()):
        raise ValueError(
            f"`keep` expected the same for all variables, got {dict(keep)}. Give each of them the "
            "same number."
        )
    return next(iter(asked), None)
