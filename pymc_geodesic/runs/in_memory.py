#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Draws kept in memory, in arrays that are allocated before the first draw."""

from __future__ import annotations

import time

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import xarray as xr

from pymc.model import Model

from pymc_geodesic.run_record import SUPERCHAINS, ModesRecord, with_modes
from pymc_geodesic.runs.deterministics import Traced
from pymc_geodesic.runs.run_loop import Phase
from pymc_geodesic.runs.running import Running
from pymc_geodesic.runs.traces import Drawn, to_datatree
from pymc_geodesic.sampling import Chain
from pymc_geodesic.sampling.mode_search import modes_of
from pymc_geodesic.sampling.run import Arrays

__all__ = ["InMemory"]


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
