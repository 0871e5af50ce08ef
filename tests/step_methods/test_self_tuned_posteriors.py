#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Means and widths of steps that tune themselves, on a posterior that is known."""

import pytest

from chains import assert_mean, assert_widths, batch_averages
from normal_regression import draws_of, normal_model, standard_scores

import pymc_geodesic as pmg

# Many coefficients say in one run how wide the draws are.
N_BLOCKS = 8


@pytest.mark.parametrize("name", ["SGNHT", "SGHMC", "SGLD"])
def test_default_step_finds_the_posterior(name):
    model, mean, covariance = normal_model(N_BLOCKS)
    step = getattr(pmg, name)(model=model, backend="jax")
    draws = draws_of(step, model, tune=300, draws=4_000)["beta"]
    scores = standard_scores(draws, mean, covariance)
    for i in range(scores.shape[-1]):
        assert_mean(batch_averages(scores[..., i], n_batches=40), 0.0, errors=5.0)
    assert_widths(scores)
    assert step.chain.tuning.variance_ratio < 0.01
    assert step.chain.tuning.controlled
