#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""SGRLD without a step size, on exact Dirichlet posteriors.

Many vectors that do not know of each other say in one run whether their means and widths are right.
"""

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")

N_POINTS, N_ROWS, BATCH_SIZE = 40, 200, 40
SHARES = np.array([0.6, 0.3, 0.1])


def counts_model(alpha, *, batches):
    """Vectors of three probabilities, and the concentrations of their posterior."""
    rng = np.random.default_rng(1)
    rows = rng.multinomial(1, SHARES, size=(N_ROWS, N_POINTS)).astype("int32")
    with pm.Model() as model:
        p = pm.Dirichlet("p", np.full((N_POINTS, 3), alpha))
        if batches:
            batch = pm.Minibatch(rows, batch_size=BATCH_SIZE)
            pm.Multinomial("x", 1, p, observed=batch, total_size=N_ROWS)
        else:
            pm.Multinomial("x", N_ROWS, p, observed=rows.sum(axis=0).astype("int32"))
    return model, rows.sum(axis=0) + alpha


def assert_posterior(draws, shapes):
    """Assert that means are within 0.1 sd and widths within 12 per cent, for all entries together.

    Standard errors, of forty independent vectors, are about 0.02 and 0.02.
    """
    total = shapes.sum(axis=-1, keepdims=True)
    mean = shapes / total
    scores = (draws - mean) / np.sqrt(mean * (1 - mean) / (total + 1))
    for k in range(3):
        averages = scores[..., k].mean(axis=(0, 1))
        error = averages.std(ddof=1) / np.sqrt(N_POINTS)
        assert abs(averages.mean()) < 0.1 + 4 * error
        squares = (scores[..., k] ** 2).mean(axis=(0, 1))
        error = squares.std(ddof=1) / np.sqrt(N_POINTS)
        assert 0.88**2 - 4 * error < squares.mean() < 1.12**2 + 4 * error


def test_batches_of_counts():
    model, shapes = counts_model(1.0, batches=True)
    with model:
        step = pmg.SGRLD()
        idata = pmg.sample(
            200, tune=200, chains=1, step=step, random_seed=1, progressbar=False,
            compute_convergence_checks=False,
        )  # fmt: skip
    assert_posterior(idata.posterior["p"].values, shapes)
    # The gradient of counts in log probabilities is constant: control variates leave no noise.
    ratio = idata.sample_stats.get("gradient_variance_ratio")
    assert float(ratio[0, -1]) < 1e-20


def test_exact_transitions_with_all_counts_and_sparse_priors():
    """Through ``pm.sample``: a fifth of the way is the longest step, and no noise shortens it."""
    model, shapes = counts_model(0.1, batches=False)
    with model:
        step = pmg.SGRLD()
        idata = pm.sample(
            300, tune=200, chains=1, cores=1, step=step, random_seed=1, progressbar=False,
            compute_convergence_checks=False,
        )  # fmt: skip
    assert_posterior(idata.posterior["p"].values, shapes)
    kept = 2 / float(idata.sample_stats["step_size"][0, -1])
    smallest = float(shapes.sum(axis=-1).min())
    assert smallest / (smallest + kept) == pytest.approx(1 - np.exp(-0.2), rel=0.05)


def test_other_coordinates_do_not_tune_themselves():
    model, _ = counts_model(1.0, batches=True)
    for options in ({"parameterization": "reduced_mean"}, {"metropolis": True}):
        step = pmg.SGRLD(model=model, **options)
        assert step.sampler.tuning is None
        assert step.sampler.settings.step_size == pytest.approx(0.01 / N_ROWS)
