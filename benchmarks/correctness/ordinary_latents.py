#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Ordinary models with factors or components and simulated data, for ``models.py``.

Every function returns the same posterior for minibatches or for all rows.
"""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from benchmarks.harness.sampling import rows

BATCH_SIZE = 300
N_ROWS = 30_000


def item_response(minibatch: bool, *, n_persons: int = 1_000, n_items: int = 100) -> pm.Model:
    """Answers of all persons to all items, with two parameters for each item."""
    rng = np.random.default_rng(21)
    person, item = (index.ravel() for index in np.indices((n_persons, n_items)))
    ability, difficulty = rng.standard_normal(n_persons), 0.3 + rng.standard_normal(n_items)
    slope = np.exp(0.4 * rng.standard_normal(n_items))
    logit = slope[item] * (ability[person] - difficulty[item])
    y = (rng.uniform(size=person.size) < 1 / (1 + np.exp(-logit))).astype("int32")
    with pm.Model() as model:
        (p, i, outcome), size = rows(minibatch, person, item, y, batch_size=BATCH_SIZE)
        mu, of_items = pm.Normal("mu", 0.0, 1.0), pm.HalfNormal("of_items", 1.0)
        of_slopes = pm.HalfNormal("of_slopes", 1.0)
        ability = pm.Normal("ability", shape=n_persons)
        difficulty = pm.Normal("difficulty", mu, of_items, shape=n_items)
        slope = pm.LogNormal("slope", 0.0, of_slopes, shape=n_items)
        logit = slope[i] * (ability[p] - difficulty[i])
        pm.Bernoulli("y", logit_p=logit, observed=outcome, **size)
    return model


def factorization(minibatch: bool, *, n_users: int = 1_000, n_items: int = 300) -> pm.Model:
    """Ratings by three factors, known up to rotation; predictions are compared."""
    rng = np.random.default_rng(22)
    user, item = rng.integers(0, n_users, N_ROWS), rng.integers(0, n_items, N_ROWS)
    likes, traits = 0.6 * rng.standard_normal((n_users, 3)), rng.standard_normal((n_items, 3))
    y = 3.5 + (likes[user] * traits[item]).sum(axis=1) + rng.standard_normal(N_ROWS)
    asked_users, asked_items = rng.integers(0, n_users, 25), rng.integers(0, n_items, 25)
    with pm.Model() as model:
        (u, i, outcome), size = rows(minibatch, user, item, y, batch_size=BATCH_SIZE)
        mu, sigma = pm.Normal("mu", 3.0, 1.0), pm.HalfNormal("sigma", 1.0)
        tau = pm.HalfNormal("tau", 1.0)
        likes = pm.Normal("likes", 0.0, tau, shape=(n_users, 3))
        traits = pm.Normal("traits", shape=(n_items, 3))
        pm.Deterministic("f", mu + pt.sum(likes[asked_users] * traits[asked_items], axis=1))
        mean = mu + pt.sum(likes[u] * traits[i], axis=1)
        pm.Normal("y", mean, sigma, observed=outcome, **size)
    return model


def mixture_regression(minibatch: bool) -> pm.Model:
    """Two regression lines, which their intercepts put in order."""
    rng = np.random.default_rng(23)
    covariate, first = rng.standard_normal(N_ROWS), rng.uniform(size=N_ROWS) < 0.35
    mean = np.where(first, -0.5 + 1.2 * covariate, 1.0 - 0.4 * covariate)
    y = mean + np.where(first, 0.5, 0.9) * rng.standard_normal(N_ROWS)
    ordered = pm.distributions.transforms.ordered
    with pm.Model() as model:
        (x, outcome), size = rows(minibatch, covariate, y, batch_size=BATCH_SIZE)
        share = pm.Beta("share", 2.0, 2.0)
        level = pm.Normal("level", 0.0, 2.0, shape=2, transform=ordered, initval=[-1.0, 1.0])
        slope = pm.Normal("slope", 0.0, 1.0, shape=2)
        sigma = pm.HalfNormal("sigma", 2.0, shape=2)
        pm.NormalMixture(
            "y",
            pt.stack([share, 1 - share]),
            level + x[:, None] * slope,
            sigma,
            observed=outcome,
            **size,
        )
    return model


def dirichlet_process(minibatch: bool, *, n_components: int = 10) -> pm.Model:
    """A density by a truncated Dirichlet process of normals; its logarithm is compared."""
    rng = np.random.default_rng(24)
    part = rng.choice(4, N_ROWS, p=[0.4, 0.3, 0.2, 0.1])
    spread = np.array([0.6, 0.4, 0.9, 0.3])[part]
    y = np.array([-2.0, 0.5, 2.5, 5.0])[part] + spread * rng.standard_normal(N_ROWS)
    grid = np.linspace(-3.5, 5.5, 15)
    with pm.Model() as model:
        (outcome,), size = rows(minibatch, y, batch_size=BATCH_SIZE)
        alpha = pm.Gamma("alpha", 2.0, 2.0)
        stick = pm.Beta("stick", 1.0, alpha, shape=n_components - 1)
        left = pt.concatenate([[1.0], pt.cumprod(1 - stick)])
        weights = left * pt.concatenate([stick, [1.0]])
        mu = pm.Normal("mu", 0.0, 3.0, shape=n_components)
        sigma = pm.HalfNormal("sigma", 1.0, shape=n_components)
        density = pm.NormalMixture.dist(weights, mu, sigma)
        pm.Deterministic("log_density", pm.logp(density, grid))
        pm.NormalMixture("y", weights, mu, sigma, observed=outcome, **size)
    return model
