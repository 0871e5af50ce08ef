#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""SGGMC with a friction for each entry or point, or a matrix on Euclidean space.

With a symmetric positive definite C, and V the covariance of the gradient, B is
:math:`e^{-C \epsilon / 2}` and O injects the covariance :math:`2 \sinh(C \epsilon) - \epsilon^2 f V
f` with :math:`f = \cosh(C \epsilon / 2)`: velocities keep the distribution N(0, I) through B, O, B.
A point of a curved manifold has one number. Any other friction would have to be projected,
:math:`e^{-\Lambda C \epsilon / 2}`, anew at each of its positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pymc_geodesic import arrays
from pymc_geodesic.algorithms import sggmc
from pymc_geodesic.algorithms.algorithm import Algorithm
from pymc_geodesic.algorithms.sggmc import GivenFriction, State, is_number, read_friction
from pymc_geodesic.algorithms.splitting import (
    FRICTION_MARGIN,
    balanced_kick,
    damp,
    drift,
    kick,
    least_friction,
    matched_friction,
)
from pymc_geodesic.arrays import Array
from pymc_geodesic.kernel.interface import Dynamics
from pymc_geodesic.manifolds import Point, Product
from pymc_geodesic.manifolds.product import joined_entries, split_entries
from pymc_geodesic.potential.estimate import Estimate, Estimator, Map, Spectrum, applied, mapped
from pymc_geodesic.potential.noise_matrices import is_noise_matrix
from pymc_geodesic.potential.variables import SampledVariable

__all__ = ["MatrixBalance", "balanced_matrix", "transition", "with_friction"]


class MatrixBalance(NamedTuple):
    """The factors of velocities in B, and of gradients and standard normals in O."""

    damp: Map
    scale: Map
    color: Map


def balanced_matrix(
    spectrum: Spectrum, covariance: Array | None, step_size: Array
) -> MatrixBalance:
    r"""Balance friction C, injected noise and gradient noise V, as matrices.

    With :math:`K = 2 \sinh(C \epsilon)` and :math:`f = \cosh(C \epsilon / 2)`, the friction
    :math:`C'` in use and the factor S of the injected noise are given by

    .. math::

        2 \sinh(C' \epsilon) = K + (\epsilon^2 f V f - K)_+, \qquad
        S S^\top = 2 \sinh(C' \epsilon) - \epsilon^2 f V f .

    The positive part raises C where it cannot dissipate the noise, as
    :func:`~pymc_geodesic.algorithms.splitting.matched_friction` does for numbers. Adding it gives a
    matrix above both, so that the covariance to inject is positive definite.
    """

    def scale(x: Array) -> Array:
        return spectrum.times(lambda c: arrays.cosh(0.5 * step_size * c), x)

    if covariance is None:
        return MatrixBalance(
            lambda x: spectrum.times(lambda c: arrays.exp(-0.5 * step_size * c), x),
            scale,
            lambda x: spectrum.times(lambda c: arrays.sqrt(2 * arrays.sinh(step_size * c)), x),
        )
    f = spectrum.matrix(lambda c: arrays.cosh(0.5 * step_size * c))
    heat = step_size**2 * arrays.dot(f, arrays.dot(covariance, f))
    dissipated = spectrum.matrix(lambda c: 2 * arrays.sinh(step_size * c))
    lacking = Spectrum(*arrays.eigh(FRICTION_MARGIN * heat - dissipated))
    raised = dissipated + lacking.matrix(lambda c: arrays.maximum(c, 0))
    root = arrays.cholesky(raised - heat)
    found = Spectrum(*arrays.eigh(raised))
    return MatrixBalance(
        lambda x: found.times(lambda k: arrays.exp(-0.5 * arrays.arcsinh(0.5 * k)), x),
        scale,
        lambda x: arrays.dot(root, x),
    )


class Balance(NamedTuple):
    """The kick and the damping of the variables of one part, which fit each other."""

    force: Point
    noise: Point
    damp: Any


def transition(
    state: State,
    gradient: Estimator,
    noise: Point,
    *,
    manifold: Product,
    step_size: Array,
    given: GivenFriction | None,
    friction: Array | None = None,
) -> State:
    r"""One transition of Algorithm 1 of Liu, Zhu and Song (2016) with a matrix C.

    .. math::

        \text{A:}\;& (x, v) \leftarrow \text{geodesic}(x, v, \epsilon / 2) \\
        \text{B:}\;& v \leftarrow e^{-C \epsilon / 2} v \\
        \text{O:}\;& v \leftarrow \Lambda(x) [v - \epsilon f \nabla \tilde U(x)
            + (2 \sinh(C \epsilon) - \epsilon^2 f V f)^{1/2} z], \quad f = \cosh(C \epsilon / 2)

    in the order A, B, O, B, A. If the covariance to inject has negative eigenvalues, C is raised by
    the missing amount, in both B and O; see
    :func:`~pymc_geodesic.algorithms.matrix_friction.balanced_matrix`. ``given`` has the
    frictions; if it is None, all entries have ``friction``.
    """
    position, velocity = drift(manifold, state.position, state.velocity, step_size / 2)
    estimate = gradient(position)
    parts = _parts(manifold, given, friction, estimate)
    balances = [balance(estimate, noise, step_size) for _, balance in parts]
    places = [places for places, _ in parts]
    force = _gathered(places, [balance.force for balance in balances])
    injected = _gathered(places, [balance.noise for balance in balances])

    def damped(velocity: Point) -> Point:
        pairs = zip(places, balances, strict=True)
        return _gathered(places, [b.damp(tuple(velocity[i] for i in at)) for at, b in pairs])

    velocity = kick(
        manifold,
        position,
        damped(velocity),
        gradient=force,
        noise=injected,
        step_size=step_size,
        noise_variance=tuple(arrays.ones((), dtype=x.dtype) for x in force),
    )
    position, velocity = drift(manifold, position, damped(velocity), step_size / 2)
    return State(position, velocity)


