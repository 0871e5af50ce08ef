#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The M step alone, on momenta drawn from the law that exact dynamics keep."""

import pickle

import numpy as np
import pymc as pm
import pytest

from scipy.special import psi

import pymc_geodesic as pmg

from pymc_geodesic.tuning.mass_adaptation import MassAdaptation


def adaptation(size, **options):
    scheme = pmg.MonteCarloEM(**options)
    return MassAdaptation(scheme, shapes=[(size,)], dtype="float64")


def observe(learner, rng, n, *, temperatures=1.0, tune=True):
    """Draws with velocities of the given temperatures, in the frame of unit mass."""
    size = learner.size
    for _ in range(n):
        velocity = rng.standard_normal(size) * np.sqrt(temperatures)
        learner.observe([np.zeros(size)], [velocity], tune=tune)


def symmetric(mass):
    return np.diag(mass) if mass.ndim == 1 else mass


def run_m_steps(learner, rng, n):
    """Feed each E step the sufficient statistic that n momenta of the current mass would give."""
    for _ in range(n):
        mass, s = symmetric(learner.matrix), learner.window
        root = np.linalg.cholesky(mass)
        if learner.scheme.is_dense:
            whitened = rng.standard_normal((s, learner.size))
            learner.square = root @ (whitened.T @ whitened) @ root.T
        else:
            learner.square = np.diag(mass) * rng.chisquare(s, learner.size)
        learner.count = s
        learner.update()


@pytest.mark.parametrize("kind", ["diag", "dense"])
@pytest.mark.parametrize("size", [2, 10, 50])
def test_mass_stays_near_one_over_ten_thousand_m_steps(kind, size):
    if kind == "dense" and size == 50:
        pytest.skip("covered by the benchmark: ten thousand Cholesky factors of 50 x 50")
    learner = adaptation(size, kind=kind, growth=1.0, normalize=False)
    run_m_steps(learner, np.random.default_rng(1), 10_000)
    eigenvalues = np.linalg.eigvalsh(symmetric(learner.matrix))
    # The weights' squares sum to at most 1.6: the logarithm of an entry has a standard deviation of
    # sqrt(1.6 * 2 / 50) = 0.25 at the most, and drifts by half its variance.
    assert np.all(np.abs(np.log(np.diag(symmetric(learner.matrix)))) < 1.2)
    assert eigenvalues.min() > 0.1
    assert eigenvalues.max() < 10


def test_replacement_collapses_at_the_predicted_rate():
    rng, size, s, n = np.random.default_rng(1), 2, 10, 500
    mass = np.eye(size)
    for _ in range(n):
        momenta = rng.multivariate_normal(np.zeros(size), mass, size=s)
        mass = momenta.T @ momenta / s
    drift = sum(psi((s - i) / 2) - np.log(s / 2) for i in range(size))
    # One M step's log determinant has a variance of about 2 D / S.
    error = np.sqrt(n * 2 * size / s)
    assert abs(np.log(np.linalg.det(mass)) - n * drift) < 4 * error
    assert np.linalg.det(mass) < 1e-50


def test_weight_of_the_m_step_is_the_documented_one():
    learner = adaptation(1, update_every=4, growth=1.0, normalize=False)
    velocity = np.array([1.5])
    expected = 1.0
    for k in range(3):
        for _ in range(4):
            learner.observe([np.zeros(1)], [velocity], tune=True)
        weight = (2 + k) ** -0.75
        expected = (1 - weight) * expected + weight * expected * 1.5**2
        np.testing.assert_allclose(learner.matrix, [expected])


def test_positions_that_are_too_wide_do_not_confirm_themselves():
    """Noise makes one entry nine times too hot: its variance is not its own, and must not count."""
    rng, temperatures = np.random.default_rng(1), np.array([9.0, 0.25])
    learner = adaptation(2, kind="position", normalize=False, update_every=400)
    for v in rng.standard_normal((400, 2, 2)) * np.sqrt(temperatures):
        learner.observe([v[0]], [v[1]], tune=True)
    np.testing.assert_allclose(learner.matrix, 1.0, rtol=5 * np.sqrt(4 / 400))


@pytest.mark.parametrize(
    ("kind", "is_held"), [("diag", False), ("dense", False), ("position", True)]
)
def test_only_masses_from_positions_hold_their_determinant_by_default(kind, is_held):
    learner, rng = adaptation(2, kind=kind), np.random.default_rng(1)
    for x, v in rng.standard_normal((500, 2, 2)) * 2:
        learner.observe([x], [v], tune=True)
    assert (abs(learner.statistics["mass_log_determinant"]) < 1e-12) == is_held


