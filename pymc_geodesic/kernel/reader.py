#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Reading a stream of batches ahead of the sampler, and shuffling it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from pymc.exceptions import SamplingError

from pymc_geodesic.kernel.read_ahead import ReadAhead
from pymc_geodesic.potential.stream import RowCheck, StreamSource

__all__ = ["StreamCursor", "StreamReader", "checked_batches", "checked_blocks", "possible_rows"]

# Batches whose rows are shuffled among each other.
BUFFER = 64
# Blocks without rows, one after another, after which no more are expected: a filter may leave many.
MOST_EMPTY = 10_000
# Largest number of rows that are checked together; the first groups are small and double in size.
TOGETHER = 10_000


def checked_batches(source: StreamSource) -> Iterator[np.ndarray]:
    """Go once through a loader, check its rows, and cut them into batches.

    A loader may yield blocks of any number of rows, such as the row groups of a Parquet file.

    Raises
    ------
    SamplingError
        If a block has rows of another shape, holds NaN or rows that the model forbids, or the rows
        disagree with ``total_size``.
    """
    size, n_rows, n_held, held = source.batch_size, 0, 0, []
    for block in _possible_blocks(source):
        n_rows += len(block)
        # At once, because a loader that begins again by itself never ends a pass.
        if n_rows > source.n_rows:
            raise SamplingError(
                f"The stream `{source.name}` expected {source.n_rows} rows per pass, the model's "
                f"`total_size`, got more. Correct `total_size`, or let the loader end after each "
                "pass: it is iterated over again for the next."
            )
        n_held += len(block)
        held.append(block)
        if n_held >= size:
            rows = np.concatenate(held) if len(held) > 1 else block
            n_held = len(rows) % size
            held = [rows[len(rows) - n_held :]]
            yield from rows[: len(rows) - n_held].reshape(-1, size, *source.row_shape)
    if not n_rows:
        raise SamplingError(
            f"The stream `{source.name}` expected batches, got none. A loader must yield them each "
            "time it is iterated over."
        )
    # Rows that do not fill a last batch are left out, here or by the loader.
    if n_rows <= source.n_rows - size or n_rows < size:
        raise SamplingError(
            f"The stream `{source.name}` expected {source.n_rows} rows per pass, the model's "
            f"`total_size`, got {n_rows}. Correct `total_size`, or the loader."
        )


def _possible_blocks(source: StreamSource) -> Iterator[np.ndarray]:
    """Read and check blocks; the first whole pass also checks that the model allows all rows.

    Increasing numbers of blocks are checked together, because every check has a fixed cost.
    """
    n_rows, n_waiting, n_empty, waiting = 0, 0, 0, []
    check = source.check if source.check is not None and not source.check.complete else None
    for block in source.loader:
        # Copied, because a loader may read the next block into the same memory.
        block = _checked_block(source, block, n_rows + n_waiting, copies=True)
        n_empty = 0 if len(block) else n_empty + 1
        if n_empty >= MOST_EMPTY:
            raise SamplingError(
                f"The stream `{source.name}` expected rows, got {n_empty} empty blocks one after "
                f"another after {n_rows + n_waiting} rows. Correct the loader."
            )
        if n_empty:
            continue
        n_waiting += len(block)
        waiting.append(block)
        if check is None or n_waiting >= min(n_rows, TOGETHER):
            yield _possible(source, waiting, n_rows, check=check)
            n_rows, n_waiting, waiting = n_rows + n_waiting, 0, []
    if waiting:
        yield _possible(source, waiting, n_rows, check=check)
    if check is not None:
        check.complete = True


def _possible(
    source: StreamSource, blocks: list[np.ndarray], n_rows: int, *, check: RowCheck | None
) -> np.ndarray:
    rows = np.concatenate(blocks) if len(blocks) > 1 else blocks[0]
    if check is not None and (bad := check(rows, n_rows)):
        raise SamplingError(f"The stream `{source.name}` gave rows that cannot be observed. {bad}")
    return rows


def checked_blocks(
    source: StreamSource, blocks: Iterable[np.ndarray], *, first: int, is_possible: bool
) -> Iterator[np.ndarray]:
    """Check blocks of a part of the data, the first row of which has a number.

    With ``is_possible`` the model is known to allow the rows.
    """
    for block in blocks:
        rows = _checked_block(source, block, first)
        check = None if is_possible else source.check
        yield _possible(source, [rows], first, check=check)
        first += len(rows)


def possible_rows(source: StreamSource, rows: np.ndarray) -> np.ndarray:
    """Check rows that were drawn at random."""
    is_possible = source.check is None or source.check.complete
    [checked] = checked_blocks(source, [rows], first=0, is_possible=is_possible)
    return checked


