#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The rules keep their own bounds, and the measurements find what is there."""

import numpy as np
import pymc as pm
import pytest

from scipy.linalg import solve_discrete_lyapunov

import pymc_geodesic as pmg

from pymc_geodesic.algorithms.demands import Demands, GradientNoise
from pymc_geodesic.algorithms.tuning_rules import (
    balanced_rule,
    faster_rule,
    friction_rule,
    langevin_rule,
    thermostat_rule,
    trajectory_rule,
)
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.mass import JointMass, VariableMasses
from pymc_geodesic.potential import Potential
from pymc_geodesic.tuning import curvature_mass, largest_curvature
from pymc_geodesic.tuning.spacing import (
    autocorrelation_time,
    steps_while_tuning,
    steps_worth_a_draw,
)

NOISES = [GradientNoise(*pair) for pair in [(0, 0), (0.1, 0.3), (5, 5), (100, 400), (1e4, 1.1e4)]]


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("accuracy", [0.01, 0.05, 0.2])
def test_thermostat_rule_keeps_its_bounds(noise, accuracy):
    demands = Demands(noise, curvature=1.5, accuracy=accuracy)
    step_size, parameters = thermostat_rule(demands)
    friction = parameters["diffusion"] + 0.5 * step_size * noise.mean
    b = 2 * accuracy
    assert parameters["diffusion"] > 0
    assert step_size <= demands.stable_step
    width = np.cosh(friction * step_size / 2) - 1
    hot = step_size * (noise.largest - noise.mean) / (2 * friction)
    assert width + hot <= b * 1.01


