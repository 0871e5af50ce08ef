#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Flat space, the manifold of every variable without another one; and angles, on a circle."""

from __future__ import annotations

import math

import numpy as np

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds.base import Manifold, Shape
from pymc_geodesic.manifolds.fields import Visit, Work
from pymc_geodesic.manifolds.sphere import LEAST_DIVERGENCE

__all__ = ["Circle", "Euclidean", "wrapped"]

# By how much an angle stored in single precision may exceed pi.
TOLERANCE = 1e-6


def wrapped(x: Array) -> Array:
    """Return the angle from -pi to pi that differs from ``x`` by whole turns."""
    half = np.asarray(np.pi, dtype=x.dtype)
    # Rounding may leave the range, outside which PyMC's densities are zero.
    return arrays.clip(x - 2 * half * arrays.floor(x / (2 * half) + 0.5), -half, half)


class Circle(Manifold):
    r"""Angles in radians from -pi to pi, whose ends are the same point; every entry is a point.

    The circle of length :math:`2 \pi` in coordinates without a metric term: geodesics are straight,
    ``geodesic(x, v, t) = (x + t v, v)`` up to whole turns. Several angles form a flat torus.
    Densities are with respect to length.

    Examples
    --------
    >>> import pymc as pm, pymc_geodesic as pmg
    >>> pmg.manifold_of(pm.VonMises.dist(0.0, 2.0))
    Circle()
    """

    name = "Circle"
    ndim_core = 0
    mass = "diagonal"
    is_compact = True

    def dim(self, core_shape: Shape) -> int:  # noqa: D102
        return 1

    def to_tangent(self, x: Array, u: Array) -> Array:  # noqa: D102
        return u

    def geodesic(self, x, v, t):  # noqa: D102
        return wrapped(x + t * v), v

    def project(self, x: Array) -> Array:  # noqa: D102
        return wrapped(x)

    def nearest(self, x, reference):  # noqa: D102
        return reference + wrapped(x - reference)

    def random_point(self, noise: Array) -> Array:
        """Turn a standard normal into a uniform angle."""
        half, root = np.array([np.pi, np.sqrt(2.0)], dtype=noise.dtype)
        return wrapped(half * arrays.erf(noise / root))

    def stein_functions(self, x, gradient):
        """Write the cosine and the sine."""
        cosine, sine = arrays.cos(x), arrays.sin(x)
        slopes = arrays.stack([-sine, cosine], axis=-1)
        values = arrays.stack([cosine, sine], axis=-1)
        return values, slopes * gradient[:, None] + values, slopes[:, :, None] * slopes[:, None, :]

    def moved_along(self, x, weights):  # noqa: D102
        return wrapped(x - arrays.sin(x) * weights[:, 0] + arrays.cos(x) * weights[:, 1])

    def field_shapes(self, shape: Shape) -> list[Shape]:  # noqa: D102
        return [shape] * 4

    def field_moments(self, x: Array) -> list[Array]:
        """Cosine and sine of the angle and of its double."""
        return [arrays.cos(x), arrays.sin(x), arrays.cos(2 * x), arrays.sin(2 * x)]

    def field_work(self, visit: Visit, moments, *, dim) -> Work:
        r"""``F = -grad f``, f the first two harmonics of the angle with their means as weights.

        The divergence ``f_1 + 4 f_2`` has the mean ``|m_1|^2 + 4 |m_2|^2``. It is zero only for
        moments like those of a uniform distribution, for which U = 0 at any temperature.
        """
        cosine, sine, cosine_2, sine_2 = self.field_moments(visit.start)
        a, b, a_2, b_2 = moments
        field = a * sine - b * cosine + 2 * (a_2 * sine_2 - b_2 * cosine_2)
        divergence = (a * cosine + b * sine + 4 * (a_2 * cosine_2 + b_2 * sine_2)).sum()
        expected = (a**2 + b**2 + 4 * (a_2**2 + b_2**2)).sum()
        work = (field * visit.gradient).sum()
        return Work(work, divergence, arrays.maximum(expected, LEAST_DIVERGENCE * dim))

    def check(self, value) -> str | None:  # noqa: D102
        largest = np.max(np.abs(np.asarray(value)), initial=0.0)
        if largest <= np.pi + TOLERANCE:
            return None
        return (
            "expected angles from -pi to pi, as `(x + np.pi) % (2 * np.pi) - np.pi` wraps them, "
            f"got one of {largest:.6g} in size"
        )


class Euclidean(Manifold):
    """Flat space with straight lines as geodesics: every entry is a point of the line.

    ``geodesic(x, v, t) = (x + t v, v)``. Euclidean random variables keep PyMC's transform and its
    Jacobian, so the point is the *transformed* value.

    Examples
    --------
    >>> import pymc as pm, pymc_geodesic as pmg
    >>> pmg.manifold_of(pm.Gamma.dist(1.0, 1.0))
    Euclidean()
    """

    name = "Euclidean"
    ndim_core = 0
    mass = "matrix"
    is_flat = True

    def dim(self, core_shape: Shape) -> int:  # noqa: D102
        return math.prod(core_shape)

    def to_tangent(self, x: Array, u: Array) -> Array:  # noqa: D102
        return u

    def geodesic(self, x, v, t):  # noqa: D102
        return x + t * v, v

    def project(self, x: Array) -> Array:  # noqa: D102
        return x

    def field_shapes(self, shape: Shape) -> list[Shape]:  # noqa: D102
        return [shape]

    def field_work(self, visit, moments, *, dim) -> Work:
        """``F = x - mean``, of divergence d."""
        [mean] = moments
        return Work(((visit.start - mean) * visit.gradient).sum(), dim, dim)
