#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The examples after the papers' experiments run, and find what is known of them.

Short runs are compared within their own standard errors. The long ones also know these to be small
enough to see a temperature, or a mean, that is off by some per cent.
"""

import numpy as np
import pymc as pm
import pytest

from chains import assert_mean, batch_averages

import pymc_geodesic as pmg

pytestmark = [
    # Short runs are not settled, and say so.
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

# Two short chains have ten batches, whose mean is six of its errors off once in 5,000.
SHORT, SIX_ERRORS = 5, 6.0


def assert_short(values, expected):
    assert_mean(batch_averages(values, n_batches=SHORT), expected, errors=SIX_ERRORS)


def assert_long(values, expected, *, known_within):
    """Assert a mean, and that its standard error is small."""
    averages = batch_averages(values)
    assert_mean(averages, expected)
    assert averages.std(ddof=1) / np.sqrt(averages.size) < known_within


def assert_temperature(force, curvature):
    """Assert that the mean square of the force is the mean curvature, which it is at temperature 1.

    A temperature of 1.1, widths off by 5 per cent, would be five standard errors away.
    """
    assert_long(1 + (force**2 - curvature) / curvature.mean(), 1.0, known_within=0.02)


def circle_derivatives(example, x):
    """Force and curvature along the circle, by differences of the energy."""
    angle, h = np.arctan2(x[..., 1], x[..., 0]), 1e-3

    def energy(angle):
        point = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        return -example.log_density(point, np.logaddexp)

    above, at, below = (energy(angle + shift) for shift in (h, 0.0, -h))
    return (above - below) / (2 * h), (above - 2 * at + below) / h**2


def balancing_friction(example):
    """Friction at which velocities have variance one: 14.94, to first order 10 + 5.

    From ``v exp(-2 xi h) + exp(-xi h) s = v`` with the variance s of all noise of one step.
    """
    h = example.STEP_SIZE
    return np.arcsinh(example.DIFFUSION * h + 0.5 * h**2 * example.NOISE) / h


def test_noisy_circle(load_example, check_picture):
    example = load_example("noisy_circle")
    idata = example.run(quick=True)
    x = idata.posterior["x"].values
    assert x.shape[-1] == 2
    # The tuning phase finds a friction far above the 10 of exact gradients.
    assert_short(idata.sample_stats["thermostat"], balancing_friction(example))
    force, curvature = circle_derivatives(example, x)
    assert_short(force**2 - curvature, 0.0)
    check_picture(example, idata)


@pytest.mark.slow
def test_noisy_circle_in_full(load_example):
    example = load_example("noisy_circle")
    idata = example.run()
    # Noise that is wrong by 5 per cent would need a friction higher by 0.25.
    expected = balancing_friction(example)
    assert_long(idata.sample_stats["thermostat"], expected, known_within=0.06)
    force, curvature = circle_derivatives(example, idata.posterior["x"].values)
    assert_mean(batch_averages(force**2 - curvature), 0.0)


def wells_derivatives(t):
    """Force and curvature of the double well."""
    energy = np.poly1d(np.poly([-4, -1, 1, 3]) / 14)
    return energy.deriv()(t), energy.deriv(2)(t)


def test_two_wells(load_example, check_picture):
    example = load_example("two_wells")
    mean, variance = example.truth()
    # By integrals of the density, to the digits that are known of it.
    assert (mean, variance) == pytest.approx((-2.14796, 2.86177), abs=1e-5)
    idata = example.run(quick=True)
    assert_short(idata.sample_stats["kinetic_temperature"], 1.0)
    assert_short(idata.sample_stats["thermostat"], example.B + example.DIFFUSION)
    force, curvature = wells_derivatives(idata.posterior["t"].values)
    assert_short(force**2 - curvature, 0.0)
    check_picture(example, idata)


@pytest.mark.slow
def test_two_wells_in_full(load_example):
    example = load_example("two_wells")
    mean, variance = example.truth()
    idata = example.run()
    t = idata.posterior["t"].values
    assert_mean(batch_averages(t), mean)
    assert_mean(batch_averages((t - mean) ** 2), variance)
    # Noise that is wrong by 5 per cent would need a friction of 1.05.
    expected = example.B + example.DIFFUSION
    assert_long(idata.sample_stats["thermostat"], expected, known_within=0.01)
    assert_temperature(*wells_derivatives(t))


def test_dirichlet_corners(load_example, check_picture):
    example = load_example("dirichlet_corners")
    idata = example.run(quick=True)
    p = idata.posterior["p"]
    assert np.isfinite(p).all()
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum("p_dim_0"), 1, atol=1e-12)
    assert_short((p**2).sum("p_dim_0"), example.agreement(size=100))
    check_picture(example, idata)


@pytest.mark.slow
def test_dirichlet_corners_for_longer(load_example):
    example = load_example("dirichlet_corners")
    with example.build_model(size=100):
        step = pmg.SGRLD(step_size=example.STEP_SIZE, n_steps=10)
        idata = pm.sample(
            3000, tune=100, chains=2, cores=1, step=step, random_seed=1, progressbar=False
        )
    found = (idata.posterior["p"].values ** 2).sum(axis=-1)
    # An error of 5 per cent would be five standard errors away.
    assert_long(found, example.agreement(size=100), known_within=0.005)


def test_exact_posterior_of_two_directions(load_example):
    """The ridge: one direction must go back when the other goes on."""
    example = load_example("two_directions")
    grid = np.linspace(-1.2, 1.2, 241)
    posterior = example.grid_posterior(example.make_data(), grid)
    assert posterior.sum() == pytest.approx(1)
    a, b = posterior.sum(axis=1) @ grid, posterior.sum(axis=0) @ grid
    assert (grid - a) @ posterior @ (grid - b) < 0


@pytest.mark.slow
def test_two_directions(load_example, check_picture):
    example = load_example("two_directions")
    idata = example.run(quick=True)
    grid = np.linspace(-1.2, 1.2, 241)
    posterior = example.grid_posterior(example.make_data(), grid)
    deviations, means = [], []
    for axis, name in ((1, "v1"), (0, "v2")):
        means.append(posterior.sum(axis=axis) @ grid)
        deviations.append(example.angle(idata.posterior[name].values) - means[-1])
        assert_short(deviations[-1], 0.0)
    covariance = (grid - means[0]) @ posterior @ (grid - means[1])
    assert_short(deviations[0] * deviations[1], covariance)
    check_picture(example, idata)
