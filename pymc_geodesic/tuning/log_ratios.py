#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Which probability vectors move in log ratios: those that data keep away from zero."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.manifolds import Manifold
from pymc_geodesic.manifolds.base import Shape
from pymc_geodesic.tuning.curvature import tangent_curvature

__all__ = ["is_inside", "takes_log_ratios"]

# Most entries, each of which needs two gradients.
LARGEST = 50
# Standard deviations between zero and the square root of a probability, from which on that of its
# logarithm is at most a half, and its posterior nearly normal.
LEAST_DISTANCE = 4.0


def takes_log_ratios(manifold: Manifold, shape: Shape) -> bool:
    """Return whether a variable is one probability vector whose log ratios may be normal."""
    return manifold.poles_below > 0 and len(shape) == 1 and 1 < shape[0] <= LARGEST


def is_inside(
    gradient: HostGradient, mode: Sequence[np.ndarray], i: int, *, rows: Sequence[np.ndarray]
) -> bool:
    """Return whether the posterior of a probability vector keeps away from zero.

    Logarithms of its entries are then nearly normal, and a mass may mix them with other variables.

    Parameters
    ----------
    gradient : HostGradient
        Energies and gradients.
    mode : sequence of ndarray
        A mode in the embedding.
    i : int
        Number of the variable, a vector of square roots of probabilities.
    rows : sequence of ndarray
        Rows with which curvature is measured.
    """
    with np.errstate(all="ignore"):
        curvature = tangent_curvature(gradient, mode, i, rows=rows)
    if not np.all(np.isfinite(curvature)):
        return False
    # The first belongs to the vector itself, along which it cannot move.
    values, vectors = np.linalg.eigh(curvature)
    if values[1] <= 0:
        return False
    widths = np.sqrt(np.sum(vectors[:, 1:] ** 2 / values[1:], axis=1))
    return bool(np.all(np.abs(mode[i]) >= LEAST_DISTANCE * widths))
