#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The search of a mode starts mixtures from clusters of rows, on whatever manifold these are."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

from scipy.special import ive, logsumexp

import pymc_geodesic as pmg

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.potential import Potential
from pymc_geodesic.tuning.center import descend
from pymc_geodesic.tuning.mixture_starts import _clusters
from pymc_geodesic.tuning.starts import best_starts


def mode_of(model, *, seed=1, most=300):
    """The free variables at the mode that the search finds."""
    point = model.initial_point()
    potential = Potential(model, model.value_vars, initial_point=point)
    gradient = HostGradient(potential)
    names = [variable.value.name for variable in potential.variables]
    start = gradient.to_points(*(point[name] for name in names))
    rng = np.random.default_rng(seed)
    best, *_ = best_starts(gradient, start, movable=[True] * len(names), rng=rng)
    end = descend(gradient.whole, best, project=gradient.project, most=most).point
    arrays = dict(zip(names, gradient.to_values(*end), strict=True))
    outputs = model.replace_rvs_by_values(model.free_RVs)
    function = model.compile_fn(outputs, inputs=model.value_vars, point_fn=True)
    return dict(zip([rv.name for rv in model.free_RVs], function(arrays), strict=True))


def batches(x, size=200):
    return {"observed": pm.Minibatch(x, batch_size=size), "total_size": len(x)}


# Directions in many dimensions, beside EM


def log_density(x, w, mu, kappa):
    """Log density of every row in a mixture of von Mises-Fisher distributions."""
    d = x.shape[1]
    log_c = (d / 2 - 1) * np.log(kappa) - d / 2 * np.log(2 * np.pi)
    log_c = log_c - np.log(ive(d / 2 - 1, kappa)) - kappa
    return logsumexp(np.log(w) + log_c + kappa * (x @ mu.T), axis=1)


def by_em(x, k, seed, n_iterations=100):
    """A fit by EM that begins at random rows."""
    d = x.shape[1]
    mu = x[np.random.default_rng(seed).choice(len(x), k, replace=False)]
    w, kappa = np.full(k, 1 / k), np.full(k, float(d))
    for _ in range(n_iterations):
        log_c = (d / 2 - 1) * np.log(kappa) - np.log(ive(d / 2 - 1, kappa)) - kappa
        parts = np.log(w) + log_c + kappa * (x @ mu.T)
        share = np.exp(parts - logsumexp(parts, axis=1, keepdims=True))
        total = share.T @ x
        length = np.linalg.norm(total, axis=1)
        mu, w = total / length[:, None], share.mean(axis=0)
        r = np.minimum(length / share.sum(axis=0), 0.999)
        kappa = r * (d - r**2) / (1 - r**2)
    return w, mu, kappa


