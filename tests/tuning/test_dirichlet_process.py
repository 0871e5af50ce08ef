#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A truncated Dirichlet process of von Mises-Fisher distributions finds how many are needed."""

import numpy as np
import pymc as pm
import pytest

from mixtures import KAPPAS, MEANS, WEIGHTS, log_density, mixture_data

import pymc_geodesic as pmg

N_ROWS, N_COMPONENTS, BATCH_SIZE = 4000, 10, 200


def model_of(x):
    """Ten components, of which the data have four; broken sticks make their weights."""
    with pm.Model() as model:
        alpha = pm.Gamma("alpha", 2.0, 2.0)
        sticks = pm.Beta("sticks", 1.0, alpha, shape=N_COMPONENTS - 1)
        left = pm.math.concatenate([[1.0], pm.math.cumprod(1 - sticks)])
        w = pm.Deterministic("w", left * pm.math.concatenate([sticks, [1.0]]))
        mu = pmg.SphericalUniform("mu", shape=(N_COMPONENTS, 3))
        kappa = pm.Gamma("kappa", 2.0, 0.05, shape=N_COMPONENTS)
        component = pmg.VonMisesFisher.dist(mu, kappa)
        batch = pm.Minibatch(x, batch_size=BATCH_SIZE)
        pm.Mixture("x", w, component, observed=batch, total_size=len(x))
    return model


def test_the_mixture_is_that_of_the_formula():
    x = mixture_data(50, 1)
    w, mu, kappa = np.full(4, 0.25), MEANS, KAPPAS
    logp = pm.logp(pm.Mixture.dist(w, pmg.VonMisesFisher.dist(mu, kappa)), x).eval()
    np.testing.assert_allclose(logp, log_density(x, w, mu, kappa), rtol=1e-10)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_number_of_components_and_the_density():
    """Labels are not identified; the density and the sorted weights are."""
    pytest.importorskip("jax")
    x, new = mixture_data(N_ROWS, 1), mixture_data(2000, 2)
    directions = pmg.initial_directions(x, N_COMPONENTS, random_seed=1)
    with model_of(x):
        idata = pmg.sample(
            500,
            tune=1000,
            chains=2,
            step=pmg.gSGNHT,
            initvals={"mu": directions},
            random_seed=1,
            progressbar=False,
        )
    draws = {n: idata.posterior[n].values.reshape(1000, -1) for n in ("w", "mu", "kappa")}
    density = np.mean(
        [
            np.exp(log_density(new, w, mu.reshape(-1, 3), kappa))
            for w, mu, kappa in zip(*(draws[n][::10] for n in draws), strict=True)
        ],
        axis=0,
    )
    truth = log_density(new, WEIGHTS, MEANS, KAPPAS)
    gap = truth - np.log(density)
    error = gap.std() / np.sqrt(len(new))
    # Fifteen parameters of 4,000 rows cost 15 / 8,000 on average.
    assert -4 * error < gap.mean() < 0.02 + 4 * error
    used = (draws["w"] > 0.02).sum(axis=1)
    assert 4 <= np.median(used) <= 7
