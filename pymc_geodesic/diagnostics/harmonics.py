#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Low-order test functions f with their Stein operators, one family per manifold.

For draws of :math:`\exp(-U)` on a manifold without boundary, or where the flux of f through the
boundary vanishes, :math:`E[\Delta f - \nabla f \cdot \nabla U] = 0` with the Laplace-Beltrami
operator.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch
from itertools import combinations

import numpy as np

from pymc_geodesic.diagnostics.fields import tangent_gradient
from pymc_geodesic.manifolds import Euclidean, Manifold, Simplex, Sphere

__all__ = ["stein_values"]

# Largest number of entries whose products are tested: the number of products is quadratic in it.
LARGEST_PAIRED = 10

Identity = tuple[str, np.ndarray]
"""Name of a test function of a variable called ``{}``, and the operator's values at the draws."""


@singledispatch
def stein_values(
    manifold: Manifold, x: np.ndarray, gradient: np.ndarray, *, order: int
) -> Iterator[Identity]:
    """Evaluate the Stein operator on test functions of degree one, and two if ``order`` is two.

    Parameters
    ----------
    manifold : Manifold
        The manifold of the points.
    x, gradient : ndarray
        Points and gradients of the potential energy in the embedding, ``(chain, draw, *shape)``.
    order : {1, 2}
        Largest degree.

    Yields
    ------
    str, ndarray
        The function's name, with ``{}`` for that of the variable, and values ``(chain, draw)``
        whose mean is zero.
    """
    raise NotImplementedError(
        f"A Stein check expected a manifold with test functions, got {manifold!r}. "
        "Register some with `pymc_geodesic.diagnostics.harmonics.stein_values.register`."
    )


@stein_values.register
def _(
    manifold: Euclidean, x: np.ndarray, gradient: np.ndarray, *, order: int
) -> Iterator[Identity]:
    """Use coordinates, -g_i, and centred products, delta_ij - (x_i g_j + x_j g_i) / 2."""
    labels = _labels(x.shape[2:])
    x, g = (array.reshape(*array.shape[:2], -1) for array in (x, gradient))
    x = x - x.mean(axis=(0, 1))
    for i, label in enumerate(labels):
        yield f"{{}}{label}", -g[..., i]
    if order < 2:
        return
    for i, label in enumerate(labels):
        yield f"{{}}{label}^2", 1 - x[..., i] * g[..., i]
    for i, j in _pairs(len(labels)):
        value = -0.5 * (x[..., i] * g[..., j] + x[..., j] * g[..., i])
        yield f"{{}}{labels[i]} {{}}{labels[j]}", value


@stein_values.register
def _(manifold: Sphere, x: np.ndarray, gradient: np.ndarray, *, order: int) -> Iterator[Identity]:
    r"""Use spherical harmonics: :math:`x_i`, and :math:`x_i x_j` minus its mean over the sphere.

    .. math::

        \Delta x_i = -(n - 1) x_i, \qquad \Delta x_i x_j = 2 \delta_{ij} - 2 n x_i x_j
    """
    n, slope = x.shape[-1], tangent_gradient(x, gradient)
    for prefix, (x_p, g) in _points(x, slope):
        for i in range(n):
            yield f"{{}}{_label(*prefix, i)}", -(n - 1) * x_p[..., i] - g[..., i]
        if order < 2:
            continue
        for i, j in [*((i, i) for i in range(n)), *_pairs(n)]:
            laplacian = 2 * (i == j) - 2 * n * x_p[..., i] * x_p[..., j]
            value = laplacian - x_p[..., i] * g[..., j] - x_p[..., j] * g[..., i]
            yield _product(prefix, i, j), value


@stein_values.register
def _(manifold: Simplex, x: np.ndarray, gradient: np.ndarray, *, order: int) -> Iterator[Identity]:
    r"""Use monomials in p, which are even polynomials on the sphere of square roots.

    With :math:`w_i = x_i (\Lambda \nabla U)_i`, bounded where p is zero,

    .. math::

        L p_i &= 2 - 2 K p_i - 2 w_i \\
        L p_i p_j &= 2 p_i + 2 p_j + 8 \delta_{ij} p_i - 4 (K + 2) p_i p_j
            - 2 p_j w_i - 2 p_i w_j
    """
    n, pull = x.shape[-1], x * tangent_gradient(x, gradient)
    for prefix, (p, w) in _points(x * x, pull):
        for i in range(n):
            yield f"{{}}{_label(*prefix, i)}", 2 - 2 * n * p[..., i] - 2 * w[..., i]
        if order < 2:
            continue
        for i, j in [*((i, i) for i in range(n)), *_pairs(n)]:
            a, b = p[..., i], p[..., j]
            laplacian = 2 * a + 2 * b + 8 * (i == j) * a - 4 * (n + 2) * a * b
            value = laplacian - 2 * b * w[..., i] - 2 * a * w[..., j]
            yield _product(prefix, i, j), value


def _pairs(n: int) -> list[tuple[int, int]]:
    return list(combinations(range(n), 2)) if n <= LARGEST_PAIRED else []


def _points(*arrays: np.ndarray) -> Iterator[tuple[tuple[int, ...], list[np.ndarray]]]:
    """Iterate over the points of a variable: vectors along the last axis."""
    for prefix in np.ndindex(arrays[0].shape[2:-1]):
        yield prefix, [array[(slice(None), slice(None), *prefix)] for array in arrays]


def _label(*index: int) -> str:
    return f"[{', '.join(map(str, index))}]" if index else ""


def _labels(shape: tuple[int, ...]) -> list[str]:
    return [_label(*index) for index in np.ndindex(shape)]


def _product(prefix: tuple[int, ...], i: int, j: int) -> str:
    first, second = _label(*prefix, i), _label(*prefix, j)
    return f"{{}}{first}^2" if i == j else f"{{}}{first} {{}}{second}"
