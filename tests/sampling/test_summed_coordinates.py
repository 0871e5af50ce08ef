#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Random walks by cumulative sums move as the sums, and draws are those of the steps."""

import arviz as az
import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

import pymc_geodesic as pmg

N_WEEKS, PER_WEEK, WIDEST = 40, 40, 1.0
# Weeks without rows.
GAP = slice(20, 25)


def level(*, widest=WIDEST, seed=3):
    """Simulate a level of weeks, and write it as the cumulative sum of its steps."""
    rng = np.random.default_rng(seed)
    rows = np.full(N_WEEKS, PER_WEEK)
    rows[GAP] = 0
    week = np.repeat(np.arange(N_WEEKS), rows)
    y = np.cumsum(0.3 * rng.standard_normal(N_WEEKS))[week] + rng.standard_normal(len(week))
    with pm.Model() as model:
        w, outcome = pm.Minibatch(week, y, batch_size=60)
        tau, z = pm.HalfNormal("tau", widest), pm.Normal("z", shape=N_WEEKS)
        pm.Normal("y", pt.cumsum(tau * z)[w], 1.0, observed=outcome, total_size=len(y))
    return model, rows, np.bincount(week, y, minlength=N_WEEKS)


def exact_moments(rows, totals):
    """Mean and deviation of tau and of z, by quadrature over tau."""
    taus = np.linspace(0.05, 1.2, 1_000)
    sums = np.tril(np.ones((N_WEEKS, N_WEEKS)))
    precisions = np.eye(N_WEEKS) + taus[:, None, None] ** 2 * (sums.T @ (rows[:, None] * sums))
    covariances = np.linalg.inv(precisions)
    score = taus[:, None] * (sums.T @ totals)
    centers = (covariances @ score[..., None])[..., 0]
    log_density = 0.5 * np.sum(score * centers, axis=1) - 0.5 * np.linalg.slogdet(precisions)[1]
    log_density -= 0.5 * (taus / WIDEST) ** 2
    weight = np.exp(log_density - log_density.max())
    weight /= weight.sum()
    mean = weight @ np.column_stack([taus, centers])
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    square = weight @ np.column_stack([taus**2, centers**2 + variances])
    return mean, np.sqrt(square - mean**2)


def test_draws_have_the_exact_moments():
    model, rows, totals = level()
    idata = pmg.sample(model=model, random_seed=1, progressbar=False)
    draws = np.concatenate(
        [idata.posterior["tau"].values[..., None], idata.posterior["z"]], axis=-1
    )
    for one, m, s in zip(np.moveaxis(draws, -1, 0), *exact_moments(rows, totals), strict=True):
        ess = min(float(az.ess(one)), float(az.ess(one**2)))
        assert ess > 400
        # Beside the error of the draws, that of a step size whose tolerated error is a tenth.
        assert abs(one.mean() - m) / s < 5 / np.sqrt(ess) + 0.03
        assert abs(one.std() / s - 1) < 5 / np.sqrt(2 * ess) + 0.05


@pytest.mark.parametrize(("widest", "is_moved"), [(WIDEST, True), (0.001, False)])
def test_walks_move_as_sums_if_data_determine_these(widest, is_moved):
    model, _, _ = level(widest=widest)
    with model:
        problem = pmg.SGNHT().sampler.problem
    [walk] = [v.coordinate for v in problem.variables if v.name == "z"]
    assert (walk is not None) == is_moved
    if is_moved:
        shares = walk.share.get_value()
        # In the gap, the steps are those of the model.
        assert np.all(shares[GAP] < 1e-4)
        assert np.all(np.delete(shares, np.r_[GAP]) > 0.9)
