#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Gradients of all rows at many points, for one reading of the data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.kernel.host_gradient import HostGradient

__all__ = ["evaluated_with_all_rows", "gradients_of_all_rows"]


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
