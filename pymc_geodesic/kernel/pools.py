#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Batches from pools of random rows, for data that are stored in any order."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from pymc_geodesic.kernel.read_ahead import ReadAhead
from pymc_geodesic.kernel.reader import checked_batches, possible_rows
from pymc_geodesic.potential.stream import RandomRows, StreamSource

__all__ = ["PoolCursor", "PoolReader"]

# Bytes of a pool. A chain has one, and reads another ahead.
POOL_BYTES = 2**26
# Passes over the data that would give as many rows as a pool serves for, where it may be used
# again: reading is then a small part of sampling.
TURNS = 10


@dataclass
class PoolCursor:
    """Where a chain is in its pools. The rows follow from it, and are not part of it.

    Attributes
    ----------
    seed : int or None
        Of the chain's pools; None before the first.
    number : int
        Of the present pool.
    n_taken : int
        Rows that have been taken from it.
    """

    seed: int | None = None
    number: int = 0
    n_taken: int = 0


class PoolReader:
    """Batches of random rows, of which every chain has a pool in memory.

    The rows of a pool are drawn from all rows without replacement. Batches are drawn from it with
    replacement, until it is replaced; or each row is taken once. A thread reads the next pool
    before it is needed. Which rows a chain gets follows from its cursor and its generator alone.

    Parameters
    ----------
    source : StreamSource
        Data that give random rows.
    rows : RandomRows
        The data themselves.
    """

    reads_in_turn = False

    def __init__(self, source: StreamSource, rows: RandomRows) -> None:
        self.source, self._rows = source, rows
        self.first_batch = next(checked_batches(source))
        self._size = min(max(POOL_BYTES // self.first_batch[0].nbytes, 1), source.n_rows)
        self._pools: dict[int, tuple[int, np.ndarray]] = {}
        self._ahead: dict[int, tuple[int, ReadAhead]] = {}

    def settle(self, cursors: Sequence[PoolCursor]) -> None:
        """Forget the pools of all other chains: these have ended, or another process moves them."""
        present = {cursor.seed for cursor in cursors}
        for seed in self._ahead.keys() - present:
            self._ahead.pop(seed)[1].abandon()
        for seed in self._pools.keys() - present:
            self._pools.pop(seed)

    def take(
        self, cursor: PoolCursor, rng: np.random.Generator, n_batches: int, *, reuses: bool = False
    ) -> np.ndarray:
        """Return the next batches, stacked along a new first axis, and move the cursor.

        With ``reuses`` rows may be used more than once.
        """
        if cursor.seed is None:
            cursor.seed = int(rng.integers(2**63))
        shape = n_batches, self.source.batch_size
        rows = self._drawn(cursor, rng, shape) if reuses else self._fresh(cursor, shape)
        return rows.reshape(*shape, *self.source.row_shape)

    def _drawn(
        self, cursor: PoolCursor, rng: np.random.Generator, shape: tuple[int, int]
    ) -> np.ndarray:
        """Draw rows of the present pool with replacement."""
        life = TURNS * self.source.n_rows
        # All rows together need no successor.
        if self._size < self.source.n_rows:
            if cursor.n_taken >= life:
                cursor.number, cursor.n_taken = cursor.number + 1, 0
            elif cursor.n_taken >= life // 2:
                self._read_ahead(cursor)
        cursor.n_taken += shape[0] * shape[1]
        return self._pool(cursor)[rng.integers(0, self._size, shape)]

    def _fresh(self, cursor: PoolCursor, shape: tuple[int, int]) -> np.ndarray:
        """Take each row once, and go on to the next pool at the end of one."""
        parts, missing = [], shape[0] * shape[1]
        while missing:
            if cursor.n_taken >= self._size:
                cursor.number, cursor.n_taken = cursor.number + 1, 0
            pool = self._pool(cursor)
            # Tuning that soon finds control variates never needs a second pool.
            if cursor.number or cursor.n_taken >= self._size // 2:
                self._read_ahead(cursor)
            parts.append(pool[cursor.n_taken : cursor.n_taken + missing])
            cursor.n_taken += len(parts[-1])
            missing -= len(parts[-1])
        return np.concatenate(parts) if parts else self.first_batch[:0]

    def _pool(self, cursor: PoolCursor) -> np.ndarray:
        assert cursor.seed is not None, "`take` gives a cursor its seed"
        number, rows = self._pools.get(cursor.seed, (None, None))
        if rows is None or number != cursor.number:
            self._read_ahead(cursor, steps=0)
            # Makes room for the next one first.
            self._pools.pop(cursor.seed, None)
            _, ahead = self._ahead.pop(cursor.seed)
            # Here, because the threads of several chains must not call one function at once.
            rows = possible_rows(self.source, ahead.take())
            self._pools[cursor.seed] = cursor.number, rows
        return rows

    def _read_ahead(self, cursor: PoolCursor, *, steps: int = 1) -> None:
        """Let a thread read a pool, if none does."""
        assert cursor.seed is not None, "`take` gives a cursor its seed"
        number = cursor.number + steps
        there, ahead = self._ahead.get(cursor.seed, (None, None))
        if there != number or ahead is None or not ahead.is_open:
            if ahead is not None:
                ahead.abandon()
            read = partial(_one_pool, self._rows, [cursor.seed, number], self._size)
            self._ahead[cursor.seed] = number, ReadAhead(read)

    def __getstate__(self) -> dict:
        """Leave rows and threads behind: another process reads its own."""
        return self.__dict__ | {"_pools": {}, "_ahead": {}}


def _one_pool(
    rows: RandomRows, seed: list[int], size: int, wanted: Callable[[], bool]
) -> Generator[np.ndarray]:
    yield rows.sample(np.random.default_rng(seed), size)
