#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Move the points of a curved manifold until they have given moments.

In flat space an affine map :math:`x \mapsto b + (1 + S) x` gives draws any mean and covariance. On
a manifold with coordinates y it is a small move along :math:`\sum_a (b + S y)_a \nabla y_a`. To
first order it changes :math:`y_a` by :math:`\sum_b P_{ab} (b + S y)_b`, with the inner products P
of the gradients. So b and S follow from linear equations, and a few rounds solve them.
"""

from __future__ import annotations

import numpy as np

from pymc_geodesic.refinement.moments import Correction
from pymc_geodesic.refinement.points import PointFrame

__all__ = ["moved_to"]

ROUNDS = 8
# Coordinates up to which products of different ones are given their moments too.
MOST_PAIRED = 9
# Least squares with errors as weights, and a little weight on points that stay.
RIDGE = 1e-8
# Longest move in a round, in units in which coordinates have unit variance.
LONGEST = 0.5


def moved_to(frame: PointFrame, x: np.ndarray, target: Correction) -> np.ndarray:
    """Return points with the moments of a correction.

    Parameters
    ----------
    frame : PointFrame
        Coordinates of the points.
    x : ndarray, shape (draw, *core)
        The points.
    target : Correction
        Means and covariance of the coordinates.
    """
    m = len(target.mean)
    first, second = np.triu_indices(m) if m <= MOST_PAIRED else (np.arange(m), np.arange(m))
    wanted = np.concatenate([target.mean, target.cov[first, second]])
    errors = np.concatenate([target.mean_error, target.cov_error[first, second]])
    weights = 1 / np.maximum(errors, 1e-6)
    for _ in range(ROUNDS):
        y, _, products = frame.at(x, np.zeros_like(x))
        about = y - target.mean
        moments = np.concatenate(
            [y.mean(axis=0), (about[:, first] * about[:, second]).mean(axis=0)]
        )
        change = _changes(y, about, products, first, second)
        a = change * weights[:, None]
        normal = a.T @ a
        normal[np.diag_indices_from(normal)] += RIDGE * np.trace(normal)
        found = np.linalg.solve(normal, a.T @ ((wanted - moments) * weights))
        field = _field(found, y, first, second)
        length = np.sqrt(np.mean(np.sum(field**2, axis=1)) / m)
        x = frame.moved(x, field * min(1.0, LONGEST / max(length, np.finfo(float).tiny)))
    return x


def _field(
    parameters: np.ndarray, y: np.ndarray, first: np.ndarray, second: np.ndarray
) -> np.ndarray:
    """Return b + S y for the parameters of b and of the symmetric matrix S."""
    m = y.shape[1]
    matrix = np.zeros((m, m))
    matrix[first, second] = parameters[m:]
    matrix[second, first] = parameters[m:]
    return parameters[:m] + y @ matrix


def _changes(
    y: np.ndarray, about: np.ndarray, products: np.ndarray, first: np.ndarray, second: np.ndarray
) -> np.ndarray:
    """Return derivatives of the moments with respect to the parameters."""
    m = y.shape[1]
    columns = []
    for k in range(m + len(first)):
        unit = np.zeros(m + len(first))
        unit[k] = 1.0
        moved = np.einsum("nab,nb->na", products, _field(unit, y, first, second))
        square = moved[:, first] * about[:, second] + about[:, first] * moved[:, second]
        columns.append(np.concatenate([moved.mean(axis=0), square.mean(axis=0)]))
    return np.stack(columns, axis=1)
