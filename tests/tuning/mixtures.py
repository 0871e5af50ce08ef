#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Mixtures of von Mises-Fisher distributions in space, and their maximum-likelihood fit."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from scipy.special import logsumexp

import pymc_geodesic as pmg

MEANS = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, -1, 0.3]])
MEANS = MEANS / np.linalg.norm(MEANS, axis=1, keepdims=True)
WEIGHTS, KAPPAS = np.array([0.4, 0.3, 0.2, 0.1]), np.array([30.0, 20.0, 40.0, 25.0])


def mixture_data(n, seed):
    """Rows of the four components."""
    rng = np.random.default_rng(seed)
    x = np.empty((n, 3))
    labels = rng.choice(4, n, p=WEIGHTS)
    for k in range(4):
        mine = labels == k
        component = pmg.VonMisesFisher.dist(mu=MEANS[k], kappa=KAPPAS[k])
        x[mine] = pm.draw(component, mine.sum(), random_seed=int(rng.integers(2**31)))
    return x


def mixture_model(x, *, initval=None):
    """The mixture with nothing that tells its components apart, for batches of 200 rows."""

    def log_density(x, w, mu, kappa):
        # In space the normaliser is kappa / (4 pi sinh kappa).
        log_c = pt.log(kappa / (2 * np.pi)) - kappa - pt.log1p(-pt.exp(-2 * kappa))
        cosines = (x[:, None, :] * mu).sum(axis=-1)
        return pt.logsumexp(pt.log(w) + log_c + kappa * cosines, axis=-1)

    with pm.Model() as model:
        batch = pm.Minibatch(x, batch_size=200)
        w = pm.Dirichlet("w", np.ones(4))
        mu = pmg.VonMisesFisher("mu", mu=[0, 0, 1], kappa=0.0, shape=(4, 3), initval=initval)
        kappa = pm.HalfNormal("kappa", 50.0, shape=4)
        pm.CustomDist(
            "x",
            w,
            mu,
            kappa,
            logp=log_density,
            observed=batch,
            signature="(k),(k,n),(k)->(n)",
            total_size=len(x),
        )
    return model


def log_density(x, w, mu, kappa):
    """Log density of every row."""
    log_c = np.log(kappa / (2 * np.pi)) - kappa - np.log1p(-np.exp(-2 * kappa))
    return logsumexp(np.log(w) + log_c + kappa * (x @ mu.T), axis=-1)


def by_em(x, k=4, *, n_starts=5, n_iterations=150):
    """Weights, mean directions and concentrations of the largest likelihood."""
    fits = []
    for seed in range(n_starts):
        mu = x[np.random.default_rng(seed).choice(len(x), k, replace=False)]
        w, kappa = np.full(k, 1 / k), np.full(k, 5.0)
        for _ in range(n_iterations):
            log_c = np.log(kappa / (2 * np.pi)) - kappa - np.log1p(-np.exp(-2 * kappa))
            parts = np.log(w) + log_c + kappa * (x @ mu.T)
            share = np.exp(parts - logsumexp(parts, axis=1, keepdims=True))
            total = share.T @ x
            length = np.linalg.norm(total, axis=1)
            mu, w = total / length[:, None], share.mean(axis=0)
            r = np.minimum(length / share.sum(axis=0), 0.9999)
            kappa = r * (3 - r**2) / (1 - r**2)
        fits.append((w, mu, kappa))
    return max(fits, key=lambda fit: log_density(x, *fit).sum())
