#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Energies and gradients at points around a center: of all rows, or differences of batches.

The energy of a batch at a point, less that at the center and less the linear change from there,
scaled to all rows, is right on average. Its noise is small because both are near; the linear change
is that of all rows. An importance weight is an exponential, whose average is too large by the
factor :math:`\exp(\sigma^2 / 2)` for noise of variance :math:`\sigma^2`. Several batches for each
point tell that variance.

Ceperley, D. M. and Dewing, M. (1999). The penalty method for random walks with uncertain energies.
Journal of Chemical Physics 110.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.kernel.all_rows import evaluated_with_all_rows
from pymc_geodesic.kernel.host_gradient import HostGradient

__all__ = ["AllRows", "Differences"]

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
