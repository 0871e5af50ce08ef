#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Energies and gradients on the host, for optimisation and measurements while tuning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import batched, islice
from typing import Any, NamedTuple

import numpy as np

from pymc_geodesic.kernel.evaluated import MOST_IN_TURN, Evaluated
from pymc_geodesic.kernel.host_functions import (
    added,
    averaged,
    energies_and_gradients,
    geometry,
    groups_of_rows,
    in_chunks,
    terms_of_rows,
)
from pymc_geodesic.kernel.interpreted import clock, seconds_of
from pymc_geodesic.kernel.reader import checked_batches, checked_blocks, possible_rows
from pymc_geodesic.kernel.representatives import Representatives
from pymc_geodesic.kernel.row_weights import RowWeights, factors_by
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential.stream import StreamSource

__all__ = ["FEW", "SUBSAMPLE", "Evaluation", "HostGradient", "TermsOfRows"]

# Rows whose gradient is evaluated at once: so many that the cost of a call is negligible, and so
# few that rows of a hundred numbers fit into a processor's cache.
CHUNK = 10_000
# Rows on which curvature is measured and the search for a mode begins.
SUBSAMPLE = 10_000
# Rows that tell whether a start is possible. Functions are compiled for few numbers of rows.
FEW = 1_250
FUNCTIONS = (
    *("_evaluate", "_evaluate_weighted", "to_points", "to_values", "carried", "project"),
    *("random_point", "to_tangent", "geodesic", "representatives", "terms_of_rows"),
)
PARTITION_SUM, PARTITION_ROWS = "partition_sum", "partition_rows"

