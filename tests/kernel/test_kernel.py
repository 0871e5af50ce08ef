#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The compiled transitions: they stay on the manifold, and undo what is not finite."""

import numpy as np
import pymc as pm
import pytensor

import pymc_geodesic as pmg


def test_constraint_after_a_million_transitions():
    with pm.Model() as model:
        mu = pmg.VonMisesFisher("mu", [0.0, 0.6, 0.8], 5.0)
        p = pm.Dirichlet("p", [2.0, 3.0, 4.0])
    step = pmg.SGGMC(model=model, step_size=0.1, friction=1.0, n_steps=1_000_000)
    step.setup_chain(np.random.default_rng(1), 0, 1)
    start = model.initial_point()
    point, [stats] = step.step(start)
    new_mu, new_p = (
        point[model.rvs_to_values[mu].name],
        pm.distributions.transforms.simplex.backward(point[model.rvs_to_values[p].name]).eval(),
    )
    assert abs(np.linalg.norm(new_mu) - 1) < 1e-12
    assert abs(new_p.sum() - 1) < 1e-12
    velocity_mu, velocity_p = step.chain.state.velocity
    assert abs(new_mu @ velocity_mu) < 1e-12
    assert abs(np.sqrt(new_p) @ velocity_p) < 1e-12
    assert not stats["diverging"]
    assert abs(stats["kinetic_temperature_mu"] - 1) < 0.02


def cliff():
    """A density whose gradient is not a number beyond 2."""
    with pm.Model() as model:
        x = pm.Normal("x", shape=2)
        pm.Potential("cliff", pm.math.sqrt(2.0 - x).sum() - pm.math.sqrt(2.0 - x).sum())
        mu = pmg.SphericalUniform("mu", shape=3)
        pm.Potential("pull", mu[0])
    return model


def test_transition_that_is_not_finite_is_undone():
    step = pmg.gSGNHT(model=cliff(), step_size=0.5, diffusion=1.0)
    step.setup_chain(np.random.default_rng(1), 0, 1)
    start = {"x": np.array([1.9, 0.0]), step.vars[1].name: np.array([0.0, 0.6, 0.8])}
    step.step(start)
    # Straight over the cliff.
    step.chain.state = step.chain.state._replace(
        velocity=(np.array([5.0, 1.0]), np.array([1.0, 0.0, 0.0])), thermostat=(np.array(0.7),)
    )
    point, [stats] = step.step(start)
    assert stats["diverging"]
    for name, value in start.items():
        np.testing.assert_allclose(point[name], value, atol=1e-15)
    np.testing.assert_array_equal(step.chain.state.thermostat[0], 0.7)
    x_velocity, mu_velocity = step.chain.state.velocity
    assert np.isfinite(x_velocity).all()
    assert abs(mu_velocity @ start[step.vars[1].name]) < 1e-15
    assert not np.allclose(x_velocity, [5.0, 1.0])  # another way next time
    later, [stats] = step.step(point)
    assert np.isfinite(later["x"]).all()


def test_transitions_after_one_that_was_undone_go_on():
    step = pmg.gSGNHT(model=cliff(), step_size=0.5, diffusion=1.0, n_steps=20)
    step.setup_chain(np.random.default_rng(1), 0, 1)
    start = {"x": np.array([1.9, 0.0]), step.vars[1].name: np.array([0.0, 0.6, 0.8])}
    step.chain.state = step.chain.state._replace(
        velocity=(np.array([5.0, 1.0]), np.array([1.0, 0.0, 0.0]))
    )
    point, [stats] = step.step(start)
    assert stats["diverging"]
    assert np.all(point["x"] != start["x"])
    assert np.isfinite(point["x"]).all()


def test_float32_models_stay_float32():
    with pytensor.config.change_flags(floatX="float32"):
        with pm.Model() as model:
            pmg.VonMisesFisher("mu", np.array([0.0, 0.6, 0.8], "float32"), 5.0)
            pm.Dirichlet("p", np.ones(3, "float32"))
            # More entries than 16 bits count, whose number times float32 would be float64.
            pm.Normal("x", shape=40_000)
        step = pmg.gSGNHT(
            model=model,
            step_size=0.1,
            diffusion=0.1,
            n_steps=10,
        )
        step.setup_chain(np.random.default_rng(1), 0, 1)
        point, [stats] = step.step(model.initial_point())
    assert {value.dtype for value in point.values()} == {np.dtype("float32")}
    assert np.isfinite(stats["potential_estimate"])
