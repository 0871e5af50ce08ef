#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The probability simplex in log probabilities, for dynamics with their own coordinates."""

from __future__ import annotations

import numpy as np

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds.base import Manifold, Shape
from pymc_geodesic.manifolds.fields import Work, log_ratio_work

__all__ = ["LogSimplex"]


class LogSimplex(Manifold):
    r"""Probability vectors as ``u = log(p)``, normalised so that :math:`\sum_k e^{u_k} = 1`.

    Not an isometric embedding: it has no geodesics, and no volume term is added, so that densities
    stay those of ``p`` with respect to Lebesgue measure on its first K - 1 entries. Gradients in
    ``u`` are :math:`p_k \partial_k`, which need no division by small entries.

    Examples
    --------
    >>> import numpy as np
    >>> from pymc_geodesic.manifolds import LogSimplex
    >>> LogSimplex().embed(np.array([0.5, 0.5])).round(4)
    array([-0.6931, -0.6931])
    """

    name = "LogSimplex"
    is_compact = True
    has_geodesics = False

    def dim(self, core_shape: Shape) -> int:  # noqa: D102
        return core_shape[0] - 1

    def to_tangent(self, x: Array, u: Array) -> Array:  # noqa: D102
        return u - (arrays.exp(x) * u).sum(axis=-1, keepdims=True)

    def geodesic(self, x, v, t):
        """Raise an error: the coordinates are not isometric."""
        raise NotImplementedError("LogSimplex has no geodesics; use Simplex.")

    def project(self, x: Array) -> Array:  # noqa: D102
        return x - arrays.logsumexp(x, axis=-1, keepdims=True)

    def stein_functions(self, x, gradient):
        """Write the probabilities, with the metric in which they move independently of facets."""
        p, n = arrays.exp(x), arrays.static_shape(x)[-1]
        products = arrays.eye(n, dtype=x.dtype) * p[:, None, :] - p[:, :, None] * p[:, None, :]
        slope = gradient - p * gradient.sum(axis=-1, keepdims=True)
        return p, slope - 1 + np.asarray(n, x.dtype) * p, products

    def moved_along(self, x, weights):  # noqa: D102
        return self.project(x + weights)

    def field_shapes(self, shape: Shape) -> list[Shape]:  # noqa: D102
        return [shape]

    def field_work(self, visit, moments, *, dim) -> Work:
        """``F = y - mean`` in log ratios at the gradient: the start has other coordinates."""
        log_p, [mean] = visit.position, moments
        work = log_ratio_work(arrays.exp(log_p), log_p - mean, visit.gradient - 1)
        return Work(work, dim, dim)

    def embed(self, value: Array) -> Array:  # noqa: D102
        return arrays.log(value)

    def unembed(self, x: Array) -> Array:  # noqa: D102
        return arrays.exp(x)
