#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Topics by variational inference: the updates, and what they find."""

import itertools

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from scipy.special import digamma, gammaln

import pymc_geodesic as pmg

from pymc_geodesic.topic_models.spherical import AdmixtureBound

V, K, S = 12, 3, 5


def unit_rows(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def differences(function, x, h=1e-6):
    found = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[index] += h
        down[index] -= h
        found[index] = (function(up) - function(down)) / (2 * h)
    return found


@pytest.fixture(scope="module")
def bound():
    return AdmixtureBound(
        np.full(V, V**-0.5),
        mean_concentration=5.0,
        concentration=8.0,
        kappa=50.0,
        alpha=np.full(K, 0.7),
    )


@pytest.fixture(scope="module")
def point():
    rng = np.random.default_rng(1)
    b, v = unit_rows(rng.normal(size=(K, V))), unit_rows(rng.random((S, V)))
    return b, rng.gamma(2.0, size=(S, K)) + 0.2, sp.csr_array(v)


def test_gradients_of_the_bound(bound, point):
    b, a, v = point
    products, gram = v @ b.T, b @ b.T
    expected = differences(lambda a: bound.of_documents(a, products, gram)[0], a)
    np.testing.assert_allclose(bound.of_documents(a, products, gram)[1], expected, atol=1e-6)
    gradient = bound.of_topics(b, a, v, scale=3.0)[1]
    tangent = gradient - b * (b * gradient).sum(axis=1, keepdims=True)
    expected = differences(lambda b: bound.of_topics(unit_rows(b), a, v, scale=3.0)[0], b)
    np.testing.assert_allclose(tangent, expected, atol=1e-5)


def test_expected_squared_length_of_a_mixture(bound, point):
    b, a, v = point
    rng, n = np.random.default_rng(2), 100_000
    theta = rng.dirichlet(a[0], n)
    # Any topics of these means and unit length have the same second moments between topics.
    mean = bound.mean_length * (b @ b.T) * bound.mean_length
    mean[np.diag_indices(K)] = 1.0
    squares = ((theta @ mean) * theta).sum(axis=1)
    found = bound._moments(a, v @ b.T, b @ b.T).squared[0]
    assert abs(found - squares.mean()) < 4 * squares.std() / np.sqrt(n)


def spherical_corpus(n_documents=400):
    """Documents around mixtures of three topics that share no words."""
    rng = np.random.default_rng(1)
    topics = unit_rows(np.repeat(np.eye(3), 10, axis=1) + 0.02)
    means = unit_rows(rng.dirichlet(np.full(3, 0.3), n_documents) @ topics)
    documents = unit_rows(np.abs(means + rng.normal(0.0, 0.03, means.shape)))
    return topics, pmg.BagOfWords(documents)


@pytest.mark.slow
@pytest.mark.parametrize("batch_size", [None, 50])
def test_planted_topics_on_the_sphere(batch_size):
    topics, corpus = spherical_corpus()
    found = pmg.topics.fit_spherical_admixture(
        corpus,
        n_topics=3,
        mean=corpus.mean_direction(),
        mean_concentration=10.0,
        # Topics as free as their prior would be counted as noise of the mixtures.
        concentration=1000.0,
        kappa=500.0,
        alpha=0.3,
        batch_size=batch_size,
        n_steps=25,
        rng=2,
    )
    cosines = found.topics @ topics.T
    best = max(
        min(cosines[k, j] for k, j in enumerate(order))
        for order in itertools.permutations(range(3))
    )
    assert best > 0.97
    assert found.proportions.shape == (400, 3)
    if batch_size is None:
        # The steps alternate, so that each may only increase it.
        assert np.all(np.diff(found.bound) > -1e-6 * np.abs(found.bound[1:]))


def test_one_step_of_hybrid_gibbs_by_enumeration():
    """With weight one the parameters are the prior plus the exact expected counts."""
    counts = np.array([[2, 0, 1], [0, 2, 1]])
    parameters = np.array([[3.0, 1.0, 2.0], [1.0, 4.0, 1.0]])
    step = partial(
        pmg.topics.fit_hybrid_gibbs,
        counts,
        n_topics=2,
        alpha=0.5,
        concentration=0.1,
        n_batches=1,
        delay=1e-9,
        decay=0.51,
        topics=parameters,
    )
    start = step(sweeps=2, rng=0).concentration
    assert start.shape == (2, 3)
    # The start is the prior plus three tokens per topic.
    before = 0.1 + 3 * parameters / parameters.sum(axis=1, keepdims=True)
    likely = digamma(before) - digamma(before.sum(axis=1, keepdims=True))
    exact = np.full((2, 3), 0.1)
    for words in ([0, 0, 2], [1, 1, 2]):
        terms = {}
        for z in itertools.product(range(2), repeat=3):
            n = np.bincount(z, minlength=2)
            terms[z] = np.exp(gammaln(0.5 + n).sum() + likely[list(z), words].sum())
        total = sum(terms.values())
        for z, term in terms.items():
            for k, w in zip(z, words, strict=True):
                exact[k, w] += term / total
    runs = np.array([step(sweeps=200, discard=50, rng=seed).concentration for seed in range(200)])
    error = runs.std(axis=0, ddof=1) / np.sqrt(len(runs))
    assert np.all(np.abs(runs.mean(axis=0) - exact) < 4.5 * error + 1e-6)


@pytest.mark.slow
def test_hybrid_gibbs_completes_documents_as_the_true_topics_do():
    rng = np.random.default_rng(1)
    n_topics, n_words, alpha = 5, 60, 0.2
    topics = rng.dirichlet(np.full(n_words, 0.1), n_topics)
    proportions = rng.dirichlet(np.full(n_topics, alpha), 1200)
    counts = np.array([rng.multinomial(60, p @ topics) for p in proportions])
    found = pmg.topics.fit_hybrid_gibbs(
        counts[:1000],
        n_topics=n_topics,
        alpha=alpha,
        concentration=0.1,
        batch_size=50,
        rng=1,
        n_batches=400,
    )
    train, test = pmg.topics.split_tokens(counts[1000:], rng=2)
    scores = [
        pmg.topics.document_completion_perplexity(
            t[None], observed=train, held_out=test, alpha=alpha, rng=3
        )
        for t in (found.topics, topics, np.full_like(topics, 1 / n_words))
    ]
    fitted, true, uniform = (float(getattr(score, "value", score)) for score in scores)
    # A tenth of what there is to learn about the words, and five per cent for its noise.
    assert np.log(fitted / true) < 0.1 * np.log(uniform / true) + 0.05


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"concentration": -1.0}, "`concentration` expected one positive number or 3"),
        ({"topics": np.ones((3, 3))}, r"`topics` expected word probabilities of shape \(2, 3\)"),
        ({"decay": 0.4}, "`decay` expected a number between 0.5 and 1"),
        ({"n_topics": 0}, "`n_topics` expected a whole number"),
    ],
)
def test_hybrid_gibbs_refuses(keywords, message):
    options = {"n_topics": 2, "alpha": 0.5, "concentration": 0.1} | keywords
    with pytest.raises(ValueError, match=message):
        pmg.topics.fit_hybrid_gibbs(np.ones((4, 3), int), **options)


def test_spherical_admixture_refuses():
    options = {
        "n_topics": 2,
        "mean_concentration": 1.0,
        "concentration": 1.0,
        "kappa": 1.0,
        "alpha": 1.0,
    }
    documents = np.eye(3)
    for keywords, message in (
        ({"mean": np.ones(3)}, "`mean` expected unit vectors, got length 1.73"),
        ({"mean": np.eye(2)[0]}, r"`mean` expected unit vectors of shape \(3,\)"),
        ({"mean": np.eye(3)[0], "kappa": 0.0}, "`kappa` expected a positive"),
        ({"mean": np.eye(3)[0], "topics": np.ones((2, 3))}, "`topics` expected unit vectors"),
    ):
        with pytest.raises(ValueError, match=message):
            pmg.topics.fit_spherical_admixture(documents, **(options | keywords))
