#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Tables of groups of very different sizes, and models of them."""

import numpy as np
import pymc as pm

import pymc_geodesic as pmg

TRUTH = {"mu": 0.5, "slope": 1.0, "tau": 0.8}


def logistic_table(n_groups, *, seed=1, most=9):
    """Rows in random order, of users with a name; sizes differ by a factor of ``most``."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, most + 1, n_groups)
    group = rng.permutation(np.repeat(np.arange(n_groups), sizes))
    x = rng.normal(size=len(group))
    effect = rng.normal(0, TRUTH["tau"], n_groups)
    logit = TRUTH["mu"] + TRUTH["slope"] * x + effect[group]
    y = rng.uniform(size=len(group)) < 1 / (1 + np.exp(-logit))
    names = np.array([f"user {i:05d}" for i in range(n_groups)])
    return {"user": names[group], "x": x, "y": y}


def columns(rows, names, batch_size):
    """Columns and mask, of all groups or of a minibatch of them."""
    data = [*(rows[name] for name in names), rows.mask]
    return pm.Minibatch(*data, batch_size=batch_size) if batch_size else data


def marginal_logistic(rows, batch_size=None, *, n_nodes=7):
    """Random intercepts, integrated out."""
    with pm.Model() as model:
        x, y, mask = columns(rows, ["x", "y"], batch_size)
        mu, slope = pm.Normal("mu", 0, 2), pm.Normal("slope", 0, 2)
        tau = pm.HalfNormal("tau", 1)
        effect = pm.Normal.dist(0, tau, shape=x.shape[0])
        each = pm.Bernoulli.dist(logit_p=mu + slope * x + effect[:, None])
        size = {"total_size": len(rows)} if batch_size else {}
        pmg.MarginalLikelihood("y", each, effect, mask, n_nodes=n_nodes, observed=y, **size)
    return model


def local_logistic(rows, batch_size):
    """Random intercepts of the groups of a batch."""
    with pm.Model() as model:
        x, y, mask = columns(rows, ["x", "y"], batch_size)
        mu, slope = pm.Normal("mu", 0, 2), pm.Normal("slope", 0, 2)
        tau = pm.HalfNormal("tau", 1)
        effect = pm.Normal("effect", 0, tau, shape=batch_size)
        each = pm.Bernoulli.dist(logit_p=mu + slope * x + effect[:, None])
        pmg.GroupLikelihood("y", each, mask, observed=y, total_size=len(rows))
    return model
