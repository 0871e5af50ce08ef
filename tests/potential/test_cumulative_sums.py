#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Random walks by cumulative sums are found, and their coordinates leave the density as it is."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest

from pymc_geodesic.kernel.host_functions import Change
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential.centering import inside, outside
from pymc_geodesic.potential.scaled_products import scaled_products
from tests.potential.changed_variables import check_energy_and_gradient

N_WEEKS, N_STATES, N = 5, 3, 20
RNG = np.random.default_rng(1)
# The fourth week has no rows.
WEEK, STATE = RNG.choice([0, 1, 2, 4], N), RNG.integers(0, N_STATES, N)
Y = RNG.normal(size=N)
SHARES = RNG.uniform(0.0, 0.99, (N_STATES, N_WEEKS))


def written(walk, *, states=False):
    """Write a model of the weeks, or of states by weeks, by a function of z and its scale."""
    with pm.Model() as model:
        tau, level = pm.HalfNormal("tau"), pm.Normal("level")
        z = pm.Normal("z", 0.0, 1.5, shape=(N_STATES, N_WEEKS) if states else N_WEEKS)
        x = pm.Deterministic("walk", walk(z, tau, level))
        pm.Normal("y", x[STATE, WEEK] if states else x[WEEK], 1.0, observed=Y)
    return model


def sums(z, tau, level):
    return level + pt.cumsum(tau * z)


def scaled_sums(z, tau, level):
    return z.cumsum() * tau + level


def with_a_drift(z, tau, level):
    return pt.cumsum(level + tau * z)


def from_zero(z, tau, level):
    return pt.concatenate([[0.0], pt.cumsum(z)[:-1]]) * tau


def behind_a_level(z, tau, level):
    return pt.cumsum(pt.concatenate([level[None], 0.1 + z * tau]))[:-1]


def behind_a_level_and_added(z, tau, level):
    return pt.concatenate([level[None], level + tau * pt.cumsum(z)])[:-1]


def with_uneven_steps(z, tau, level):
    return pt.cumsum(z * tau * np.sqrt(np.arange(1.0, N_WEEKS + 1)))


def of_states(z, tau, level):
    return pt.cumsum(tau * z, axis=1)


def with_scales_of_states(z, tau, level):
    scales = pm.HalfNormal("scales", shape=N_STATES)
    return pt.cumsum(scales[:, None] * z * tau, axis=1)


def with_levels_of_states(z, tau, level):
    return (tau * pm.Normal("levels", shape=N_STATES))[:, None] + pt.cumsum(z, axis=-1) * tau


OF_WEEKS = [
    *(sums, scaled_sums, with_a_drift, from_zero, behind_a_level, behind_a_level_and_added),
    with_uneven_steps,
]
OF_STATES = [of_states, with_scales_of_states, with_levels_of_states]


def written_by(walk):
    return written(walk, states=walk in OF_STATES)


def product_of(model):
    return scaled_products(model, model.continuous_value_vars)["z"]


@pytest.mark.parametrize("walk", [*OF_WEEKS, *OF_STATES], ids=lambda f: f.__name__)
def test_the_axis_and_the_scale(walk):
    model = written_by(walk)
    found = product_of(model)
    assert found.axis == (1 if walk in OF_STATES else 0)
    assert found.shares_scales
    assert (found.mean is not None) == (walk is with_levels_of_states)


@pytest.mark.parametrize("walk", [behind_a_level, with_uneven_steps, *OF_STATES[1:]])
def test_energy_and_gradient_are_those_of_the_changed_variable(walk):
    shares = SHARES if walk in OF_STATES else SHARES[0]
    check_energy_and_gradient(written_by(walk), {"z": shares})


def potential_of(model, shares):
    point = model.initial_point()
    return Potential(model, model.value_vars, initial_point=point, centering={"z": shares})


@pytest.mark.parametrize("n", [1, 2, 7, 100])
def test_values_inside_and_outside_are_inverse_to_each_other(n):
    rng = np.random.default_rng(n)
    with pm.Model() as model:
        z = pm.Normal("z", shape=n)
        pm.Normal("y", pt.cumsum(z * pm.HalfNormal("tau")), 1.0, observed=rng.normal(size=n))
    shares = rng.uniform(0.0, 1.0, n) * rng.integers(0, 2, n)
    variables = potential_of(model, shares).variables
    values = [variable.value for variable in variables]
    outer = outside(variables, values)
    to_position = Change(values, inside(variables, values))
    to_values = Change(values, [outer[value] for value in values])
    point = [np.asarray(rng.standard_normal(x.shape)) for x in variables]
    there = to_position(point)
    for x, y in zip(point, to_values(there), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9)
    i = [variable.name for variable in variables].index("z")
    walk = np.cumsum(point[i] * np.exp(point[1 - i]))
    np.testing.assert_allclose(there[i], (1 - shares) * point[i] + shares * walk, rtol=1e-9)


OTHERS = {
    "chosen before": lambda z, tau, level: pt.cumsum(tau * z[::-1]),
    "sums of sums": lambda z, tau, level: pt.cumsum(pt.cumsum(tau * z)),
    "squares": lambda z, tau, level: pt.cumsum(tau * z * z),
    "a scale of each sum": lambda z, tau, level: pt.cumsum(z) * pm.HalfNormal("t", shape=N_WEEKS),
    "products": lambda z, tau, level: pt.cumprod(tau * z),
    "no unknown scale": lambda z, tau, level: 0.1 * pt.cumsum(z) + tau,
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_walk(name):
    model = written(OTHERS[name])
    found = scaled_products(model, model.continuous_value_vars)
    assert "z" not in found or found["z"].axis is None


def test_what_is_added_to_sums_of_sums_is_no_mean_of_products():
    def trend(z, tau, level):
        return pt.cumsum(pm.Normal("drift", shape=N_WEEKS) + pt.cumsum(tau * z))

    found = product_of(written(trend))
    assert found.axis is found.mean is None


def test_walks_of_pymc_are_left_as_they_are():
    with pm.Model() as model:
        tau, start = pm.HalfNormal("tau"), pm.Normal.dist(0.0, 1.0)
        walk = pm.GaussianRandomWalk("walk", sigma=tau, init_dist=start, shape=N_WEEKS)
        pm.Normal("y", walk[WEEK], 1.0, observed=Y)
    assert scaled_products(model, model.continuous_value_vars) == {}


def test_single_precision_stays_single():
    with pytensor.config.change_flags(floatX="float32"):
        potential = potential_of(written(sums), SHARES[0].astype("float32"))
        gradient = potential.gradient(potential.positions, [], width=0.0)
    assert {g.dtype for g in gradient} == {"float32"}
