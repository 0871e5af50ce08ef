#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""`pmg.sample()` without a step works for every kind of model that the documentation shows."""

import logging

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
import scipy.sparse as sp

import pymc_geodesic as pmg

from pymc_geodesic.runs.choose_step import step_class_for

N, BATCH = 200, 20
CIRCULAR = pm.distributions.transforms.circular


@pytest.fixture(autouse=True)
def _no_log(caplog):
    caplog.set_level(logging.ERROR, logger="pymc")


def rng():
    return np.random.default_rng(1)


def rows(x):
    return {"observed": pm.Minibatch(x, batch_size=BATCH), "total_size": len(x)}


def directions(dim=3):
    x = rng().normal(1.0, 0.3, (N, dim))
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def angles(*shape):
    return rng().vonmises(2.9, 4.0, (N, *shape))


def regression():
    x, y = pm.Minibatch(rng().normal(size=(N, 3)), rng().normal(size=N), batch_size=BATCH)
    pm.Normal("y", x @ pm.Normal("b", shape=3), pm.HalfNormal("s"), observed=y, total_size=N)


def groups():
    index, y = pm.Minibatch(np.arange(N) % 5, rng().normal(size=N), batch_size=BATCH)
    of_group = pm.Normal("a", 0, pm.HalfNormal("s"), shape=5)
    pm.Normal("y", of_group[index], 1.0, observed=y, total_size=N)


def effects():
    table = {"user": np.repeat(np.arange(50), 4), "y": rng().integers(0, 2, N)}
    grouped = pmg.GroupedRows(table, by="user")
    y, mask = pm.Minibatch(grouped["y"], grouped.mask, batch_size=10)
    effect = pm.Normal.dist(0, pm.HalfNormal("tau"), shape=y.shape[0])
    each = pm.Bernoulli.dist(logit_p=pm.Normal("mu") + effect[:, None])
    pmg.MarginalLikelihood("y", each, effect, mask, observed=y, total_size=len(grouped))


def network():
    x, y = pm.Minibatch(
        rng().normal(size=(N, 2)), np.arange(N, dtype="int32") % 3, batch_size=BATCH
    )
    hidden = pt.tanh(x @ pm.Normal("w", shape=(2, 3)))
    pm.Categorical("y", logit_p=hidden @ pm.Normal("v", shape=(3, 3)), observed=y, total_size=N)


def factorization():
    shape = {"shape": (5, 2), "initval": rng().normal(size=(5, 2))}
    users, items = pm.Normal("users", 0, 0.5, **shape), pm.Normal("items", 0, 0.5, **shape)
    u, i, y = pm.Minibatch(
        np.arange(N) % 5, np.arange(N) // 5 % 5, rng().normal(size=N), batch_size=BATCH
    )
    pm.Normal("y", (users[u] * items[i]).sum(-1), 1.0, observed=y, total_size=N)


def direction():
    mu = pmg.VonMisesFisher("mu", [0, 0, 1], 1.0)
    pmg.VonMisesFisher("x", mu, pm.HalfNormal("kappa", 50.0), **rows(directions()))


def mixture_of_directions():
    mu = pmg.SphericalUniform("mu", shape=(2, 3), initval=np.eye(3)[:2])
    parts = pmg.VonMisesFisher.dist(mu, pm.Gamma("kappa", 2.0, 0.05, shape=2))
    pm.Mixture("x", pm.Dirichlet("w", np.full(2, 5.0)), parts, **rows(directions()))


def sticks():
    v = pm.Beta("v", 1.0, pm.Gamma("alpha", 2.0, 2.0), shape=2)
    mu = pmg.SphericalUniform("mu", shape=(3, 3), initval=np.eye(3))
    parts = pmg.VonMisesFisher.dist(mu, 10.0)
    pm.Mixture("x", pmg.stick_breaking(v), parts, **rows(directions()))


def axis():
    mu = pmg.Watson("mu", [0, 0, 1], 0.0)
    pmg.Watson("x", mu, pm.HalfNormal("kappa", 50.0), **rows(directions()))


def angle():
    pm.VonMises("y", pm.VonMises("mu", 0, 0.1), pm.HalfNormal("kappa", 9), **rows(angles()))


def uniform_angle():
    mu = pm.Uniform("mu", -np.pi, np.pi, default_transform=CIRCULAR)
    pm.VonMises("y", mu, 4.0, **rows(angles()))


def two_angles():
    mu = pm.Uniform("mu", -np.pi, np.pi, shape=2, default_transform=CIRCULAR)
    pm.VonMises("y", mu, pm.Gamma("kappa", 2.0, 0.1, shape=2), **rows(angles(2)))


