#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""The three exactly solvable pieces from which the second-order integrators are made.

A moves along geodesics, B damps the velocity, O kicks it with gradient and noise. The symmetric
order A, B, O, B, A has local error of order three (Liu, Zhu and Song 2016, section 3.3; Chen, Ding
and Carin 2015). Points, velocities and gradients are tuples with one tensor per variable.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic import arrays
from pymc_geodesic.algorithms.row_noise import damp_rows
from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds import Point, Product
from pymc_geodesic.potential.estimate import Estimate, Spectrum, Variance, applied, mapped

__all__ = [
    "balanced_estimate",
    "balanced_kick",
    "damp",
    "damp_along",
    "damp_balanced",
    "drift",
    "kick",
    "least_friction",
    "matched_friction",
    "momentum_decay",
]

type Number = Array | Spectrum
"""A number for each entry of a variable, or for each direction of its points."""

# The SGGMC paper recommends 0.01 to 0.1; the cautious end suits other models.
DEFAULT_MOMENTUM_DECAY = 0.01
# Leaves a little noise to inject even if the gradient noise uses up all of the friction.
FRICTION_MARGIN = 1.001


def drift(manifold: Product, position: Point, velocity: Point, time: Array) -> tuple[Point, Point]:
    """Follow the geodesic for ``time``: the piece A."""
    return manifold.geodesic(position, velocity, time)


def damp(velocity: Point, friction: Sequence[Number], time: Array) -> Point:
    """B: ``v exp(-friction time)``, with a friction for each variable.

    It is broadcastable to the variable, or has a friction for each direction of a point.
    """
    pairs = zip(velocity, friction, strict=True)
    return tuple(applied(mapped(lambda c: arrays.exp(-c * time), c), v) for v, c in pairs)


def damp_balanced(
    manifold: Product,
    velocity: Point,
    friction: tuple[Array, ...],
    noise: Point,
    *,
    step_size: Array,
) -> Point:
    r"""B for half a step, with additional friction that balances the measured gradient noise.

    A noise of variance :math:`V_i` needs :math:`\epsilon V_i / 2`. Then what is left for a
    thermostat is the same for all entries. ``noise`` has the variances of the entries of each
    variable, the covariances that entries of a row have in common (see
    ``algorithms/row_noise.py``), and at last by how much variances along the
    directions of the mass exceed what entries with independent noise would make of them; without
    it nothing is added.

    A thermostat for each entry would find this friction too. But it must not be used if the noise
    grows with the distance from a center: it follows the velocity, which makes positions too wide
    by half the covariance of squared positions and squared velocities.
    """
    if not noise:
        return damp(velocity, friction, step_size / 2)
    n = len(manifold.factors)
    entries, covariances, directions = noise[:n], noise[n:-1], noise[-1]
    damped = damp(velocity, _with_noise(friction, entries, step_size), step_size / 2)
    time = 0.25 * step_size**2
    damped = damp_rows(manifold, damped, covariances, time=time)
    return manifold.damp_directions(damped, time * directions)


def damp_along(velocity: Point, difference: Point | None, *, step_size: Array) -> Point:
    r"""B for half a step along the noise of the gradient, as a pair of half batches shows it.

    For a difference d with :math:`E\, d\, d^\top = V`, the covariance of the noise at this place,

    .. math::

        v \leftarrow v - f(\epsilon^2 |d|^2) \frac{d\, d^\top}{|d|^2} v,
        \qquad f(u) = \min\Bigl(\frac u4 + \frac{5 u^2}{96}, 1\Bigr) .

    Once before and once after the kick, it takes away the heat :math:`\epsilon^2 V` that the noise
    brings, on average over d, wherever the chain is and whatever the direction of the noise. So
    ``v ~ N(0, I)`` is kept at every place; a friction that is the same everywhere keeps it only on
    average. For Gaussian noise the covariance of v after B, O, B exceeds the identity by
    :math:`\epsilon^4 (V \operatorname{tr} V - V^2) / 6`, so by nothing if the noise has one
    direction. (With :math:`E |d|^2 d d^\top = V \operatorname{tr} V + 2 V^2`, an exponential decay
    in place of f leaves three times as much, and :math:`\epsilon^4 V^2` for one direction.) It is
    not from the papers.

    Parameters
    ----------
    velocity : tuple of array
        Velocities in the frame of unit mass, one tensor of the shape of each variable.
    difference : tuple of array or None
        d, of the same shapes and tangent to the manifold; without it nothing is damped.
    step_size : array
        A scalar.
    """
    if difference is None:
        return velocity
    square = sum(arrays.sum(d**2) for d in difference)
    product = sum(arrays.sum(d * v) for d, v in zip(difference, velocity, strict=True))
    heat = step_size**2 * square
    # The difference may vanish, for example that of control variates at their center.
    least = np.asarray(np.finfo(square.dtype).tiny, dtype=square.dtype)
    share = arrays.minimum(heat / 4 + 5 * heat**2 / 96, 1) * product / arrays.maximum(square, least)
    return tuple(v - share * d for v, d in zip(velocity, difference, strict=True))


