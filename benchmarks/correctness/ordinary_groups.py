#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Ordinary models with effects of groups and simulated data, for ``models.py``.

Every function returns the same posterior for minibatches or for all rows.
"""

from __future__ import annotations

import numpy as np
import pymc as pm

from benchmarks.harness.sampling import rows

BATCH_SIZE = 300
N_ROWS = 30_000
# Of the ratings' prior.
PRIOR_MEAN = 3.0


def ratings(*, n_users: int, n_items: int, n_rows: int) -> tuple[np.ndarray, ...]:
    """Simulate users, items and ratings."""
    rng = np.random.default_rng(11)
    user, item = rng.integers(0, n_users, n_rows), rng.integers(0, n_items, n_rows)
    effects = 0.5 * rng.standard_normal(n_users)[user] + 0.7 * rng.standard_normal(n_items)[item]
    return user, item, 3.5 + effects + rng.standard_normal(n_rows)


def crossed(
    minibatch: bool, *, n_users: int, n_items: int, n_rows: int, centered: bool
) -> pm.Model:
    """Ratings with effects of users and of items, each a row or a few of the data."""
    data = ratings(n_users=n_users, n_items=n_items, n_rows=n_rows)
    with pm.Model() as model:
        (u, i, outcome), size = rows(minibatch, *data, batch_size=BATCH_SIZE)
        mu, sigma = pm.Normal("mu", PRIOR_MEAN, 1.0), pm.HalfNormal("sigma", 1.0)
        of_users, of_items = pm.HalfNormal("of_users", 1.0), pm.HalfNormal("of_items", 1.0)
        if centered:
            a = pm.Normal("a", 0.0, of_users, shape=n_users)
            b = pm.Normal("b", 0.0, of_items, shape=n_items)
        else:
            a = of_users * pm.Normal("z_a", shape=n_users)
            b = of_items * pm.Normal("z_b", shape=n_items)
        pm.Normal("y", mu + a[u] + b[i], sigma, observed=outcome, **size)
    return model


def slopes(minibatch: bool, *, centered: bool, n_groups: int = 2_000) -> pm.Model:
    """Logistic regression whose intercept and slope vary together from group to group."""
    rng = np.random.default_rng(12)
    group, covariate = rng.integers(0, n_groups, N_ROWS), rng.standard_normal(N_ROWS)
    own = rng.multivariate_normal([-0.5, 0.8], [[1.0, 0.18], [0.18, 0.36]], n_groups)[group]
    logit = own[:, 0] + own[:, 1] * covariate
    y = (rng.uniform(size=N_ROWS) < 1 / (1 + np.exp(-logit))).astype("int32")
    with pm.Model() as model:
        (g, x, outcome), size = rows(minibatch, group, covariate, y, batch_size=BATCH_SIZE)
        mu = pm.Normal("mu", 0.0, 1.5, shape=2)
        deviations = pm.Exponential.dist(1.0, shape=2)
        factor, correlation, _ = pm.LKJCholeskyCov("factor", n=2, eta=2.0, sd_dist=deviations)
        pm.Deterministic("correlation", correlation[0, 1])
        if centered:
            effect = pm.MvNormal("effect", mu, chol=factor, shape=(n_groups, 2))
        else:
            effect = mu + pm.Normal("z", shape=(n_groups, 2)) @ factor.T
        pm.Bernoulli("y", logit_p=effect[g, 0] + effect[g, 1] * x, observed=outcome, **size)
    return model


def radon(minibatch: bool, *, n_counties: int) -> pm.Model:
    """Log radon by floor, with counties of very different sizes and their uranium."""
    rng = np.random.default_rng(13)
    county = rng.choice(n_counties, N_ROWS, p=rng.dirichlet(np.ones(n_counties)))
    floor, uranium = rng.integers(0, 2, N_ROWS).astype(float), rng.standard_normal(n_counties)
    level = 1.3 + 0.7 * uranium + 0.3 * rng.standard_normal(n_counties)
    y = level[county] - 0.6 * floor + 0.75 * rng.standard_normal(N_ROWS)
    with pm.Model() as model:
        (c, x, outcome), size = rows(minibatch, county, floor, y, batch_size=BATCH_SIZE)
        intercept, slope = pm.Normal("intercept", 0.0, 5.0), pm.Normal("slope", 0.0, 5.0)
        on_floor, tau = pm.Normal("on_floor", 0.0, 5.0), pm.HalfNormal("tau", 1.0)
        sigma = pm.HalfNormal("sigma", 2.0)
        level = pm.Normal("level", intercept + slope * uranium, tau, shape=n_counties)
        pm.Normal("y", level[c] + on_floor * x, sigma, observed=outcome, **size)
    return model


def negative_binomial(minibatch: bool, *, n_groups: int = 300) -> pm.Model:
    """Overdispersed counts by group."""
    rng = np.random.default_rng(14)
    group, design = rng.integers(0, n_groups, N_ROWS), rng.standard_normal((N_ROWS, 3))
    level = 1.0 + 0.5 * rng.standard_normal(n_groups)
    mean = np.exp(level[group] + design @ [0.4, -0.3, 0.0])
    y = rng.negative_binomial(0.7, 0.7 / (0.7 + mean)).astype("int32")
    with pm.Model() as model:
        (g, x, outcome), size = rows(minibatch, group, design, y, batch_size=BATCH_SIZE)
        mu, tau = pm.Normal("mu", 0.0, 2.0), pm.HalfNormal("tau", 1.0)
        beta, alpha = pm.Normal("beta", 0.0, 1.0, shape=3), pm.Exponential("alpha", 1.0)
        effect = pm.Normal("effect", mu, tau, shape=n_groups)
        mean = pm.math.exp(effect[g] + x @ beta)
        pm.NegativeBinomial("y", mu=mean, alpha=alpha, observed=outcome, **size)
    return model


def ordinal(minibatch: bool, *, n_groups: int = 300) -> pm.Model:
    """Five ordered answers by group."""
    rng = np.random.default_rng(15)
    group, design = rng.integers(0, n_groups, N_ROWS), rng.standard_normal((N_ROWS, 3))
    latent = 0.6 * rng.standard_normal(n_groups)[group] + design @ [0.5, -1.0, 0.0]
    latent += rng.logistic(size=N_ROWS)
    y = (latent[:, None] > [-1.5, -0.2, 0.9, 3.0]).sum(axis=1).astype("int32")
    ordered = pm.distributions.transforms.ordered
    with pm.Model() as model:
        (g, x, outcome), size = rows(minibatch, group, design, y, batch_size=BATCH_SIZE)
        tau, beta = pm.HalfNormal("tau", 1.0), pm.Normal("beta", 0.0, 1.0, shape=3)
        effect = pm.Normal("effect", 0.0, tau, shape=n_groups)
        cuts = pm.Normal(
            "cuts", 0.0, 3.0, shape=4, transform=ordered, initval=[-2.0, -1.0, 1.0, 2.0]
        )
        eta = effect[g] + x @ beta
        pm.OrderedLogistic("y", eta, cuts, compute_p=False, observed=outcome, **size)
    return model


def survival(minibatch: bool, *, n_groups: int = 300) -> pm.Model:
    """Weibull times, censored, with a frailty of each group."""
    rng = np.random.default_rng(16)
    group, design = rng.integers(0, n_groups, N_ROWS), rng.standard_normal((N_ROWS, 3))
    level = 1.0 + 0.4 * rng.standard_normal(n_groups)
    time = np.exp(level[group] + design @ [0.4, -0.3, 0.0]) * rng.weibull(1.6, N_ROWS)
    end = rng.exponential(5.0, N_ROWS)
    # PyMC takes a time at its upper bound as censored; others need a bound that is never reached.
    data = group, design, np.minimum(time, end), np.where(time < end, 1e6, end)
    with pm.Model() as model:
        (g, x, outcome, upper), size = rows(minibatch, *data, batch_size=BATCH_SIZE)
        mu, tau = pm.Normal("mu", 0.0, 2.0), pm.HalfNormal("tau", 1.0)
        beta, shape = pm.Normal("beta", 0.0, 1.0, shape=3), pm.HalfNormal("shape", 2.0)
        frailty = pm.Normal("frailty", mu, tau, shape=n_groups)
        uncensored = pm.Weibull.dist(alpha=shape, beta=pm.math.exp(frailty[g] + x @ beta))
        pm.Censored("y", uncensored, lower=None, upper=upper, observed=outcome, **size)
    return model
