#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The probability simplex, mapped to a part of the sphere by the square root, or by logarithms."""

from __future__ import annotations

import numpy as np

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds.base import Manifold, Shape
from pymc_geodesic.manifolds.fields import Work, log_ratio_work
from pymc_geodesic.manifolds.sphere import Sphere
from pymc_geodesic.validation import UNIT_NORM_TOLERANCE

__all__ = ["LogSimplex", "Simplex"]


# Share of a step over which poles are smoothed. Measured on Dirichlet targets: at 1 the smoothing
# itself dominates the bias; below 1/2 the remaining kicks heat the chain more than it saves.
SOFTENING = 0.5


class Simplex(Sphere):
    r"""Probability vectors ``p`` of length K as ``x = sqrt(p)`` on the unit sphere.

    The density of ``p`` with respect to Lebesgue measure on its first K - 1 entries, the measure of
    :class:`pymc.Dirichlet`, becomes with respect to the surface measure of the sphere

    .. math::

        \log \pi_H(x) = \log p(x^2) + \sum_i \log |x_i| + (K - 1) \log 2.

    The chain lives on the whole sphere with this even extension: crossing ``x_i = 0`` is the
    reflection at the facet ``p_i = 0``. Intrinsic dimension ``K - 1``.

    References
    ----------
    Lan, S., Zhou, B. and Shahbaba, B. (2014). Spherical Hamiltonian Monte Carlo for constrained
    target distributions. ICML.

    Examples
    --------
    >>> import pymc as pm, pymc_geodesic as pmg
    >>> pmg.manifold_of(pm.Dirichlet.dist([1.0, 1.0, 1.0]))
    Simplex()
    """

    name = "Simplex"
    is_stretched_linearly = False
    # Dirichlet(alpha) has the density |x|^(2 alpha - 1).
    poles_below = 0.5

    def embed(self, value: Array) -> Array:  # noqa: D102
        return arrays.sqrt(value)

    def unembed(self, x: Array) -> Array:  # noqa: D102
        return x * x

    def soften(self, x: Array, width: Array) -> Array:  # noqa: D102
        squares = x * x + (SOFTENING * width) ** 2
        return arrays.sqrt(squares / squares.sum(axis=-1, keepdims=True))

    def fold(self, x, v):  # noqa: D102
        return arrays.abs(x), arrays.where(x < 0, -v, v)

    def log_volume(self, x: Array) -> Array:  # noqa: D102
        return arrays.log(arrays.abs(x)).sum(axis=-1)

    def laplacian(self, x: Array) -> Array | None:
        """Return None: at a facet the density may be infinite."""
        return None

    def stein_functions(self, x, gradient):
        """Write the probabilities, even polynomials on the sphere; nothing is infinite at zero."""
        p, pull, n = x * x, x * self.to_tangent(x, gradient), arrays.static_shape(x)[-1]
        products = (
            -4 * p[:, :, None] * p[:, None, :] + 4 * arrays.eye(n, dtype=x.dtype) * p[:, None, :]
        )
        return p, 2 * pull - 2 + np.asarray(2 * n, x.dtype) * p, products

    def moved_along(self, x, weights):  # noqa: D102
        return arrays.abs(self.project(x + self.to_tangent(x, 2 * x * weights)))

    def field_shapes(self, shape: Shape) -> list[Shape]:  # noqa: D102
        return [shape]

    def field_moments(self, x: Array) -> list[Array]:  # noqa: D102
        return [_log_squares(x)]

    def field_work(self, visit, moments, *, dim) -> Work:
        r"""``F = y - mean`` in log ratios y, the coordinates in which PyMC itself samples.

        With :math:`h_k = p_k \partial U / \partial p_k = (x_k g_k + 1) / 2` and :math:`U_y = U -
        \sum \log p_k` it is :math:`F \cdot \nabla U_y = \sum_k (\eta_k - p \cdot \eta) (h_k - 1)`,
        where :math:`\eta = \log p - E \log p`, with divergence K - 1. It is bounded at p = 0.
        """
        x, [mean] = visit.position, moments
        excess = 0.5 * (x * visit.gradient - 1)
        return Work(log_ratio_work(x * x, _log_squares(visit.start) - mean, excess), dim, dim)

    def check(self, value) -> str | None:  # noqa: D102
        value = np.asarray(value)
        totals = value.sum(axis=-1)
        if np.all(value >= 0) and np.all(np.abs(totals - 1) <= UNIT_NORM_TOLERANCE):
            return None
        return (
            "expected non-negative entries that sum to 1 in the last axis, "
            f"got a smallest entry of {np.min(value):.6g} and sums in "
            f"[{np.min(totals):.6g}, {np.max(totals):.6g}]"
        )


def _log_squares(x: Array) -> Array:
    # Squares can underflow while the entries themselves do not.
    return 2 * arrays.log(
        arrays.maximum(arrays.abs(x), np.asarray(np.finfo(x.dtype).tiny, dtype=x.dtype))
    )


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
