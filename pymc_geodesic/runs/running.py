#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Moments of large variables in place of their draws."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import xarray as xr

from pymc.model import Model

from pymc_geodesic.runs.deterministics import Traced
from pymc_geodesic.runs.running_moments import RunningMoments
from pymc_geodesic.sampling.run import Arrays
from pymc_geodesic.validation import whole

__all__ = ["KeepArgument", "Running", "running_of"]

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
