#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A run that writes checkpoints to disk, and continues from the last one."""

from __future__ import annotations

import pickle
import time
import warnings

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from pymc.model import Model

from pymc_geodesic.run_record import with_modes
from pymc_geodesic.runs.checkpoints.identity import Identity, require_same
from pymc_geodesic.runs.checkpoints.remake import recipe
from pymc_geodesic.runs.checkpoints.store import RunStore, read_draws
from pymc_geodesic.runs.deterministics import Traced
from pymc_geodesic.runs.run_loop import Phase
from pymc_geodesic.runs.traces import Drawn, to_datatree
from pymc_geodesic.sampling import Chain
from pymc_geodesic.sampling.mode_search import modes_of
from pymc_geodesic.sampling.run import Arrays
from pymc_geodesic.step_methods.step import Step

__all__ = ["Checkpoint", "RunOnDisk"]

# Bytes of the draws that wait in memory, and of those that are written at once.
WAITING_BYTES, WRITTEN_BYTES = 2**28, 2**26


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

    @property
    def n_draws(self) -> int:
        """Draws of each chain."""
        return next(iter(self.statistics.values())).shape[1]


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
        if time.perf_counter() - self._last >= self._run.every or self._is_much(segments):
            self.write()

    def write(self) -> None:
        """Write and commit draws and chains."""
        now = time.perf_counter()
        seconds = self._seconds + now - self._last
        chains, segments = self._waiting
        parts = self._parts(segments, seconds)
        self._store.commit(parts, self._attributes(seconds), self._state(chains))
        self._waiting, self._seconds, self._last = (chains, []), seconds, now

    def close(self, *, failed: bool) -> None:
        """Write the remaining draws, unless writing has failed, and release the lock."""
        try:
            if not failed:
                self.write()
        finally:
            self._store.close()

    def datatree(self, *, plain: bool = False) -> xr.DataTree | None:
        """Return all draws; None if there are none.

        Those on disk are loaded when used. Others are there if writing has failed.

        Parameters
        ----------
        plain : bool
            Whether to leave out all but the draws of those that are not on disk.
        """
        waiting = self._waiting[1]
        try:
            tree, _ = read_draws(self._run.path)
        except Exception:
            if not waiting:
                raise
            tree = xr.DataTree()
        for first, part in self._parts(waiting, self._seconds, plain=plain):
            tree = _appended(tree, part, first)
        return tree if tree.children else None

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

    def _is_much(self, segments: Sequence[_Segment]) -> bool:
        n_draws = sum(segment.n_draws for segment in segments)
        return n_draws * self._n_bytes > WAITING_BYTES

    @cached_property
    def _n_bytes(self) -> int:
        """Bytes of a draw of all chains."""
        return len(self.chains) * max(1, sum(self._run.traced.n_bytes.values()))

    def _parts(
        self, segments: Sequence[_Segment], seconds: float, *, plain: bool = False
    ) -> Iterator[tuple[int, xr.DataTree]]:
        """Yield draws of limited size, each with the index of its first one."""
        size = max(1, WRITTEN_BYTES // self._n_bytes)
        for is_tuning in (True, False):
            alike = [x for x in segments if x.phase.is_tuning is is_tuning]
            if not alike:
                continue
            values = _joined([segment.values for segment in alike])
            statistics = _joined([segment.statistics for segment in alike])
            for start in range(0, sum(segment.n_draws for segment in alike), size):
                part = slice(start, start + size)
                drawn = Drawn(_cut(values, part), _cut(statistics, part), is_tuning=is_tuning)
                yield alike[0].first + start, self._tree(drawn, seconds, plain=plain)

    def _tree(self, drawn: Drawn, seconds: float, *, plain: bool) -> xr.DataTree:
        run = self._run
        with warnings.catch_warnings():
            # There may be fewer draws than chains.
            warnings.filterwarnings("ignore", message="Found chain dimension to be longer than")
            return to_datatree(
                [drawn],
                model=run.model,
                traced=run.traced,
                record=with_modes(run.step.record, modes_of(self.chains)),
                tune=run.arguments["tune"],
                seconds=seconds,
                plain=plain,
            )


def _joined(parts: Sequence[Arrays]) -> Arrays:
    return {name: np.concatenate([part[name] for part in parts], axis=1) for name in parts[0]}


def _cut(arrays: Arrays, part: slice) -> Arrays:
    return {name: x[:, part] for name, x in arrays.items()}


def _appended(tree: xr.DataTree, part: xr.DataTree, first: int) -> xr.DataTree:
    """Append draws, the first of which has this index."""
    groups = {name: child.to_dataset() for name, child in tree.children.items()}
    for name, child in part.children.items():
        new = child.to_dataset()
        if "draw" not in new.dims:
            groups.setdefault(name, new)
            continue
        new = new.assign_coords(draw=new["draw"] + first)
        before = [groups[name]] if name in groups else []
        groups[name] = xr.concat(
            [*before, new],
            dim="draw",
            data_vars="minimal",
            coords="minimal",
            compat="override",
            join="outer",
            combine_attrs="override",
        )
    return xr.DataTree.from_dict(groups)
