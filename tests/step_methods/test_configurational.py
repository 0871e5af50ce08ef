#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The temperature of the positions can fail where a thermostat holds the kinetic one at one."""

import importlib

import numpy as np
import pymc as pm
import pytest

from chains import run

import pymc_geodesic as pmg

from pymc_geodesic.kernel.jax import traced
from pymc_geodesic.kernel.jax.function import MEMO

GSGNHT = importlib.import_module("pymc_geodesic.algorithms.gsgnht")
KINETIC, POSITIONS = "kinetic_temperature", "configurational_temperature"
ROWS = np.random.default_rng(1).normal(size=(2_000, 4))


def temperatures(step, *, draws, tune=200, seed=1):
    """Mean and standard error of every temperature, from 40 batches of draws."""
    start = step.model.initial_point()
    stats = [s for _, s in run(step, start, draws=tune + draws, tune=tune, seed=seed)][tune:]
    assert not any(s["diverging"] for s in stats)
    found = {}
    for name in stats[0]:
        if "temperature" in name:
            values = np.array([s[name] for s in stats])
            batches = values[np.isfinite(values)][: len(values) // 40 * 40]
            batches = batches[: len(batches) // 40 * 40].reshape(40, -1).mean(axis=1)
            found[name] = batches.mean(), batches.std(ddof=1) / np.sqrt(40)
    return found


def assert_only_the_velocities_look_right(found, *, hot, name=POSITIONS, tolerance=0.002):
    """Kinetic temperature one, that of positions off by many standard errors."""
    assert found[KINETIC][0] == pytest.approx(1, abs=tolerance)
    mean, error = found[name]
    assert (mean - 1) / error * (1 if hot else -1) > 6, (mean, error)


def normal(scales=(0.5, 1.0, 2.0)):
    with pm.Model() as model:
        pm.Normal("x", 3.0, np.array(scales), shape=len(scales))
    return model


def means_of_rows(batch_size=10):
    """A posterior of unit scales in units of 1 / sqrt(2,000), with noisy gradients."""
    with pm.Model() as model:
        x = pm.Normal("x", 0.0, 10.0, shape=4)
        batch = pm.Minibatch(ROWS, batch_size=batch_size)
        pm.Normal("y", x, 1.0, observed=batch, total_size=len(ROWS))
    return model


def curved():
    with pm.Model() as model:
        pmg.VonMisesFisher("mu", np.array([0.0, 0.6, 0.8]), 4.0)
        pm.Dirichlet("p", [3.0, 4.0, 5.0])
        pm.HalfNormal("s", 2.0)
        pmg.SphericalUniform("u", shape=3)
    return model


def counts():
    rows = np.random.default_rng(1).multinomial(5, [0.6, 0.3, 0.1], size=200).astype("int32")
    with pm.Model() as model:
        p = pm.Dirichlet("p", [1.0, 2.0, 3.0])
        batch = pm.Minibatch(rows, batch_size=50)
        pm.Multinomial("n", 5, p, observed=batch, total_size=200)
    return model


GOOD = {
    "SGNHT": (normal, pmg.SGNHT, {}),
    "SGNHT-euler": (
        normal,
        pmg.SGNHT,
        {"integrator": "euler", "step_size": 0.02, "diffusion": 1.0, "n_steps": 50},
    ),
    "SGNHT-noisy": (
        means_of_rows,
        pmg.SGNHT,
        {"step_size": 5e-4, "diffusion": 60.0, "n_steps": 50, "variance_reduction": None},
    ),
    "SGHMC": (normal, pmg.SGHMC, {}),
    "SGLD": (normal, pmg.SGLD, {"step_size": 0.01, "variance_reduction": None, "n_steps": 100}),
    "SGNPHMC": (normal, pmg.SGNPHMC, {"step_size": 0.1, "thermal_mass": 3.0}),
    "SGGMC": (curved, pmg.SGGMC, {"step_size": 0.1, "friction": 2.0, "n_steps": 20}),
    "gSGNHT": (
        curved,
        pmg.gSGNHT,
        {"step_size": 0.05, "diffusion": 0.2, "thermostat": "per_variable", "n_steps": 50},
    ),
    "SGRLD-euler": (
        counts,
        pmg.SGRLD,
        {"step_size": 2e-5, "variance_reduction": None, "n_steps": 200, "dynamics": "euler"},
    ),
    "SGRLD-exact": (
        counts,
        pmg.SGRLD,
        {"step_size": 2e-5, "variance_reduction": None, "n_steps": 20},
    ),
}
# What the step sizes above may be off by; 0.5^2 / 4 for a thermostat at half a posterior scale.
ALLOWED = 0.07


@pytest.mark.parametrize("name", GOOD)
def test_right_draws_have_temperature_one(name):
    model, method, options = GOOD[name]
    step = method(model=model(), **options)
    found = temperatures(step, draws=2_000)
    for statistic, (mean, error) in found.items():
        if statistic.startswith(POSITIONS):
            assert abs(mean - 1) < ALLOWED + 4 * error, (statistic, mean, error)
            assert error < 0.1, (statistic, mean, error)


@pytest.mark.parametrize("kappa", [1.0, 20.0])
def test_step_size_leaves_the_statistic_alone(kappa):
    """Where the gradient is, positions of these steps are too wide by 1.07."""
    with pm.Model() as model:
        pmg.VonMisesFisher("mu", np.tile([0.0, 0.6, 0.8], (50, 1)), kappa)
        pm.Normal("x", shape=50)
    step_size = 0.5 / np.sqrt(max(kappa, 1.0))
    step = pmg.SGGMC(model=model, step_size=step_size, friction=1.0, n_steps=50)
    found = temperatures(step, draws=800)
    for name in ("mu", "x"):
        mean, error = found[f"{POSITIONS}_{name}"]
        assert error < 0.01
        assert abs(mean - 1) < 4 * error + (0.01 if kappa > 1 else 0.04), (name, mean, error)


def test_noise_that_lasts():
    """One batch for 50 transitions: friction cannot balance noise that does not change."""
    options = {"step_size": 5e-4, "diffusion": 50.0, "variance_reduction": None, "n_steps": 50}
    step = pmg.SGNHT(model=means_of_rows(100), steps_per_batch=50, **options)
    found = temperatures(step, draws=2_000, tune=1_000)
    # In so noisy a chain the thermostat itself moves by a tenth.
    assert_only_the_velocities_look_right(found, hot=True, tolerance=0.1)


def test_step_that_is_too_large():
    """Velocities are held at one, and positions follow at 1 - 0.8^2 / 4."""
    model = normal([1.0] * 50)
    step = pmg.SGNHT(model=model, step_size=0.8, diffusion=0.1, n_steps=20)
    found = temperatures(step, draws=500)
    assert_only_the_velocities_look_right(found, hot=False)
    assert found[POSITIONS][0] == pytest.approx(1 - 0.8**2 / 4, abs=0.02)


def test_damping_that_is_too_strong():
    """A transition that takes exp(-h) of the velocity widens positions by cosh(h / 2)."""
    model = normal([1.0] * 50)
    step = pmg.SGNHT(model=model, step_size=0.1, diffusion=20.0, n_steps=200)
    found = temperatures(step, draws=500)
    assert_only_the_velocities_look_right(found, hot=True)
    mean, error = found[POSITIONS]
    assert abs(mean - np.cosh(0.05 * step.chain.state.thermostat[0])) < 4 * error + 0.01


def test_one_thermostat_for_two_noises():
    with pm.Model() as model:
        a = pm.Normal("a", 0.0, 10.0, shape=4)
        pm.Normal("b", 0.0, 1 / np.sqrt(2_000), shape=4)
        batch = pm.Minibatch(ROWS, batch_size=10)
        pm.Normal("y", a, 1.0, observed=batch, total_size=len(ROWS))
    options = {"step_size": 1e-3, "diffusion": 10.0, "n_steps": 100, "variance_reduction": None}
    found = temperatures(pmg.SGNHT(model=model, **options), draws=1_000, tune=500)
    for name, hot in {"a": True, "b": False}.items():
        named = f"{POSITIONS}_{name}"
        assert_only_the_velocities_look_right(found, hot=hot, name=named, tolerance=0.05)


@pytest.mark.parametrize("temperature", [1.05, 0.5, 2.0])
@pytest.mark.parametrize("space", ["flat", "sphere", "simplex"])
def test_force_that_is_not_the_gradient(temperature, space, monkeypatch):
    """Whatever force the dynamics follow, the thermostat finds its velocities at one."""
    kick = GSGNHT.kick

    def scaled(*args, gradient, **options):
        return kick(*args, gradient=tuple(g / temperature for g in gradient), **options)

    monkeypatch.setattr(GSGNHT, "kick", scaled)
    # What was compiled without the change has the same name, in this process and on disk.
    monkeypatch.setattr(MEMO, "_kept", type(MEMO._kept)())
    monkeypatch.setattr(traced, "_folder", lambda: None)
    with pm.Model() as model:
        if space == "flat":
            pm.Normal("x", 3.0, np.tile([0.5, 1.0, 2.0], 10), shape=30)
        elif space == "sphere":
            pmg.VonMisesFisher("x", np.tile([0.0, 0.6, 0.8], (15, 1)), 4.0)
        else:
            pm.Dirichlet("x", np.tile([12.0, 16.0, 20.0], (15, 1)))
    step = pmg.gSGNHT(model=model, step_size=0.02, diffusion=2.0, n_steps=100)
    found = temperatures(step, draws=2_500 if temperature == 1.05 else 500)
    assert_only_the_velocities_look_right(found, hot=temperature > 1)
    mean, error = found[POSITIONS]
    # Of curved posteriors as wide as these it is T to first order only, and steps cool by 0.02.
    allowed = 0.01 if space == "flat" else 0.02 + 0.3 * abs(temperature - 1)
    assert abs(mean - temperature) < 4 * error + allowed


def test_draws_do_not_depend_on_the_reference():
    step = pmg.SGNHT(model=means_of_rows(), step_size=1e-3, diffusion=10.0)
    first = [p["x"] for p, _ in run(step, step.model.initial_point(), draws=30)]
    step.chain.monitors.reference.observe = lambda moments: None
    second = [p["x"] for p, _ in run(step, step.model.initial_point(), draws=30)]
    np.testing.assert_array_equal(first, second)


def test_only_fresh_batches_tell_a_temperature():
    step = pmg.SGNHT(model=means_of_rows(), step_size=1e-3, diffusion=10.0, steps_per_batch=3)
    known = [
        np.isfinite(s[POSITIONS])
        for _, s in run(step, step.model.initial_point(), draws=50, tune=30)
    ]
    # The first batch finds no reference yet.
    np.testing.assert_array_equal(known, [False] + [t % 3 == 0 for t in range(1, 50)])


def test_a_metropolis_test_has_none():
    with pm.Model() as model:
        pm.Dirichlet("p", np.ones(3))
    step = pmg.SGRLD(model=model, metropolis=True)
    assert POSITIONS not in step.stats_dtypes_shapes
