#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Models with local variables whose conditional laws and posteriors are known."""

import numpy as np
import pymc as pm

import pymc_geodesic as pmg

N_ROWS, SPREAD, NOISE, PRIOR = 200, 1.0, 0.5, 2.0
GROUP_MEANS = np.random.default_rng(4).normal(0.7, np.hypot(SPREAD, NOISE), N_ROWS)

ALPHA = np.array([0.8, 1.5, 3.0])
COUNTS = np.random.default_rng(5).multinomial(6, [0.2, 0.3, 0.5], size=N_ROWS)


def random_effects(batch_size=None, total_size=N_ROWS):
    """Group means around a common one; the law of the latter is normal."""
    rows = GROUP_MEANS
    with pm.Model() as model:
        if batch_size:
            rows = pm.Minibatch(rows, batch_size=batch_size)
        location = pm.Normal("location", 0.0, PRIOR)
        effect = pm.Normal("effect", location, SPREAD, shape=batch_size or N_ROWS)
        pm.Normal("y", effect, NOISE, observed=rows, total_size=total_size)
    return model


def location_posterior():
    """Mean and standard deviation of the common mean."""
    precision = N_ROWS / (SPREAD**2 + NOISE**2)
    total = precision + PRIOR**-2
    return precision * GROUP_MEANS.mean() / total, total**-0.5


# Columns of group means that do not know of each other: many independent problems in one chain.
COLUMNS = 64
TABLE = np.random.default_rng(4).normal(0.7, np.hypot(SPREAD, NOISE), (N_ROWS, COLUMNS))


def many_random_effects(batch_size):
    """Common means of many columns of groups."""
    with pm.Model() as model:
        rows = pm.Minibatch(TABLE, batch_size=batch_size)
        location = pm.Normal("location", 0.0, PRIOR, shape=COLUMNS)
        effect = pm.Normal("effect", location, SPREAD, shape=(batch_size, COLUMNS))
        pm.Normal("y", effect, NOISE, observed=rows, total_size=N_ROWS)
    return model


def columns_posterior():
    """Mean of each location, and the standard deviation of all."""
    precision = N_ROWS / (SPREAD**2 + NOISE**2)
    total = precision + PRIOR**-2
    return precision * TABLE.mean(axis=0) / total, total**-0.5


def proportions(batch_size=None):
    """Proportions of each row, whose conditional law is Dirichlet; nothing global matters."""
    rows = COUNTS.astype("int32")
    with pm.Model() as model:
        if batch_size:
            rows = pm.Minibatch(rows, batch_size=batch_size)
        pm.Normal("unrelated")
        theta = pm.Dirichlet("theta", ALPHA, shape=(batch_size or N_ROWS, 3))
        pm.Multinomial("x", 6, theta, observed=rows, total_size=N_ROWS)
    return model


def local_gmc(name, **options):
    return pmg.LocalGMC([name], **({"draws": 40, "tune": 20, "n_leapfrog": 5} | options))


NU, SCALE = 4.0, 1.5


def scale_mixture(y, batch_size, *, known_scale=True):
    """Student t as a mixture of normals, each row with a gamma distributed precision of its own."""
    y = np.asarray(y, dtype=float)
    with pm.Model() as model:
        rows = pm.Minibatch(y, batch_size=batch_size)
        mu = pm.Normal("mu", 0.0, 10.0, initval=0.0)
        sigma = SCALE if known_scale else pm.HalfNormal("sigma", 5.0, initval=SCALE)
        nu = NU if known_scale else pm.Gamma("nu", 2.0, 0.1, initval=NU)
        w = pm.Gamma("w", nu / 2, nu / 2, shape=batch_size)
        pm.Normal("y", mu, sigma / pm.math.sqrt(w), observed=rows, total_size=len(y))
    return model


def students(n_rows, seed):
    rng = np.random.default_rng(seed)
    return SCALE * rng.standard_t(NU, n_rows)


def draw_latents(step, point, rows, rng, *, tune):
    """Draw the local variables of a batch as a step does, at PyMC's values ``point``."""
    problem, chain = step.sampler.problem, step.chain
    return step.sampler.calls.latents.draw(
        chain.latents,
        rng,
        position=problem.position_of(point),
        values=point,
        conditioned=problem.conditioned_in(point),
        rows=rows,
        tune=tune,
    )
