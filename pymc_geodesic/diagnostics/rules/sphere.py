#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Stein identities of the sphere."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pymc_geodesic.diagnostics.directional import mean_direction
from pymc_geodesic.diagnostics.harmonics import (
    Identity,
    label,
    pairs_of,
    points_of,
    product_label,
    stein_values,
)
from pymc_geodesic.diagnostics.kernel_factors import Factor, SphereFactor, kernel_factors, positive
from pymc_geodesic.diagnostics.located import located
from pymc_geodesic.manifolds import Sphere

__all__ = ["tangent_gradient"]


def tangent_gradient(x: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Project gradients in the embedding of a sphere onto the tangent spaces."""
    return gradient - x * (x * gradient).sum(axis=-1, keepdims=True)


@stein_values.register
def _(manifold: Sphere, x: np.ndarray, gradient: np.ndarray, *, order: int) -> Iterator[Identity]:
    r"""Take spherical harmonics: :math:`x_i`, and :math:`x_i x_j` minus its mean over the sphere.

    .. math::

        \Delta x_i = -(n - 1) x_i, \qquad \Delta x_i x_j = 2 \delta_{ij} - 2 n x_i x_j
    """
    n, slope = x.shape[-1], tangent_gradient(x, gradient)
    for prefix, (x_p, g) in points_of(x, slope):
        for i in range(n):
            yield f"{{}}{label(*prefix, i)}", -(n - 1) * x_p[..., i] - g[..., i]
        if order < 2:
            continue
        for i, j in [*((i, i) for i in range(n)), *pairs_of(n)]:
            laplacian = 2 * (i == j) - 2 * n * x_p[..., i] * x_p[..., j]
            value = laplacian - x_p[..., i] * g[..., j] - x_p[..., j] * g[..., i]
            yield product_label(prefix, i, j), value


@kernel_factors.register
def _(manifold: Sphere, x: np.ndarray, gradient: np.ndarray) -> Iterator[Factor]:
    slope = tangent_gradient(x, gradient)
    for point in np.ndindex(x.shape[1:-1]):
        here = x[(slice(None), *point)]
        variance = here.var(axis=0).sum() / (x.shape[-1] - 1)
        yield SphereFactor(here, -slope[(slice(None), *point)], float(positive(variance) ** 0.5))


@located.register
def _(manifold: Sphere, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return mean_direction(draws), draws
