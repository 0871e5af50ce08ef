#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Two models with few rows, whose gradients can be evaluated row by row."""

import numpy as np
import pymc as pm

import pymc_geodesic as pmg

N_ROWS = 60


def regression(size=4):
    rng = np.random.default_rng(1)
    design, outcome = rng.normal(size=(N_ROWS, 2)), rng.normal(size=N_ROWS)
    with pm.Model() as model:
        beta = pm.StudentT("beta", nu=4, shape=2)
        x, y = pm.Minibatch(design, outcome, batch_size=size)
        pm.StudentT("y", nu=4, mu=x @ beta, observed=y, total_size=N_ROWS)
    return model


def directions(size=4):
    rng = np.random.default_rng(1)
    data = rng.normal([2.0, 0.0, 0.0], 1.0, (N_ROWS, 3))
    data /= np.linalg.norm(data, axis=1, keepdims=True)
    with pm.Model() as model:
        mu = pmg.VonMisesFisher("mu", mu=[1.0, 0.0, 0.0], kappa=1.0)
        kappa = pm.HalfNormal("kappa", 10.0)
        batch = pm.Minibatch(data, batch_size=size)
        pmg.VonMisesFisher("x", mu=mu, kappa=kappa, observed=batch, total_size=N_ROWS)
    return model
