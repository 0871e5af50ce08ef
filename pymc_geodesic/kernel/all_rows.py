#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Gradients of all rows at many points, and how those of some rows change along many moves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.kernel.host_functions import added
from pymc_geodesic.kernel.host_gradient import HostGradient

__all__ = ["evaluated_with_all_rows", "gradients_along", "gradients_of_all_rows"]


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
