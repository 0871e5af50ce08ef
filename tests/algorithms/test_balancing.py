#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Gradient noise that differs between entries and is correlated, balanced by frictions."""

import numpy as np
import pytensor
import pytensor.tensor as pt

from pymc_geodesic.algorithms.demands import Demands, GradientNoise
from pymc_geodesic.algorithms.gsgnht import State, recorded, transition
from pymc_geodesic.algorithms.tuning_rules import balanced_rule
from pymc_geodesic.manifolds import Euclidean, Product
from pymc_geodesic.mass import LowRankMass
from pymc_geodesic.mass.frames import WeightedProduct
from pymc_geodesic.potential.estimate import Estimate

SIZE, STEP_SIZE, DIFFUSION = 6, 0.3, 1.5
N_CHAINS, N_TRANSITIONS, N_WARM = 4_000, 1_200, 200
# Entries without noise and with much of their own, and noise that all have in common.
OWN, COMMON = np.array([0.0, 2.0, 5.0, 10.0, 20.0, 5.0]), 8.0
DIRECTION = np.full((SIZE, 1), SIZE**-0.5)


def noisy_normal(own, common):
    """Write the gradient of a standard normal density with noise."""

    def gradient(position):
        [x] = position
        noise = np.sqrt(OWN) * own + np.sqrt(COMMON) * common * DIRECTION[:, 0]
        return Estimate((x + noise,), (None,))

    return gradient


def measured_noise():
    """Variances of entries, and by how much that along the direction exceeds their mean."""
    entries = OWN + COMMON / SIZE
    return pt.as_tensor(entries), pt.as_tensor([OWN.mean() + COMMON - entries.mean()])


def transition_of_many(*, balances):
    """Compile a transition of many chains."""
    import jax

    mass = LowRankMass(
        [np.ones(SIZE)],
        directions=DIRECTION,
        curvatures=np.ones(1),
        shapes=[(SIZE,)],
        dtype="float64",
    )
    frame = mass.frame([pt.as_tensor(array) for array in mass.arrays])
    manifold = WeightedProduct(Product([Euclidean()], shapes=[(SIZE,)]), frame=frame)
    x, v, z, own = (pt.tensor(shape=(SIZE,), dtype="float64") for _ in range(4))
    common, xi = pt.dscalar(), pt.dscalar()
    state = transition(
        State((x,), (v,), (xi,)),
        noisy_normal(own, common),
        (z,),
        manifold=manifold,
        step_size=pt.as_tensor(STEP_SIZE),
        diffusion=pt.as_tensor(DIFFUSION),
        grouping="shared",
        measured_noise=measured_noise() if balances else (),
    )
    [draw] = recorded(
        state,
        manifold=manifold,
        step_size=pt.as_tensor(STEP_SIZE),
        measured_noise=measured_noise() if balances else (),
    )
    outputs = [state.position[0], state.velocity[0], state.thermostat[0], draw]
    function = pytensor.function([x, v, xi, z, own, common], outputs, mode="JAX")
    return jax.jit(jax.vmap(function.vm.jit_fn))


def second_moments(*, balances):
    """Second moments of positions and of draws over independent chains, and standard errors."""
    step, rng = transition_of_many(balances=balances), np.random.default_rng(7)
    x, v = rng.standard_normal((2, N_CHAINS, SIZE))
    xi = np.full(N_CHAINS, DIFFUSION)
    sums = np.zeros((2, N_CHAINS, SIZE, SIZE))
    for number in range(N_TRANSITIONS):
        z, own = rng.standard_normal((2, N_CHAINS, SIZE))
        common = rng.standard_normal(N_CHAINS)
        x, v, xi, draw = (np.asarray(a) for a in step(x, v, xi, z, own, common))
        if number >= N_WARM:
            points = np.stack([x, draw])
            sums += points[..., :, None] * points[..., None, :]
    moments = sums / (N_TRANSITIONS - N_WARM)
    return moments.mean(axis=1), moments.std(axis=1, ddof=1) / np.sqrt(N_CHAINS)


def test_balanced_entries_have_unit_variance_and_no_correlation():
    """At any step size for the points that are recorded; those between transitions are narrow."""
    (between, draws), (_, error) = second_moments(balances=True)
    # Entries are balanced one by one, but part of their noise is common.
    assert np.all(np.abs(draws - np.eye(SIZE)) < 0.015 + 5 * error)
    assert np.diag(between).mean() < 1 - STEP_SIZE**2 / 8


def test_one_thermostat_for_all_leaves_entries_hot_and_cold():
    (found, same), _ = second_moments(balances=False)
    np.testing.assert_array_equal(found, same)
    variances = np.diag(found)
    assert variances[0] < 0.9
    assert variances[4] > 1.3


def test_the_rule_bounds_the_share_of_the_noise():
    for mean in (0.0, 0.5, 3.0, 50.0):
        demands = Demands(GradientNoise(mean, 2 * mean), curvature=1.0, accuracy=0.05)
        step_size, parameters = balanced_rule(demands)
        friction = parameters["diffusion"]
        assert 0.5 * step_size * mean / friction <= demands.variance_error * (1 + 1e-12)
        assert step_size * friction <= 1 + 1e-12
        assert step_size <= demands.stable_step
