#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Vectors of length one at most."""

from __future__ import annotations

import numpy as np

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds.base import Manifold, Shape
from pymc_geodesic.manifolds.box import reflected
from pymc_geodesic.manifolds.fields import Visit, Work
from pymc_geodesic.manifolds.sphere import LEAST_DIVERGENCE
from pymc_geodesic.validation import UNIT_NORM_TOLERANCE

__all__ = ["Ball"]

# A particle that grazes the wall would be reflected infinitely often. Smaller angles are replaced
# by this one, which is far below the rounding of a position.
LEAST_SINE = 1e-9


class Ball(Manifold):
    r"""The unit ball; particles are reflected at its surface.

    Inside the ball ``geodesic(x, v, t)`` is ``(x + t v, v)``. A particle that meets the sphere with
    radial and tangential velocities :math:`v_n, v_t` meets it again after each chord of duration
    :math:`2 v_n / |v|^2`, rotated in the plane of x and v by the angle
    :math:`2 \arctan(v_n / v_t)`. Any number of reflections therefore costs as much as one.
    Densities are with respect to volume, and may have mass at the sphere. The intrinsic dimension
    is ``n``.

    Steps use it for :class:`pymc_geodesic.UniformBall` on request.

    References
    ----------
    Afshar, H. M. and Domke, J. (2015). Reflection, refraction, and Hamiltonian Monte Carlo. NIPS.

    Examples
    --------
    >>> import pymc as pm, pymc_geodesic as pmg
    >>> with pm.Model():
    ...     x = pmg.UniformBall("x", 3)
    ...     step = pmg.SGGMC(manifolds={"x": pmg.Ball()})
    """

    name = "Ball"
    is_compact = True

    def dim(self, core_shape: Shape) -> int:  # noqa: D102
        return core_shape[0]

    def to_tangent(self, x: Array, u: Array) -> Array:  # noqa: D102
        return u

    def geodesic(self, x, v, t):  # noqa: D102
        straight = x + t * v
        inside = (straight**2).sum(axis=-1, keepdims=True) <= 1
        y, w = _reflected(x, v, t)
        return arrays.where(inside, straight, y), arrays.where(inside, v, w)

    def project(self, x: Array) -> Array:
        """Reflect lengths at the sphere; the identity inside.

        Tuning also evaluates densities off the manifold, where their even extension is used.
        """
        squares = _inner(x, x)
        length = arrays.sqrt(arrays.maximum(squares, 1))
        folded = arrays.abs(reflected(length, np.asarray(1, dtype=x.dtype)))
        return arrays.where(squares <= 1, x, x * (folded / length))

    def random_point(self, noise: Array) -> Array:
        """Turn standard normals into points of any length up to one."""
        return noise / arrays.sqrt(1 + _inner(noise, noise))

    def field_shapes(self, shape: Shape) -> list[Shape]:  # noqa: D102
        return [shape, shape[:-1]]

    def field_moments(self, x: Array) -> list[Array]:
        """Return the vector itself, and one minus its square."""
        return [x, _room(x)]

    def field_work(self, visit: Visit, moments, *, dim) -> Work:
        r"""``F = w h (x - m)``, :math:`h = (1 - |x|^2) / E[1 - |x|^2]`, zero at the sphere.

        The mean of its divergence :math:`w [n h - 2 x \cdot (x - m) / E(1 - |x|^2)]` is
        :math:`n w^2`, zero for a uniform distribution, of which any temperature is that of U = 0.
        """
        (mean, mean_room), n = moments, float(arrays.static_shape(visit.start)[-1])
        x, away = visit.start, visit.start - mean
        spread = 1 - mean_room - (mean * mean).sum(axis=-1)
        weight = 1 - 2 * spread / (n * mean_room)
        share = _room(x) / mean_room
        along = (away * visit.gradient).sum(axis=-1)
        work = (weight * share * along).sum()
        divergence = (weight * (n * share - 2 * (x * away).sum(axis=-1) / mean_room)).sum()
        return Work(work, divergence, arrays.maximum(n * (weight**2).sum(), LEAST_DIVERGENCE * dim))

    def check(self, value) -> str | None:  # noqa: D102
        longest = np.max(np.linalg.norm(np.asarray(value), axis=-1), initial=0.0)
        if longest <= 1 + UNIT_NORM_TOLERANCE:
            return None
        return f"expected vectors of length 1 at most in the last axis, got one of {longest:.6g}"


def _reflected(x, v, t):
    """Return position and velocity of a particle that leaves the ball within the time.

    The result is not used for particles that stay inside or rest, but its gradient must be finite
    for them too.
    """
    tiny = np.asarray(np.finfo(x.dtype).tiny, dtype=x.dtype)
    # Numbers and not truth values: the loop over transitions takes a truth value as its counter.
    sense, time = arrays.sign(t), arrays.abs(t)
    speed = arrays.sqrt(arrays.maximum(_inner(v, v), tiny))
    heading = sense * v / speed
    along, room = _inner(x, heading), 1 - _inner(x, x)
    first = -along + arrays.sqrt(arrays.maximum(along**2 + room, tiny))
    outwards = x + first * heading
    sine = arrays.clip(_inner(outwards, heading), np.asarray(LEAST_SINE, dtype=x.dtype), 1)
    rest = heading - sine * outwards
    cosine = arrays.sqrt(arrays.maximum(_inner(rest, rest), tiny))
    sideways, left = rest / cosine, speed * time - first
    n_chords = arrays.floor(left / (2 * sine))
    angle = 2 * n_chords * arrays.arctan2(sine, cosine)
    normal = arrays.cos(angle) * outwards + arrays.sin(angle) * sideways
    tangent = arrays.cos(angle) * sideways - arrays.sin(angle) * outwards
    direction = cosine * tangent - sine * normal
    return normal + (left - 2 * n_chords * sine) * direction, sense * speed * direction


def _inner(a: Array, b: Array) -> Array:
    return (a * b).sum(axis=-1, keepdims=True)


def _room(x: Array) -> Array:
    return 1 - (x * x).sum(axis=-1)
