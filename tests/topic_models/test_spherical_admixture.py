#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Spherical topic models: densities, draws, starts."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

from chains import assert_mean
from scipy.stats import vonmises_fisher

import pymc_geodesic as pmg

from pymc_geodesic.distributions.bessel import vmf_log_normalizer
from pymc_geodesic.potential.row_starts import local_start

RNG = np.random.default_rng(3)
D, K, V = 7, 3, 9
THETA = RNG.dirichlet(np.ones(K), D)


def units(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


TOPICS = units(RNG.normal(size=(K, V)))
DOCUMENTS = units(RNG.poisson(1.0, (D, V)) + np.eye(V)[:D])
MEANS = units(THETA @ TOPICS)
KAPPA = 20.0


def expected_logp():
    return [
        vonmises_fisher.logpdf(document, mean, KAPPA)
        for document, mean in zip(DOCUMENTS, MEANS, strict=True)
    ]


def test_density_is_that_of_von_mises_and_fisher():
    rv = pmg.SphericalAdmixture.dist(THETA, TOPICS, KAPPA)
    np.testing.assert_allclose(pm.logp(rv, DOCUMENTS).eval(), expected_logp(), rtol=1e-9)


def test_sparse_documents_have_the_density_of_dense_ones():
    with pm.Model() as model:
        observed = pmg.BagOfWords(DOCUMENTS)
        pmg.SphericalAdmixture("v", THETA, TOPICS, KAPPA, observed=observed)
    [logp] = model.compile_fn(model.logp(sum=False))({})
    np.testing.assert_allclose(logp, expected_logp(), rtol=1e-9)


def test_draws_are_around_the_mixture_of_topics():
    rv = pmg.SphericalAdmixture.dist(THETA[0], TOPICS, KAPPA, size=4000)
    draws = pm.draw(rv, random_seed=1)
    np.testing.assert_allclose(np.linalg.norm(draws, axis=1), 1.0)
    n, kappa = V, pt.dscalar()
    ratio = -pt.grad(vmf_log_normalizer(n, kappa), kappa).eval({kappa: KAPPA})
    assert_mean(draws @ MEANS[0], ratio)


def test_least_squares_start_is_near_the_proportions():
    documents = units(THETA @ TOPICS)
    theta = pm.Dirichlet.dist(np.ones(K), shape=(D, K))
    rv = pmg.SphericalAdmixture.dist(theta, TOPICS, KAPPA)
    start = local_start(rv, pt.constant(documents), parameter=theta).eval()
    np.testing.assert_allclose(start.sum(axis=1), 1.0)
    np.testing.assert_allclose(start, THETA, atol=0.02)
    assert local_start(rv, pt.constant(documents), parameter=pt.dmatrix()) is None


def test_documents_must_be_unit_vectors():
    with pm.Model():
        batch = pm.Minibatch(pmg.BagOfWords(np.ones((4, 3))), batch_size=2)
        theta = pm.Dirichlet("theta", np.ones(K), shape=(2, K))
        topics = pmg.SphericalUniform("topics", shape=(K, 3))
        with pytest.raises(ValueError, match="unit vectors, got norms in"):
            pmg.SphericalAdmixture("v", theta, topics, KAPPA, observed=batch, total_size=4)
        with pytest.raises(ValueError, match="norms"):
            pmg.SphericalAdmixture("u", THETA, TOPICS, KAPPA, observed=2 * DOCUMENTS)


def test_collapsed_mean_by_integration():
    # On a circle the integral over the mean is a sum over angles.
    prior, kappa, mean_concentration = units(np.array([1.0, 2.0])), 3.0, 4.0
    topics = units(RNG.normal(size=(3, 2)))
    angles = np.linspace(0, 2 * np.pi, 4000, endpoint=False)
    means = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    log_joint = vonmises_fisher.logpdf(means, prior, mean_concentration)
    for topic in topics:
        log_joint = log_joint + vonmises_fisher.logpdf(means, topic, kappa)
    expected = np.log(np.mean(np.exp(log_joint)) * 2 * np.pi)
    rv = pmg.CollapsedMeanTopics.dist(
        prior, kappa, n_topics=3, mean_concentration=mean_concentration
    )
    np.testing.assert_allclose(pm.logp(rv, topics).eval(), expected, rtol=1e-9)
    assert pm.logp(rv, 1.1 * topics).eval() == -np.inf


def test_collapsed_mean_draws():
    prior = units(np.arange(1.0, 5.0))
    rv = pmg.CollapsedMeanTopics.dist(prior, 30.0, n_topics=2, mean_concentration=20.0)
    draws = pm.draw(rv, draws=3000, random_seed=2)
    kappa = pt.dscalar()
    ratio = -pt.grad(vmf_log_normalizer(4, kappa), kappa)
    near, far = (ratio.eval({kappa: value}) for value in (30.0, 20.0))
    assert_mean((draws @ prior).mean(axis=1), near * far)
    # Given their mean topics are independent: their inner product is that of two steps.
    assert_mean((draws[:, 0] * draws[:, 1]).sum(axis=1), near**2)


def test_collapsed_mean_has_a_transform_for_all_topics_together():
    with pm.Model() as model:
        topics = pmg.CollapsedMeanTopics(
            "topics", [0.6, 0.8], 30.0, n_topics=2, mean_concentration=20.0
        )
    assert isinstance(pmg.manifold_of(topics), pmg.Sphere)
    [value] = model.value_vars
    logp = model.compile_logp()
    # The auxiliary law of the lengths is normal about four, for each topic.
    scaled = [logp({value.name: r * np.array([[0.6, 0.8], [1.0, 0.0]])}) for r in (4.0, 5.0)]
    assert scaled[0] - scaled[1] == pytest.approx(2 * 0.5)


@pytest.mark.parametrize("n_topics", [0, 2.5])
def test_number_of_topics(n_topics):
    with pytest.raises(ValueError, match="n_topics"):
        pmg.CollapsedMeanTopics.dist([1.0, 0.0], 1.0, n_topics=n_topics, mean_concentration=1.0)
