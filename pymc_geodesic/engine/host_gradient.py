#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Energies and gradients on the host, for the optimisation and the measurements of tuning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytensor.tensor as pt

from pytensor.gradient import pullback
from pytensor.tensor import tensor

from pymc_geodesic.engine.backend import Backend
from pymc_geodesic.engine.graph import as_values, placeholders, to_positions
from pymc_geodesic.engine.interpreted import interpreted, runs_by_numpy
from pymc_geodesic.potential import Potential

__all__ = ["Evaluation", "HostGradient"]

# Rows whose gradient is evaluated at once. Enough of them to forget the cost of a call, few enough
# for the rows of a hundred numbers each to stay in a processor's cache.
CHUNK = 10_000


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

    The graph is interpreted where NumPy has all its operations: some hundred calls on thousands of
    rows each are done before a compiler has begun. Points are lists of arrays in the embedding;
    they are projected on the manifold first.

    Parameters
    ----------
    potential : Potential
        Gives energies and gradients.
    """

    def __init__(self, potential: Potential) -> None:
        self.n_rows = [source.n_rows for source in potential.sources]
        self.batch_sizes = [source.batch_size for source in potential.sources]
        self.conditioned: Sequence[np.ndarray] = ()
        self._interpret(potential)

    def rows(self, rng: np.random.Generator, size: int | None = None) -> list[np.ndarray]:
        """Draw rows of every source: a batch, or ``size`` different ones."""
        if size is None:
            pairs = zip(self.n_rows, self.batch_sizes, strict=True)
            return [rng.integers(0, n, batch) for n, batch in pairs]
        return [rng.choice(n, min(size, n), replace=False, shuffle=False) for n in self.n_rows]

    def __call__(self, point: Sequence[np.ndarray], rows: Sequence[np.ndarray]) -> Evaluation:
        """Evaluate at a point, with the rows given for each source of minibatches."""
        energy, *gradients = self._evaluate(*self.conditioned, *point, *rows)
        n = len(gradients) // 2
        return Evaluation(float(energy), gradients[:n], gradients[n:])

    def whole(self, point: Sequence[np.ndarray]) -> Evaluation:
        """Evaluate at a point with all rows, some thousands at a time."""
        if not self.n_rows:
            return self(point, [])
        energy, total = 0.0, None
        for rows, share in self._chunks():
            part = self(point, rows)
            energy += share * part.energy
            scaled = [share * array for array in (*part.gradient, *part.pulled_back)]
            total = scaled if total is None else [a + b for a, b in zip(total, scaled, strict=True)]
        half = len(total) // 2
        return Evaluation(energy, total[:half], total[half:])

    def _chunks(self):
        """Rows of every source, and the share of the whole data that they are.

        Each chunk's likelihood is scaled to the whole data: the whole is the mean of the chunks.
        """
        n = self.n_rows[0]
        if any(size != n for size in self.n_rows):
            # Sources of different lengths have no common chunks that weigh the same.
            yield [np.arange(size) for size in self.n_rows], 1.0
            return
        for start in range(0, n, CHUNK):
            rows = np.arange(start, min(start + CHUNK, n))
            yield [rows] * len(self.n_rows), len(rows) / n

    def _interpret(self, potential: Potential) -> None:
        manifold = potential.manifold
        dtype = potential.variables[0].position.dtype
        values = [variable.value for variable in potential.variables]
        points, vectors = (
            placeholders(name, [np.zeros(s, dtype) for s in manifold.shapes])
            for name in ("point", "vector")
        )
        rows = [tensor("rows", dtype="int64", shape=(None,)) for _ in potential.sources]
        time = tensor("time", dtype=dtype, shape=())
        position = manifold.project(points)
        # Poles are softened by the length of a step: at the mode there is no step yet.
        gradient = potential.gradient(position, rows, width=pt.zeros((), dtype=dtype))
        pulled_back = [
            g if x is y else pullback(x, y, g)
            for x, y, g in zip(position, points, gradient, strict=True)
        ]
        inputs = [*potential.conditioned, *points, *rows]
        outputs = [potential.energy(position, rows), *gradient, *pulled_back]
        self._evaluate = interpreted(inputs, outputs)
        if not runs_by_numpy(self._evaluate):
            self._evaluate = Backend.resolve("numba", None).compile(inputs, outputs)
        self.to_points = interpreted(values, to_positions(potential, values))
        self.to_values = interpreted(points, as_values(potential, points))
        self.project = interpreted(points, position)
        self.to_tangent = interpreted([*points, *vectors], manifold.to_tangent(points, vectors))
        ends, velocities = manifold.geodesic(points, vectors, time)
        self.geodesic = interpreted([*points, *vectors, time], [*ends, *velocities])
