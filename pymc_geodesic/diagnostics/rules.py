#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The rules of the checks and means of draws for each manifold of the package.

Other manifolds register their own with ``stein_values``, ``kernel_factors`` and ``located`` of
:mod:`pymc_geodesic.diagnostics.harmonics`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pymc_geodesic.diagnostics.direction_statistics import about_mean
from pymc_geodesic.diagnostics.directional import along_axis, mean_direction, principal_axes
from pymc_geodesic.diagnostics.frames import mean_frame
from pymc_geodesic.diagnostics.harmonics import (
    Factor,
    FlatFactor,
    Identity,
    Products,
    SphereFactor,
    kernel_factors,
    label,
    labels_of,
    located,
    pairs_of,
    points_of,
    positive,
    product_label,
    stein_values,
)
from pymc_geodesic.manifolds import Circle, Euclidean, ProjectiveSphere, Simplex, Sphere, Stiefel
from pymc_geodesic.validation import TURNS

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


@stein_values.register
def _(
    manifold: ProjectiveSphere, x: np.ndarray, gradient: np.ndarray, *, order: int
) -> Iterator[Identity]:
    """Take only products, whatever the order: a coordinate is not a function of an axis."""
    coordinates = {name for name, _ in stein_values(Sphere(), x, gradient, order=1)}
    for name, values in stein_values(Sphere(), x, gradient, order=2):
        if name not in coordinates:
            yield name, values


@kernel_factors.register
def _(manifold: ProjectiveSphere, x: np.ndarray, gradient: np.ndarray) -> Iterator[Factor]:
    """Give the axes random signs, which makes them draws of the same density on the sphere."""
    signs = np.random.default_rng(1).choice([-1.0, 1.0], size=(*x.shape[:-1], 1))
    return kernel_factors(Sphere(), signs * x, signs * gradient)


