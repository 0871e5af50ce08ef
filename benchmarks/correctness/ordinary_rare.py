#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Ordinary models some of whose entries few rows concern, with simulated data.

Every function returns the same posterior for minibatches or for all rows.
"""

from __future__ import annotations

import numpy as np
import pymc as pm

from scipy.special import expit, log_expit

from benchmarks.harness.sampling import rows

__all__ = ["clinics", "dummies", "dummies_moments", "rents"]

BATCH_SIZE = 300
# Of the coefficients of dummies.
PRIOR_SCALE = 2.0
N_POINTS, REACH = 2_001, 8.0


def dummies_data(n_rows: int = 400_000) -> tuple[np.ndarray, np.ndarray]:
    """Simulate 25 dummies, of 12 to 20,000 rows, beside an intercept and two covariates."""
    rng = np.random.default_rng(31)
    counts = np.geomspace(12, 20_000, 25).astype(int)
    kind, order = np.zeros(n_rows, int), rng.permutation(n_rows)
    for number, places in enumerate(np.split(order, np.cumsum(counts))[:-1], start=1):
        kind[places] = number
    covariates = rng.standard_normal((n_rows, 2))
    design = np.column_stack([np.ones(n_rows), covariates, kind[:, None] == np.arange(1, 26)])
    weights = np.r_[-1.0, 0.3, -0.2, rng.normal(0, 0.7, 25)]
    return design, (rng.uniform(size=n_rows) < expit(design @ weights)).astype("int32")


def dummies(minibatch: bool) -> pm.Model:
    """Logistic regression on dummies, some of which are rarely one."""
    with pm.Model() as model:
        (x, outcome), size = rows(minibatch, *dummies_data(), batch_size=BATCH_SIZE)
        beta = pm.Normal("beta", 0.0, PRIOR_SCALE, shape=28)
        pm.Bernoulli("y", logit_p=x @ beta, observed=outcome, **size)
    return model


def dummies_moments() -> tuple[np.ndarray, np.ndarray]:
    """Means and deviations of the coefficients.

    The density of each is integrated on a grid with all others at the mode, and what these add to
    its variance is taken from the curvature there. They are known to a hundredth or so, so that
    this is exact to a thousandth of a deviation.
    """
    design, y = dummies_data()
    weights = np.zeros(design.shape[1])
    for _ in range(30):
        p = expit(design @ weights)
        slope = design.T @ (y - p) - weights / PRIOR_SCALE**2
        curvature = (design * (p * (1 - p))[:, None]).T @ design
        curvature += np.eye(len(weights)) / PRIOR_SCALE**2
        weights += np.linalg.solve(curvature, slope)
    given_others, widths = 1 / np.diag(curvature), np.diag(np.linalg.inv(curvature))
    mean, sd, at_mode = weights.copy(), np.sqrt(widths), design @ weights
    # The density of the first three, of all rows, is normal.
    for i in range(3, len(weights)):
        concerned = design[:, i] == 1
        moves = np.sqrt(given_others[i]) * np.linspace(-REACH, REACH, N_POINTS)
        logits = at_mode[concerned][:, None] + moves
        signs = np.where(y[concerned] == 1, 1.0, -1.0)[:, None]
        log_density = log_expit(signs * logits).sum(axis=0)
        log_density -= 0.5 * ((weights[i] + moves) / PRIOR_SCALE) ** 2
        density = np.exp(log_density - log_density.max())
        density /= density.sum()
        shift = density @ moves
        mean[i] += shift
        variance = density @ (moves - shift) ** 2
        sd[i] = np.sqrt(variance + widths[i] - given_others[i])
    return mean, sd


def rents(minibatch: bool) -> pm.Model:
    """Rents in 60 districts of 2 to 19,000 flats, with outliers."""
    rng, n_rows, smallest = np.random.default_rng(32), 120_000, [2, 3, 4, 6, 8]
    share = np.geomspace(20, 9_000, 55)
    large = rng.choice(np.arange(5, 60), n_rows - sum(smallest), p=share / share.sum())
    district = np.concatenate([large, np.repeat(np.arange(5), smallest)])
    covariates = rng.standard_normal((n_rows, 2))
    effects = 2.4 + rng.normal(0, 0.2, 60)
    y = effects[district] + covariates @ [-0.1, 0.05] + 0.15 * rng.standard_t(4, n_rows)
    with pm.Model() as model:
        data = rows(minibatch, district, covariates, y, batch_size=BATCH_SIZE)
        (d, x, outcome), size = data
        mu, tau = pm.Normal("mu", 2.0, 1.0), pm.HalfNormal("tau", 0.5)
        effect = pm.Normal("effect", mu, tau, shape=60)
        beta = pm.Normal("beta", 0.0, 1.0, shape=2)
        sigma, nu = pm.HalfNormal("sigma", 0.5), pm.Gamma("nu", 2.0, 0.1)
        pm.StudentT("y", mu=effect[d] + x @ beta, sigma=sigma, nu=nu, observed=outcome, **size)
    return model


def clinics(minibatch: bool) -> pm.Model:
    """Readmissions to 300 clinics, half of which have few patients."""
    rng, n_rows = np.random.default_rng(33), 200_000
    share = np.concatenate([np.geomspace(3, 20, 150), np.geomspace(20, 8_000, 150)])
    clinic = rng.choice(300, n_rows, p=share / share.sum())
    covariates = rng.standard_normal((n_rows, 2))
    logit = -1.5 + rng.normal(0, 0.5, 300)[clinic] + covariates @ [0.3, -0.2]
    y = (rng.uniform(size=n_rows) < expit(logit)).astype("int32")
    with pm.Model() as model:
        (c, x, outcome), size = rows(minibatch, clinic, covariates, y, batch_size=BATCH_SIZE)
        mu, tau = pm.Normal("mu", 0.0, 2.0), pm.HalfNormal("tau", 1.0)
        effect = pm.Normal("effect", mu, tau, shape=300)
        beta = pm.Normal("beta", 0.0, 1.0, shape=2)
        pm.Bernoulli("y", logit_p=effect[c] + x @ beta, observed=outcome, **size)
    return model
