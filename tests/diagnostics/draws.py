#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Independent draws of known laws, as a sampler would return them."""

import arviz as az
import numpy as np
import pymc as pm

from scipy.stats import vonmises_fisher

import pymc_geodesic as pmg

ALPHA = np.array([0.5, 1.0, 3.0])
MU = np.array([0.0, 0.6, 0.8])
KAPPA = 4.0
SCALES = np.array([0.1, 3.0])


def model():
    """A variable on each manifold, with and without batches of points."""
    with pm.Model() as result:
        pm.Normal("x", [1.0, 2.0], SCALES, shape=2)
        pm.Gamma("k", 3.0, 1.0)
        pmg.VonMisesFisher("u", mu=MU, kappa=KAPPA)
        pmg.SphericalUniform("s", shape=(2, 4))
        pm.Dirichlet("d", ALPHA)
    return result


def independent_draws(*, temperature=1.0, seed=1, chains=4, draws=500):
    """Draw from ``exp(-U / temperature)`` in the coordinates in which variables are sampled."""
    rng, size = np.random.default_rng(seed), (chains, draws)
    s = rng.normal(size=(*size, 2, 4))
    vmf = vonmises_fisher(MU, KAPPA / temperature)
    return az.from_dict(
        {
            "posterior": {
                "x": [1.0, 2.0] + np.sqrt(temperature) * SCALES * rng.normal(size=(*size, 2)),
                "k": rng.gamma(3.0 / temperature, temperature, size),
                "u": vmf.rvs(chains * draws, random_state=rng).reshape(*size, 3),
                "s": s / np.linalg.norm(s, axis=-1, keepdims=True),
                "d": rng.dirichlet(ALPHA / temperature, size),
            }
        }
    )
