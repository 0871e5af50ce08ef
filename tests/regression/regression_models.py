#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Small models, one for each kind of variable that a step can move."""

import numpy as np
import pymc as pm

import pymc_geodesic as pmg

N, BATCH = 60, 6

_rng = np.random.default_rng(11)
X = _rng.normal([0.5, 1.0, -0.3], 1.0, (N, 3))
DIRECTIONS = X / np.linalg.norm(X, axis=1, keepdims=True)
COUNTS = _rng.multinomial(12, [0.4, 0.3, 0.2, 0.1], N).astype("int32")
WORDS = np.array([_rng.multinomial(20, _rng.dirichlet(np.full(6, 0.5))) for _ in range(N)])


class Rows:
    """A loader that gives all rows in order."""

    def __iter__(self):
        for start in range(0, N, BATCH):
            yield X[start : start + BATCH]


def _data(*arrays, minibatch):
    """Return batches of the arrays, or the arrays, and the `total_size` that belongs to them."""
    if not minibatch:
        return (*arrays, None)
    batches = pm.Minibatch(*arrays, batch_size=BATCH)
    return (*batches, N) if len(arrays) > 1 else (batches, N)


def vector(*, minibatch=True):
    with pm.Model() as model:
        x, total_size = _data(X, minibatch=minibatch)
        location = pm.Normal("location", 0.0, 2.0, shape=3)
        scale = pm.HalfNormal("scale", 2.0)
        pm.Normal("x", location, scale, observed=x, total_size=total_size)
    return model


def sphere(*, minibatch=True):
    with pm.Model() as model:
        x, total_size = _data(DIRECTIONS, minibatch=minibatch)
        mu = pmg.VonMisesFisher("mu", [0.6, 0.8, 0.0], 1.0)
        pmg.VonMisesFisher("x", mu, 2.0, observed=x, total_size=total_size)
    return model


def simplex(*, minibatch=True):
    with pm.Model() as model:
        counts, total_size = _data(COUNTS, minibatch=minibatch)
        p = pm.Dirichlet("p", np.array([1.0, 2.0, 3.0, 1.5]))
        pm.Multinomial("counts", 12, p, observed=counts, total_size=total_size)
    return model


def mixed(*, minibatch=True):
    with pm.Model() as model:
        x, counts, total_size = _data(DIRECTIONS, COUNTS, minibatch=minibatch)
        mu = pmg.VonMisesFisher("mu", [0.0, 0.0, 1.0], 0.5)
        kappa = pm.HalfNormal("kappa", 5.0)
        p = pm.Dirichlet("p", np.array([1.0, 2.0, 3.0, 1.5]))
        pmg.VonMisesFisher("x", mu, kappa, observed=x, total_size=total_size)
        pm.Multinomial("counts", 12, p, observed=counts, total_size=total_size)
    return model


def local(*, minibatch=True):
    with pm.Model() as model:
        x, total_size = _data(X[:, 0], minibatch=minibatch)
        location = pm.Normal("location", 0.0, 2.0)
        effect = pm.Normal("effect", location, 1.0, shape=BATCH if minibatch else N)
        pm.Normal("x", effect, 0.5, observed=x, total_size=total_size)
    return model


def lda():
    with pm.Model() as model:
        batch = pm.Minibatch(pmg.BagOfWords(WORDS), batch_size=BATCH)
        topics = pmg.SymmetricDirichlet("topics", 0.5, shape=(2, 6))
        pmg.LatentDirichletAllocation("w", topics, 0.5, observed=batch, total_size=N)
    return model


def stream():
    with pm.Model() as model:
        batch = pm.Data("batch", np.zeros((BATCH, 3)))
        location = pm.Normal("location", 0.0, 2.0, shape=3)
        pm.Normal("x", location, 1.0, observed=batch, total_size=N)
    return model
