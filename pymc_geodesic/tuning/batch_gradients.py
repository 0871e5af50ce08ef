#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Gradients of several batches at a point, and their coordinates in the frame of a mass."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.mass.arrays import Mass, joined
from pymc_geodesic.mass.low_rank import LowRankMass

__all__ = ["along_directions", "gradients_of_batches", "in_frame"]


def gradients_of_batches(
    gradient: HostGradient,
    point: Sequence[np.ndarray],
    *,
    center: Sequence[np.ndarray] | None,
    n: int,
    rng: np.random.Generator,
    size: int | None = None,
) -> tuple[list[list[np.ndarray]], list[list[np.ndarray]]]:
    """Return the gradients of n batches, and if there is a center their changes from there.

    Parameters
    ----------
    gradient : HostGradient
        Gradients of the model.
    point : sequence of ndarray
        Where to evaluate them.
    center : sequence of ndarray or None
        Center of the control variates.
    n : int
        Number of batches.
    rng : numpy.random.Generator
        Draws the rows.
    size : int, optional
        Rows of a batch, which are then all different; by default those of the model.

    Returns
    -------
    list of list of ndarray
        For each batch its gradient, one array for each variable.
    list of list of ndarray
        Its change from the center; empty without a center.
    """
    rows = [gradient.rows(rng, size) for _ in range(n)]
    here = [found.gradient for found in gradient.many([point] * n, rows)]
    if center is None:
        return here, []
    nearest = gradient.representatives.of_point(center, point)
    there = [found.gradient for found in gradient.many([nearest] * n, rows)]
    pairs = zip(here, there, strict=True)
    return here, [[a - b for a, b in zip(*pair, strict=True)] for pair in pairs]


def in_frame(gradient: HostGradient, point, vector, mass: Mass) -> list[np.ndarray]:
    """Map a gradient to the frame, followed by its components along the mass's directions."""
    force = mass.force(gradient.to_tangent(*point, *vector))
    return [*force, along_directions(force, mass)]


def along_directions(vector: Sequence[np.ndarray], mass: Mass | None) -> np.ndarray:
    """Return the components of a vector of the frame along the directions of a mass, if any."""
    return joined(vector) @ mass.directions if isinstance(mass, LowRankMass) else np.zeros(0)
