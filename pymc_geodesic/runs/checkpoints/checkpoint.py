#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A run that is written to disk while it goes on, and continues where it stopped."""

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
from pymc.stats.convergence import log_warnings, run_convergence_checks

from pymc_geodesic.runs.checkpoints.identity import Identity, require_same
from pymc_geodesic.runs.checkpoints.remake import recipe
from pymc_geodesic.runs.checkpoints.store import RunStore, read_draws
from pymc_geodesic.runs.deterministics import Traced
from pymc_geodesic.runs.fold import Phase
from pymc_geodesic.runs.traces import Drawn, to_datatree
from pymc_geodesic.sampling import Chain
from pymc_geodesic.sampling.run import Arrays
from pymc_geodesic.step_methods.step import Step

__all__ = ["Checkpoint", "RunOnDisk"]


@dataclass(frozen=True)
class RunOnDisk:
    """What the draws of a run are written with.

    Attributes
    ----------
    path : Path
        Where.
    every : float
        Seconds from one commit to the next.
    identity : dict
        Of the run; see :func:`identity_of`.
    arguments : dict
        Those of the call, for ``pmg.resume``.
    model : Model
        Says coordinates and data.
    step : Step
        The step.
    traced : Traced
        Variables to keep.
    free : frozenset of str
        Names in the identity that the call leaves open.
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
    """Draws that wait in memory until they are written, with the chains that follow them.

    Parameters
    ----------
    run : RunOnDisk
        What is written, and where.
    begin : callable
        Begins chains, for a run that is not on disk yet.
    began : float
        When the call began, by ``time.perf_counter``.

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
        # One value, so that an interrupt finds draws and the chains after them together.
        self._waiting: tuple[list[Chain], list[_Segment]] = chains, []

    @property
    def chains(self) -> list[Chain]:
        """The chains after the last draws."""
        return self._waiting[0]

    def put(
        self, phase: Phase, values: Arrays, statistics: Arrays, chains: Sequence[Chain]
    ) -> None:
        """Append what a segment of a phase has drawn, and write if it is time."""
        segments = self._waiting[1]
        if phase.is_kept:
            segments = [*segments, _Segment(phase, phase.n_kept, values, statistics)]
        self._waiting = list(chains), segments
        if time.perf_counter() - self._last >= self._run.every:
            self.write()

    def write(self) -> None:
        """Write draws and chains, so that they count."""
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
        """Write what waits, unless writing has failed, and let other processes go on."""
        try:
            if not failed:
                self.write()
        finally:
            self._store.close()

    def datatree(self, *, checks: bool) -> xr.DataTree | None:
        """Return what is on disk, loaded when it is used; None if nothing has been drawn."""
        tree, _ = read_draws(self._run.path)
        if not tree.children:
            return None
        if checks and "posterior" in tree:
            log_warnings(run_convergence_checks(tree, self._run.model))
            # Without what the checks have loaded.
            tree, _ = read_draws(self._run.path)
        return tree

    def _continued(self) -> list[Chain]:
        """Return the chains on disk, if they are those of this run."""
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
        # Together, because chains share arrays.
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
