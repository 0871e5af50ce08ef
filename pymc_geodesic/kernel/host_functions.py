#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Functions of a model's potential, manifold and coordinates that are called on the host."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pytensor.tensor as pt

from pytensor.gradient import pullback
from pytensor.tensor import TensorVariable

from pymc_geodesic.graph_inputs import graph_input
from pymc_geodesic.kernel.evaluated import Evaluated
from pymc_geodesic.kernel.interpreted import Interpreted, with_batch_axis
from pymc_geodesic.kernel.representatives import Representatives
from pymc_geodesic.manifolds import Point, Product
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential.variables import as_points

__all__ = [
    "added",
    "averaged",
    "component_densities",
    "energies_and_gradients",
    "geometry",
    "groups_of_rows",
    "in_chunks",
    "terms_of_rows",
]


class Change:
    """A function of arrays that leaves some of them the same arrays.

    Parameters
    ----------
    inputs, outputs : sequence of TensorVariable
        The graph; an output that is its input is not computed.
    many : bool
        Whether arrays have a first axis of draws.
    """

    def __init__(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        *,
        many: bool = False,
    ) -> None:
        pairs = zip(inputs, outputs, strict=True)
        self._places = [i for i, (x, y) in enumerate(pairs) if x is not y]
        graph = list(inputs), [outputs[i] for i in self._places]
        if many and self._places:
            graph = with_batch_axis(*graph, varying=inputs)
        self._function = Interpreted(*graph)

    def __call__(self, values: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the arrays, of the types of those that they replace."""
        found = list(values)
        if self._places:
            for i, x in zip(self._places, self._function(*values), strict=True):
                found[i] = np.asarray(x, values[i].dtype, order="C")
        return found


def energies_and_gradients(potential: Potential) -> Evaluated:
    """Return energies, gradients in the embedding, and those of the projected points."""
    manifold = potential.manifold
    points, rows = _inputs(potential)
    position = manifold.project(points)
    # Poles are softened over the length of a step; during the search there is no step yet.
    width = pt.zeros((), dtype=_dtype(potential))
    gradient = potential.gradient(position, rows, width=width)
    pulled_back = [
        g if x is y else pullback(x, y, g)
        for x, y, g in zip(position, points, gradient, strict=True)
    ]
    outputs = [potential.energy(position, rows), *gradient, *pulled_back]
    conditioned = potential.conditioned
    return Evaluated([*conditioned, *points, *rows], outputs, n_common=len(conditioned))


def terms_of_rows(potential: Potential) -> Callable[..., np.ndarray] | None:
    """Return the log likelihood of each row, by point and row; None if it is no sum over rows.

    The function takes the values of other variables, points and rows.
    """
    points, rows = _inputs(potential)
    terms = potential.of_each_row(potential.manifold.project(points), rows)
    if terms is None:
        return None
    fixed = potential.conditioned
    evaluate = Evaluated([*fixed, *points, *rows], [terms], n_common=len(fixed))

    def evaluated(
        conditioned: Sequence[np.ndarray], points: Sequence[Sequence[np.ndarray]], rows: np.ndarray
    ) -> np.ndarray:
        found = evaluate(conditioned, ([*point, rows] for point in points))
        return np.array([of_rows for [of_rows] in found])

    return evaluated


def groups_of_rows(potential: Potential) -> Interpreted:
    """Return the groups of rows, one array for each factor of effects."""
    _, [rows] = _inputs(potential)
    return Interpreted([rows], potential.groups_of_rows(rows))


def component_densities(potential: Potential) -> Evaluated:
    """Return the log densities of rows by the components of each mixture."""
    points, rows = _inputs(potential)
    found = potential.component_densities(potential.manifold.project(points), rows)
    return Evaluated([*potential.conditioned, *points, *rows], found)


def geometry(potential: Potential) -> dict[str, Any]:
    """Return the functions of the manifold, by the names that they have in a host gradient."""
    values, points = [x.value for x in potential.variables], potential.positions
    manifold = ArrayManifold(potential.manifold)
    found = {}
    if potential.is_standardised:
        vectors, center = (tuple(x.type() for x in points) for _ in range(2))
        graphs = potential.carried(vectors, center, points)
        found["carried"] = Interpreted([*vectors, *center, *points], graphs)
    return found | {
        "representatives": Representatives(potential.manifold),
        "to_points": Interpreted(values, as_points(potential.variables, values)),
        "to_values": Interpreted(points, potential.values(points)),
        "project": manifold.project,
        "random_point": manifold.random_point,
        "to_tangent": manifold.to_tangent,
        "geodesic": manifold.geodesic,
    }


class ArrayManifold:
    """The maps of a manifold on the host, whose arguments are arrays one after the other.

    Parameters
    ----------
    manifold : Product
        The manifold.
    """

    def __init__(self, manifold: Product) -> None:
        self._manifold, self._n = manifold, len(manifold.factors)

    def project(self, *points: np.ndarray) -> list[np.ndarray]:
        """Return the nearest point."""
        return self._typed(self._manifold.project, points, points)

    def random_point(self, *noise: np.ndarray) -> list[np.ndarray]:
        """Turn standard normals into a random point."""
        return self._typed(self._manifold.random_point, noise, noise)

    def to_tangent(self, *both: np.ndarray) -> list[np.ndarray]:
        """Project vectors, which come after the point, onto its tangent space."""
        point, vector = both[: self._n], both[self._n :]
        return self._typed(self._manifold.to_tangent, point, point, vector)

    def geodesic(self, *arguments: np.ndarray) -> list[np.ndarray]:
        """Follow a geodesic from a point with a velocity for a time: the point, the velocity."""
        n = self._n
        point, velocity, time = arguments[:n], arguments[n : 2 * n], arguments[2 * n]

        def ends(x: Point, v: Point) -> Point:
            positions, velocities = self._manifold.geodesic(x, v, time)
            return *positions, *velocities

        return self._typed(ends, (*point, *velocity), point, velocity)

    def _typed(
        self, function: Callable[..., Point], like: Sequence[np.ndarray], *arguments: Any
    ) -> list[np.ndarray]:
        """Return arrays of the types of others. Infinities do not warn."""
        with np.errstate(all="ignore"):
            found = function(*arguments)
        return [np.asarray(x, np.asarray(y).dtype) for x, y in zip(found, like, strict=True)]


def _inputs(potential: Potential) -> tuple[tuple, list]:
    dtype = _dtype(potential)
    points = tuple(graph_input("point", dtype=dtype, shape=s) for s in potential.manifold.shapes)
    return points, [source.placeholder("rows", None) for source in potential.sources]


def _dtype(potential: Potential) -> str:
    return potential.variables[0].position.dtype


def in_chunks(rows: Sequence[np.ndarray], size: int) -> list[list[np.ndarray]]:
    """Cut the rows of every source into chunks; those of different lengths have no common ones."""
    n = len(rows[0]) if rows else 0
    if n <= size or any(len(x) != n for x in rows):
        return [list(rows)]
    return [[x[i : i + size] for x in rows] for i in range(0, n, size)]


def averaged(parts: Sequence[list[Any]], chunks: Sequence[Sequence[np.ndarray]]) -> list[Any]:
    """Return the mean of estimates by chunks of rows, each weighed by its number of rows."""
    if len(parts) == 1:
        return parts[0]
    pairs, n = zip(parts, chunks, strict=True), sum(len(rows[0]) for rows in chunks)
    return added([len(rows[0]) / n * x for x in part] for part, rows in pairs)


def added(parts: Iterable[list[Any]]) -> list[Any]:
    """Add lists entry by entry, in their order."""
    total: list[Any] = []
    for part in parts:
        total = [a + b for a, b in zip(total, part, strict=True)] if total else part
    return total
