#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The tangent masses of unit vectors whose posterior has unequal widths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pymc_geodesic.kernel.host_gradient import SUBSAMPLE, HostGradient
from pymc_geodesic.manifolds import Manifold
from pymc_geodesic.manifolds.base import Shape
from pymc_geodesic.mass.tangent import SMALLEST_WIDTH, WIDEST, TangentMass
from pymc_geodesic.tuning.center import MOST_SUBSAMPLE, descend
from pymc_geodesic.tuning.curvature import tangent_curvature
from pymc_geodesic.tuning.starts import best_start

__all__ = ["FoundMass", "takes_tangent_mass", "tangent_masses"]

# Smallest ratio of the largest to the smallest width at which a mass saves time: the number of
# transitions per draw falls by about this ratio, and the map costs a product with a matrix in each.
SMALLEST_RATIO = 5.0
# Most entries of a unit vector: each needs two gradients at every point of the measurement.
LARGEST = 50
# Points around the mode at which curvature is averaged, so that a mode that is flat or sharp only
# at one point does not decide.
N_AROUND = 8
LEAST_CURVATURE = 1 / WIDEST**2


class FoundMass(NamedTuple):
    """A tangent mass, and the ratio of widths that calls for it.

    Attributes
    ----------
    mass : TangentMass
        The mass.
    ratio : float
        Largest width of the posterior divided by the smallest.
    """

    mass: TangentMass
    ratio: float


def takes_tangent_mass(manifold: Manifold, shape: Shape) -> bool:
    """Return whether a variable is one unit vector with more than one direction to move in."""
    return manifold.is_stretched_linearly and len(shape) == 1 and 2 < shape[0] <= LARGEST


def tangent_masses(
    gradient: HostGradient,
    start: Sequence[np.ndarray],
    *,
    loose: Sequence[bool],
    rng: np.random.Generator,
) -> dict[int, FoundMass]:
    r"""Return the masses of the unit vectors whose widths differ, by the variable's number.

    The curvature across the vector is averaged over points around the mode of a subsample of the
    data. With its eigenvalues :math:`c_1 \le c_2 \le \dots`, of which the first belongs to the
    vector itself, the scatter matrix has the eigenvalues :math:`\min(1, \max(c_2, 16) / c_k)`:
    narrow directions get the width of the widest, or a quarter of a radian if that is wider.

    Parameters
    ----------
    gradient : HostGradient
        Energies and gradients.
    start : sequence of ndarray
        Start of the search in the embedding.
    loose : sequence of bool
        Whether each variable may start elsewhere.
    rng : Generator
        Source of rows and points. The same generator gives the same masses.
    """
    rows = gradient.rows(rng, SUBSAMPLE)
    start = best_start(gradient, start, loose=loose, rng=rng)
    mode = descend(
        lambda x: gradient(x, rows), start, project=gradient.project, most=MOST_SUBSAMPLE
    )
    pairs = zip(gradient.manifold.factors, gradient.manifold.shapes, strict=True)
    taken = [i for i, pair in enumerate(pairs) if takes_tangent_mass(*pair)]
    found = {i: _mass(gradient, mode, i, rows, rng) for i in taken}
    return {i: one for i, one in found.items() if one is not None}


def _mass(
    gradient: HostGradient,
    mode: Sequence[np.ndarray],
    i: int,
    rows: Sequence[np.ndarray],
    rng: np.random.Generator,
) -> FoundMass | None:
    with np.errstate(all="ignore"):
        at_mode = tangent_curvature(gradient, mode, i, rows=rows)
        if not _ratio(at_mode) >= SMALLEST_RATIO:
            return None
        points = [_around(mode, i, at_mode, rng) for _ in range(N_AROUND)]
        others = [tangent_curvature(gradient, point, i, rows=rows) for point in points]
    average = np.mean([at_mode, *others], axis=0)
    if not (ratio := _ratio(average)) >= SMALLEST_RATIO:
        return None
    values, vectors = np.linalg.eigh(average)
    reference = max(values[1], LEAST_CURVATURE)
    shares = np.clip(reference / np.maximum(values, reference), SMALLEST_WIDTH**2, 1.0)
    return FoundMass(TangentMass((vectors * shares) @ vectors.T), ratio)


def _ratio(curvature: np.ndarray) -> float:
    """Largest width across the vector divided by the smallest; not a number if not finite."""
    if not np.all(np.isfinite(curvature)):
        return np.nan
    values = np.linalg.eigvalsh(curvature)
    return float(np.sqrt(max(values[-1], LEAST_CURVATURE) / max(values[1], LEAST_CURVATURE)))


def _around(
    mode: Sequence[np.ndarray], i: int, curvature: np.ndarray, rng: np.random.Generator
) -> list[np.ndarray]:
    """Move the unit vector by a draw of the normal distribution with this curvature."""
    x = mode[i]
    values, vectors = np.linalg.eigh(curvature)
    move = (vectors / np.sqrt(np.maximum(values, LEAST_CURVATURE))) @ rng.standard_normal(len(x))
    moved = x + move - x * (x @ move)
    return [
        (moved / np.linalg.norm(moved)).astype(x.dtype) if j == i else y for j, y in enumerate(mode)
    ]
