#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Random inputs of the kernel, drawn on the host from the chain's own generator."""

from __future__ import annotations

import math
import os

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from pymc_geodesic.kernel.jax.resident import aligned_empty
from pymc_geodesic.kernel.pools import PoolCursor, PoolReader
from pymc_geodesic.kernel.reader import StreamCursor, StreamReader
from pymc_geodesic.kernel.row_weights import RowWeights
from pymc_geodesic.potential.stream import Source, StreamSource

__all__ = ["BatchStream", "Reader", "draw_noise", "reader_of"]


type Reader = Any
"""What reads the rows of a loader for all chains: a `StreamReader` or a `PoolReader`."""

# Normals are drawn in parts of this size, each by its own generator, if there are enough of them
# to keep several threads busy.
PART = 2**16


def reader_of(sources: Sequence[Source]) -> Reader | None:
    """Make what reads the stream among the sources, if there is one."""
    for source in sources:
        if isinstance(source, StreamSource):
            rows = source.random_rows
            return StreamReader(source) if rows is None else PoolReader(source, rows)
    return None


def draw_noise(
    rng: np.random.Generator, n_steps: int, shapes: Sequence[tuple[int, ...]], dtype: str
) -> list[np.ndarray]:
    """Draw standard normals for ``n_steps`` transitions, one array per shape.

    The draws depend only on the generator, not on the number of threads.
    """
    return [_normals(rng, (n_steps, *shape), np.dtype(dtype)) for shape in shapes]


def _normals(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    if math.prod(shape) < 2 * PART:
        return rng.standard_normal(shape).astype(dtype, copy=False)
    normals = aligned_empty(shape, dtype)
    flat = normals.reshape(-1)
    parts = [flat[start : start + PART] for start in range(0, flat.size, PART)]
    # Seeded by draws, because a saved state does not contain the count of `rng.spawn`'s children.
    seeds = np.random.SeedSequence(rng.integers(2**32, size=4).tolist()).spawn(len(parts))
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        list(threads.map(_fill, parts, seeds))
    return normals


def _fill(part: np.ndarray, seed: np.random.SeedSequence) -> None:
    # The fastest of NumPy's generators; the Ziggurat takes most of the time.
    np.random.Generator(np.random.SFC64(seed)).standard_normal(dtype=part.dtype, out=part)


class BatchStream:
    """Rows of each minibatch for each transition, and the position of a chain in its data.

    Parameters
    ----------
    sources : sequence of BatchSource, or one StreamSource
        The model's minibatches, each with its own indices; or a stream, which provides the batches
        themselves.
    steps_per_batch : int
        Transitions that share one batch before the next is drawn.
    replacement : bool
        Draw each row independently, as ``pm.Minibatch`` does. Otherwise go through a random order
        of all rows, and begin another one at its end.

    Attributes
    ----------
    times : int
        How many times as many rows batches have as those of the model; it may be changed.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        *,
        steps_per_batch: int = 1,
        replacement: bool = True,
    ) -> None:
        self._sizes = [(source.n_rows, source.batch_size) for source in sources]
        self.times = 1
        self.steps_per_batch = steps_per_batch
        self.replacement = replacement
        streams = [source for source in sources if isinstance(source, StreamSource)]
        self.stream: StreamCursor | PoolCursor | None = None
        if streams:
            self.stream = StreamCursor() if streams[0].random_rows is None else PoolCursor()
        # No batch is current before the first is drawn.
        self.current: list[np.ndarray] = []
        self.age = steps_per_batch
        self.order = [np.zeros(0, dtype="int64") for _ in self._sizes]
        self.n_taken = [0 for _ in self._sizes]

    @property
    def in_passes(self) -> bool:
        """Whether each row is taken once in a pass through the data."""
        return self.stream is not None or not self.replacement

    @property
    def sizes(self) -> list[tuple[int, int]]:
        """Rows of the data and of a batch, of each source."""
        return [(n, self.times * size) for n, size in self._sizes]

    def trial(self, n_steps: int, reader: Reader | None = None) -> list[np.ndarray]:
        """Return the first rows, the same for all transitions, without using them up."""
        if reader is not None:
            return [np.repeat(reader.first_batch[None], n_steps, axis=0)]
        return [np.tile(np.arange(size) % n, (n_steps, 1)) for n, size in self.sizes]

    def fresh(self, n_steps: int) -> np.ndarray:
        """Return whether each of the next ``n_steps`` transitions is the first to see its batch."""
        return (self.age + np.arange(n_steps)) % self.steps_per_batch == 0

    def draw(
        self,
        rng: np.random.Generator,
        n_steps: int,
        reader: Reader | None = None,
        *,
        reuses: bool = False,
        weights: RowWeights | None = None,
    ) -> list[np.ndarray]:
        """Draw the rows for the next ``n_steps`` transitions: arrays ``(n_steps, batch_size)``.

        Those of a stream come from ``reader``, which with ``reuses`` may give rows again and again.
        Others are drawn by ``weights``, if there are any.
        """

        def fresh(i: int, n_batches: int) -> np.ndarray:
            if weights is not None:
                return weights.draw(rng, (n_batches, self.sizes[i][1]))
            if self.stream is None:
                return self._indices(rng, i, n_batches)
            assert reader is not None, "who has streams passes their reader"
            return reader.take(self.stream, rng, n_batches, reuses=reuses)

        if self.steps_per_batch == 1:
            return [fresh(i, n_steps) for i in range(len(self.sizes))]
        which = (self.age + np.arange(n_steps)) // self.steps_per_batch
        batches = []
        current, self.current = self.current, []
        for i in range(len(self.sizes)):
            drawn = fresh(i, which[-1])
            before = current[i][None] if current else np.zeros_like(drawn[:1])
            pool = np.concatenate([before, drawn])
            batches.append(pool[which])
            self.current.append(pool[-1].copy())
        self.age = int((self.age + n_steps - 1) % self.steps_per_batch + 1)
        return batches

    def _indices(self, rng: np.random.Generator, i: int, n_batches: int) -> np.ndarray:
        """Draw the rows of batches of source ``i`` that have not been used."""
        n_rows, size = self.sizes[i]
        if self.replacement:
            return rng.integers(0, n_rows, (n_batches, size))
        parts, missing = [], n_batches * size
        while missing:
            if self.n_taken[i] == len(self.order[i]):
                self.order[i], self.n_taken[i] = rng.permutation(n_rows), 0
            part = self.order[i][self.n_taken[i] : self.n_taken[i] + missing]
            parts.append(part)
            self.n_taken[i] += len(part)
            missing -= len(part)
        return np.concatenate([np.zeros(0, dtype="int64"), *parts]).reshape(n_batches, size)
