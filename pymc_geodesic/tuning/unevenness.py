#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""By how much the noise of gradients changes from place to place.

Gradients of the same batches are compared at all places. Rows with outliers, which dominate the
noise of the few batches that are drawn, then weigh the same everywhere.
"""

from __future__ import annotations

import math

import numpy as np

from pymc_geodesic.manifolds import Product

__all__ = ["unevenness"]


def unevenness(differences: np.ndarray, manifold: Product) -> float:
    r"""Estimate :math:`(E_x \lVert C(x) - \bar C \rVert^2)^{1/2} / \lVert \bar C \rVert`.

    :math:`\bar C` is the mean of the noise covariance C(x) over places. For independent pairs i and
    j of batches, :math:`(y_i(x)^\top y_j(x'))^2` has the mean :math:`\operatorname{tr} C(x) C(x')`.
    Tangent spaces of a curved manifold differ from place to place, so that there only the mean
    variance over the directions of a point is compared, :math:`|y_i|^2 |y_j|^2 / d` for d of them.

    Parameters
    ----------
    differences : ndarray, shape (place, pair, entry)
        Of pairs of gradients of different batches, which are the same at all places.
    manifold : Product
        Manifold of the entries.

    Returns
    -------
    float
        Zero for even noise and for a single place; NaN if a gradient is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from pymc_geodesic.manifolds import Euclidean, Product
    >>> from pymc_geodesic.tuning.unevenness import unevenness
    >>> rows = np.random.default_rng(1).standard_normal((50, 3))
    >>> manifold = Product([Euclidean()], shapes=[(3,)])
    >>> round(unevenness(np.array([rows] * 50), manifold), 1)
    0.0
    >>> round(unevenness(np.array([scale * rows for scale in [0.5, 1.5] * 25]), manifold), 1)
    0.8
    """
    n_places, n_pairs, _ = differences.shape
    y = differences.reshape(n_places * n_pairs, -1).astype("float64")
    flat, sizes = _compared(y, manifold)
    of_others = np.tile(~np.eye(n_pairs, dtype=bool), (n_places, n_places))
    at_one = np.kron(np.eye(n_places, dtype=bool), np.ones((n_pairs, n_pairs), dtype=bool))
    if at_one.all():
        return 0.0
    whole = np.mean(((y @ y.T) ** 2)[at_one & of_others])
    even = np.mean(((flat @ flat.T) ** 2 + sizes @ sizes.T)[~at_one & of_others])
    # Even noise may have an estimate below zero.
    return float(np.sqrt(np.maximum(whole - even, 0) / even)) if even else 0.0


def _compared(y: np.ndarray, manifold: Product) -> tuple[np.ndarray, np.ndarray]:
    """Return the flat entries, and the square of each curved point divided by the root of d."""
    ends = np.cumsum([math.prod(shape) for shape in manifold.shapes])[:-1]
    flat, sizes = [y[:, :0]], [y[:, :0]]
    for part, factor, shape, dim in zip(
        np.split(y, ends, axis=1),
        manifold.factors,
        manifold.shapes,
        manifold.point_dims,
        strict=True,
    ):
        if factor.is_flat:
            flat.append(part)
        else:
            squares = factor.over_core(part.reshape(len(y), *shape) ** 2)
            sizes.append(squares.reshape(len(y), -1) / np.sqrt(dim))
    return np.concatenate(flat, axis=1), np.concatenate(sizes, axis=1)