def _checked_block(
    source: StreamSource, block: np.ndarray, n_rows: int, *, copies: bool = False
) -> np.ndarray:
    if np.ma.is_masked(block):
        raise SamplingError(
            f"The stream `{source.name}` expected numbers in all entries, got masked entries after "
            f"{n_rows} rows. Drop or impute such rows in the loader."
        )
    if isinstance(block, Mapping):
        raise SamplingError(
            f"The stream `{source.name}` expected arrays of rows, got a {type(block).__name__} "
            f"with the keys {list(block)} after {n_rows} rows. Let the loader yield one of its "
            "arrays."
        )
    given = np.asarray(block)
    rows = _converted(given, source.dtype, copies=copies)
    if rows is None:
        raise SamplingError(
            f"The stream `{source.name}` expected real numbers, got entries of type {given.dtype} "
            f"after {n_rows} rows. Convert them to numbers in the loader."
        )
    if rows.ndim == 0 or rows.shape[1:] != source.row_shape:
        raise SamplingError(
            f"The stream `{source.name}` expected blocks of rows of shape {source.row_shape}, as "
            f"in the `pm.Data`, got an array of shape {rows.shape} after {n_rows} rows."
        )
    if rows.dtype.kind in "iu" and rows.dtype != given.dtype and np.any(rows != given):
        raise SamplingError(
            f"The stream `{source.name}` expected whole numbers that fit into {source.dtype}, the "
            f"type of the `pm.Data`, got others after {n_rows} rows. Correct the loader, or use "
            "floating-point numbers in the `pm.Data`."
        )
    # Parameters may be infinite, such as the bounds of uncensored rows.
    if np.any(np.isnan(rows)) or (source.check is None and not np.all(np.isfinite(rows))):
        raise SamplingError(
            f"The stream `{source.name}` expected finite numbers, got NaN or infinity after "
            f"{n_rows} rows. Drop or impute such rows in the loader."
        )
    return rows


def _converted(given: np.ndarray, dtype: str, *, copies: bool) -> np.ndarray | None:
    """Convert numbers; NumPy would also convert dates, strings, and the real part of others."""
    if given.dtype.kind not in "biufO":
        return None
    try:
        return given.astype(dtype, copy=copies)
    except (TypeError, ValueError):
        return None


def _passes(source: StreamSource, n_skipped: int) -> Iterator[tuple[np.ndarray, int]]:
    """Go through the loader repeatedly, without the first batches of the first pass.

    Each batch comes with its number in its pass, starting at one.
    """
    while True:
        numbered = enumerate(checked_batches(source), start=1)
        yield from ((batch, n) for n, batch in numbered if n > n_skipped)
        n_skipped = 0


def _buffers(
    source: StreamSource, n_skipped: int, wanted: Callable[[], bool]
) -> Generator[tuple[np.ndarray, int]]:
    """Combine batches into buffers, each with the number of its last batch in its pass."""
    batches = []
    for batch, n_read in _passes(source, n_skipped):
        if not wanted():
            return
        batches.append(batch)
        if len(batches) == BUFFER:
            yield np.concatenate(batches), n_read
            batches = []


@dataclass
class StreamCursor:
    """The position of a chain in a stream.

    Attributes
    ----------
    n_read : int
        Batches of the present pass that have been used or are in the pool.
    pool : ndarray or None
        Shuffled rows that have not been used.
    """

    n_read: int = 0
    pool: np.ndarray | None = None


class StreamReader:
    """Batches of a stream, pass after pass, with their rows shuffled within a buffer.

    A thread reads the next buffer while the sampler uses the present one. The cursor alone
    determines what is read. A cursor at another position than the thread, because its chain is new,
    restored or in a forked process, gets its own pass, without the batches that it has read
    before. It continues exactly if every pass gives the same batches.

    Parameters
    ----------
    source : StreamSource
        The stream.
    """

    reads_in_turn = True

    def __init__(self, source: StreamSource) -> None:
        self.source = source
        self.first_batch = next(checked_batches(source))
        self._ahead: ReadAhead | None = None
        self._at = 0

    def settle(self, cursors: Sequence[StreamCursor]) -> None:
        """Wait until nothing is read for another cursor: a loader may allow only one reader."""
        if self._ahead is not None and not self._stands_at(cursors[0]):
            self._ahead.close()
            self._ahead = None

    def take(
        self,
        cursor: StreamCursor,
        rng: np.random.Generator,
        n_batches: int,
        *,
        reuses: bool = False,
    ) -> np.ndarray:
        """Return the next batches, stacked along a new first axis, and move the cursor.

        Rows are used once in a pass, also where ``reuses`` would allow more.
        """
        size = self.source.batch_size
        parts, missing = [], n_batches * size
        pool = self._empty if cursor.pool is None else cursor.pool
        while missing > 0:
            if not len(pool):
                rows = self._next_buffer(cursor)
                # NumPy shuffles the rows of a matrix in place four times more slowly.
                pool = rows[rng.permutation(len(rows))]
            parts.append(pool[:missing])
            cursor.pool = pool = pool[missing:]
            missing -= len(parts[-1])
        rows = np.concatenate(parts) if parts else self._empty
        return rows.reshape(n_batches, size, *self.source.row_shape)

    @property
    def _empty(self) -> np.ndarray:
        return np.zeros((0, *self.source.row_shape), self.source.dtype)

    def _stands_at(self, cursor: StreamCursor) -> bool:
        return self._ahead is not None and self._ahead.is_open and self._at == cursor.n_read

    def _next_buffer(self, cursor: StreamCursor) -> np.ndarray:
        """Return the rows of the buffer that has been read ahead."""
        if self._ahead is None or not self._stands_at(cursor):
            self.settle([cursor])
            self._ahead = ReadAhead(partial(_buffers, self.source, cursor.n_read))
        rows, cursor.n_read = self._ahead.take()
        self._at = cursor.n_read
        return rows

    def __getstate__(self) -> dict:
        """Leave out the thread: another process creates its own."""
        return self.__dict__ | {"_ahead": None}