def _gathered(places: Sequence[Sequence[int]], parts: Sequence[Point]) -> Point:
    found: dict[int, Array] = {}
    for at, part in zip(places, parts, strict=True):
        found |= dict(zip(at, part, strict=True))
    return tuple(found[i] for i in range(len(found)))


def _parts(
    manifold: Product,
    given: GivenFriction | None,
    friction: Array | None,
    estimate: Estimate,
) -> list[tuple[list[int], Any]]:
    """Divide the variables: those of the matrix form one part, each other variable its own."""
    frictions = [friction] * len(manifold.factors) if given is None else given.of_factors(manifold)
    matrix = None if given is None else given.matrix
    flat = [i for i, factor in enumerate(manifold.factors) if factor.is_flat]
    together = flat if matrix is not None or estimate.covariance is not None else []
    parts: list[tuple[list[int], Any]] = []
    if together:
        shapes = [manifold.shapes[i] for i in together]
        if matrix is None:
            broadcast = zip(together, shapes, strict=True)
            values = joined_entries(
                tuple(arrays.broadcast_to(frictions[i], s) for i, s in broadcast)
            )
            spectrum = Spectrum(values)
        else:
            spectrum = Spectrum(*np.linalg.eigh(matrix))
        parts.append((together, partial(_together, together, shapes, spectrum)))
    for i, c in enumerate(frictions):
        if i not in together:
            one = Product([manifold.factors[i]], shapes=[manifold.shapes[i]])
            parts.append(([i], partial(_alone, i, one, c)))
    return parts


def _alone(index: int, manifold: Product, friction: Array, estimate, noise, step_size) -> Balance:
    variance = (estimate.variance[index],)
    frictions = matched_friction(manifold, friction, step_size, variance)
    [scale], [injected] = balanced_kick(manifold, frictions, step_size, variance)
    return Balance(
        (applied(scale, estimate.gradient[index]),),
        (applied(mapped(arrays.sqrt, injected), noise[index]),),
        lambda velocity: damp(velocity, frictions, step_size / 2),
    )


def _together(places, shapes, spectrum: Spectrum, estimate: Estimate, noise, step_size) -> Balance:
    covariance = _covariance(estimate, places, shapes)
    balance = balanced_matrix(spectrum, covariance, step_size)

    def through(function, parts):
        return split_entries(function(joined_entries(tuple(parts))), shapes)

    return Balance(
        through(balance.scale, [estimate.gradient[i] for i in places]),
        through(balance.color, [noise[i] for i in places]),
        partial(through, balance.damp),
    )


def _covariance(estimate: Estimate, places, shapes) -> Array | None:
    if estimate.covariance is not None:
        return estimate.covariance
    variances = [estimate.variance[i] for i in places]
    if all(v is None for v in variances):
        return None
    entries = zip(variances, shapes, strict=True)
    # A variable whose gradient is exact has variance zero.
    whole = [arrays.broadcast_to(arrays.asarray(0.0) if v is None else v, s) for v, s in entries]
    return arrays.diag(joined_entries(tuple(whole)).astype(estimate.gradient[places[0]].dtype))


def with_friction(algorithm: Algorithm, friction: Any, gradient_noise: Any) -> Algorithm:
    """Return SGGMC with matrices if frictions differ or the noise is shared by entries.

    Other discretisations are returned as they are.
    """
    if algorithm.dynamics.transition is not sggmc.transition:
        return algorithm
    return replace(algorithm, bind=partial(_bind, algorithm, friction, gradient_noise))


def _bind(
    algorithm: Algorithm,
    friction: Any,
    gradient_noise: Any,
    variables: Sequence[SampledVariable],
) -> Algorithm:
    differs = not is_number(friction)
    if not differs and not is_noise_matrix(gradient_noise, variables):
        return algorithm
    given = read_friction(friction, variables) if differs else None
    what = "frictions that differ" if differs else "gradient noise that entries share"
    bound = replace(
        algorithm,
        dynamics=Dynamics(partial(transition, given=given)),
        takes_covariance=True,
        needs_step_size=what,
    )
    if given is None:
        return bound
    return replace(bound, parameters={}, statistics=partial(_statistics, given.largest))


def _statistics(
    largest: float, state: State, *, step_size: float, noise_variance: float, **measured: Any
) -> dict[str, float]:
    """Return the largest friction, or the one that the largest noise needs if that is larger."""
    return {"friction": max(largest, float(least_friction(step_size, noise_variance)))}
