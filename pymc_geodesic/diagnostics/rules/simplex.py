#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Stein identities of the simplex."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pymc_geodesic.diagnostics.harmonics import (
    Identity,
    label,
    pairs_of,
    points_of,
    product_label,
    stein_values,
)
from pymc_geodesic.diagnostics.kernel_factors import Factor, FlatFactor, kernel_factors, positive
from pymc_geodesic.diagnostics.rules.sphere import tangent_gradient
from pymc_geodesic.manifolds import Simplex


@stein_values.register
def _(manifold: Simplex, x: np.ndarray, gradient: np.ndarray, *, order: int) -> Iterator[Identity]:
    r"""Take monomials in p, which are even polynomials on the sphere of square roots.

    With :math:`w_i = x_i (\Lambda \nabla U)_i`, bounded where p is zero,

    .. math::

        L p_i &= 2 - 2 K p_i - 2 w_i \\
        L p_i p_j &= 2 p_i + 2 p_j + 8 \delta_{ij} p_i - 4 (K + 2) p_i p_j
            - 2 p_j w_i - 2 p_i w_j
    """
    n, pull = x.shape[-1], x * tangent_gradient(x, gradient)
    for prefix, (p, w) in points_of(x * x, pull):
        for i in range(n):
            yield f"{{}}{label(*prefix, i)}", 2 - 2 * n * p[..., i] - 2 * w[..., i]
        if order < 2:
            continue
        for i, j in [*((i, i) for i in range(n)), *pairs_of(n)]:
            a, b = p[..., i], p[..., j]
            laplacian = 2 * a + 2 * b + 8 * (i == j) * a - 4 * (n + 2) * a * b
            value = laplacian - 2 * b * w[..., i] - 2 * a * w[..., j]
            yield product_label(prefix, i, j), value


@kernel_factors.register
def _(manifold: Simplex, x: np.ndarray, gradient: np.ndarray) -> Iterator[Factor]:
    """Take log ratios, which are flat: at facets the gradient in square roots is infinite."""
    n = x.shape[-1]
    log_p, excess = 2 * np.log(x), 0.5 * (x * gradient - 1)
    gradients = excess - x * x * excess.sum(axis=-1, keepdims=True)
    for point in np.ndindex(x.shape[1:-1]):
        y = log_p[(slice(None), *point)]
        y = y - y.mean(axis=1, keepdims=True)
        scale = positive(y.var(axis=0).sum() / (n - 1)) ** 0.5
        score = -gradients[(slice(None), *point)] * scale
        yield FlatFactor((y - y.mean(axis=0)) / scale, score, n - 1)
