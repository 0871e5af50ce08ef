#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Stochastic gradient geodesic Monte Carlo, SGHMC as first published, and their ``friction=``."""

from __future__ import annotations

import math

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from pymc_geodesic import arrays
from pymc_geodesic.algorithms.algorithm import (
    Algorithm,
    Integrator,
    Setup,
    draw_velocity,
    flat_only,
)
from pymc_geodesic.algorithms.splitting import (
    FRICTION_MARGIN,
    balanced_kick,
    damp,
    drift,
    kick,
    least_friction,
    matched_friction,
    momentum_decay,
)
from pymc_geodesic.algorithms.tuning_rules import friction_noise, friction_rule
from pymc_geodesic.arrays import Array
from pymc_geodesic.kernel.interface import Dynamics
from pymc_geodesic.manifolds import Point, Product
from pymc_geodesic.potential.estimate import Estimator, applied
from pymc_geodesic.potential.noise_matrices import finite_array, read_entries
from pymc_geodesic.potential.variables import SampledVariable
from pymc_geodesic.validation import definite

__all__ = [
    "SGGMC",
    "SGHMC",
    "GivenFriction",
    "State",
    "init",
    "is_number",
    "read_friction",
    "sghmc",
    "transition",
]


class State(NamedTuple):
    """Positions and velocities."""

    position: Point
    velocity: Point


def init(setup: Setup, rng: np.random.Generator) -> State:
    """Begin with velocities at temperature one."""
    return State(setup.position, draw_velocity(setup, rng))


def transition(
    state: State,
    gradient: Estimator,
    noise: Point,
    *,
    manifold: Product,
    step_size: Array,
    friction: Array,
) -> State:
    r"""One transition of Algorithm 1 of Liu, Zhu and Song (2016), in the order A, B, O, B, A.

    .. math::

        \text{A:}\;& (x, v) \leftarrow \text{geodesic}(x, v, \epsilon / 2) \\
        \text{B:}\;& v \leftarrow e^{-C \epsilon / 2} v \\
        \text{O:}\;& v \leftarrow \Lambda(x) [v - f \epsilon \nabla \tilde U(x) + \sqrt{s}\, z]

    with f and s from :func:`~pymc_geodesic.algorithms.splitting.balanced_kick`. On a curved
    manifold V, f and s are matrices in the tangent space at x. If V is the covariance of the
    gradient, it leaves the density :math:`\exp(-U(x) - v^\top v / 2)` invariant, up
    to terms of the order :math:`\epsilon^2`.
    """
    position, velocity = drift(manifold, state.position, state.velocity, step_size / 2)
    estimate = gradient(position)
    frictions = matched_friction(manifold, friction, step_size, estimate.variance)
    scales, noise_variance = balanced_kick(manifold, frictions, step_size, estimate.variance)
    force = tuple(applied(f, g) for f, g in zip(scales, estimate.gradient, strict=True))

    velocity = damp(velocity, frictions, step_size / 2)
    velocity = kick(
        manifold,
        position,
        velocity,
        gradient=force,
        noise=noise,
        step_size=step_size,
        noise_variance=noise_variance,
    )
    velocity = damp(velocity, frictions, step_size / 2)
    position, velocity = drift(manifold, position, velocity, step_size / 2)
    return State(position, velocity)


def statistics(
    state: State,
    *,
    step_size: float,
    noise_variance: float,
    parameters: Mapping[str, float],
    **measured: Any,
) -> dict[str, float]:
    """Return the largest friction in use: the given one, or the one the gradient noise needs."""
    needed = float(least_friction(step_size, noise_variance))
    return {"friction": max(parameters["friction"], needed)}


SGGMC = Algorithm(
    state=State,
    init=init,
    dynamics=Dynamics(transition),
    parameters={"friction": momentum_decay},
    statistics=statistics,
    statistic_names=("friction",),
    tuning_rule=friction_rule,
    heating_noise=friction_noise,
)
SGHMC = replace(SGGMC, require=flat_only)


