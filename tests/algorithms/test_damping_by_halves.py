#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Noise that changes from place to place, balanced by friction along differences of halves."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

from numpy.polynomial.hermite_e import hermegauss

from pymc_geodesic.algorithms.demands import Demands, GradientNoise
from pymc_geodesic.algorithms.gsgnht import State, transition
from pymc_geodesic.algorithms.splitting import damp_along
from pymc_geodesic.algorithms.tuning_rules import (
    LARGEST_HEAT,
    balanced_rule,
    halved_rule,
    unbalanced_share,
)
from pymc_geodesic.manifolds import Euclidean, Product, Sphere
from pymc_geodesic.potential.estimate import Estimate

STEP_SIZE, DIFFUSION = 0.1, 1.0
# Of the noise at distance one, whose heat in a transition is then a fifth of a velocity's.
VARIANCE = 20.0
N_CHAINS, N_TRANSITIONS, N_WARM = 4_000, 2_000, 400


def damped(velocity, difference, step_size):
    v, d = pt.vector(), pt.vector()
    [out] = damp_along((v,), (d,), step_size=pt.as_tensor(step_size))
    return pytensor.function([v, d], out, mode="FAST_COMPILE")(velocity, difference)


def covariance_after_a_kick(variances, step_size):
    """Covariance of a velocity after damping, noise and damping, by quadrature over differences."""
    nodes, weights = hermegauss(40)
    weights = weights / weights.sum()
    size = len(variances)
    total = np.zeros((size, size))
    v, d = pt.matrix(shape=(size, size)), pt.vector(shape=(size,))
    columns = [damp_along((v[i],), (d,), step_size=pt.as_tensor(step_size))[0] for i in range(size)]
    map_of = pytensor.function([v, d], pt.stack(columns), mode="FAST_COMPILE")
    for index in np.ndindex(*(len(nodes),) * size):
        weight = np.prod(weights[list(index)])
        if weight > 1e-16:
            matrix = map_of(np.eye(size), np.sqrt(variances) * nodes[list(index)])
            total += weight * (
                np.linalg.matrix_power(matrix, 4)
                + step_size**2 * matrix @ np.diag(variances) @ matrix
            )
    return total


def test_a_kick_keeps_velocities_to_the_documented_order():
    for variances in ([40.0], [40.0, 20.0]):
        variances = np.array(variances)
        excess = []
        for step_size in (0.02, 0.04):
            covariance = covariance_after_a_kick(variances, step_size)
            expected = step_size**4 * (variances * variances.sum() - variances**2) / 6
            change = covariance - np.eye(len(variances))
            off = change - np.diag(np.diag(change))
            assert np.abs(off).max() < 1e-10
            excess.append(np.abs(np.diag(change) - expected).max())
        # What is left is of the third order in the heat: 64 times for twice the step size.
        assert excess[1] / excess[0] == pytest.approx(64, rel=0.2)


def test_it_damps_only_along_the_difference_and_never_reverses():
    v, d = np.array([1.0, 2.0, -1.0]), np.array([3.0, 0.0, 4.0])
    for step_size in (0.01, 0.2, 50.0):
        change = damped(v, d, step_size) - v
        assert np.linalg.norm(np.cross(change, d)) < 1e-12 * np.linalg.norm(d)
        assert 0 <= damped(d, d, step_size)[0] <= d[0]
    np.testing.assert_array_equal(damped(v, np.zeros(3), 0.2), v)
    assert damp_along((v,), None, step_size=0.2)[0] is v


def test_it_keeps_velocities_tangent():
    rng = np.random.default_rng(1)
    x = rng.standard_normal(4)
    x /= np.linalg.norm(x)
    manifold = Product([Sphere()], shapes=[(4,)])
    v, d = pt.vector(shape=(4,)), pt.vector(shape=(4,))
    tangent = manifold.to_tangent((pt.as_tensor(x),), (d,))
    [out] = damp_along((v,), tangent, step_size=pt.as_tensor(0.3))
    found = out.eval({v: rng.standard_normal(4) @ (np.eye(4) - np.outer(x, x)), d: x + 1.0})
    assert abs(found @ x) < 1e-12


def second_moments(*, halved):
    """Second moments of a standard normal whose noise turns and grows, and standard errors."""
    import jax

    x, v, z = (pt.tensor(shape=(2,), dtype="float64") for _ in range(3))
    xi, noise, other = (pt.dscalar() for _ in range(3))

    def gradient(position):
        [at] = position
        along = np.sqrt(VARIANCE) * pt.stack([-at[1], at[0]])
        difference = (other * along,) if halved else None
        return Estimate((at + noise * along,), (None,), difference=difference)

    state = transition(
        State((x,), (v,), (xi,)),
        gradient,
        (z,),
        manifold=Product([Euclidean()], shapes=[(2,)]),
        step_size=pt.as_tensor(STEP_SIZE),
        diffusion=pt.as_tensor(DIFFUSION),
        grouping="shared",
    )
    outputs = [state.position[0], state.velocity[0], state.thermostat[0]]
    function = pytensor.function(
        [x, v, xi, z, noise, other], outputs, mode="JAX", on_unused_input="ignore"
    )
    step, rng = jax.jit(jax.vmap(function.vm.jit_fn)), np.random.default_rng(5)
    x, v = rng.standard_normal((2, N_CHAINS, 2))
    xi, sums = np.full(N_CHAINS, DIFFUSION), np.zeros(N_CHAINS)
    for number in range(N_TRANSITIONS):
        noise, other = rng.standard_normal((2, N_CHAINS))
        z = rng.standard_normal((N_CHAINS, 2))
        x, v, xi = (np.asarray(a) for a in step(x, v, xi, z, noise, other))
        if number >= N_WARM:
            sums += np.mean(x**2, axis=1)
    moments = sums / (N_TRANSITIONS - N_WARM)
    return moments.mean(), moments.std(ddof=1) / np.sqrt(N_CHAINS)


def test_widths_are_right_where_noise_turns_and_grows():
    found, error = second_moments(halved=True)
    # The heat of a transition is .4 on average.
    assert abs(found - 1) < 0.02 + 4 * error
    # A thermostat alone is right on average over places, and makes tails too long here.
    wrong, error = second_moments(halved=False)
    assert wrong > 1.1 + 4 * error


def test_the_rule_bounds_the_heat_of_a_transition():
    for total in (0.0, 1.0, 300.0, 1e6):
        noise = GradientNoise(total / 10, total, total=total)
        for accuracy in (0.01, 0.05):
            demands = Demands(noise, 2.0, accuracy)
            step_size, parameters = halved_rule(demands)
            assert step_size**2 * total <= LARGEST_HEAT * demands.variance_error * (1 + 1e-12)
            assert 0 < step_size <= demands.stable_step
            assert parameters == {"diffusion": 1.0}


def test_the_unbalanced_share_is_that_of_the_heat():
    noise = GradientNoise(4.0, 8.0, unbalanced=6.0)
    share = unbalanced_share((0.1, {"diffusion": 1.8}), noise)
    assert share == pytest.approx(0.1 * 6 / 2 / (1.8 + 0.2))
    found = balanced_rule(Demands(noise._replace(unbalanced=0.0), 1.0, 0.05))
    assert unbalanced_share(found, noise._replace(unbalanced=0.0)) == 0
    twice = noise.times(2.0)
    assert (twice.mean, twice.largest, twice.unbalanced) == (8.0, 16.0, 12.0)
