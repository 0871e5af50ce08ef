#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The functions of a model's potential and manifold that are called on the host."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytensor.tensor as pt

from pytensor.gradient import pullback
from pytensor.tensor import tensor

from pymc_geodesic.kernel.compiled import inputs_like
from pymc_geodesic.kernel.evaluated import Evaluated
from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.kernel.representatives import Representatives
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential.variables import as_points, as_values

__all__ = [
    "added",
    "component_densities",
    "energies_and_gradients",
    "geometry",
    "terms_of_rows",
]


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
    return Evaluated([*potential.conditioned, *points, *rows], outputs)


def terms_of_rows(potential: Potential) -> Evaluated | None:
    """Return the log likelihood of each row; None if it is no sum over rows."""
    points, rows = _inputs(potential)
    terms = potential.of_each_row(potential.manifold.project(points), rows)
    inputs = [*potential.conditioned, *points, *rows]
    return None if terms is None else Evaluated(inputs, [terms])


def component_densities(potential: Potential) -> Evaluated:
    """Return the log densities of rows by the components of each mixture."""
    points, rows = _inputs(potential)
    found = potential.component_densities(potential.manifold.project(points), rows)
    return Evaluated([*potential.conditioned, *points, *rows], found)


def geometry(potential: Potential) -> dict[str, Any]:
    """Return the functions of the manifold, by the names that they have in a host gradient."""
    manifold, dtype = potential.manifold, _dtype(potential)
    values = [variable.value for variable in potential.variables]
    points, vectors = (
        tuple(inputs_like(name, [np.zeros(s, dtype) for s in manifold.shapes]))
        for name in ("point", "vector")
    )
    time = tensor("time", dtype=dtype, shape=())
    found = {
        "representatives": Representatives(manifold, dtype=dtype),
        "to_points": Interpreted(values, as_points(potential.variables, values)),
        "to_values": Interpreted(points, as_values(potential.variables, points)),
        "project": Interpreted(points, manifold.project(points)),
        "random_point": Interpreted(vectors, manifold.random_point(vectors)),
        "to_tangent": Interpreted([*points, *vectors], manifold.to_tangent(points, vectors)),
    }
    if manifold.has_geodesics:
        ends, velocities = manifold.geodesic(points, vectors, time)
        found["geodesic"] = Interpreted([*points, *vectors, time], [*ends, *velocities])
    return found


def _inputs(potential: Potential) -> tuple[tuple, list]:
    dtype = _dtype(potential)
    points = tuple(inputs_like("point", [np.zeros(s, dtype) for s in potential.manifold.shapes]))
    return points, [source.placeholder("rows", None) for source in potential.sources]


def _dtype(potential: Potential) -> str:
    return potential.variables[0].position.dtype


def added(parts: Iterable[list[Any]]) -> list[Any]:
    """Add lists entry by entry, in their order."""
    total: list[Any] = []
    for part in parts:
        total = [a + b for a, b in zip(total, part, strict=True)] if total else part
    return total
