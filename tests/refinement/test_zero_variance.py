#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Zero-variance estimates of means and covariances from draws with gradients."""

import numpy as np
import pytest

from scipy.special import digamma, polygamma

from pymc_geodesic.refinement.control_variates import SteinDraws, corrected_moments, folds_of
from pymc_geodesic.refinement.frame import frame_of
from pymc_geodesic.refinement.moments import correction_of


def gaussian(d, *, shift=0.2, wide=1.1, n=100, seed=0):
    """Draws that are off by some deviations and too wide, with gradients and the covariance."""
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(d, d))
    precision = factor @ factor.T / d + np.eye(d)
    cov = np.linalg.inv(precision)
    draws = rng.normal(size=(4, n, d)) @ np.linalg.cholesky(cov).T * wide
    draws += shift * np.sqrt(np.diag(cov))
    return draws, draws @ precision, cov


def corrected(x, gradient):
    """Draws with the moments that gradients give, with what was estimated."""
    frame = frame_of(x)
    y = frame.into(x)
    estimates = corrected_moments(SteinDraws(y, frame.force(gradient)))
    return frame.out_of(correction_of(y, estimates)(y)), estimates


@pytest.mark.parametrize("d", [1, 3, 12, 40])
def test_a_gaussian_posterior_is_found_exactly_from_wrong_draws(d):
    x, gradient, cov = gaussian(d)
    found, _ = corrected(x, gradient)
    flat = found.reshape(-1, d)
    np.testing.assert_allclose(flat.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(np.cov(flat.T, bias=True).reshape(d, d), cov, atol=1e-5)


def test_many_coordinates_have_the_right_means_and_deviations():
    x, gradient, cov = gaussian(120)
    found, estimates = corrected(x, gradient)
    assert estimates.cov.ndim == 1
    np.testing.assert_allclose(found.mean(axis=(0, 1)), 0, atol=1e-3)
    np.testing.assert_allclose(found.std(axis=(0, 1)), np.sqrt(np.diag(cov)), rtol=2e-3)


def log_gamma(shape, *, n, seed, wide=1.0, shift=0.0):
    """Logarithms of gamma variables, which are skewed, with gradients."""
    x = np.log(np.random.default_rng(seed).gamma(shape, size=(4, n, len(shape))))
    mean = digamma(shape)
    x = mean + wide * (x - mean) + shift * np.sqrt(polygamma(1, shape))
    return x, np.exp(x) - shape


def test_a_skewed_posterior_is_found_from_wrong_draws():
    shape = np.array([3.0, 10.0])
    x, gradient = log_gamma(shape, n=250, seed=1, wide=1.1, shift=0.2)
    found, _ = corrected(x, gradient)
    sd = np.sqrt(polygamma(1, shape))
    assert np.all(np.abs(found.mean(axis=(0, 1)) - digamma(shape)) < 0.03 * sd)
    assert np.all(np.abs(found.std(axis=(0, 1)) / sd - 1) < 0.03)


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_standard_errors_are_those_of_repetitions(noise):
    """Gradients of batches are noisy; the regression on them is too."""
    shape = np.array([2.0, 5.0])
    scale, rng = np.sqrt(polygamma(1, shape)), np.random.default_rng(7)
    errors, estimated, gains = [], [], []
    for seed in range(150):
        x, gradient = log_gamma(shape, n=100, seed=seed)
        gradient = gradient + noise * rng.normal(size=x.shape) / scale
        y = (x - digamma(shape)) / scale
        found = corrected_moments(SteinDraws(y, gradient * scale))
        errors.append(np.concatenate([found.mean, np.diag(found.cov) - 1]))
        estimated.append(np.concatenate([found.mean_error, np.diag(found.cov_error)]))
        gains.append(found.mean_left)
    assert np.median(gains) < (0.01 if noise == 0 else 0.5)
    rms = [np.sqrt(np.mean(np.square(x), axis=0)) for x in (errors, estimated)]
    # The deviation of 150 numbers is known to six per cent, and less well if they are skewed.
    assert np.all((rms[0] / rms[1] > 0.7) & (rms[0] / rms[1] < 1.35))


@pytest.mark.parametrize("n_chains", [1, 2, 4, 7])
def test_each_draw_is_averaged_once_with_the_coefficients_of_others(n_chains):
    x = np.zeros((n_chains, 20, 1))
    pairs = list(folds_of(x))
    assert not any((train & test).any() for train, test in pairs)
    np.testing.assert_array_equal(sum(test.astype(int) for _, test in pairs), 1)


def test_moments_that_draws_know_better_stay():
    """Without a relation of gradients and draws there is nothing to learn."""
    rng = np.random.default_rng(3)
    y = rng.normal(size=(4, 1000, 2))
    found = corrected_moments(SteinDraws(y[:, ::10], rng.normal(size=(4, 100, 2)) * 3))
    correction = correction_of(y, found)
    assert not correction.is_moved.any()
    np.testing.assert_allclose(correction(y), y, atol=0.1)