@pytest.mark.parametrize("friction", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("scale", [1.0, 1.3])
def test_stationary_covariance_of_a_noisy_gaussian(friction, scale):
    """The formulas of ``tuning_rules`` against Lyapunov's equation, for the published splitting."""
    step_size, curvature, variance, injected = 0.5, 2.0, 3.0, 0.8
    h = friction * step_size / 2
    drift = np.array([[1, step_size / 2], [0, 1]])
    damp = np.diag([1, np.exp(-h)])
    kick = np.array([[1, 0], [-scale * step_size * curvature, 1]])
    noise = drift @ damp @ np.array([[0.0], [1.0]])
    heat = injected + (scale * step_size) ** 2 * variance
    matrix = drift @ damp @ kick @ damp @ drift
    covariance = solve_discrete_lyapunov(matrix, heat * noise @ noise.T)
    width = np.cosh(h) / (curvature * scale) * heat / (2 * np.sinh(2 * h))
    temperature = curvature * width / (np.cosh(h) / scale - curvature * step_size**2 / 4)
    np.testing.assert_allclose(np.diag(covariance), [width, temperature], rtol=1e-10)
    in_the_middle = (drift @ covariance @ drift.T)[0, 0]
    np.testing.assert_allclose(in_the_middle, np.cosh(h) / scale * temperature / curvature)
    summed = np.linalg.solve(np.eye(2) - matrix, covariance)
    time = (summed + summed.T - covariance)[0, 0] / width
    np.testing.assert_allclose(time, 4 * np.sinh(h) / (curvature * scale * step_size**2))


def test_the_faster_rule_follows_what_the_noise_is_like():
    few_are_noisy, all_are = GradientNoise(0.9, 15.0), GradientNoise(300.0, 310.0)
    for noise, best in ((few_are_noisy, balanced_rule), (all_are, thermostat_rule)):
        demands = Demands(noise, curvature=1.0, accuracy=0.05, is_dense=True)
        assert faster_rule(demands) == best(demands)
        others = demands._replace(is_dense=False)
        assert faster_rule(others) == balanced_rule(others)


@pytest.mark.parametrize("noise", [0.5, 1.5, 50.0])
def test_steps_are_no_longer_than_friction_lets_them_gain(noise):
    """Twice as long they would need twice the friction, and go no farther in a transition."""
    demands = Demands(GradientNoise(noise, 2 * noise), curvature=0.01, accuracy=0.05)
    step_size, parameters = balanced_rule(demands)
    friction = parameters["diffusion"]
    _, of_longer = balanced_rule(demands._replace(given_step=2 * step_size))
    assert of_longer["diffusion"] == pytest.approx(2 * friction)
    # Velocities are forgotten between draws of the tuning phase, which has 20 transitions for each.
    assert friction == pytest.approx(max(1.0, 1 / (20 * step_size)))


@pytest.mark.parametrize("noise", NOISES)
def test_friction_and_langevin_rules_keep_their_bounds(noise):
    demands = Demands(noise, curvature=1.5, accuracy=0.05)
    step_size, parameters = friction_rule(demands)
    h = step_size * parameters["friction"] / 2
    assert step_size**2 * noise.largest / (4 * np.tanh(h)) <= 0.1 * (1 + 1e-9)
    assert step_size * parameters["friction"] <= 1 + 1e-9
    step_size, _ = langevin_rule(demands)
    # The stationary variance of x - e (1.5 x + noise) / 2 + sqrt(e) z, in units of the true one.
    variance = 1.5 * (step_size + step_size**2 * noise.largest / 4)
    assert variance / (1 - (1 - 1.5 * step_size / 2) ** 2) == pytest.approx(1.1)


@pytest.mark.parametrize("n_leapfrog", [1, 10])
@pytest.mark.parametrize("curvature", [0.5, 1.0, 4.0])
def test_trajectories_without_friction_keep_the_variance(n_leapfrog, curvature):
    """Kicks with noise from velocities of variance one: x is too wide by a tenth at most."""
    noise = 50.0
    demands = Demands(GradientNoise(noise, noise), curvature, accuracy=0.05)
    step_size, _ = trajectory_rule(demands, n_leapfrog=n_leapfrog, noise_is_known=False)
    drift = np.array([[1, step_size / 2], [0, 1]])
    one = drift @ np.array([[1, 0], [-step_size * curvature, 1]]) @ drift
    kick = drift @ np.array([[0.0], [step_size]])
    matrix, heat = np.eye(2), np.zeros((2, 2))
    for _ in range(n_leapfrog):
        matrix, heat = one @ matrix, one @ heat @ one.T + noise * kick @ kick.T
    # New velocities: x is multiplied by the first entry and has the noise of the rest.
    variance = (matrix[0, 1] ** 2 + heat[0, 0]) / (1 - matrix[0, 0] ** 2)
    assert 1.0 < variance * curvature < 1.1


def test_known_noise_allows_longer_trajectories():
    noise = GradientNoise(50.0, 50.0)
    for curvature, gain in ((1.0, np.sqrt(10)), (100.0, 1.0)):
        demands = Demands(noise, curvature, accuracy=0.05)
        known, unknown = (
            trajectory_rule(demands, n_leapfrog=10, noise_is_known=known)[0]
            for known in (True, False)
        )
        assert known / unknown == pytest.approx(gain)


def host_of(model):
    return HostGradient(Potential(model, model.value_vars, initial_point=model.initial_point()))


def test_dense_mass_is_the_precision_of_a_gaussian():
    covariance = np.array([[2.0, 0.9], [0.9, 0.5]])
    with pm.Model() as model:
        pm.MvNormal("x", mu=[1.0, 2.0], cov=covariance)
    host, rng = host_of(model), np.random.default_rng(1)
    mass = curvature_mass(host, [np.ones(2)], rows=[], rng=rng)
    assert isinstance(mass, JointMass)
    # In its frame the covariance is one: W C W' with the precision L L' and W = L'.
    columns = [mass.whiten([column]) for column in np.linalg.cholesky(covariance).T]
    np.testing.assert_allclose(sum(np.outer(z, z) for z in columns), np.eye(2), atol=1e-5)
    found = largest_curvature(host, [np.zeros(2)], rows=[], mass=mass, rng=rng)
    np.testing.assert_allclose(found, 1.0, rtol=1e-4)


def test_diagonal_mass():
    scales = np.exp(np.random.default_rng(1).normal(size=120))
    with pm.Model() as model:
        pm.Normal("x", 0.0, scales, shape=120)
    rng = np.random.default_rng(1)
    mass = curvature_mass(host_of(model), [np.zeros(120)], rows=[], rng=rng, dense=False)
    assert isinstance(mass, VariableMasses)
    np.testing.assert_allclose(mass.arrays[0], scales, rtol=1e-4)


def test_number_on_a_sphere_is_the_curvature_along_geodesics():
    kappa = 30.0
    with pm.Model() as model:
        pmg.VonMisesFisher("x", mu=[0.0, 0.0, 1.0], kappa=kappa)
    point = [np.array([0.0, 0.0, 1.0])]
    rng = np.random.default_rng(1)
    mass = curvature_mass(host_of(model), point, rows=[], rng=rng)
    # At the mode U = -kappa cos(t) along every geodesic. Eight random directions of random length.
    np.testing.assert_allclose(mass.arrays[0].item() ** -2, kappa, rtol=0.9)


@pytest.mark.parametrize("correlation", [0.4, 0.9])
def test_steps_worth_a_draw(correlation):
    rng, n = np.random.default_rng(1), 20_000
    draws = np.zeros((n, 2))
    noise = rng.normal(size=(n, 2)) * np.sqrt(1 - correlation**2)
    for t in range(1, n):
        draws[t] = correlation * draws[t - 1] + noise[t]
    assert abs(autocorrelation_time(draws) / ((1 + correlation) / (1 - correlation)) - 1) < 0.1
    # -10 / log(correlation) is 10.9 and 94.9.
    assert (
        steps_worth_a_draw([draws[:15_000], draws[15_000:]], 10) == {0.4: 10, 0.9: 100}[correlation]
    )


def autoregressive(*roots, n=20_000, seed=2):
    """Draw two entries whose autocorrelations have the given roots of their characteristic."""
    coefficients = -np.poly(roots)[1:].real
    rng, draws = np.random.default_rng(seed), np.zeros((n, 2))
    for t in range(len(roots), n):
        past = sum(a * draws[t - k] for k, a in enumerate(coefficients, start=1))
        draws[t] = past + rng.normal(size=2)
    return draws / draws.std(axis=0)


def test_autocorrelations_that_are_not_exponential_are_followed():
    # Lightly damped: the first lag promises 1 / e at the fourth, which is reached at the second.
    oscillating = autoregressive(0.7 * np.exp(0.6j), 0.7 * np.exp(-0.6j))
    assert -1 / np.log(np.mean(oscillating[1:] * oscillating[:-1])) > 3.5
    assert steps_worth_a_draw([oscillating], 10) == 20
    # Of two decays, the first lag shows the fast one, and 1 / e is reached by the slow one.
    fast, slow = autoregressive(0.3), autoregressive(0.95, seed=3)
    mixed = np.sqrt(0.5) * (fast + slow)
    assert -1 / np.log(np.mean(mixed[1:] * mixed[:-1])) < 2.5
    assert steps_worth_a_draw([mixed], 10) >= 50


def test_a_slow_scale_of_many_fast_effects_is_not_forgotten():
    rng, n = np.random.default_rng(1), 4_000
    draws, scale = rng.normal(size=(n, 151)), np.zeros(n)
    for t in range(1, n):
        scale[t] = 0.95 * scale[t - 1] + draws[t, 150] * np.sqrt(1 - 0.95**2)
    draws[:, 150] = scale
    assert steps_worth_a_draw([draws], 10) == 3
    assert steps_worth_a_draw([draws], 10, sizes=[150, 1]) == 100
    # A posterior with few entries is judged as a whole.
    assert steps_worth_a_draw([draws[:, 100:]], 10, sizes=[50, 1]) == 3


def test_slow_posteriors_have_correlated_draws_instead_of_no_end():
    slow = np.linspace(-1.0, 1.0, 200)[:, None]
    assert steps_worth_a_draw([slow], 50) == 500
    assert steps_worth_a_draw([np.tile(slow, 101)], 50) == 200
    # While tuning, draws of slow posteriors are closer together.
    counts = [steps_while_tuning(n) for n in (1, 10, 20, 40, 100, 200, 3_000)]
    assert counts == [1, 10, 20, 20, 20, 50, 50]


def test_ridges_that_a_mass_does_not_know_are_as_wide_as_they_should_be():
    """Noise of the curvature of a pair of effects, among 98 other entries; moments are exact."""
    correlation, noise = 0.95, 1.0
    hessian = np.linalg.inv([[1.0, correlation], [correlation, 1.0]])
    variance = noise * hessian[0, 0]
    by_entry = np.full(2, variance), np.full(98, noise), np.zeros(0)
    mean = float(np.mean(np.concatenate(by_entry)))
    measured = GradientNoise(mean, variance, by_entry)
    demands = Demands(measured, 1 / (1 - correlation), accuracy=0.05)
    step_size, parameters = balanced_rule(demands)
    friction = parameters["diffusion"] + step_size * variance / 2
    h = friction * step_size / 2
    one = np.eye(2)
    drift = np.block([[one, step_size / 2 * one], [0 * one, one]])
    damp = np.kron(np.diag([1, np.exp(-h)]), one)
    kick = np.block([[one, 0 * one], [-np.cosh(h) * step_size * hessian, one]])
    matrix = drift @ damp @ kick @ damp @ drift
    # What is injected leaves out the noise of an entry.
    heat = 2 * np.sinh(2 * h) * one
    heat += (np.cosh(h) * step_size) ** 2 * (noise * hessian - variance * one)
    into = drift @ damp @ np.concatenate([0 * one, one])
    covariance = solve_discrete_lyapunov(matrix, into @ heat @ into.T)
    positions = (drift @ covariance @ drift.T)[:2, :2]
    along = np.array([1.0, 1.0]) / np.sqrt(2)
    assert along @ positions @ along == pytest.approx(1 + correlation, rel=0.1)
