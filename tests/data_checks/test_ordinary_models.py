#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Ordinary models of many kinds, none of which may be refused by a check of its data."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.data_checks import DataChecks
from pymc_geodesic.data_checks.row_density import row_densities
from pymc_geodesic.kernel.reader import checked_batches
from pymc_geodesic.potential.minibatch import find_batch_sources
from pymc_geodesic.potential.stream import find_streams

N, BATCH, GROUPS = 300, 20, 7
RNG = np.random.default_rng(1)
X = RNG.normal(size=(N, 3)) * [1.0, 50.0, 0.1] + [0.0, 10.0, 0.0]
Y = X @ [1.0, 0.02, -3.0] + RNG.normal(size=N)
GROUP = RNG.integers(0, GROUPS, N).astype("int32")
COUNTS = RNG.poisson(2.0, N).astype("int32")
LABELS = RNG.integers(0, 3, N).astype("int32")
BINARY = (Y > 0).astype("int32")
SHARES = RNG.beta(2.0, 2.0, N)
SIMPLEX = RNG.dirichlet(np.ones(4), N)
MULTINOMIAL = RNG.multinomial(9, np.ones(4) / 4, N).astype("int32")
VECTORS = RNG.multivariate_normal(np.zeros(2), [[1.0, 0.5], [0.5, 1.0]], N)
DIRECTIONS = RNG.normal(size=(N, 3))
DIRECTIONS /= np.linalg.norm(DIRECTIONS, axis=1, keepdims=True)
SIZE = {"total_size": N}


def batch(*data):
    return pm.Minibatch(*data, batch_size=BATCH)


def coefficients(n=3):
    return pm.Normal("beta", 0.0, 2.0, shape=n)


def linear():
    x, y = batch(X, Y)
    pm.Normal("y", x @ coefficients(), pm.HalfNormal("sigma"), observed=y, **SIZE)


def robust_and_heteroscedastic():
    x, y = batch(X, Y)
    scale = pm.math.exp(x[:, 2] * pm.Normal("slope"))
    nu = pm.Gamma("nu", 2.0, 0.1)
    pm.StudentT("y", nu=nu, mu=x @ coefficients(), sigma=scale, observed=y, **SIZE)


def logistic():
    x, y = batch(X, BINARY)
    pm.Bernoulli("y", logit_p=x @ coefficients(), observed=y, **SIZE)


def softmax():
    x, y = batch(X, LABELS)
    pm.Categorical("y", logit_p=x @ pm.Normal("beta", shape=(3, 3)), observed=y, **SIZE)


def ordinal():
    x, y = batch(X, LABELS)
    ordered = pm.distributions.transforms.ordered
    cuts = pm.Normal("cuts", [-1.0, 1.0], 1.0, transform=ordered, initval=[-1.0, 1.0])
    pm.OrderedLogistic("y", x @ coefficients(), cuts, observed=y, **SIZE)


def poisson():
    x, y = batch(X / [1, 50, 1], COUNTS)
    pm.Poisson("y", pm.math.exp(x @ coefficients()), observed=y, **SIZE)


def zero_inflated():
    x, y = batch(X / [1, 50, 1], COUNTS)
    mu, psi = pm.math.exp(x @ coefficients()), pm.Beta("psi", 1, 1)
    pm.ZeroInflatedNegativeBinomial("y", psi=psi, mu=mu, alpha=2.0, observed=y, **SIZE)


def beta_regression():
    x, y = batch(X, SHARES)
    mu = pm.math.sigmoid(0.01 * x @ coefficients())
    pm.Beta("y", mu=mu, nu=pm.HalfNormal("nu", 10.0), observed=y, **SIZE)


def survival():
    censored = np.minimum(Y, 1.0)
    x, y, upper = batch(X, censored, np.where(Y >= 1, 1.0, np.inf))
    latent = pm.Normal.dist(x @ coefficients(), pm.HalfNormal("sigma"))
    pm.Censored("y", latent, None, upper, observed=y, **SIZE)