def planes():
    x = pm.Normal("entries", shape=3)
    pmg.Bingham("x", pt.diag(x), **rows(directions()))


def rotation():
    attitude = pmg.UniformRotation("attitude", initval=np.eye(3))
    mean = attitude @ np.array([1.0, 0.0, 0.0])
    pmg.VonMisesFisher("x", mean, pm.LogNormal("kappa", 1.0), **rows(directions()))


def frame():
    loadings = pmg.UniformStiefel("loadings", 4, 2, initval=np.eye(4)[:, :2])
    cov = (loadings * pm.HalfNormal("scales", shape=2)) @ loadings.T + np.eye(4)
    pm.MvNormal("y", np.zeros(4), cov=cov, **rows(rng().normal(size=(N, 4))))


def compositions():
    x, y = pm.Minibatch(rng().normal(size=N), rng().dirichlet(np.ones(3), N), batch_size=BATCH)
    middle, shift = pm.Dirichlet("middle", np.ones(3)), pm.ZeroSumNormal("shift", 1.0, shape=3)
    mean = pm.math.softmax(pt.log(middle) + x[:, None] * shift, axis=-1)
    precision = pm.HalfNormal("precision", 100.0)
    pm.Dirichlet("y", precision * mean, observed=y, total_size=N)


def counts():
    x = rng().multinomial(9, [0.6, 0.4, 0.0], size=N).astype("int32")
    pm.Multinomial("x", 9, pm.Dirichlet("p", np.full(3, 0.1)), **rows(x))


def covariance():
    factor, _, _ = pm.LKJCholeskyCov("factor", n=2, eta=2.0, sd_dist=pm.HalfNormal.dist(1.0))
    pm.MvNormal("y", pm.Normal("mu", shape=2), chol=factor, **rows(rng().normal(size=(N, 2))))


def topics(concentration, make=pmg.SymmetricDirichlet):
    corpus = pmg.BagOfWords(sp.csr_array(rng().poisson(1.0, (60, 12))))
    found = make("topics", concentration, shape=(2, 12))
    pmg.LatentDirichletAllocation("w", found, 0.5, **rows(corpus))


KINDS = {
    pmg.SGNHT: [regression, groups, effects, network, factorization, planes, covariance],
    pmg.gSGNHT: [
        direction,
        mixture_of_directions,
        sticks,
        axis,
        angle,
        uniform_angle,
        two_angles,
        rotation,
        frame,
        compositions,
    ],
    pmg.SGRLD: [
        counts,
        *(lambda eta=eta: topics(eta) for eta in (0.01, 0.5, 1.0)),
        lambda: topics(np.ones(12), pm.Dirichlet),
    ],
}
CASES = [(kind, step) for step, kinds in KINDS.items() for kind in kinds]


@pytest.mark.parametrize(("kind", "expected"), CASES)
def test_the_step_of_a_kind_can_be_made(kind, expected):
    with pm.Model() as model:
        kind()
        assert step_class_for(model) is expected
        expected()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind, _ in CASES])
def test_every_kind_is_sampled_without_a_step(kind):
    with pm.Model():
        kind()
        idata = pmg.sample(20, tune=20, chains=1, random_seed=1, progressbar=False)
    assert all(np.isfinite(x).all() for x in idata.posterior.data_vars.values())


def test_two_kinds_are_sampled_without_a_step():
    for kind in (uniform_angle, lambda: topics(1.0)):
        with pm.Model():
            kind()
            idata = pmg.sample(5, tune=5, chains=1, random_seed=1, progressbar=False)
        assert idata.posterior.sizes["draw"] == 5


def test_starts_are_found_for_a_uniform_angle():
    with pm.Model() as model:
        uniform_angle()
    starts = pmg.find_starts(model, chains=2, random_seed=1)
    assert all(abs(start["mu"] - 2.9) < 0.3 for start in starts)


def test_a_step_size_is_asked_for_where_no_step_finds_one():
    corpus = pmg.BagOfWords(sp.csr_array(rng().poisson(1.0, (60, 12))))
    with pm.Model() as model:
        found = pm.math.softmax(pm.Normal("z", shape=(2, 12)), axis=-1)
        pmg.LatentDirichletAllocation("w", found, 0.5, **rows(corpus))
    with pytest.raises(ValueError, match=r"got `z`.* `step=pmg.SGNHT\(step_size=1e-3\)`"):
        pmg.sample(model=model)
    with model, pytest.raises(ValueError, match=r"by `pmg.SGRLD`, which has step sizes of its own"):
        pmg.gSGNHT()
