#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Ordinary regressions with simulated data, for ``models.py``.

Every function returns the same posterior for minibatches or for all rows.
"""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from benchmarks.harness.sampling import rows

N_ROWS, BATCH_SIZE = 30_000, 300
# Of the priors of the deviations of coefficients and errors.
RIDGE_SCALES = 1.0, 2.0
# Where the functions that a model has learned are compared.
ON_A_LINE = np.linspace(-0.9, 0.9, 15)
IN_THE_PLANE = np.random.default_rng(0).uniform(-1.5, 1.5, (25, 2))


def with_intercept(n_columns: int, rng: np.random.Generator) -> np.ndarray:
    """Draw a design whose first column is one."""
    design = rng.standard_normal((N_ROWS, n_columns))
    design[:, 0] = 1.0
    return design


def quantile(minibatch: bool) -> pm.Model:
    """Regression of the quantile .9, whose density has corners."""
    rng = np.random.default_rng(1)
    design = with_intercept(5, rng)
    y = design @ rng.standard_normal(5) + rng.standard_normal(N_ROWS)
    with pm.Model() as model:
        (x, outcome), size = rows(minibatch, design, y, batch_size=BATCH_SIZE)
        beta = pm.Normal("beta", 0.0, 2.0, shape=5)
        scale = pm.HalfNormal("scale", 5.0)
        pm.AsymmetricLaplace("y", mu=x @ beta, b=scale, q=0.9, observed=outcome, **size)
    return model


def zero_inflated(minibatch: bool) -> pm.Model:
    """Poisson counts, some of them zero for another reason, both with covariates."""
    rng = np.random.default_rng(2)
    design = with_intercept(5, rng)
    rate = np.exp(design @ [0.7, 0.3, -0.4, 0.2, 0.0])
    counted = rng.uniform(size=N_ROWS) < 1 / (1 + np.exp(-design[:, :2] @ [0.8, 0.6]))
    y = np.where(counted, rng.poisson(rate), 0).astype("int32")
    with pm.Model() as model:
        (x, outcome), size = rows(minibatch, design, y, batch_size=BATCH_SIZE)
        beta = pm.Normal("beta", 0.0, 1.0, shape=5)
        gamma = pm.Normal("gamma", 0.0, 1.0, shape=2)
        psi, mu = pm.math.sigmoid(x[:, :2] @ gamma), pm.math.exp(x @ beta)
        pm.ZeroInflatedPoisson("y", psi=psi, mu=mu, observed=outcome, **size)
    return model


def multinomial(minibatch: bool) -> pm.Model:
    """Choices among 20, the last of which is the reference."""
    rng = np.random.default_rng(3)
    n_columns, n_choices = 5, 20
    design = with_intercept(n_columns, rng)
    weights = 0.7 * rng.standard_normal((n_columns, n_choices - 1))
    utility = np.column_stack([design @ weights, np.zeros(N_ROWS)])
    y = np.argmax(utility + rng.gumbel(size=utility.shape), axis=1).astype("int32")
    with pm.Model() as model:
        (x, outcome), size = rows(minibatch, design, y, batch_size=BATCH_SIZE)
        beta = pm.Normal("beta", 0.0, 1.0, shape=weights.shape)
        logit = pt.concatenate([x @ beta, pt.zeros((x.shape[0], 1))], axis=1)
        pm.Categorical("y", logit_p=logit, observed=outcome, **size)
    return model


def sparse_regression() -> tuple[np.ndarray, np.ndarray]:
    """Simulate 300 covariates, of which ten matter and ten hardly do."""
    rng = np.random.default_rng(4)
    design = rng.standard_normal((N_ROWS, 300))
    weights = np.zeros(300)
    weights[:10], weights[10:20] = 0.5 * rng.standard_normal(10), 0.02
    return design, design @ weights + rng.standard_normal(N_ROWS)


def ridge(minibatch: bool) -> pm.Model:
    """300 coefficients of a common, unknown scale."""
    with pm.Model() as model:
        (x, outcome), size = rows(minibatch, *sparse_regression(), batch_size=BATCH_SIZE)
        tau, sigma = map(pm.HalfNormal, ("tau", "sigma"), RIDGE_SCALES)
        beta = pm.Normal("beta", 0.0, tau, shape=300)
        pm.Normal("y", x @ beta, sigma, observed=outcome, **size)
    return model


def horseshoe(minibatch: bool) -> pm.Model:
    """300 coefficients, each with a scale of its own with heavy tails."""
    with pm.Model() as model:
        (x, outcome), size = rows(minibatch, *sparse_regression(), batch_size=BATCH_SIZE)
        tau, sigma = pm.HalfCauchy("tau", 0.1), pm.HalfNormal("sigma", 2.0)
        scales = pm.HalfCauchy("scales", 1.0, shape=300)
        beta = pm.Deterministic("beta", pm.Normal("z", shape=300) * scales * tau)
        pm.Normal("y", x @ beta, sigma, observed=outcome, **size)
    return model


def sines(x: np.ndarray, n: int) -> np.ndarray:
    """Eigenfunctions of the Laplace operator on [-1.5, 1.5], which are zero at its ends."""
    return np.sin(np.pi * np.arange(1, n + 1) * (x[:, None] + 1.5) / 3.0) / np.sqrt(1.5)


def gaussian_process(minibatch: bool) -> pm.Model:
    """A function by 30 features of the squared exponential covariance (Solin, Särkkä 2020)."""
    rng = np.random.default_rng(5)
    place = rng.uniform(-1.0, 1.0, N_ROWS)
    y = np.sin(6.0 * place) * (1.0 + place) + rng.standard_normal(N_ROWS)
    frequency = np.pi * np.arange(1, 31) / 3.0
    with pm.Model() as model:
        (features, outcome), size = rows(minibatch, sines(place, 30), y, batch_size=BATCH_SIZE)
        scale, length = pm.HalfNormal("scale", 2.0), pm.InverseGamma("length", 4.0, 1.0)
        sigma = pm.HalfNormal("sigma", 2.0)
        density = pt.sqrt(2 * np.pi) * length * pt.exp(-0.5 * (length * frequency) ** 2)
        weights = scale * pt.sqrt(density) * pm.Normal("z", shape=30)
        pm.Deterministic("f", sines(ON_A_LINE, 30) @ weights)
        pm.Normal("y", features @ weights, sigma, observed=outcome, **size)
    return model


def network(minibatch: bool) -> pm.Model:
    """A network of five hidden units; its weights can be exchanged, its predictions cannot."""
    rng = np.random.default_rng(6)
    design = rng.standard_normal((N_ROWS, 2))
    y = np.sin(2 * design[:, 0]) + design[:, 0] * design[:, 1] + 0.5 * rng.standard_normal(N_ROWS)
    with pm.Model() as model:
        (x, outcome), size = rows(minibatch, design, y, batch_size=BATCH_SIZE)
        inner, shift = pm.Normal("inner", shape=(2, 5)), pm.Normal("shift", shape=5)
        outer, constant = pm.Normal("outer", shape=5), pm.Normal("constant")
        sigma = pm.HalfNormal("sigma", 1.0)
        pm.Deterministic("f", pt.tanh(IN_THE_PLANE @ inner + shift) @ outer + constant)
        mean = pt.tanh(x @ inner + shift) @ outer + constant
        pm.Normal("y", mean, sigma, observed=outcome, **size)
    return model