def normal_mixture():
    y = batch(Y)
    means = pm.Normal("means", [-1.0, 0.0, 1.0], shape=3)
    pm.NormalMixture("y", pm.Dirichlet("w", np.ones(3)), means, 1.0, observed=y, **SIZE)


def mixture_of_regressions():
    x, y = batch(X, Y)
    beta = pm.Normal("beta", shape=(3, 2))
    means = x @ beta
    parts = [pm.Normal.dist(means[:, 0], 1.0), pm.StudentT.dist(4, mu=means[:, 1], sigma=2.0)]
    pm.Mixture("y", w=pm.Dirichlet("w", np.ones(2)), comp_dists=parts, observed=y, **SIZE)


def mixture_of_directions():
    y = batch(DIRECTIONS)
    mu = pmg.SphericalUniform("mu", shape=(4, 3))
    parts = pmg.VonMisesFisher.dist(mu, 5.0 * np.ones(4))
    pm.Mixture("y", w=pm.Dirichlet("w", np.ones(4)), comp_dists=parts, observed=y, **SIZE)


def multinomial():
    x, y = batch(X / [1, 50, 1], MULTINOMIAL)
    p = pm.math.softmax(x @ pm.Normal("beta", shape=(3, 4)), axis=-1)
    pm.Multinomial("y", 9, p, observed=y, **SIZE)


def dirichlet():
    y = batch(SIMPLEX)
    pm.Dirichlet("y", pm.HalfNormal("a", 5.0, shape=4), observed=y, **SIZE)


def normal_vectors():
    y = batch(VECTORS)
    deviations = pm.HalfNormal.dist(1.0, shape=2)
    factor, _, _ = pm.LKJCholeskyCov("factor", n=2, eta=2.0, sd_dist=deviations)
    pm.MvNormal("y", pm.Normal("mean", shape=2), chol=factor, observed=y, **SIZE)


def custom():
    x, y = batch(X, Y)

    def logp(value, mean, scale):
        return -pt.abs(value - mean) / scale - pt.log(2 * scale)

    scale = pm.HalfNormal("scale")
    pm.CustomDist("y", x @ coefficients(), scale, logp=logp, observed=y, **SIZE)


def custom_by_a_function():
    x, y = batch(X, np.exp(Y))

    def dist(mean, sigma, size):
        return pm.math.exp(pm.Normal.dist(mean, sigma, size=size))

    pm.CustomDist("y", x[:, 0] * pm.Normal("b"), 1.0, dist=dist, observed=y, **SIZE)


def hierarchical():
    x, y, group = batch(X, Y, GROUP)
    scale = pm.HalfNormal("scale")
    effect = pm.Normal("effect", 0.0, scale, shape=GROUPS)
    pm.Normal("y", effect[group] + x @ coefficients(), 1.0, observed=y, **SIZE)


def two_data_sets():
    theta = pm.Normal("theta")
    pm.Normal("y", theta, observed=batch(Y), **SIZE)
    pm.Poisson("z", pm.math.exp(theta), observed=batch(COUNTS[:50]), total_size=50)
    pm.Normal("whole", theta, 1.0, observed=[0.5, 1.0])


def network():
    x, y = batch(X / [1, 50, 1], Y)
    hidden = pm.math.tanh(x @ pm.Normal("w", shape=(3, 8)) + pm.Normal("b", shape=8))
    pm.Normal("y", hidden @ pm.Normal("v", shape=8), 1.0, observed=y, **SIZE)


def factors():
    y = batch(MULTINOMIAL)
    topics = pm.Gamma("topics", 1.0, 1.0, shape=(2, 4))
    pm.Poisson("y", pm.math.sum(topics, axis=0), observed=y, total_size=[N, ...])


def weighted():
    y, weight = batch(Y, SHARES)
    pm.Normal("y", pm.Normal("theta"), 1 / pm.math.sqrt(weight), observed=y, **SIZE)