def balanced_estimate(
    manifold: Product,
    estimate: Estimate,
    noise: Point,
    *,
    friction: Array,
    step_size: Array,
) -> tuple[Estimate, tuple[Array, ...]]:
    """Scale a gradient, and find the variance to inject, for entries whose noise is measured.

    ``friction`` is the friction without noise; ``noise`` is that of :func:`damp_balanced`.
    """
    entries = noise[: len(manifold.factors)]
    own = _with_noise((friction,) * len(entries), entries, step_size)
    scales, injected = balanced_kick(manifold, own, step_size, tuple(entries))
    pairs = zip(scales, estimate.gradient, strict=True)
    return estimate._replace(gradient=tuple(scale * g for scale, g in pairs)), injected


def _with_noise(
    friction: tuple[Array, ...], noise: Sequence[Array], step_size: Array
) -> tuple[Array, ...]:
    return tuple(xi + 0.5 * step_size * v for xi, v in zip(friction, noise, strict=True))


def kick(
    manifold: Product,
    position: Point,
    velocity: Point,
    *,
    gradient: Point,
    noise: Point,
    step_size: Array,
    noise_variance: Sequence[Number],
) -> Point:
    r"""O: :math:`v \leftarrow \Lambda(x)[v - \epsilon \nabla U + \sqrt{s}\, z]`.

    ``noise`` holds standard normals z, ``noise_variance`` the variance s of each variable. The
    velocity is projected too: it is tangent up to rounding errors, which would accumulate.
    """
    kicked = tuple(
        v - step_size * g + applied(mapped(arrays.sqrt, s), z)
        for v, g, z, s in zip(velocity, gradient, noise, noise_variance, strict=True)
    )
    return manifold.to_tangent(position, kicked)


def balanced_kick(
    manifold: Product,
    friction: Sequence[Number],
    step_size: Array,
    variance: Variance,
) -> tuple[tuple[Number, ...], tuple[Number, ...]]:
    r"""Scale of the gradient and variance of the noise in O that fit the damping of B.

    With :math:`h = C \epsilon / 2` they are

    .. math::

        f = \cosh h, \qquad s = 2 \sinh 2h - f^2 \epsilon^2 V .

    The noise keeps ``v ~ N(0, 1)`` through B, O, B at any friction, as it solves
    :math:`e^{-4h} + e^{-2h} (s + f^2 \epsilon^2 V) = 1`. The scale makes B, O, B equal to half a
    kick, an exact Ornstein-Uhlenbeck step and half a kick. The papers' ``f = 1`` and
    ``s = 2 C eps - eps^2 V`` are the limits for small ``C eps``; at ``C eps = 1`` theirs give the
    kinetic temperature 0.85, and ``f = 1`` alone positions too wide by ``cosh(1/2) = 1.13``.

    Where V is a matrix in the tangent space of a point, f and s are matrices too, with its
    eigenvectors. If the gradient's noise is too large for this scale, f is the largest possible
    scale. It is one if :func:`matched_friction` had to raise the friction.
    """
    scales: list[Number] = []
    variances: list[Number] = []
    for factor, c, v in zip(manifold.factors, friction, variance, strict=True):
        if isinstance(v, Spectrum):
            along = c.values if isinstance(c, Spectrum) else v.of_points(c)
            scale, noise = _scale_and_noise(along, step_size, v.values, v.values)
            scales.append(Spectrum(scale, v.vectors))
            variances.append(Spectrum(noise, v.vectors))
        else:
            bound = None if v is None else factor.envelope(v)
            scale, noise = _scale_and_noise(c, step_size, v, bound)
            scales.append(scale)
            variances.append(noise)
    return tuple(scales), tuple(variances)


def _scale_and_noise(friction, step_size, variance, bound) -> tuple[Array, Array]:
    """Return f and s of :func:`balanced_kick`; f is the same for all entries that share a bound."""
    total = 2 * arrays.sinh(friction * step_size)
    square = arrays.cosh(0.5 * friction * step_size) ** 2
    if variance is None:
        return arrays.sqrt(square), total
    square = arrays.minimum(square, total / (FRICTION_MARGIN * step_size**2 * bound))
    return arrays.sqrt(square), total - square * step_size**2 * variance


def matched_friction(
    manifold: Product,
    friction: Array,
    step_size: Array,
    variance: Variance,
) -> tuple[Number, ...]:
    r"""Friction that balances the gradient noise: at least ``asinh(eps^2 V / 2) / eps``.

    If the noise covariance ``V`` exceeds what the friction dissipates, the injected noise would
    need a negative variance. The friction is then raised in both B and O, which preserves the
    balance of fluctuation and dissipation but slows diffusion. Where V is a matrix in the tangent
    space of a point, it is raised along the eigenvectors that need it: B, O and B have the same
    point. If only variances of the entries of a curved point are known, the largest decides.
    """

    def raised(factor, v):
        if v is None:
            return friction
        if isinstance(v, Spectrum):
            given = v.of_points(friction)
            return v.map(lambda values: arrays.maximum(given, least_friction(step_size, values)))
        return arrays.maximum(friction, least_friction(step_size, factor.envelope(v)))

    return tuple(raised(m, v) for m, v in zip(manifold.factors, variance, strict=True))


def least_friction(step_size, variance):
    """Smallest friction that dissipates the heat of gradient noise of this variance in a step."""
    return arrays.arcsinh(0.5 * FRICTION_MARGIN * step_size**2 * variance) / step_size


def momentum_decay(step_size: float, dim: int) -> float:
    """Friction, or noise that needs it, that damps the velocity by one per cent per transition."""
    return DEFAULT_MOMENTUM_DECAY / step_size
