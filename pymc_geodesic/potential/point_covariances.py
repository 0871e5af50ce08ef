#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""The covariance of the noise of a curved point's gradient, from the scores of single rows.

Noise has a direction: data that are spread along one axis push a mean direction along this axis.
Only :math:`\Lambda V \Lambda` acts, at the point where the gradient is taken, so V itself, over the
entries of the embedding, is averaged over transitions and projected at each new point. For the
von Mises-Fisher distribution, whose scores are the rows times a number, V does not depend on the
point at all.
"""

from __future__ import annotations

import math

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds import Manifold
from pymc_geodesic.manifolds.base import Shape

__all__ = ["MOST_ENTRIES", "covariance_of_points", "has_matrix_noise", "matrix_shape"]

# Entries of a point up to which its noise is a matrix, which is decomposed in each transition: 3
# entries take 5 microseconds, 32 take 150.
MOST_ENTRIES = 32


def has_matrix_noise(manifold: Manifold, shape: Shape) -> bool:
    """Return whether the noise of a variable's points is measured as matrices.

    On flat space a point is an entry. A point with one direction needs no matrix, and one of many
    entries would need a large one.
    """
    core = manifold.core_shape(shape)
    is_curved = not manifold.is_flat and manifold.dim(core) > 1
    return is_curved and math.prod(core) <= MOST_ENTRIES


def matrix_shape(manifold: Manifold, shape: Shape) -> Shape:
    """Return the shape of a matrix over the entries of each point."""
    size = math.prod(manifold.core_shape(shape))
    return (*manifold.batch_shape(shape), size, size)


def covariance_of_points(manifold: Manifold, scores: Array, *, shape: Shape) -> Array:
    """Return the covariance of the mean of the scores of independent rows, for each point.

    Parameters
    ----------
    manifold : Manifold
        The manifold of the points.
    scores : array, shape (n, *shape)
        Scores of n rows in the embedding.
    shape : tuple of int
        Shape of the points.

    Returns
    -------
    Array, shape (*batch, D, D)
        The unbiased estimate.
    """
    *batch, size, _ = matrix_shape(manifold, shape)
    n, size_of_batch = scores.shape[0], arrays.size_along(scores, 0)
    rows = arrays.moveaxis((scores - scores.mean(axis=0)).reshape((n, *batch, size)), 0, -2)
    return rows.mT @ rows / (size_of_batch * (size_of_batch - 1))
