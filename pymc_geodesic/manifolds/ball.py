#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Variables between walls: vectors of length one at most; intervals, boxes and orthants."""

from __future__ import annotations

import numpy as np

from numpy.typing import ArrayLike

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds.base import Manifold, Shape
from pymc_geodesic.manifolds.fields import Visit, Work
from pymc_geodesic.manifolds.sphere import LEAST_DIVERGENCE
from pymc_geodesic.validation import UNIT_NORM_TOLERANCE

__all__ = ["Ball", "Box", "reflected"]

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


def reflected(distance: Array, width: Array) -> Array:
    """Fold the line between walls at 0 and ``width``.

    The absolute value of the result is the distance from the first wall after all reflections. The
    result is negative if their number is odd.
    """
    return distance - 2 * width * arrays.floor(distance / (2 * width) + 0.5)


class Box(Manifold):
    r"""Numbers between two walls, at which a particle is reflected; every entry is a point.

    ``geodesic(x, v, t)`` is ``(x + t v, v)``, reflected whenever it meets a wall. Densities are
    with respect to length, without a Jacobian. They may have mass at a wall, where a log transform
    would produce a long tail.

    With one infinite bound it is a half-line, and for vectors an orthant. Step sizes and masses are
    in the units of the variable.

    Parameters
    ----------
    lower, upper : array_like
        The walls: numbers, or arrays that broadcast to the variable. The lower walls must be all
        finite or all infinite, and so must the upper ones.

    Raises
    ------
    ValueError
        If a lower wall is not below its upper one, or finite and infinite ones are mixed.

    Notes
    -----
    The particle sees the even extension of the potential, which has a kink at a wall unless its
    slope is zero there. The splitting of the samplers is still of second order, because the
    reflection is solved exactly (Leimkuhler, Sharma and Tretyakov 2024).

    References
    ----------
    Afshar, H. M. and Domke, J. (2015). Reflection, refraction, and Hamiltonian Monte Carlo. NIPS.

    Leimkuhler, B., Sharma, A. and Tretyakov, M. V. (2024). Numerical integrators for confined
    Langevin dynamics. arXiv:2404.16584.

    Examples
    --------
    >>> import pymc as pm, pymc_geodesic as pmg
    >>> with pm.Model():
    ...     rate = pm.Uniform("rate", 0, 2)
    ...     step = pmg.gSGNHT(manifolds={"rate": pmg.Box(0, 2)})
    """

    name = "Box"
    ndim_core = 0
    mass = "diagonal"

    def __init__(self, lower: ArrayLike = 0.0, upper: ArrayLike = np.inf) -> None:
        self.lower, self.upper = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
        if not np.all(self.lower < self.upper):
            raise ValueError(f"`lower` expected walls below `upper`, got {self!r}.")
        for side, walls in {"lower": self.lower, "upper": self.upper}.items():
            if np.ptp(np.isfinite(walls).astype(int)):
                raise ValueError(
                    f"`{side}` expected walls that are all finite or all infinite, got {walls}. "
                    "Write the entries as two variables."
                )
        self._has = bool(np.isfinite(self.lower).all()), bool(np.isfinite(self.upper).all())
        self.is_compact = all(self._has)
        self.bounds = self.lower, self.upper

    def dim(self, core_shape: Shape) -> int:  # noqa: D102
        return 1

    def to_tangent(self, x: Array, u: Array) -> Array:  # noqa: D102
        return u

    def geodesic(self, x, v, t):  # noqa: D102
        return self._folded(x + t * v, v)

    def project(self, x: Array) -> Array:
        """Reflect at the walls; the identity between them.

        Tuning also evaluates densities off the manifold, where their even extension is used.
        """
        return self._folded(x, x)[0]

    def random_point(self, noise: Array) -> Array:
        """Turn a standard normal into a uniform number, or into a distance from the only wall."""
        if not self.is_compact:
            middle = self.lower if self._has[0] else self.upper
            return self.project(noise + self._wall(middle, noise) if any(self._has) else noise)
        lower, width = (self._wall(value, noise) for value in (self.lower, self.upper - self.lower))
        half, root = np.array([0.5, np.sqrt(2.0)], dtype=noise.dtype)
        return self.project(lower + width * half * (1 + arrays.erf(noise / root)))

    def field_shapes(self, shape: Shape) -> list[Shape]:  # noqa: D102
        return [shape, shape]

    def field_moments(self, x: Array) -> list[Array]:
        """Return the number itself, and the product of its distances from the walls."""
        product, _ = self._distances(x)
        return [x, product]

    def field_work(self, visit: Visit, moments, *, dim) -> Work:
        r"""``F = w h (x - m)``, h the product of the distances a, b from the walls over that at m.

        It vanishes at the walls. The weight is the mean :math:`w = 3 E[a b] / (a b)(m) - 2` of
        its divergence, zero for a uniform distribution, of which any temperature is that of U = 0;
        or one where a wall is missing.
        """
        mean, mean_product = moments
        product, slope = self._distances(visit.start)
        at_mean, _ = self._distances(mean)
        weight = 3 * mean_product / at_mean - 2 if self.is_compact else arrays.ones_like(mean)
        away = visit.start - mean
        work = (weight * away * product / at_mean * visit.gradient).sum()
        divergence = (weight * (product + away * slope) / at_mean).sum()
        return Work(work, divergence, arrays.maximum((weight**2).sum(), LEAST_DIVERGENCE * dim))

    def check(self, value) -> str | None:  # noqa: D102
        value = np.asarray(value)
        if np.all((value >= self.lower) & (value <= self.upper)):
            return None
        return (
            f"expected numbers from {self.lower} to {self.upper}, got some in "
            f"[{np.min(value):.6g}, {np.max(value):.6g}]"
        )

    def __repr__(self) -> str:
        """Show the walls."""
        return f"Box({self.lower.tolist()}, {self.upper.tolist()})"

    def _wall(self, value: np.ndarray, x: Array) -> Array:
        return value.astype(x.dtype)

    def _folded(self, x, v):
        """Fold a number and turn a velocity with it; between the walls both stay as they are."""
        lower, upper = self._wall(self.lower, x), self._wall(self.upper, x)
        inside = (x >= lower) & (x <= upper)
        if self.is_compact:
            signed = reflected(x - lower, upper - lower)
            folded = arrays.clip(lower + arrays.abs(signed), lower, upper)
            turned = arrays.where(signed < 0, -v, v)
        elif any(self._has):
            folded, turned = 2 * (lower if self._has[0] else upper) - x, -v
        else:
            return x, v
        return arrays.where(inside, x, folded), arrays.where(inside, v, turned)

    def _distances(self, x: Array) -> tuple[Array, Array]:
        """Product of the distances from the walls, and its derivative."""
        below = x - self._wall(self.lower, x) if self._has[0] else None
        above = self._wall(self.upper, x) - x if self._has[1] else None
        if below is not None and above is not None:
            return below * above, above - below
        if below is not None:
            return below, arrays.ones_like(x)
        if above is not None:
            return above, -arrays.ones_like(x)
        return arrays.ones_like(x), arrays.zeros_like(x)