def duplicated_rows():
    y = batch(np.repeat([0.5, 1.0], N // 2))
    pm.Normal("y", pm.Normal("theta"), observed=y, **SIZE)


def as_many_groups_as_rows():
    y, group = batch(Y, RNG.integers(0, BATCH, N).astype("int32"))
    pm.Normal("y", pm.Normal("effect", shape=BATCH)[group], observed=y, **SIZE)


def row_effects():
    effect = pm.Normal("effect", shape=BATCH)
    pm.Normal("y", effect + pm.Normal("theta"), 0.5, observed=batch(Y), **SIZE)


def lasso_selection():
    x, y = batch(X, Y)
    pm.Laplace("y", x @ pm.Laplace("beta", 0.0, 1.0, shape=3), 1.0, observed=y, **SIZE)


def batches_of_one():
    pm.Normal("y", pm.Normal("theta"), observed=pm.Minibatch(Y, batch_size=1), **SIZE)


MODELS = [
    linear,
    robust_and_heteroscedastic,
    logistic,
    softmax,
    ordinal,
    poisson,
    zero_inflated,
    beta_regression,
    survival,
    normal_mixture,
    mixture_of_regressions,
    mixture_of_directions,
    multinomial,
    dirichlet,
    normal_vectors,
    custom,
    custom_by_a_function,
    hierarchical,
    two_data_sets,
    network,
    factors,
    weighted,
    duplicated_rows,
    as_many_groups_as_rows,
    row_effects,
    lasso_selection,
    batches_of_one,
]


@pytest.mark.parametrize("build", MODELS)
def test_ordinary_models_are_accepted_and_really_looked_at(build):
    with pm.Model() as model:
        build()
    sources = find_batch_sources(model)
    checks = DataChecks(model, sources, point=model.initial_point(), batches=True)
    checks.check_start(model.initial_point())
    for density in row_densities(model, sources):
        rows = np.arange(8)
        assert len(density.by_row(model.initial_point(), rows)) == 8
        assert len(density.values(rows)) == 8


def test_a_stream_is_accepted():
    columns = np.column_stack([X, Y])
    with pm.Model() as model:
        rows = pm.Data("rows", np.zeros((BATCH, 4)))
        pm.Normal("y", rows[:, :3] @ coefficients(), 1.0, observed=rows[:, 3], **SIZE)
    loader = list(columns.reshape(-1, 50, 4))
    sources = find_streams(model, {"rows": loader})
    checks = DataChecks(model, sources, point=model.initial_point(), batches=True)
    read = np.concatenate(list(checked_batches(checks.sources[0])))
    np.testing.assert_array_equal(read, columns)


def test_documents_are_left_to_their_distributions():
    counts = RNG.poisson(1.0, size=(40, 12))
    with pm.Model() as model:
        documents = pm.Minibatch(pmg.BagOfWords(counts), batch_size=8)
        topics = pm.Dirichlet("topics", np.ones((3, 12)))
        pmg.LatentDirichletAllocation("w", topics, 0.1, observed=documents, total_size=40)
    sources = find_batch_sources(model)
    DataChecks(model, sources, point=model.initial_point(), batches=True)
    [density] = row_densities(model, sources)
    assert not density.has_density


def test_single_precision():
    with pm.Model() as model:
        x, y = batch(X.astype("float32"), Y)
        pm.Normal("y", x @ coefficients().astype("float32"), 1.0, observed=y, **SIZE)
    DataChecks(model, find_batch_sources(model), point=model.initial_point(), batches=True)


def test_wide_rows_are_evaluated_a_few_at_a_time():
    rows = np.zeros((3_000, 2_000))
    with pm.Model() as model:
        mu = pm.Normal("mu", shape=2_000)
        pm.Normal("x", mu, 1.0, observed=rows)
    model = pmg.minibatch(model, batch_size=100)
    [density] = row_densities(model, find_batch_sources(model))
    assert density.chunk == 500
    sizes = [len(rows) for rows in density.chunks()]
    assert (sum(sizes), max(sizes)) == (3_000, 500)
