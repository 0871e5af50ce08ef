#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Chains that have not arrived at the end of their tuning phase, and frictions that lock."""

import numpy as np
import pymc as pm
import pytest

from chains import run

import pymc_geodesic as pmg

from pymc_geodesic.tuning.thermostat_settling import balanced, is_falling, is_off

N_ROWS = 2_000
MEAN, SD = np.array([2.0, 0.0, -1.0]), 1 / np.sqrt(N_ROWS)


@pytest.fixture(scope="module")
def normal():
    y = np.random.default_rng(1).normal(MEAN, 1.0, (N_ROWS, 3))
    with pm.Model() as model:
        theta = pm.Normal("theta", 0.0, 100.0, shape=3)
        batch = pm.Minibatch(y, batch_size=50)
        pm.Normal("y", theta, 1.0, observed=batch, total_size=N_ROWS)
        return model, y.mean(axis=0)


def sampled(step, model, theta, *, seed, tune, draws):
    start = model.initial_point() | {"theta": np.asarray(theta, float)}
    path = list(run(step, start, draws=tune + draws, tune=tune, seed=seed))[tune:]
    stats = {
        name: np.array([stat[name] for _, stat in path])
        for name in ("kinetic_temperature", "thermostat", "step_size")
    }
    # What the tuning phase found comes the same way, as information.
    warnings = [
        stat["warning"].message
        for _, stat in path
        if stat["warning"] and stat["warning"].level != "info"
    ]
    return np.array([point["theta"] for point, _ in path]), stats, warnings


@pytest.mark.parametrize("seed", range(3))
def test_the_friction_does_not_lock_at_what_it_met(normal, seed):
    """From far away the thermostat meets a temperature of thousands before it finds the noise."""
    model, mean = normal
    step = pmg.SGNHT(step_size=0.1 * SD, diffusion=0.1 / SD, n_steps=10, model=model)
    draws, stats, warnings = sampled(step, model, [100.0] * 3, seed=seed, tune=3_000, draws=1_000)
    assert not warnings
    assert np.max(stats["thermostat"] * stats["step_size"]) < 0.8
    # About one time unit of the posterior passes in a draw; its errors are taken from batch means.
    batches = stats["kinetic_temperature"].reshape(20, -1).mean(axis=1)
    assert abs(batches.mean() - 1) < 0.1 + 4 * batches.std() / np.sqrt(20)
    squares = (((draws - mean) / SD) ** 2).reshape(20, -1).mean(axis=1)
    assert abs(squares.mean() - 1) < 4 * squares.std() / np.sqrt(20)


@pytest.mark.parametrize("seed", range(3))
def test_a_chain_on_its_way_says_so(normal, seed):
    model, _ = normal
    step = pmg.SGNHT(step_size=0.1 * SD, diffusion=0.1 / SD, n_steps=10, model=model)
    _, _, [warning] = sampled(step, model, [100.0] * 3, seed=seed, tune=300, draws=20)
    assert "the potential energy was still falling" in warning
    assert "Increase `tune`" in warning


@pytest.mark.parametrize("grouping", ["shared", "per_point"])
def test_good_starts_are_silent(normal, grouping):
    model, mean = normal
    for n_steps, tune in ((10, 300), (1, 1_000)):
        step = pmg.SGNHT(
            step_size=0.1 * SD,
            diffusion=0.1 / SD,
            n_steps=n_steps,
            thermostat=grouping,
            model=model,
        )
        for seed in range(20):
            *_, warnings = sampled(step, model, mean, seed=seed, tune=tune, draws=2)
            assert not warnings, (n_steps, seed, warnings)


def test_self_tuned_chains_find_their_way_from_anywhere(normal):
    model, mean = normal
    step = pmg.SGNHT(model=model)
    for seed, far in enumerate((0.0, 10.0, 1_000.0)):
        draws, stats, warnings = sampled(step, model, [far] * 3, seed=seed, tune=200, draws=500)
        assert not warnings
        assert stats["thermostat"].mean() * stats["step_size"].mean() < 0.8
        assert np.all(np.abs(draws.mean(axis=0) - mean) < SD)


def test_energies_that_vary_are_not_falling():
    rng = np.random.default_rng(1)
    for noise in (0.0, 100.0):
        energies = 0.5 * rng.chisquare(5, (2_000, 60)) + noise * rng.standard_normal((2_000, 60))
        assert not any(is_falling(chain, dim=5) for chain in energies)
        # Up from the mode to where the posterior is.
        assert not any(is_falling(chain + np.arange(60), dim=5) for chain in energies[:100])


@pytest.mark.parametrize("noise", [0.0, 10.0])
def test_energies_that_fall(noise):
    rng = np.random.default_rng(1)
    for _ in range(100):
        fall = 20 * np.arange(60)[::-1] + noise * rng.standard_normal(60)
        assert is_falling(fall, dim=5)
        assert not is_falling(fall[:19], dim=5)
    assert is_falling([np.nan] * 30 + [1.0] * 30, dim=5)
    assert not is_falling([np.nan] * 60, dim=5)


def test_friction_that_is_off():
    start, time = np.array([50.0, 50.0]), 1.0
    # At a mean temperature of .4 a thermostat falls by .6 in a unit of time.
    cold, right = start - [0.6, 0.0], start - 0.05
    assert is_off(start, cold, time, dim=10)
    assert not is_off(start, right, time, dim=10)
    # In a hundredth of the time nothing is known.
    assert not is_off(start, start - [0.006, 0.0], 0.01 * time, dim=2)
    assert not is_off(start, start, 0.0, dim=10)
    np.testing.assert_allclose(balanced(start, cold, time, step_size=1e-3), [0.4 * 49.7, 50.0])
    # A fall explains heat, but not cold.
    hot = balanced(start, start + np.array([1.0, -0.6]), time, step_size=1e-3, falls=True)
    np.testing.assert_allclose(hot, [50.5, 0.4 * 49.7])