def _euler_transition(
    state: State,
    gradient: Estimator,
    noise: Point,
    *,
    manifold: Product,
    step_size: Array,
    friction: Array,
) -> State:
    r"""One transition of Algorithm 2 of Chen, Fox and Guestrin (2014), first order.

    .. math::

        \theta &\leftarrow \theta + \epsilon r \\
        r &\leftarrow r - \epsilon \nabla \tilde U(\theta) - \epsilon C r
            + \sqrt{2 (C - \epsilon V / 2) \epsilon}\, z

    The second line uses the new position. If the friction is too small to balance V, it is raised.
    """
    position, momentum = manifold.geodesic(state.position, state.velocity, step_size)
    estimate = gradient(position)
    terms = zip(momentum, estimate.gradient, noise, estimate.variance, strict=True)
    moved = []
    for r, g, z, v in terms:
        heat = 0.0 if v is None else 0.5 * step_size * v
        c = friction if v is None else arrays.maximum(friction, FRICTION_MARGIN * heat)
        injected = arrays.sqrt(2 * (c - heat) * step_size) * z
        moved.append(r - step_size * g - step_size * c * r + injected)
    return State(position, tuple(moved))


def sghmc(integrator: Integrator = "splitting") -> Algorithm:
    """Return the algorithm: the symmetric splitting, or the steps as first published."""
    if integrator == "splitting":
        return SGHMC
    return replace(SGHMC, dynamics=Dynamics(_euler_transition), order=1)


@dataclass(frozen=True)
class GivenFriction:
    """Frictions of the entries of Euclidean variables, and of points on curved manifolds.

    Attributes
    ----------
    entries : ndarray of shape (D,)
        Of the entries of all Euclidean variables in order; not used with a matrix.
    matrix : ndarray of shape (D, D) or None
        Over these entries.
    points : tuple of ndarray
        Of the points of each other variable, broadcastable to its velocity.
    """

    entries: np.ndarray
    matrix: np.ndarray | None
    points: tuple[np.ndarray, ...]

    def of_factors(self, manifold: Product) -> list[np.ndarray]:
        """Return one array for each factor, broadcastable to its velocity."""
        # Kernels may carry several scalar variables in one factor, in the same order.
        left, curved, found = self.entries, list(self.points), []
        for factor, shape in zip(manifold.factors, manifold.shapes, strict=True):
            size = math.prod(shape)
            if factor.is_flat:
                found.append(left[:size].reshape(shape))
                left = left[size:]
            else:
                found.append(curved.pop(0))
        return found

    @property
    def largest(self) -> float:
        """Largest friction in any direction."""
        flat = self.entries if self.matrix is None else np.linalg.eigvalsh(self.matrix)
        return float(max(np.max(part) for part in (flat, *self.points) if np.size(part)))


def is_number(friction: Any) -> bool:
    """Return whether one friction is given for everything, or left to the default."""
    return not isinstance(friction, Mapping) and np.ndim(friction) == 0


def read_friction(friction: Any, variables: Sequence[SampledVariable]) -> GivenFriction:
    """Return the frictions that the user gives for the entries of variables, or by name.

    Raises
    ------
    ValueError
        If they are not positive definite, have the wrong shape, are not given for all variables, or
        differ between directions of a point on a curved manifold.
    """
    dtype = variables[0].position.dtype
    flat = [variable for variable in variables if variable.is_flat]
    curved = [variable for variable in variables if not variable.is_flat]
    of_flat, points = friction, list[np.ndarray]()
    if isinstance(friction, Mapping):
        names = {variable.name for variable in curved}
        if absent := sorted(names - set(friction)):
            raise ValueError(
                f"`friction` expected a value for each variable, got none for {absent}."
            )
        of_flat = {name: value for name, value in friction.items() if name not in names}
        points = [_of_points(friction[v.name], v).astype(dtype) for v in curved]
    elif curved:
        listed = ", ".join(f"`{variable.name}`" for variable in curved)
        raise ValueError(
            f"`friction` expected a number, or a dict by variable name, because {listed} is not on "
            f"Euclidean space; got an array of shape {np.shape(friction)}."
        )
    entries = np.zeros(0)
    if flat or of_flat:
        entries = read_entries("friction", of_flat, flat, missing=None)
    for given in (entries, *(part.ravel() for part in points)):
        if given.size:
            definite("friction", given)
    entries = entries.astype(dtype)
    if entries.ndim == 1:
        return GivenFriction(entries, None, tuple(points))
    return GivenFriction(np.diag(entries), entries, tuple(points))


def _of_points(friction: Any, variable: SampledVariable) -> np.ndarray:
    manifold, array = variable.manifold, finite_array("friction", friction)
    shape = manifold.batch_shape(variable.shape)
    try:
        per_point = np.broadcast_to(array, shape)
    except ValueError:
        raise ValueError(
            f"`friction` of `{variable.name}` expected a number, or one for each point in shape "
            f"{shape}, because it is on a {manifold.name.lower()}, where a friction that differs "
            f"between directions would have to turn with the point; got shape {array.shape}."
        ) from None
    return manifold.along_core(per_point)
