#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Energies and gradients on the host, for optimisation and measurements while tuning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import batched, islice
from time import process_time, thread_time
from typing import Any, NamedTuple

import numpy as np
import pytensor.tensor as pt

from pytensor.gradient import pullback
from pytensor.tensor import tensor

from pymc_geodesic.kernel.at_points import AtPoints
from pymc_geodesic.kernel.carry import as_points, as_values
from pymc_geodesic.kernel.compiled import inputs_like
from pymc_geodesic.kernel.interpreted_once import Interpreted
from pymc_geodesic.kernel.reader import checked_batches, checked_blocks, possible_rows
from pymc_geodesic.kernel.representatives import Representatives
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential.stream import StreamSource

__all__ = ["Evaluation", "HostGradient"]

# Rows whose gradient is evaluated at once: so many that the cost of a call is negligible, and so
# few that rows of a hundred numbers fit into a processor's cache.
CHUNK = 10_000
# Rows on which curvature is measured and the search for a mode begins.
SUBSAMPLE = 10_000
FUNCTIONS = (
    "_evaluate",
    "to_points",
    "to_values",
    "project",
    "random_point",
    "to_tangent",
    "geodesic",
    "representatives",
)


PARTITION_SUM, PARTITION_ROWS = "partition_sum", "partition_rows"

type Elsewhere = Callable[[str, Sequence[tuple[Any, ...]]], list[Any]]
"""``(method, arguments of each call) -> results``."""


class Evaluation(NamedTuple):
    """Energy and gradients at a point.

    Attributes
    ----------
    energy : float
        Potential energy.
    gradient : list of ndarray
        dU/dx in the embedding.
    pulled_back : list of ndarray
        Gradient of the energy of the projected point: tangent to the manifold.
    """

    energy: float
    gradient: list[np.ndarray]
    pulled_back: list[np.ndarray]


