#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A run that writes checkpoints to disk, and continues from the last one."""

from __future__ import annotations

import pickle
import time
import warnings

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from pymc.model import Model
from pymc.stats.convergence import log_warnings

from pymc_geodesic.runs.checkpoints.identity import Identity, require_same
from pymc_geodesic.runs.checkpoints.remake import recipe
from pymc_geodesic.runs.checkpoints.store import RunStore, read_draws
from pymc_geodesic.runs.convergence import warnings_of_convergence
from pymc_geodesic.runs.deterministics import Traced
from pymc_geodesic.runs.fold import Phase
from pymc_geodesic.runs.traces import Drawn, to_datatree
from pymc_geodesic.sampling import Chain
from pymc_geodesic.sampling.run import Arrays
from pymc_geodesic.step_methods.step import Step

__all__ = ["Checkpoint", "RunOnDisk"]


@dataclass(frozen=True)
class RunOnDisk:
    """The data that are stored with the draws of a run.

    Attributes
    ----------
    path : Path
        The directory.
    every : float
        Seconds from one commit to the next.
    identity : dict
        Identity of the run; see :func:`identity_of`.
    arguments : dict
        Arguments of the call, for ``pmg.resume``.
    model : Model
        The model, for coordinates and data.
    step : Step
        The step.
    traced : Traced
        Variables to keep.
    free : frozenset of str
        Names in the identity that are not compared.
    """

    path: Path
    every: float
    identity: Identity
    arguments: dict[str, Any]
    model: Model
    step: Step
    traced: Traced
    free: frozenset[str]


@dataclass(frozen=True)
class _Segment:
    """Draws of a phase, from ``first`` on."""

    phase: Phase
    first: int
    values: Arrays
    statistics: Arrays


class Checkpoint:
    """Draws in memory that are not yet written, with the chains after them.

    Parameters
    ----------
    run : RunOnDisk
        The data to store, and the directory.
    begin : callable
        Creates chains, for a run that is not on disk yet.
    began : float
        Time at which the call began, by ``time.perf_counter``.

    Raises
    ------
    ValueError
        If another run is on disk.
    CheckpointError
        If nothing can be written.
    """

    def __init__(self, run: RunOnDisk, begin: Callable[[], list[Chain]], *, began: float) -> None:
        self._run = run
        self._last = began
        if run.path.exists():
            self._store = RunStore(run.path)
            chains = self._continued()
        else:
            chains = begin()
            attributes = self._attributes(0.0)
            self._store = RunStore.create(run.path, attributes, self._state(chains))
        self._seconds: float = self._store.attributes["seconds"]
        # One attribute, so that draws and the chains after them match at an interrupt.
        self._waiting: tuple[list[Chain], list[_Segment]] = chains, []

    @property
    def chains(self) -> list[Chain]:
        """The chains after the last draws."""
        return self._waiting[0]

    def put(
        self, phase: Phase, values: Arrays, statistics: Arrays, chains: Sequence[Chain]
    ) -> None:
        """Append the draws of a segment of a phase, and write if it is time."""
        segments = self._waiting[1]
        if phase.is_kept:
            segments = [*segments, _Segment(phase, phase.n_kept, values, statistics)]
        self._waiting = list(chains), segments
        if time.perf_counter() - self._last >= self._run.every:
            self.write()

    def write(self) -> None:
        """Write and commit draws and chains."""
        now = time.perf_counter()
        seconds = self._seconds + now - self._last
        chains, segments = self._waiting
        parts = []
        for kind in (True, False):
            if alike := [s for s in segments if s.phase.is_tuning is kind]:
                parts.append((alike[0].first, self._tree(alike, seconds)))
        self._store.commit(parts, self._attributes(seconds), self._state(chains))
        self._waiting, self._seconds, self._last = (chains, []), seconds, now

    def close(self, *, failed: bool) -> None:
        """Write the remaining draws, unless writing has failed, and release the lock."""
        try:
            if not failed:
                self.write()
        finally:
            self._store.close()

    def datatree(self, *, checks: bool) -> xr.DataTree | None:
        """Return the draws on disk, loaded when used; None if there are none."""
        tree, _ = read_draws(self._run.path)
        if not tree.children:
            return None
        if checks and "posterior" in tree:
            log_warnings(warnings_of_convergence(tree, self._run.model))
            # Opened again, without the values that the checks have loaded.
            tree, _ = read_draws(self._run.path)
        return tree

    def _continued(self) -> list[Chain]:
        """Return the chains on disk, after checking that they belong to this run."""
        run, there = self._run, self._store.attributes["identity"]
        try:
            require_same(run.identity, there, path=str(run.path), free=run.free)
            chains = pickle.loads(self._store.state())["chains"]
        except BaseException:
            self._store.close()
            raise
        for name in run.free:
            run.identity[name] = there[name]
        return chains

    def _attributes(self, seconds: float) -> dict[str, Any]:
        run = self._run
        return {"identity": run.identity, "arguments": run.arguments, "seconds": seconds}

    def _state(self, chains: Sequence[Chain]) -> bytes:
        # Unpickled together, because chains share arrays.
        state = {"chains": list(chains), "step": recipe(self._run.step)}
        return pickle.dumps(state, protocol=pickle.HIGHEST_PROTOCOL)

    def _tree(self, segments: Sequence[_Segment], seconds: float) -> xr.DataTree:
        """Join segments of a phase."""
        phase, run = segments[0].phase, self._run
        statistics = _joined([segment.statistics for segment in segments])
        n = next(iter(statistics.values())).shape[1]
        drawn = Drawn(
            _joined([segment.values for segment in segments]),
            statistics,
            record=run.step.record,
            n_warmup=n if phase.is_tuning else 0,
            n_draws=0 if phase.is_tuning else n,
            tune=run.arguments["tune"],
            seconds=seconds,
        )
        with warnings.catch_warnings():
            # A segment may have fewer draws than there are chains.
            warnings.filterwarnings("ignore", message="Found chain dimension to be longer than")
            return to_datatree(drawn, model=run.model, traced=run.traced, checks=False)


def _joined(parts: Sequence[Arrays]) -> Arrays:
    return {name: np.concatenate([part[name] for part in parts], axis=1) for name in parts[0]}
