#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Random intercepts of stores as uneven as real ones, and their posterior.

The posterior of mean and deviation of the intercepts is that with the coefficients at their mode:
each store's likelihood is integrated over its intercept by a sum around its mode, and the rest on a
grid. Coefficients are known to some thousandths, and say nothing of either. Their mode is that with
the intercepts integrated out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm

from scipy.special import expit, log_expit, logsumexp

from benchmarks.correctness.strangers_truths import Moments, grid_moments
from benchmarks.harness.sampling import flat

__all__ = ["entries", "model", "moments", "z_of_effects"]

N_STORES, BATCH_SIZE = 1_200, 500
BETA = np.array([0.4, -0.3, 0.0, 0.8, 0.1, -0.6])
N_NODES, REACH = 25, 6.0
N_HERMITE, N_STEPS = 9, 4
Data = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def data(n_rows: int) -> Data:
    """Simulate stores of Dirichlet sizes: their numbers, regressors, outcomes, true intercepts."""
    rng = np.random.default_rng(7)
    store = rng.choice(N_STORES, size=n_rows, p=rng.dirichlet(np.ones(N_STORES)))
    x = rng.standard_normal((n_rows, 6))
    x[:, 3] = x[:, 3] > 0.5
    _, store = np.unique(store, return_inverse=True)
    truth = rng.normal(-1.0, 0.7, store.max() + 1)
    y = (rng.random(n_rows) < expit(truth[store] + x @ BETA)).astype("int32")
    return store, x, y, truth


def model(n_rows: int) -> pm.Model:
    """Logistic regression with an intercept for each store."""
    store, x, y, truth = data(n_rows)
    with pm.Model() as made:
        xb, sb, yb = pm.Minibatch(x, store, y, batch_size=BATCH_SIZE)
        mu, sigma = pm.Normal("mu", 0.0, 1.5), pm.HalfNormal("sigma", 1.0)
        a = pm.Normal("a", mu, sigma, shape=len(truth))
        beta = pm.Normal("beta", 0.0, 1.0, shape=6)
        pm.Bernoulli("y", logit_p=a[sb] + xb @ beta, observed=yb, total_size=n_rows)
    return made


def entries(draws: dict[str, np.ndarray]) -> np.ndarray:
    """Return what is compared: mean, deviation and coefficients, ``(draws, entry)``."""
    return flat(draws, ("mu", "sigma", "beta")).reshape(-1, 8)


def z_of_effects(draws: dict[str, np.ndarray], n_rows: int) -> float:
    """Return the deviation of the errors of all intercepts, in their standard deviations."""
    a, truth = draws["a"], data(n_rows)[-1]
    return float(np.std((a.mean(axis=(0, 1)) - truth) / a.std(axis=(0, 1))))


def moments(n_rows: int) -> Moments:
    """Means and deviations of the entries."""
    store, x, y, _ = data(n_rows)
    mode, beta, widths, covariance = _mode(store, x, y)
    for _ in range(N_STEPS):
        beta = beta + covariance @ _marginal_score(store, x, y, mode, widths, beta)
    beta_sd = np.sqrt(np.diag(covariance))
    nodes = np.linspace(-REACH, REACH, N_NODES)
    at = mode + widths * nodes[:, None]
    rows = x @ beta
    log_likelihood = np.array(
        [np.bincount(store, log_expit(np.where(y, 1, -1) * (a[store] + rows))) for a in at]
    )
    mu = np.linspace(mode.mean() - 0.15, mode.mean() + 0.15, 61)
    sigma = np.linspace(0.8, 1.2, 61) * mode.std()
    density = np.empty((61, 61))
    for i, m in enumerate(mu):
        for j, s in enumerate(sigma):
            terms = log_likelihood - 0.5 * ((at - m) / s) ** 2
            density[i, j] = logsumexp(terms, axis=0).sum() - len(mode) * np.log(s)
    grid = np.meshgrid(mu, sigma, indexing="ij")
    found = grid_moments(grid, density - 0.5 * (grid[0] / 1.5) ** 2 - 0.5 * grid[1] ** 2)
    return Moments(np.append(found.mean, beta), np.append(found.sd, beta_sd))


def _mode(store: np.ndarray, x: np.ndarray, y: np.ndarray) -> Any:
    """Intercepts and coefficients at the mode for a deviation found by EM, and their widths."""
    n = store.max() + 1
    a, beta, mu, sigma = np.full(n, -1.0), np.zeros(6), -1.0, 1.0
    for _ in range(40):
        p = expit(a[store] + x @ beta)
        w = p * (1 - p)
        variance = 1 / (np.bincount(store, w, n) + sigma**-2)
        a = a + variance * (np.bincount(store, y - p, n) - (a - mu) / sigma**2)
        p = expit(a[store] + x @ beta)
        of_stores = np.array([np.bincount(store, w * column, n) for column in x.T])
        curvature = (x * w[:, None]).T @ x + np.eye(6) - (of_stores * variance) @ of_stores.T
        beta = beta + np.linalg.solve(curvature, x.T @ (y - p) - beta)
        mu, sigma = a.mean(), np.sqrt(np.mean((a - a.mean()) ** 2 + variance))
    return a, beta, np.sqrt(variance), np.linalg.inv(curvature)


def _marginal_score(
    store: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    mode: np.ndarray,
    widths: np.ndarray,
    beta: np.ndarray,
) -> np.ndarray:
    """Slope of the log density of the coefficients, with the intercepts integrated out."""
    mu, sigma = mode.mean(), np.sqrt(np.mean((mode - mode.mean()) ** 2 + widths**2))
    nodes, shares = np.polynomial.hermite_e.hermegauss(N_HERMITE)
    at, rows, sign = mode + widths * nodes[:, None], x @ beta, np.where(y, 1, -1)
    log_density = np.array([np.bincount(store, log_expit(sign * (a[store] + rows))) for a in at])
    log_density += 0.5 * nodes[:, None] ** 2 - 0.5 * ((at - mu) / sigma) ** 2
    weights = np.exp(log_density - log_density.max(axis=0)) * shares[:, None]
    weights /= weights.sum(axis=0)
    pairs = zip(at, weights, strict=True)
    return sum(x.T @ ((y - expit(a[store] + rows)) * w[store]) for a, w in pairs) - beta
