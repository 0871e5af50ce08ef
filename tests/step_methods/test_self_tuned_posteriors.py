#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Means and widths of steps that tune themselves, on a posterior that is known.

Many coefficients say in one run how wide the draws are: within about half a per cent.
"""

import numpy as np
import pytest

from chains import assert_mean, assert_widths, batch_averages
from normal_regression import draws_of, normal_model, standard_scores
from scipy.linalg import solve_discrete_lyapunov

import pymc_geodesic as pmg

N_BLOCKS = 8


def assert_means(scores):
    for i in range(scores.shape[-1]):
        assert_mean(batch_averages(scores[..., i], n_batches=40), 0.0, errors=5.0)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("SGNHT", {}),
        # The default asks for 0.05 and has 0.02: a variance of 1.04, which would hide an error.
        ("SGHMC", {"accuracy": 0.01}),
        # Its energies have control variates too; without them they would heat it.
        ("SGNPHMC", {}),
    ],
)
def test_step_finds_the_posterior(name, options):
    model, mean, covariance = normal_model(N_BLOCKS)
    step = getattr(pmg, name)(model=model, **options)
    draws = draws_of(step, model, tune=300, draws=2_000)["beta"]
    scores = standard_scores(draws, mean, covariance)
    assert_means(scores)
    assert_widths(scores)
    assert step.chain.tuning.variance_ratio < 0.01
    assert step.chain.tuning.controlled


@pytest.mark.slow
def test_langevin_step_has_the_bias_that_it_must_have():
    """Of first order, and far above the errors, but known: the step is a linear map."""
    model, mean, covariance = normal_model(N_BLOCKS, block=np.eye(3))
    step = pmg.SGLD(model=model)
    draws = draws_of(step, model, tune=300, draws=1_000)["beta"]
    scores = standard_scores(draws, mean, covariance)
    assert_means(scores)
    h, precision = step.chain.settings.step_size, np.linalg.inv(covariance)
    noise = np.diag(step.chain.tuning.found.noise.by_entry[0])
    matrix = np.eye(len(mean)) - 0.5 * h * precision
    stationary = solve_discrete_lyapunov(matrix, h * np.eye(len(mean)) + 0.25 * h**2 * noise)
    expected = np.trace(precision @ stationary) / len(mean)
    # The accuracy asked for, 0.05, is 0.1 in a variance.
    assert 1.02 < expected < 1.1
    assert_widths(scores / np.sqrt(expected))
