#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Tangent masses of unit vectors from the curvature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.manifolds import Manifold
from pymc_geodesic.manifolds.base import Shape
from pymc_geodesic.mass.tangent import SMALLEST_WIDTH, WIDEST, FrameMass, TangentMass, symmetric
from pymc_geodesic.tuning.center import MOST_SUBSAMPLE, descend
from pymc_geodesic.tuning.curvature import frame_curvature, tangent_curvature
from pymc_geodesic.tuning.starts import best_starts

__all__ = ["mode_of", "takes_tangent_mass", "tangent_masses"]

# Smallest ratio of the largest to the smallest width at which a mass saves time: the number of
# transitions per draw falls by about this ratio, and the map costs a product with a matrix in each.
SMALLEST_RATIO = 5.0
# Most entries of a unit vector, or pairs of columns of a frame: each needs two gradients at every
# point of the measurement.
LARGEST = 50
# Points around the mode at which curvature is averaged, so that a mode that is flat or sharp only
# at one point does not decide.
N_AROUND = 8
LEAST_CURVATURE = 1 / WIDEST**2


def takes_tangent_mass(manifold: Manifold, shape: Shape) -> bool:
    """Return whether a variable is one unit vector or frame whose parts may differ in width."""
    if not manifold.is_stretched_linearly or len(shape) != manifold.ndim_core:
        return False
    if len(shape) == 1:
        return 2 < shape[0] <= LARGEST
    n, p = shape
    return 1 < p < n and p * (p - 1) // 2 <= LARGEST


def mode_of(
    gradient: HostGradient,
    start: Sequence[np.ndarray],
    *,
    rows: Sequence[np.ndarray],
    movable: Sequence[bool],
    rng: np.random.Generator,
) -> list[np.ndarray]:
    """Search the mode of some rows, around which curvatures are measured.

    Parameters
    ----------
    gradient : HostGradient
        Energies and gradients.
    start : sequence of ndarray
        Start of the search in the embedding.
    rows : sequence of ndarray
        Rows of each source of minibatches.
    movable : sequence of bool
        Whether each variable may start elsewhere.
    rng : Generator
        Source of starts.
    """
    start, *_ = best_starts(gradient, start, movable=movable, rng=rng)
    return descend(
        lambda x: gradient(x, rows), start, project=gradient.project, most=MOST_SUBSAMPLE
    ).point


def tangent_masses(
    gradient: HostGradient,
    mode: Sequence[np.ndarray],
    *,
    rows: Sequence[np.ndarray],
    rng: np.random.Generator,
) -> dict[int, tuple[Any, float]]:
    r"""Return the masses of unit vectors and frames whose widths differ, by the variable's number.

    The curvature across a unit vector is averaged over points around the mode of a subsample of the
    data. With its eigenvalues :math:`c_1 \le c_2 \le \dots`, of which the first belongs to the
    vector itself, the scatter matrix has the eigenvalues :math:`\min(1, \max(c_2, 16) / c_k)`:
    narrow directions get the width of the widest, or a quarter of a radian if that is wider. The
    widths of a frame are those of its columns and of rotations of two columns in their plane.

    Parameters
    ----------
    gradient : HostGradient
        Energies and gradients.
    mode : sequence of ndarray
        The mode of the rows, in the embedding.
    rows : sequence of ndarray
        Rows with which curvature is measured.
    rng : Generator
        Source of points. The same generator gives the same masses.
    """
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
) -> tuple[Any, float] | None:
    kind: type[_UnitVector] | type[_Frame]
    kind = _Frame if gradient.manifold.factors[i].ndim_core == 2 else _UnitVector
    measured = kind(gradient, i, rows, rng)
    with np.errstate(all="ignore"):
        at_mode = measured.curvature(mode)
        if not _ratio(measured, at_mode) >= SMALLEST_RATIO:
            return None
        points = [measured.around(mode, at_mode) for _ in range(N_AROUND)]
        others = [measured.curvature(point) for point in points]
    average = np.mean([at_mode, *others], axis=0)
    if not (ratio := _ratio(measured, average)) >= SMALLEST_RATIO:
        return None
    return measured.mass(average), ratio