type TermsOfRows = Callable[[Sequence[Sequence[np.ndarray]], np.ndarray], np.ndarray]
"""``(points, rows) -> array``, one number for each point and row."""


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

    Points are lists of arrays in the embedding; they are first projected onto the manifold.

    Parameters
    ----------
    potential : Potential
        Gives energies and gradients.
    interprets : bool
        Whether PyTensor interprets them: before PyMC forks its workers, JAX must not compute.

    Attributes
    ----------
    potential, manifold : Potential, Product
        What is evaluated, and where the points are.
    elsewhere : callable or None
        What makes calls of :meth:`partition_sum` and :meth:`partition_rows` in other processes,
        ``(method, arguments of each call) -> results``.
    weights : RowWeights or None
        By what rows are drawn, and weighed if they differ: so many ``times`` as a batch has.
    seconds_per_pass : float
        Of the processor for the last evaluation with all rows; NaN before the first.
    """

    weights: RowWeights | None
    representatives: Representatives
    to_points: Callable[..., list[np.ndarray]]
    to_values: Callable[..., list[np.ndarray]]
    carried: Callable[..., list[np.ndarray]] | None = None
    project: Callable[..., list[np.ndarray]]
    random_point: Callable[..., list[np.ndarray]]
    to_tangent: Callable[..., list[np.ndarray]]
    geodesic: Callable[..., list[np.ndarray]]

    def __init__(self, potential: Potential, *, interprets: bool = False) -> None:
        self.interprets = interprets
        self.n_rows = [source.n_rows for source in potential.sources]
        self.batch_sizes = [source.batch_size for source in potential.sources]
        self.conditioned: Sequence[np.ndarray] = ()
        self.weights, self.times = None, 1
        self._stream = next((x for x in potential.sources if isinstance(x, StreamSource)), None)
        self._sample: np.ndarray | None = None
        self._possible: set[int] = set()
        self.elsewhere: Callable[[str, Sequence[tuple[Any, ...]]], list[Any]] | None = None
        self.seconds_per_pass = np.nan
        self._last: tuple[list[np.ndarray], Evaluation] | None = None
        self.potential, self.manifold = potential, potential.manifold
        self._write(potential)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the functions behind."""
        left_out = {*FUNCTIONS, "elsewhere", "_last"}
        return {name: value for name, value in self.__dict__.items() if name not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Write the functions anew."""
        self.__dict__.update(state)
        self.elsewhere, self._last = None, None
        self._write(self.potential)

    def rows(self, rng: np.random.Generator, size: int | None = None) -> list[np.ndarray]:
        """Draw rows of every source: a batch, or ``size`` different ones, or some by weights.

        Of a stream ``SUBSAMPLE`` rows stand for all: random ones, if the loader has them.
        """
        if self._stream is not None:
            sample, batch_size = self._first_rows(self._stream), self._stream.batch_size
            return [sample if size else sample[rng.integers(0, len(sample), batch_size)]]
        if self.weights is not None:
            batch = (self.times * self.batch_sizes[0],)
            return [self.weights.sample(rng, size) if size else self.weights.draw(rng, batch)]
        if size is None:
            pairs = zip(self.n_rows, self.batch_sizes, strict=True)
            return [rng.integers(0, n, batch) for n, batch in pairs]
        return [rng.choice(n, min(size, n), replace=False, shuffle=False) for n in self.n_rows]

    def first_rows(self) -> list[np.ndarray]:
        """Return the first rows of every source."""
        if self._stream is not None:
            return [self._first_rows(self._stream)[:FEW]]
        return [np.arange(min(n, FEW)) for n in self.n_rows]

    def __call__(self, point: Sequence[np.ndarray], rows: Sequence[np.ndarray]) -> Evaluation:
        """Evaluate at a point, with the rows given for each source of minibatches."""
        return self.many([point], [rows])[0]

    def many(
        self,
        points: Sequence[Sequence[np.ndarray]],
        rows: Sequence[Sequence[np.ndarray]],
        *,
        are_drawn: bool = True,
    ) -> list[Evaluation]:
        """Evaluate at several points, each with its own rows, those of a pass or ``are_drawn``."""
        (fixed, evaluate), n = self.function(are_drawn=are_drawn), len(self.manifold.shapes)
        cut = [in_chunks(some, CHUNK) for some in rows]
        arguments = ([*x, *some] for x, chunks in zip(points, cut, strict=True) for some in chunks)
        parts = iter(evaluate(fixed, arguments, interprets=self.interprets))
        found = (averaged([*islice(parts, len(chunks))], chunks) for chunks in cut)
        return [Evaluation(float(energy), g[:n], g[n:]) for energy, *g in found]

    def function(self, *, are_drawn: bool = True) -> tuple[list[np.ndarray], Evaluated]:
        """Return the arguments before points and rows, and the function.

        Rows that ``are_drawn`` by weight have their factors; those of a pass have none.
        """
        factors = factors_by(self.weights) if are_drawn else []
        return [*self.conditioned, *factors], self._evaluate_weighted if factors else self._evaluate

    @cached_property
    def _evaluate_weighted(self) -> Evaluated:
        return energies_and_gradients(self.potential.weighted())

    def whole(self, point: Sequence[np.ndarray]) -> Evaluation:
        """Evaluate at a point with all rows, a few thousand at a time.

        The last evaluation is kept: a search ends where measurements begin.
        """
        if not self.n_rows:
            return self(point, [])
        given = [*point, *self.conditioned]
        if self._last is None or not all(map(np.array_equal, given, self._last[0])):
            began = clock() - self._evaluate.seconds_of_making
            found = self._whole(point)
            self.seconds_per_pass = seconds_of(clock() - self._evaluate.seconds_of_making - began)
            self._last = [np.array(x) for x in given], found
        return self._last[1]

    def _whole(self, point: Sequence[np.ndarray]) -> Evaluation:
        if self._stream is None or not self.has_partitions:
            total = self._sum(point, self.chunks())
        else:
            # Added in the order of the partitions, so that it matters not who has summed them.
            arguments = [(i, point) for i, _ in enumerate(self._stream.partitions)]
            total = added(self.spread(PARTITION_SUM, arguments))
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
        starts = ((block, i) for block in blocks for i in range(0, len(block), CHUNK))
        total = self._sum(point, ([block[i : i + CHUNK]] for block, i in starts))
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
        """Sum over chunks: their rows, and energy and gradients, of the whole data, times rows."""

        def weighted() -> Iterator[list[Any]]:
            # Rows of a stream are in memory, and not their numbers.
            for some in batched(chunks, MOST_IN_TURN if self._stream is None else 1):
                parts = self.many([point] * len(some), some, are_drawn=False)
                for [rows, *_], x in zip(some, parts, strict=True):
                    found: list[Any] = [1, x.energy, *x.gradient, *x.pulled_back]
                    yield [len(rows) * part for part in found]

        return added(weighted())

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
            self._sample = np.concatenate([*islice(checked_batches(stream), wanted)])
        return self._sample

    @cached_property
    def terms_of_rows(self) -> TermsOfRows | None:
        """Return the function of the log likelihood of each row, if there is one."""
        terms = terms_of_rows(self.potential) if len(self.n_rows) == 1 else None
        return None if terms is None else lambda points, rows: terms(self.conditioned, points, rows)

    def groups_of_rows(self) -> list[np.ndarray]:
        """Return the groups of all rows of one source, one array for each factor of effects."""
        return groups_of_rows(self.potential)(np.arange(self.n_rows[0]))

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

    def _write(self, potential: Potential) -> None:
        self._evaluate = energies_and_gradients(potential)
        self.__dict__.update(geometry(potential))