@located.register
def _(manifold: ProjectiveSphere, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give all axes the sign that is next to the principal axis."""
    axis = principal_axes(draws)[1][..., 0, :]
    return axis, along_axis(draws, axis)


@stein_values.register
def _(manifold: Circle, x: np.ndarray, gradient: np.ndarray, *, order: int) -> Iterator[Identity]:
    r"""Take :math:`\cos k x` and :math:`\sin k x`, whose Laplacians are -k^2 times themselves."""
    labels = labels_of(x.shape[2:])
    x, g = (array.reshape(*array.shape[:2], -1) for array in (x, gradient))
    for i, name in enumerate(labels):
        for k in range(1, order + 1):
            angle, times = k * x[..., i], "" if k == 1 else f"{k} "
            cosine, sine = np.cos(angle), np.sin(angle)
            yield f"cos {times}{{}}{name}", -(k**2) * cosine + k * sine * g[..., i]
            yield f"sin {times}{{}}{name}", -(k**2) * sine - k * cosine * g[..., i]


@kernel_factors.register
def _(manifold: Circle, x: np.ndarray, gradient: np.ndarray) -> Iterator[Factor]:
    """Treat every angle as a unit vector in the plane."""
    vectors = np.stack([np.cos(x), np.sin(x)], axis=-1)
    tangents = np.stack([-np.sin(x), np.cos(x)], axis=-1)
    return kernel_factors(Sphere(), vectors, gradient[..., None] * tangents)


@located.register
def _(manifold: Circle, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Write angles within half a turn of the mean direction, which need not be their mean."""
    draws = about_mean(draws, TURNS["radians"])
    angles = np.arctan2(np.sin(draws).mean(axis=0), np.cos(draws).mean(axis=0))
    return angles, draws


@stein_values.register
def _(
    manifold: Euclidean, x: np.ndarray, gradient: np.ndarray, *, order: int
) -> Iterator[Identity]:
    """Take coordinates, -g_i, and centred products, delta_ij - (x_i g_j + x_j g_i) / 2."""
    labels = labels_of(x.shape[2:])
    x, g = (array.reshape(*array.shape[:2], -1) for array in (x, gradient))
    x = x - x.mean(axis=(0, 1))
    for i, name in enumerate(labels):
        yield f"{{}}{name}", -g[..., i]
    if order < 2:
        return
    for i, name in enumerate(labels):
        yield f"{{}}{name}^2", 1 - x[..., i] * g[..., i]
    for i, j in pairs_of(len(labels)):
        value = -0.5 * (x[..., i] * g[..., j] + x[..., j] * g[..., i])
        yield f"{{}}{labels[i]} {{}}{labels[j]}", value


@kernel_factors.register
def _(manifold: Euclidean, x: np.ndarray, gradient: np.ndarray) -> Iterator[Factor]:
    """Standardise every entry by its own standard deviation."""
    x, g = (array.reshape(len(array), -1) for array in (x, gradient))
    sd = positive(x.std(axis=0))
    yield FlatFactor((x - x.mean(axis=0)) / sd, -g * sd, x.shape[1])


def _tangent(x: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Project matrices of the embedding onto the tangent spaces at frames."""
    inner = x.mT @ u
    return u - x @ (0.5 * (inner + inner.mT))


@stein_values.register
def _(manifold: Stiefel, x: np.ndarray, gradient: np.ndarray, *, order: int) -> Iterator[Identity]:
    r"""Take entries and their products, with :math:`c = n - (p + 1) / 2`.

    .. math::

        \Delta x_{ia} &= -c\, x_{ia} \\
        \Delta x_{ia} x_{jb} &= 2 \delta_{ij} \delta_{ab} - \delta_{ab} (X X^\top)_{ij}
            - x_{ib} x_{ja} - 2 c\, x_{ia} x_{jb}
    """
    n, p = x.shape[-2:]
    linear, slope = n - 0.5 * (p + 1), _tangent(x, gradient)
    entries = list(np.ndindex(n, p))
    for prefix in np.ndindex(x.shape[2:-2]):
        x_p, g = (array[(slice(None), slice(None), *prefix)] for array in (x, slope))
        for i, a in entries:
            yield f"{{}}{label(*prefix, i, a)}", -linear * x_p[..., i, a] - g[..., i, a]
        if order < 2:
            continue
        outer = x_p @ x_p.mT
        for k, m in [*((k, k) for k in range(n * p)), *pairs_of(n * p)]:
            (i, a), (j, b) = entries[k], entries[m]
            first, second = x_p[..., i, a], x_p[..., j, b]
            value = 2.0 * ((i == j) and (a == b)) - (a == b) * outer[..., i, j]
            value = value - x_p[..., i, b] * x_p[..., j, a] - 2 * linear * first * second
            value = value - first * g[..., j, b] - second * g[..., i, a]
            names = [f"{{}}{label(*prefix, *entries[which])}" for which in (k, m)]
            yield (f"{names[0]}^2" if k == m else " ".join(names)), value


@dataclass(frozen=True)
class FrameFactor:
    """Frames with the tangent score ``-Lambda dU``; distances are in units of ``spread``."""

    points: np.ndarray
    score: np.ndarray
    spread: float

    def products(self, length: float) -> Products:
        r"""Measure in units of ``length``.

        With :math:`M = X^\top Y` and its symmetric part S, the projections onto the tangent spaces
        give :math:`\Lambda_Y (X - Y) = X - Y S` and :math:`\operatorname{tr} \Lambda_X \Lambda_Y =
        n p - p (p + 1) + ((p + 2) |M|^2 + (\operatorname{tr} M)^2) / 4`.
        """
        x, (n, p) = self.points, self.points.shape[1:]
        unit = self.spread * length
        b = unit * (self.score - (n - 0.5 * (p + 1)) * x)
        inner = np.einsum("sna,tnb->stab", x, x, optimize=True)
        symmetric = 0.5 * (inner + inner.mT)
        trace = np.trace(inner, axis1=2, axis2=3)
        own = (b * x).sum(axis=(1, 2))
        pull = np.einsum("sna,tnb->stab", b, x, optimize=True)
        drift = own[:, None] - (pull * symmetric).sum(axis=(2, 3))
        cubes = ((symmetric @ symmetric) * symmetric).sum(axis=(2, 3))
        flat = b.reshape(len(b), -1)
        return Products(
            scores=flat @ flat.T,
            drift=drift / unit,
            trace=n * p - p * (p + 1) + ((p + 2) * (inner**2).sum(axis=(2, 3)) + trace**2) / 4,
            bend=(trace - cubes) / unit**2,
            distance=np.maximum(2 * (p - trace), 0) / unit**2,
        )


@kernel_factors.register
def _(manifold: Stiefel, x: np.ndarray, gradient: np.ndarray) -> Iterator[FrameFactor]:
    slope = _tangent(x, gradient)
    for point in np.ndindex(x.shape[1:-2]):
        here = x[(slice(None), *point)]
        variance = here.var(axis=0).sum() / manifold.dim(here.shape[1:])
        spread = float(positive(np.asarray(variance)) ** 0.5)
        yield FrameFactor(here, -slope[(slice(None), *point)], spread)


@located.register
def _(manifold: Stiefel, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return mean_frame(draws), draws
