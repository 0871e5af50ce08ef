#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""The three exactly solvable pieces from which the second-order integrators are made.

A moves along geodesics, B damps the velocity, O kicks it with gradient and noise. The symmetric
order A, B, O, B, A has local error of order three (Liu, Zhu and Song 2016, section 3.3; Chen, Ding
and Carin 2015). Points, velocities and gradients are tuples with one tensor a variable.
"""

from __future__ import annotations

import numpy as np
import pytensor.tensor as pt

from pytensor.tensor import TensorVariable

from pymc_geodesic.manifolds import Point, Product

__all__ = [
    "damp",
    "drift",
    "kick",
    "least_friction",
    "matched_friction",
    "ornstein_uhlenbeck_variance",
]

# Leaves a little noise to inject where the gradient's own noise is all that the friction can carry.
FRICTION_MARGIN = 1.001


def drift(
    manifold: Product, position: Point, velocity: Point, time: TensorVariable
) -> tuple[Point, Point]:
    """Follow the geodesic for ``time``: the piece A."""
    return manifold.geodesic(position, velocity, time)


def damp(velocity: Point, friction: tuple[TensorVariable, ...], time: TensorVariable) -> Point:
    """B: ``v exp(-friction time)``, one friction a variable, broadcastable to it."""
    return tuple(v * pt.exp(-c * time) for v, c in zip(velocity, friction, strict=True))


def kick(
    manifold: Product,
    position: Point,
    velocity: Point,
    *,
    gradient: Point,
    noise: Point,
    step_size: TensorVariable,
    noise_variance: tuple[TensorVariable, ...],
) -> Point:
    r"""O: :math:`v \leftarrow \Lambda(x)[v - \epsilon \nabla U + \sqrt{s}\, z]`.

    ``noise`` holds standard normals z, ``noise_variance`` the variance s of each variable. The
    velocity is projected too: it is tangent already, up to rounding, which would otherwise pile up.
    """
    kicked = tuple(
        v - step_size * g + pt.sqrt(s) * z
        for v, g, z, s in zip(velocity, gradient, noise, noise_variance, strict=True)
    )
    return manifold.to_tangent(position, kicked)


def ornstein_uhlenbeck_variance(
    friction: TensorVariable, step_size: TensorVariable, variance: TensorVariable | None
) -> TensorVariable:
    r"""Variance to inject in O so that B, O, B keeps ``v ~ N(0, 1)`` at any friction.

    .. math::

        s = 2 \sinh(C \epsilon) - \epsilon^2 V,

    the solution of ``exp(-2 C eps) + exp(-C eps) (s + eps^2 V) = 1``. It tends to the papers'
    ``(2 C - eps V) eps`` for small ``C eps``; theirs cools the chain to temperature
    ``C eps / sinh(C eps)``.
    """
    injected = 2 * pt.sinh(friction * step_size)
    return injected if variance is None else injected - step_size**2 * variance


def matched_friction(
    manifold: Product,
    friction: TensorVariable,
    step_size: TensorVariable,
    variance: tuple[TensorVariable | None, ...],
) -> tuple[TensorVariable, ...]:
    r"""Friction that carries the gradient noise: at least ``asinh(eps^2 V / 2) / eps``.

    Where the noise covariance ``V`` exceeds what the friction dissipates, no injected noise can be
    negative enough; the friction is then raised in B and O alike, which keeps the balance of
    fluctuation and dissipation at the price of slower diffusion. On a curved manifold the friction
    must be the same in all directions of a point, so the largest entry of ``V`` decides.
    """

    def raised(factor, v):
        if v is None:
            return friction
        return pt.maximum(friction, least_friction(step_size, factor.envelope(v)))

    return tuple(raised(m, v) for m, v in zip(manifold.factors, variance, strict=True))


def least_friction(step_size, variance):
    """Smallest friction that dissipates what gradient noise of this variance heats in a step."""
    return np.arcsinh(0.5 * FRICTION_MARGIN * step_size**2 * variance) / step_size