def test_hot_directions_gain_mass():
    learner = adaptation(2, normalize=True)
    observe(learner, np.random.default_rng(1), 2_000, temperatures=[1.5, 0.5])
    assert learner.statistics["mass_ratio"] > 5
    assert learner.matrix[0] > learner.matrix[1]
    np.testing.assert_allclose(learner.statistics["mass_log_determinant"], 0.0, atol=1e-12)


@pytest.mark.parametrize("heat", [1.0, 3.0])
@pytest.mark.parametrize("kind", ["position", "dense_position"])
def test_positions_give_the_inverse_covariance_whatever_heats_them(kind, heat):
    rng, covariance = np.random.default_rng(1), np.array([[4.0, 1.2], [1.2, 1.0]])
    learner = adaptation(2, kind=kind, normalize=False, regularization=0.0)
    draws = rng.multivariate_normal([10.0, -3.0], heat * covariance, size=20_000)
    for draw, velocity in zip(draws, np.sqrt(heat) * rng.standard_normal((20_000, 2)), strict=True):
        learner.observe([draw], [velocity], tune=True)
    expected = np.diag(1 / np.diag(covariance))
    if learner.scheme.is_dense:
        expected = np.linalg.inv(covariance)
    # The weights leave the last few thousand draws: entries are good to three per cent.
    error = symmetric(learner.matrix) - expected
    assert np.all(np.abs(error) < 4 * 0.03 * np.sqrt(np.outer(*[np.diag(expected)] * 2)))


def test_e_step_grows_only_within_the_error():
    rng = np.random.default_rng(1)
    still, moving = adaptation(5), adaptation(5)
    observe(still, rng, 500)
    observe(moving, rng, 500, temperatures=[4, 4, 0.2, 0.2, 1])
    assert still.window > still.scheme.first_samples(5)
    assert len(moving.history) >= len(still.history)


def test_frozen_after_tuning_unless_asked():
    rng = np.random.default_rng(1)
    frozen, going = adaptation(2), adaptation(2, adapt_after_tune=True)
    for learner in (frozen, going):
        observe(learner, rng, 300, temperatures=[2, 1])
        before = learner.matrix.copy()
        observe(learner, rng, 600, temperatures=[2, 1], tune=False)
        assert np.array_equal(before, learner.matrix) == (learner is frozen)


def test_stays_positive_definite_when_nothing_moves():
    learner = adaptation(3, kind="dense_position", update_every=5)
    for _ in range(20):
        learner.observe([np.ones(3)], [np.zeros(3)], tune=True)
    np.testing.assert_array_equal(learner.matrix, np.eye(3))
    learner = adaptation(3, kind="dense", update_every=1, regularization=0.0)
    observe(learner, np.random.default_rng(1), 500)
    assert np.linalg.eigvalsh(learner.matrix).min() > 0


def test_state_resumes():
    rng = np.random.default_rng(1)
    first = adaptation(2, kind="dense")
    observe(first, rng, 130)
    second = pickle.loads(pickle.dumps(first))
    for learner in (first, second):
        observe(learner, np.random.default_rng(2), 130)
    np.testing.assert_array_equal(first.matrix, second.matrix)
    assert first.statistics == second.statistics


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "full"}, "`kind` expected one of"),
        ({"update_every": 0}, "`update_every` expected a whole number of at least 1"),
        ({"growth": 0.9}, "`growth` expected a factor of at least 1"),
        ({"decay": 0.5}, "`decay` expected an exponent above 0.5"),
        ({"regularization": 1.0}, "`regularization` expected a share"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        pmg.MonteCarloEM(**options)


@pytest.mark.parametrize(("acceptance", "factor"), [(1.0, 1.0), (np.exp(-0.15), 1.5), (0.1, 2.0)])
def test_the_energy_error_sets_the_length_of_the_e_step(acceptance, factor):
    learner = adaptation(2, update_every=20, energy_error=0.1)
    rng = np.random.default_rng(1)
    for _ in range(20):
        velocity = [rng.standard_normal(2)]
        learner.observe([np.zeros(2)], velocity, tune=True, acceptance=acceptance)
    assert learner.window == pytest.approx(20 * factor, abs=1)


def test_the_energy_error_grows_the_e_steps_of_gmc_alone():
    with pm.Model() as model:
        pm.Normal("x", 0.0, [1.0, 0.01], shape=2)
    mass = pmg.MonteCarloEM(update_every=20, energy_error=0.01)
    with pytest.raises(ValueError, match="a step with a Metropolis test"):
        pmg.SGNHT(model=model, mass=mass, step_size=0.01, diffusion=1.0)
    step = pmg.GMC(model=model, mass=mass, step_size=0.015)
    with model:
        pm.sample(10, tune=200, chains=1, cores=1, step=step, random_seed=1, progressbar=False)
    updates = [record.n_draws for record in step.mass_history]
    assert updates[:2] == [20, 60]