def _ratio(measured: _UnitVector | _Frame, curvature: np.ndarray) -> float:
    """Largest width divided by the smallest; not a number if not finite."""
    if not np.all(np.isfinite(curvature)):
        return np.nan
    values = measured.values(curvature)
    return float(np.sqrt(max(values.max(), LEAST_CURVATURE) / max(values.min(), LEAST_CURVATURE)))


class _UnitVector:
    """Curvatures across a unit vector: a matrix."""

    def __init__(self, gradient: HostGradient, i: int, rows, rng: np.random.Generator) -> None:
        self._gradient, self._i, self._rows, self._rng = gradient, i, rows, rng

    def curvature(self, point: Sequence[np.ndarray]) -> np.ndarray:
        return tangent_curvature(self._gradient, point, self._i, rows=self._rows)

    def values(self, curvature: np.ndarray) -> np.ndarray:
        """Return the curvatures of all directions but that of the vector itself."""
        return np.linalg.eigvalsh(curvature)[1:]

    def around(self, mode: Sequence[np.ndarray], curvature: np.ndarray) -> list[np.ndarray]:
        """Move the vector by a draw of the normal distribution with this curvature."""
        x = mode[self._i]
        values, vectors = np.linalg.eigh(curvature)
        noise = self._rng.standard_normal(len(x))
        move = (vectors / np.sqrt(np.maximum(values, LEAST_CURVATURE))) @ noise
        moved = x + move - x * (x @ move)
        return _replaced(mode, self._i, moved / np.linalg.norm(moved))

    def mass(self, curvature: np.ndarray) -> TangentMass:
        values, vectors = np.linalg.eigh(curvature)
        reference = max(values[1], LEAST_CURVATURE)
        shares = np.clip(reference / np.maximum(values, reference), SMALLEST_WIDTH**2, 1.0)
        return TangentMass((vectors * shares) @ vectors.T)


class _Frame:
    """Curvatures of a frame: those of its columns, then those of rotations of two columns."""

    def __init__(self, gradient: HostGradient, i: int, rows, rng: np.random.Generator) -> None:
        self._gradient, self._i, self._rows, self._rng = gradient, i, rows, rng
        self._p = gradient.manifold.shapes[i][-1]

    def curvature(self, point: Sequence[np.ndarray]) -> np.ndarray:
        found = frame_curvature(self._gradient, point, self._i, rows=self._rows, rng=self._rng)
        return np.concatenate(found)

    def values(self, curvature: np.ndarray) -> np.ndarray:
        return curvature

    def around(self, mode: Sequence[np.ndarray], curvature: np.ndarray) -> list[np.ndarray]:
        """Move the frame by a draw of the normal distribution with these curvatures."""
        x, (columns, rotations) = mode[self._i], self._widths(curvature)
        noise = self._rng.standard_normal(x.shape) * columns
        turn = np.triu(self._rng.standard_normal(rotations.shape) * rotations, 1)
        moved = x + noise - x @ (x.T @ noise) + x @ (turn - turn.T)
        return list(self._gradient.project(*_replaced(mode, self._i, moved)))

    def mass(self, curvature: np.ndarray) -> FrameMass:
        return FrameMass(*self._widths(curvature))

    def _widths(self, curvature: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        widths = np.maximum(curvature, LEAST_CURVATURE) ** -0.5
        return widths[: self._p], symmetric(widths[self._p :], self._p)


def _replaced(mode: Sequence[np.ndarray], i: int, moved: np.ndarray) -> list[np.ndarray]:
    return [moved.astype(y.dtype) if j == i else y for j, y in enumerate(mode)]
