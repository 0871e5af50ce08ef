#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Energies and gradients on the host, for the optimisation and the measurements of tuning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytensor
import pytensor.tensor as pt

from pytensor.compile.mode import Mode
from pytensor.gradient import Lop
from pytensor.tensor import TensorVariable, tensor

from pymc_geodesic.engine.backend import Backend
from pymc_geodesic.engine.graph import as_values, placeholders, to_positions
from pymc_geodesic.potential import Potential

__all__ = ["Evaluation", "HostGradient", "interpreted"]

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

    Points are tuples of arrays in the embedding; they are projected on the manifold first.

    Parameters
    ----------
    potential : Potential
        Gives energies and gradients.
    backend : Backend
        How to compile.
    conditioned : sequence of ndarray
        Values of the variables that are conditioned on.
    """

    def __init__(self, potential: Potential, *, backend: Backend) -> None:
        self._potential, self._backend = potential, backend
        self.n_rows = [source.n_rows for source in potential.sources]
        self.batch_sizes = [source.batch_size for source in potential.sources]
        self._functions: dict[tuple[int | None, ...], object] = {}
        self.conditioned: Sequence[np.ndarray] = ()
        self.width = 0.0
        self._dtype = potential.variables[0].position.dtype
        self._compile_maps()

    def rows(self, rng: np.random.Generator, size: int | None = None) -> list[np.ndarray]:
        """Draw rows of every source: a batch, or ``size`` different ones."""
        if size is None:
            pairs = zip(self.n_rows, self.batch_sizes, strict=True)
            return [rng.integers(0, n, batch) for n, batch in pairs]
        return [rng.choice(n, min(size, n), replace=False, shuffle=False) for n in self.n_rows]

    def __call__(self, point: Sequence[np.ndarray], rows: Sequence[np.ndarray]) -> Evaluation:
        """Evaluate at a point, with the rows given for each source of minibatches."""
        lengths = tuple(len(row) if self._backend.is_jax else None for row in rows)
        if lengths not in self._functions:
            self._functions[lengths] = self._compile(lengths)
        width = np.asarray(self.width, dtype=self._dtype)
        outputs = self._functions[lengths](*self.conditioned, *point, width, *rows)
        energy, *gradients = [np.array(output) for output in outputs]
        n = len(gradients) // 2
        return Evaluation(float(energy), gradients[:n], gradients[n:])

    def whole(self, point: Sequence[np.ndarray]) -> Evaluation:
        """Evaluate at a point with all rows, some thousands at a time."""
        if not self.n_rows:
            return self(point, [])
        total, energy, n = None, 0.0, max(self.n_rows)
        for rows in self._chunks():
            # Each chunk is scaled to the whole data, so the whole is the mean over rows.
            share = len(rows[0]) / n
            part = self(point, rows)
            energy += share * part.energy
            arrays = [*part.gradient, *part.pulled_back]
            scaled = [share * array for array in arrays]
            total = scaled if total is None else [a + b for a, b in zip(total, scaled, strict=True)]
        half = len(total) // 2
        return Evaluation(energy, total[:half], total[half:])

    def _chunks(self):
        n = self.n_rows[0]
        if any(size != n for size in self.n_rows):
            # Sources of different lengths have no common chunks that weigh the same.
            yield [np.arange(size) for size in self.n_rows]
            return
        for start in range(0, n, CHUNK):
            rows = np.arange(start, min(start + CHUNK, n))
            yield [rows] * len(self.n_rows)

    def _compile(self, lengths: tuple[int | None, ...]):
        potential, manifold = self._potential, self._potential.manifold
        points = placeholders("point", [np.zeros(s, self._dtype) for s in manifold.shapes])
        rows = [tensor("rows", dtype="int64", shape=(length,)) for length in lengths]
        width = tensor("width", dtype=self._dtype, shape=())
        position = manifold.project(points)
        gradient = potential.gradient(position, rows, width=width)
        outputs = [
            potential.energy(position, rows),
            *gradient,
            *_pull_back(points, position, gradient),
        ]
        return self._backend.compile([*potential.conditioned, *points, width, *rows], outputs)

    def _compile_maps(self) -> None:
        """Compile what is cheap to evaluate, and would take longer to compile than it ever saves."""
        potential, manifold = self._potential, self._potential.manifold
        values = [variable.value for variable in potential.variables]
        points, vectors = (
            placeholders(name, [np.zeros(s, self._dtype) for s in manifold.shapes])
            for name in ("point", "vector")
        )
        time = tensor("time", dtype=self._dtype, shape=())
        self.to_points = interpreted(values, to_positions(potential, values))
        self.to_values = interpreted(points, as_values(potential, points))
        self.project = interpreted(points, manifold.project(points))
        self.to_tangent = interpreted([*points, *vectors], manifold.to_tangent(points, vectors))
        ends, velocities = manifold.geodesic(points, vectors, time)
        self.geodesic = interpreted([*points, *vectors, time], [*ends, *velocities])

    def __getstate__(self) -> dict:
        """Leave the graph behind; what has been compiled travels along."""
        return self.__dict__ | {"_potential": None}


def interpreted(inputs: Sequence[TensorVariable], outputs: Sequence[TensorVariable]):
    """Make a function of a few operations without compiling it."""
    mode = Mode(linker="py", optimizer=None)
    return pytensor.function(list(inputs), list(outputs), mode=mode, on_unused_input="ignore")


def _pull_back(points, position, gradient) -> list[TensorVariable]:
    return [
        g if x is y else pt.as_tensor(Lop(x, y, g))
        for x, y, g in zip(position, points, gradient, strict=True)
    ]
