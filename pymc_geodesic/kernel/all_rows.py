#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Gradients of all rows at many points, and how those of some rows change along many moves.

Batches give energies around a center: that of a batch at a point, less that at the center and less
the linear change from there, scaled to all rows, is right on average. Its noise is small because
both are near; the linear change is that of all rows. An importance weight is an exponential, whose
average is too large by the factor :math:`\exp(\sigma^2 / 2)` for noise of variance
:math:`\sigma^2`. Several batches for each point tell that variance.

Ceperley, D. M. and Dewing, M. (1999). The penalty method for random walks with uncertain energies.
Journal of Chemical Physics 110.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.kernel.host_functions import added
from pymc_geodesic.kernel.host_gradient import HostGradient

__all__ = [
    "AllRows",
    "Differences",
    "evaluated_with_all_rows",
    "gradients_along",
    "gradients_of_all_rows",
]


def gradients_of_all_rows(
    gradient: HostGradient, points: Sequence[Sequence[np.ndarray]]
) -> list[np.ndarray]:
    """Evaluate dU/dx with all rows at every point.

    Parameters
    ----------
    gradient : HostGradient
        Gradients of the model.
    points : sequence of sequence of ndarray
        Points of the embedding, one array for each variable.

    Returns
    -------
    list of ndarray
        For each variable ``(point, *shape)``.
    """
    return evaluated_with_all_rows(gradient, points)[1]


def evaluated_with_all_rows(
    gradient: HostGradient, points: Sequence[Sequence[np.ndarray]]
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Evaluate U and dU/dx with all rows at every point; see :func:`gradients_of_all_rows`."""
    energy = np.zeros(len(points))
    total = [np.zeros((len(points), *np.shape(x))) for x in points[0]]
    n_rows = 0
    # A part of the rows for all points, and then the next: it stays in the processor's cache.
    for rows in gradient.chunks() if gradient.n_rows else [[]]:
        weight = len(rows[0]) if rows else 1
        n_rows += weight
        found = gradient.many(points, [rows] * len(points), are_drawn=False)
        # The likelihood of each part is scaled to the whole data: the whole is their mean.
        energy += weight * np.array([one.energy for one in found])
        for i, part in enumerate(zip(*(one.gradient for one in found), strict=True)):
            total[i] += weight * np.array(part)
    return energy / n_rows, [x / n_rows for x in total]


# Rows that are taken at once, which stay in a processor's cache with all moves.
FEW_ROWS = 2_500


def gradients_along(
    gradient: HostGradient,
    point: Sequence[np.ndarray],
    moves: Sequence[np.ndarray],
    rows: Sequence[np.ndarray],
) -> list[np.ndarray]:
    """Differentiate the gradient of the projected point along several moves.

    Parameters
    ----------
    gradient : HostGradient
        Gradients of the model.
    point : sequence of ndarray
        Where to differentiate.
    moves : sequence of ndarray
        For each variable its moves, stacked.
    rows : sequence of ndarray
        Rows of each source. Of some thousand at a time the mean is taken.

    Returns
    -------
    list of ndarray
        For each variable the changes of its gradient, stacked.
    """
    (fixed, evaluate), n = gradient.function(), len(point)
    # Parts of equal length, for which one function is compiled.
    n_parts = max(1, min(map(len, rows), default=0) // FEW_ROWS)
    parts = [x[: len(x) // n_parts * n_parts].reshape(n_parts, -1) for x in rows]
    total = added(
        evaluate.along([*fixed, *point, *(x[i] for x in parts)], moves, n_before=len(fixed))
        for i in range(n_parts)
    )[1 + n :]
    return [x / n_parts for x in total]


# Rows of a batch, batches for the energy of a point, and others for its gradient: the noise of one
# must not depend on that of the other.
N_ROWS, FOR_ENERGY, FOR_GRADIENT = 3_000, 3, 1
SEED = 1

type _Points = list[list[np.ndarray]]


class AllRows:
    """Energies and gradients of all rows.

    Parameters
    ----------
    gradient : HostGradient
        Energies and gradients of the model.

    Attributes
    ----------
    rows : str
        Of which rows energies are.
    """

    rows = "all rows"

    def __init__(self, gradient: HostGradient) -> None:
        self._gradient = gradient

    def __call__(self, points: _Points) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return energies, the variances of their noise and gradients.

        An energy is infinite where anything is not finite: far away the density is zero.
        """
        energy, gradients = evaluated_with_all_rows(self._gradient, points)
        flat = np.concatenate([g.reshape(len(points), -1) for g in gradients], axis=1)
        return _finite(energy, np.zeros(len(points)), flat)


class Differences:
    """Energies, up to a constant, and gradients by batches, each of other rows.

    Parameters
    ----------
    gradient : HostGradient
        Energies and gradients of the model.
    center : sequence of ndarray
        Point near the others, at which the gradient of all rows is evaluated.

    Attributes
    ----------
    rows : str
        Of which rows energies are.
    """

    rows = f"batches of {FOR_ENERGY * N_ROWS:,} rows"

    def __init__(self, gradient: HostGradient, center: Sequence[np.ndarray]) -> None:
        self._gradient, self._center = gradient, list(center)
        self._there = gradient.whole(center).gradient
        self._rng = np.random.default_rng(SEED)

    @staticmethod
    def are_possible(gradient: HostGradient) -> bool:
        """Return whether batches can be drawn, which are of one kind of rows."""
        return not gradient.is_stream and len(gradient.n_rows) == 1

    def __call__(self, points: _Points) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the same as :class:`AllRows`, of energies whose weights are right on average."""
        found = [self._at(point) for point in points]
        energy, variance, flat = (np.array(x) for x in zip(*found, strict=True))
        return _finite(energy + variance / 2, variance, flat)

    def _at(self, point: list[np.ndarray]) -> tuple[float, float, np.ndarray]:
        gradient, n = self._gradient, FOR_ENERGY + FOR_GRADIENT
        rows = [gradient.rows(self._rng, N_ROWS) for _ in range(n)]
        here, there = (gradient.many([x] * n, rows) for x in (point, self._center))
        pairs = list(zip(here, there, strict=True))
        move = [a - b for a, b in zip(point, self._center, strict=True)]
        energies = np.array(
            [a.energy - b.energy - _dot(b.gradient, move) for a, b in pairs[:FOR_ENERGY]]
        ) + _dot(self._there, move)
        changes = [
            np.mean([a.gradient[i] - b.gradient[i] for a, b in pairs[FOR_ENERGY:]], axis=0)
            for i in range(len(point))
        ]
        flat = [np.ravel(x + at) for x, at in zip(changes, self._there, strict=True)]
        return energies.mean(), energies.var(ddof=1) / FOR_ENERGY, np.concatenate(flat)


def _dot(gradient: list[np.ndarray], move: list[np.ndarray]) -> float:
    return float(sum(np.sum(g * x) for g, x in zip(gradient, move, strict=True)))


def _finite(
    energy: np.ndarray, variance: np.ndarray, flat: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    is_finite = np.isfinite(energy) & np.isfinite(flat).all(axis=1)
    at_most = np.where(is_finite, variance, 0.0)
    return np.where(is_finite, energy, np.inf), at_most, np.where(is_finite[:, None], flat, 0.0)