class HostGradient:
    """Evaluate the potential of a model, for some rows of its data or for all.

    The graph is interpreted if NumPy has all its operations: a few hundred calls on thousands of
    rows take less time than compiling. Points are lists of arrays in the embedding;
    they are first projected onto the manifold.

    Parameters
    ----------
    potential : Potential
        Gives energies and gradients.

    Attributes
    ----------
    manifold : Product
        Where the points are.
    elsewhere : callable or None
        What makes calls of :meth:`partition_sum` and :meth:`partition_rows` in other processes.
    seconds_per_pass : float
        Of the processor for the last evaluation with all rows; NaN before the first.
    """

    def __init__(self, potential: Potential) -> None:
        self.n_rows = [source.n_rows for source in potential.sources]
        self.batch_sizes = [source.batch_size for source in potential.sources]
        self.conditioned: Sequence[np.ndarray] = ()
        streams = [source for source in potential.sources if isinstance(source, StreamSource)]
        self._stream = streams[0] if streams else None
        self._sample: np.ndarray | None = None
        self._possible: set[int] = set()
        self.elsewhere: Elsewhere | None = None
        self.seconds_per_pass = np.nan
        self._last: tuple[list[np.ndarray], Evaluation] | None = None
        self._potential, self.manifold = potential, potential.manifold
        self._interpret(potential)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the functions behind: what PyTensor interprets cannot be pickled, the graph can."""
        left_out = {*FUNCTIONS, "elsewhere", "_last"}
        return {name: value for name, value in self.__dict__.items() if name not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Recreate the functions from the graph."""
        self.__dict__.update(state)
        self.elsewhere, self._last = None, None
        self._interpret(self._potential)

    def rows(self, rng: np.random.Generator, size: int | None = None) -> list[np.ndarray]:
        """Draw rows of every source: a batch, or ``size`` different ones.

        Of a stream ``SUBSAMPLE`` rows stand for all: random ones, where the loader has them, or
        the first.
        """
        if self._stream is not None:
            sample, batch_size = self._first_rows(self._stream), self._stream.batch_size
            return [sample if size else sample[rng.integers(0, len(sample), batch_size)]]
        if size is None:
            pairs = zip(self.n_rows, self.batch_sizes, strict=True)
            return [rng.integers(0, n, batch) for n, batch in pairs]
        return [rng.choice(n, min(size, n), replace=False, shuffle=False) for n in self.n_rows]

    def first_batch(self) -> list[np.ndarray]:
        """Return the first rows of every source."""
        if self._stream is not None:
            return [self._first_rows(self._stream)[: self._stream.batch_size]]
        pairs = zip(self.n_rows, self.batch_sizes, strict=True)
        return [np.arange(size) % n for n, size in pairs]

    def __call__(self, point: Sequence[np.ndarray], rows: Sequence[np.ndarray]) -> Evaluation:
        """Evaluate at a point, with the rows given for each source of minibatches."""
        return self.many([point], [rows])[0]

    def many(
        self, points: Sequence[Sequence[np.ndarray]], rows: Sequence[Sequence[np.ndarray]]
    ) -> list[Evaluation]:
        """Evaluate at several points, each with its own rows: faster than one after another."""
        calls = [[*point, *some] for point, some in zip(points, rows, strict=True)]
        n, found = len(self.manifold.shapes), self._evaluate(self.conditioned, calls)
        return [Evaluation(float(x[0]), list(x[1 : n + 1]), list(x[n + 1 :])) for x in found]

    def whole(self, point: Sequence[np.ndarray]) -> Evaluation:
        """Evaluate at a point with all rows, a few thousand at a time.

        The last evaluation is kept: a search ends where measurements begin.
        """
        if not self.n_rows:
            return self(point, [])
        given = [*point, *self.conditioned]
        if self._last is None or not _are_equal(given, self._last[0]):
            began, began_here = process_time(), thread_time()
            found = self._whole(point)
            # Where a limit is set to the time of a process, as batch systems do, the clock of all
            # its threads advances in steps of milliseconds; that of a single thread does not.
            self.seconds_per_pass = max(process_time() - began, thread_time() - began_here)
            self._last = [np.array(x) for x in given], found
        return self._last[1]

    def _whole(self, point: Sequence[np.ndarray]) -> Evaluation:
        if self._stream is None or not self.has_partitions:
            total = self._sum(point, self.chunks())
        else:
            # Added in the order of the partitions, so that it matters not who has summed them.
            numbers = range(len(self._stream.partitions))
            total = _added(self.spread(PARTITION_SUM, [(i, point) for i in numbers]))
        n, energy, *gradients = total
        gradients = [np.asarray(array / n) for array in gradients]
        half = len(gradients) // 2
        return Evaluation(float(energy / n), gradients[:half], gradients[half:])

    @property
    def is_stream(self) -> bool:
        """Whether the data come in a stream, of which a sample stands for all rows."""
        return self._stream is not None

    @property
    def has_partitions(self) -> bool:
        """Whether the data can be read in parts."""
        return self._stream is not None and bool(self._stream.partitions)

    def partition_sum(self, number: int, point: Sequence[np.ndarray]) -> list[Any]:
        """Return the number of rows of a partition, and sums over its rows; see :meth:`whole`."""
        stream = self._required_stream()
        partition = stream.partitions[number]
        blocks = checked_blocks(
            stream, partition, first=partition.first, is_possible=number in self._possible
        )
        total = self._sum(point, ([rows] for block in blocks for rows in _cut(block)))
        self._possible.add(number)
        return total

    def partition_rows(self, number: int, places: np.ndarray) -> np.ndarray:
        """Read rows of a partition."""
        return self._required_stream().partitions[number].rows(places)

    def spread(self, task: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Call one of the two methods above several times, here or in other processes."""
        if self.elsewhere is not None:
            return self.elsewhere(task, arguments)
        return [getattr(self, task)(*given) for given in arguments]

    def _sum(self, point: Sequence[np.ndarray], chunks: Iterable[list[np.ndarray]]) -> list[Any]:
        """Sum over chunks: their rows, and energy and gradients times rows."""

        def weighted(rows: list[np.ndarray]) -> list[Any]:
            # Each chunk's likelihood is scaled to the whole data: the whole is the chunks' mean.
            part, weight = self(point, rows), len(rows[0])
            found: list[Any] = [1, part.energy, *part.gradient, *part.pulled_back]
            return [weight * x for x in found]

        return _added(map(weighted, chunks))

    def _required_stream(self) -> StreamSource:
        if self._stream is None:
            raise RuntimeError("The model has no data that are read in parts.")
        return self._stream

    def _random_rows(self, numbers: Sequence[int], places: Sequence[np.ndarray]) -> list[Any]:
        return self.spread(PARTITION_ROWS, list(zip(numbers, places, strict=True)))

    def _first_rows(self, stream: StreamSource) -> np.ndarray:
        if self._sample is None and (rows := stream.random_rows) is not None:
            n = min(SUBSAMPLE, rows.n_rows)
            drawn = rows.sample(np.random.default_rng(0), n, spread=self._random_rows)
            self._sample = possible_rows(stream, drawn)
        if self._sample is None:
            wanted = -(-SUBSAMPLE // stream.batch_size)
            batches = list(islice(checked_batches(stream), wanted))
            self._sample = np.concatenate(batches)
        return self._sample

    def chunks(self) -> Iterator[list[np.ndarray]]:
        """Cut all rows of every source into chunks."""
        if self._stream is not None:
            per_chunk = max(1, CHUNK // self._stream.batch_size)
            for batches in batched(checked_batches(self._stream), per_chunk):
                yield [np.concatenate(batches)]
            return
        n = self.n_rows[0]
        if any(size != n for size in self.n_rows):
            # Sources of different lengths have no common chunks of equal weight.
            yield [np.arange(size) for size in self.n_rows]
            return
        for start in range(0, n, CHUNK):
            rows = np.arange(start, min(start + CHUNK, n))
            yield [rows] * len(self.n_rows)

    def _interpret(self, potential: Potential) -> None:
        manifold = potential.manifold
        dtype = potential.variables[0].position.dtype
        values = [variable.value for variable in potential.variables]
        points, vectors = (
            tuple(inputs_like(name, [np.zeros(s, dtype) for s in manifold.shapes]))
            for name in ("point", "vector")
        )
        rows = [source.placeholder("rows", None) for source in potential.sources]
        time = tensor("time", dtype=dtype, shape=())
        position = manifold.project(points)
        # Poles are softened over the length of a step; during the search there is no step yet.
        gradient = potential.gradient(position, rows, width=pt.zeros((), dtype=dtype))
        pulled_back = [
            g if x is y else pullback(x, y, g)
            for x, y, g in zip(position, points, gradient, strict=True)
        ]
        outputs = [potential.energy(position, rows), *gradient, *pulled_back]
        self._evaluate = AtPoints(potential.conditioned, points, rows, outputs)
        self.representatives = Representatives(manifold, dtype=dtype)
        self.to_points = Interpreted(values, as_points(potential, values))
        self.to_values = Interpreted(points, as_values(potential, points))
        self.project = Interpreted(points, position)
        self.random_point = Interpreted(vectors, manifold.random_point(vectors))
        self.to_tangent = Interpreted([*points, *vectors], manifold.to_tangent(points, vectors))
        if manifold.has_geodesics:
            ends, velocities = manifold.geodesic(points, vectors, time)
            self.geodesic = Interpreted([*points, *vectors, time], [*ends, *velocities])


def _added(parts: Iterable[list[Any]]) -> list[Any]:
    """Add lists entry by entry, in their order."""
    total: list[Any] = []
    for part in parts:
        total = [a + b for a, b in zip(total, part, strict=True)] if total else part
    return total


def _are_equal(some: Sequence[np.ndarray], others: Sequence[np.ndarray]) -> bool:
    return all(map(np.array_equal, some, others))


def _cut(block: np.ndarray) -> list[np.ndarray]:
    return [block[start : start + CHUNK] for start in range(0, len(block), CHUNK)]
