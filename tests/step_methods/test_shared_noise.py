#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Gradient noise that entries share, and the matrices that balance it.

The noise has 20 times the variance along (1, 1) that it has along (1, -1). All of
it is shared: a friction for each entry sees only the diagonal, and leaves the chain hot along
(1, 1) and cold along (1, -1).
"""

import numpy as np
import pymc as pm
import pytest

from chains import add_gradient_noise, batch_mean

import pymc_geodesic as pmg

SCALES = np.array([1.0, 2.0])
NOISE = np.array([[105.0, 95.0], [95.0, 105.0]])
STEP_SIZE = 0.02
# Twenty batches of draws; five of their standard errors are exceeded once in 10,000.
ERRORS = 5.0


def rows_with_covariance(covariance, n_rows=400):
    rows = np.random.default_rng(1).normal(size=(n_rows, len(covariance)))
    rows -= rows.mean(axis=0)
    rows = np.linalg.solve(np.linalg.cholesky(np.cov(rows.T, ddof=0)), rows.T)
    return (np.linalg.cholesky(covariance) @ rows).T


def noisy_model(noise=NOISE):
    with pm.Model() as model:
        x = pm.Normal("x", 0.0, SCALES, shape=2)
        add_gradient_noise("noise", x, rows_with_covariance(noise))
    return model


def run(step, *, draws=2500, discard=200):
    """Positions and thermostats after each of the draws."""
    step.setup_chain(np.random.default_rng(1), 0, draws)
    step.stop_tuning()
    point, positions, thermostats = step.model.initial_point(), [], []
    for draw in range(discard + draws):
        point, [stats] = step.step(point)
        assert not stats["diverging"]
        if draw >= discard:
            positions.append(point["x"])
            thermostats.append(getattr(step.chain.state, "thermostat", (np.nan,))[0])
    return np.array(positions) / SCALES, np.array(thermostats)


def second_moments(x):
    return {"first": x[:, 0] ** 2, "second": x[:, 1] ** 2, "product": x[:, 0] * x[:, 1]}


def assert_posterior(x, *, allowed=0.0):
    for name, values in second_moments(x).items():
        mean, error = batch_mean(values)
        assert error < 0.1
        assert abs(mean - (name != "product")) < ERRORS * error + allowed, (
            f"{name}: {mean}, {error}"
        )


@pytest.mark.slow
def test_a_matrix_of_thermostats_finds_the_covariance():
    """Xi is normal around A + eps V / 2, of variance 1 on the diagonal and 1/2 off it."""
    step = pmg.SGNHT(
        model=noisy_model(),
        step_size=STEP_SIZE,
        diffusion=1.0,
        thermostat="matrix",
        n_steps=100,
    )
    x, frictions = run(step)
    np.testing.assert_allclose(frictions, np.swapaxes(frictions, 1, 2), atol=1e-12)
    assert_posterior(x)
    expected = np.eye(2) + STEP_SIZE * NOISE / 2
    for (i, j), variance in {(0, 0): 1.0, (1, 1): 1.0, (0, 1): 0.5}.items():
        assert_normal(frictions[:, i, j], expected[i, j], variance)


def assert_normal(friction, mean, variance):
    found, error = batch_mean(friction)
    # The mean agrees to the order of eps times itself.
    assert abs(found - mean) < ERRORS * error + STEP_SIZE * mean
    spread, error = batch_mean((friction - friction.mean()) ** 2)
    assert abs(spread - variance) < ERRORS * error + 0.05


@pytest.mark.slow
def test_a_thermostat_for_each_entry_finds_their_variances():
    """Each is normal around A + eps V / 2 with variance 1, and the positions are right."""
    noise = np.diag([200.0, 10.0])
    step = pmg.SGNHT(
        model=noisy_model(noise),
        step_size=STEP_SIZE,
        diffusion=1.0,
        thermostat="per_point",
        n_steps=100,
    )
    x, frictions = run(step)
    assert_posterior(x)
    for entry, variance in zip(frictions.T, np.diag(noise), strict=True):
        assert_normal(entry, 1.0 + STEP_SIZE * variance / 2, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["thermostats", "variances"])
def test_one_number_for_each_entry_misses_what_entries_share(method):
    options = {"step_size": STEP_SIZE, "n_steps": 100, "model": noisy_model()}
    if method == "thermostats":
        step = pmg.SGNHT(diffusion=1.0, thermostat="per_point", **options)
    else:
        step = pmg.SGHMC(friction=1.5, gradient_noise=np.diag(NOISE), **options)
    x, _ = run(step)
    mean, error = batch_mean(second_moments(x)["product"])
    # 0.46 with thermostats: temperatures 3 / 2.05 and 1.1 / 2.05.
    assert mean - ERRORS * error > 0.15


@pytest.mark.slow
@pytest.mark.parametrize("friction", [0.3, 1.5, np.array([[3.0, 1.0], [1.0, 2.0]])])
def test_a_known_covariance_is_balanced(friction):
    """Below, at and above what the friction carries."""
    step = pmg.SGHMC(
        model=noisy_model(),
        step_size=STEP_SIZE,
        friction=friction,
        gradient_noise=NOISE,
        n_steps=100,
    )
    assert_posterior(run(step)[0], allowed=0.01)


@pytest.mark.slow
def test_a_matrix_of_frictions_without_noise():
    with pm.Model() as model:
        x = pm.Normal("x", 0.0, SCALES, shape=2)
        mu = pmg.VonMisesFisher("mu", [1.0, 0.0, 0.0], 2.0)
    step = pmg.SGGMC(
        [x, mu],
        model=model,
        step_size=0.1,
        friction={"x": [[3.0, 1.0], [1.0, 2.0]], "mu": 1.0},
        n_steps=20,
    )
    step.setup_chain(np.random.default_rng(1), 0, 3000)
    step.stop_tuning()
    point, positions, cosines = model.initial_point(), [], []
    for _ in range(3000):
        point, [stats] = step.step(point)
        positions.append(point["x"])
        cosines.append(point[model.rvs_to_values[mu].name][0])
    assert stats["friction"] == pytest.approx(2.5 + np.sqrt(1.25))
    assert_posterior(np.array(positions) / SCALES, allowed=0.005)
    mean, error = batch_mean(cosines)
    assert abs(mean - (1 / np.tanh(2.0) - 0.5)) < ERRORS * error + 0.005


@pytest.mark.slow
def test_the_fisher_matrix_of_scores():
    """Rows of four have a quarter of the covariance of one."""
    rows = rows_with_covariance(NOISE)
    with pm.Model() as model:
        x = pm.Normal("x", shape=2)
        batch = pm.Minibatch(rows, batch_size=4)
        logp = lambda row, x: row * x / len(rows)  # noqa: E731
        pm.CustomDist("noise", x, logp=logp, observed=batch, total_size=len(rows))
    step = pmg.SGHMC(
        model=model,
        step_size=STEP_SIZE,
        friction=1.0,
        gradient_noise="fisher_matrix",
        n_steps=200,
    )
    x, _ = run(step, draws=1000, discard=20)
    found = step.chain.memory[0]
    # The last thousand or so batches of three degrees of freedom.
    np.testing.assert_allclose(found, NOISE / 4, rtol=0.2)
    for values in x.T * SCALES[:, None]:
        mean, error = batch_mean(values**2)
        assert abs(mean - 1) < ERRORS * error + 0.02


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.0, 30.0])
def test_euler_samples_what_the_splitting_does_at_short_steps(noise):
    with pm.Model() as model:
        x = pm.Normal("x", 0.0, SCALES, shape=2)
        if noise:
            add_gradient_noise("noise", x, rows_with_covariance(noise * np.eye(2)))
    step = pmg.SGHMC(
        model=model,
        step_size=STEP_SIZE,
        friction=1.0,
        gradient_noise=noise,
        integrator="euler",
        n_steps=100,
    )
    assert step.order == 1
    # First order: C eps / 2 = 0.01 of the variance, plus eps V / 2 C.
    assert_posterior(run(step)[0], allowed=0.03)
