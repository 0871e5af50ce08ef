#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A regression with known scales, whose posterior is normal, with variances and correlations."""

import numpy as np
import pymc as pm

from chains import run

N_ROWS, BATCH_SIZE = 20_000, 100
BLOCK = np.array([[1.0, 0.0, 0.0], [0.9, 0.5, 0.0], [0.0, 0.0, 10.0]])
COEFFICIENTS = [1.0, -1.0, 0.1]


def normal_table(n_blocks=1, *, block=BLOCK):
    """Covariates in blocks of three, of which two are correlated and one has another scale."""
    rng = np.random.default_rng(1)
    design = (rng.normal(size=(N_ROWS, n_blocks, 3)) @ block).reshape(N_ROWS, -1)
    return design, design @ np.tile(COEFFICIENTS, n_blocks) + rng.normal(size=N_ROWS)


def normal_model(n_blocks=1, **options):
    """The model with minibatches, and the mean and the covariance of its posterior."""
    design, outcome = normal_table(n_blocks, **options)
    with pm.Model() as model:
        beta = pm.Normal("beta", 0.0, 10.0, shape=3 * n_blocks)
        x, y = pm.Minibatch(design, outcome, batch_size=BATCH_SIZE)
        pm.Normal("y", x @ beta, 1.0, observed=y, total_size=N_ROWS)
    return model, *normal_posterior(design, outcome)


def normal_posterior(design, outcome):
    """Mean and covariance."""
    covariance = np.linalg.inv(design.T @ design + np.eye(design.shape[1]) / 100)
    return covariance @ design.T @ outcome, covariance


def draws_of(step, model, *, tune, draws, seed=1):
    """Draws of every variable after tuning."""
    path = [
        p for p, _ in run(step, model.initial_point(), draws=tune + draws, tune=tune, seed=seed)
    ]
    return {name: np.array([p[name] for p in path[tune:]]) for name in path[0]}


def standard_scores(draws, mean, covariance):
    """Draws as a chain ``(1, draw, entry)`` of standard normals that are independent, if right."""
    return ((draws - mean) @ np.linalg.inv(np.linalg.cholesky(covariance)).T)[None]
