#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Gaussians with unknown mean and precision: Figure 3 and Table 1 of Ding et al. (2014)."""

from __future__ import annotations

import numpy as np
import pymc as pm

from scipy import stats

N_ROWS, BATCH_SIZE = 100, 10
SETTINGS = ((0.01, 1.0), (0.01, 10.0), (0.001, 1.0), (0.001, 10.0))
PAPER = {
    "SGHMC": ((0.629, 7.19), (0.286, 37.68), (0.292, 67.83), (0.136, 357.14)),
    "SGNHT": ((0.175, 14.35), (0.026, 55.65), (0.091, 22.97), (0.053, 424.81)),
}


def make_data() -> np.ndarray:
    return np.random.default_rng(2014).standard_normal(N_ROWS)


def gaussian_mean(data: np.ndarray) -> pm.Model:
    """Known precision of one and a flat prior on the mean."""
    with pm.Model() as model:
        mu = pm.Flat("mu", initval=0.0)
        batch = pm.Minibatch(data, batch_size=BATCH_SIZE)
        pm.Normal("x", mu, 1.0, observed=batch, total_size=N_ROWS)
    return model


def normal_gamma(data: np.ndarray) -> pm.Model:
    """mu | gamma ~ N(0, 1 / gamma), gamma ~ Gamma(1, 1); gamma itself is moved, not its log."""
    with pm.Model() as model:
        gamma = pm.Gamma("gamma", 1.0, 1.0, default_transform=None, initval=1.0)
        mu = pm.Normal("mu", 0.0, tau=gamma, initval=0.0)
        batch = pm.Minibatch(data, batch_size=BATCH_SIZE)
        pm.Normal("x", mu, tau=gamma, observed=batch, total_size=N_ROWS)
    return model


def posterior(data: np.ndarray) -> dict:
    """Marginal posteriors of the Normal-Gamma model."""
    n, mean = len(data), data.mean()
    a = 1 + n / 2
    b = 1 + 0.5 * ((data - mean) ** 2).sum() + 0.5 * n * mean**2 / (n + 1)
    scale = np.sqrt(b / (a * (n + 1)))
    return {
        "mu": stats.t(2 * a, n * mean / (n + 1), scale),
        "gamma": stats.gamma(a, scale=1 / b),
    }


def density_error(values: np.ndarray, marginal) -> float:
    """Root mean square error of a histogram density over six standard deviations, 100 bins."""
    edges = marginal.mean() + marginal.std() * np.linspace(-3, 3, 101)
    width = edges[1] - edges[0]
    found = np.histogram(values, bins=edges)[0] / values.size / width
    return float(np.sqrt(np.mean((found - np.diff(marginal.cdf(edges)) / width) ** 2)))