def embeddings(d, k, n, seed):
    """Rows of clusters whose means have much in common, as those of texts do."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=d) * 0.5 + rng.normal(size=(3, d))[np.arange(k) % 3] * 0.8
    means = means + rng.normal(size=(k, d)) * 0.9
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    labels, width = rng.choice(k, n, p=rng.dirichlet(np.full(k, 3.0))), rng.uniform(0.8, 1.6, k)
    # Not exactly von Mises-Fisher distributions, as embeddings are not.
    x = means[labels] + (width[labels] / np.sqrt(d))[:, None] * rng.normal(size=(n, d))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def of_directions(x, k):
    with pm.Model() as model:
        w = pm.Dirichlet("w", np.full(k, 2.0))
        mu = pmg.SphericalUniform("mu", shape=(k, x.shape[1]))
        kappa = pm.HalfNormal("kappa", 100.0, shape=k)
        pm.Mixture("x", w, pmg.VonMisesFisher.dist(mu, kappa), **batches(x))
    return model


@pytest.mark.slow
@pytest.mark.parametrize(("d", "seed"), [(50, 1), (50, 2), (100, 3)])
def test_the_held_out_value_is_not_below_the_best_of_ten_fits_by_em(d, seed):
    k = 10
    x = embeddings(d, k, 8_000, seed)
    x, held_out = x[:4_000], x[4_000:]
    fits = [by_em(x, k, s) for s in range(10)]
    best = max(fits, key=lambda fit: log_density(x, *fit).sum())
    found = mode_of(of_directions(x, k), seed=seed)
    ours = log_density(held_out, found["w"], found["mu"], found["kappa"]).mean()
    # The prior moves the mode by less than a hundredth of a nat; another local mode is tenths off.
    assert ours > log_density(held_out, *best).mean() - 0.01


def test_rows_of_thirty_clusters_of_unequal_size_are_divided_as_they_were_made():
    """Neighbours are one standard deviation apart in each of many directions together."""
    rng, k = np.random.default_rng(1), 30
    groups = rng.normal(size=(5, 300)) * 0.6
    centers = groups[rng.integers(5, size=k)] + rng.normal(size=(k, 300)) * 0.5
    w = 1.0 / (3 + np.arange(k))
    labels = rng.choice(k, 3_000, p=w / w.sum())
    found = _clusters(centers[labels] + rng.normal(size=(3_000, 300)), k, rng)
    shared = np.zeros((k, k), int)
    np.add.at(shared, (labels, found), 1)
    assert len(set(shared.argmax(axis=1))) == k
    assert shared.max(axis=1).sum() > 0.99 * len(labels)


# Other components


def test_axes_whose_signs_mean_nothing():
    means = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    rows = pmg.Watson.dist(np.repeat(means, [300, 200, 100], axis=0), 20.0)
    x = pm.draw(rows, random_seed=1)
    with pm.Model() as model:
        w, mu = pm.Dirichlet("w", np.ones(3)), pmg.SphericalUniform("mu", shape=(3, 3))
        kappa = pm.HalfNormal("kappa", 50.0, shape=3)
        pm.Mixture("x", w, pmg.Watson.dist(mu, kappa), **batches(x))
    found = mode_of(model)
    cosines = np.abs(found["mu"] @ means.T)
    assert np.sort(cosines.max(axis=0))[0] > 0.99
    np.testing.assert_allclose(found["w"][cosines.argmax(axis=0)], [1 / 2, 1 / 3, 1 / 6], atol=0.02)


def test_numbers_far_from_their_prior_scale():
    """Means thousands of prior steps apart, whose widths differ."""
    rng = np.random.default_rng(1)
    means, sds, w = np.array([1_000.0, 1_400.0, 2_000.0]), np.array([80.0, 100.0, 50.0]), [5, 3, 2]
    labels = rng.choice(3, 2_000, p=np.array(w) / 10)
    y = rng.normal(means[labels], sds[labels])
    with pm.Model() as model:
        weight, mu = pm.Dirichlet("w", np.ones(3)), pm.Normal("mu", 1_200, 600, shape=3)
        sd = pm.HalfNormal("sd", 200, shape=3)
        pm.NormalMixture("y", weight, mu, sigma=sd, **batches(y))
    found = mode_of(model)
    order = np.argsort(found["mu"])
    np.testing.assert_allclose(found["mu"][order], means, atol=20)
    np.testing.assert_allclose(found["sd"][order], sds, rtol=0.15)


def test_counts_and_lines():
    """Components of counts have no geometry, and those of regressions cross."""
    rng = np.random.default_rng(1)
    labels, x = rng.choice(2, 1_000), rng.normal(size=1_000)
    y = rng.poisson(np.array([3.0, 15.0])[labels]).astype("int32")
    with pm.Model() as model:
        rate = pm.Gamma("rate", 2.0, 0.2, shape=2)
        pm.Mixture("y", pm.Dirichlet("w", np.ones(2)), pm.Poisson.dist(rate), **batches(y))
    np.testing.assert_allclose(np.sort(mode_of(model)["rate"]), [3.0, 15.0], rtol=0.1)
    z = rng.normal(np.array([2.0, -2.0])[labels] * x, 0.3)
    with pm.Model() as model:
        slope, w = pm.Normal("slope", 0, 3, shape=2), pm.Dirichlet("w", np.ones(2))
        sd = pm.HalfNormal("sd", 1.0)
        bx, bz = pm.Minibatch(x, z, batch_size=200)
        pm.Mixture(
            "z",
            w,
            pm.Normal.dist(slope * bx[:, None], sd),
            observed=bz,
            total_size=1_000,
        )
    np.testing.assert_allclose(np.sort(mode_of(model)["slope"]), [-2.0, 2.0], atol=0.1)


def test_only_components_of_variables_are_mixtures():
    def bound(model):
        point = model.initial_point()
        return Potential(model, model.value_vars, initial_point=point).shared_out()

    y = np.arange(5)
    with pm.Model() as inflated:
        pm.ZeroInflatedPoisson("y", pm.Beta("p", 1, 1), pm.Gamma("rate", 2, 1), observed=y)
    assert bound(inflated) is None
    # Nodes of quadrature are no components.
    nodes, weights = np.polynomial.hermite_e.hermegauss(15)
    with pm.Model() as integrated:
        mu, tau = pm.Normal("mu"), pm.HalfNormal("tau")
        at_nodes = pm.logp(pm.Normal.dist(mu + tau * nodes, 1.0), y[:, None])
        pm.Potential("y", pt.logsumexp(np.log(weights) + at_nodes, axis=-1))
    assert bound(integrated) is None
    with pm.Model() as mixture:
        mu = pm.Normal("mu", shape=2)
        pm.NormalMixture("y", [0.5, 0.5], mu, sigma=1.0, observed=y.astype(float))
    assert bound(mixture) is not None
