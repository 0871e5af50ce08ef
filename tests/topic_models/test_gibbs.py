#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Gibbs for topics of words, against the sum over all assignments."""

import itertools

import numpy as np
import pytest

from scipy.special import gammaln, logsumexp

from pymc_geodesic.topic_models.topic_counts import expected_counts

# Three documents over four words, of 3, 4 and 4 tokens, the rows filled up in different ways.
IDS = np.array([[0, 1, 3], [2, 3, 2], [1, 0, 2]])
WEIGHTS = np.array([[1, 1, 1], [3, 1, 0], [2, 1, 1]])
TOPICS = np.array([[0.5, 0.3, 0.15, 0.05], [0.1, 0.2, 0.3, 0.4]])
THREE_TOPICS = np.vstack([TOPICS, [0.05, 0.6, 0.05, 0.3]])
CASES = {
    "two topics": (TOPICS, np.array([0.3, 0.3])),
    "three topics, alpha not symmetric": (THREE_TOPICS, np.array([0.1, 2.0, 0.6])),
    "a topic without a word": (np.array([[0.6, 0.4, 0.0, 0.0], TOPICS[1]]), np.array([0.4, 1.0])),
}


def assignments(ids, weights, topics, alpha):
    """All assignments of one document's tokens and their log joint probabilities."""
    tokens = np.repeat(ids, weights)
    every = np.array(list(itertools.product(range(len(alpha)), repeat=len(tokens))))
    counts = np.stack([(every == k).sum(axis=1) for k in range(len(alpha))], axis=1)
    log_prior = gammaln(alpha + counts).sum(axis=1) - gammaln(alpha).sum()
    log_prior += gammaln(alpha.sum()) - gammaln(alpha.sum() + len(tokens))
    with np.errstate(divide="ignore"):
        return tokens, every, log_prior + np.log(topics)[every, tokens].sum(axis=1)


def log_probability(topics, alpha):
    """Log p(w | pi) of all documents."""
    documents = zip(IDS, WEIGHTS, strict=True)
    return sum(logsumexp(assignments(*d, topics, alpha)[2]) for d in documents)


def exact_counts(topics, alpha):
    by_word, by_document = np.zeros(topics.shape), np.zeros((len(IDS), len(topics)))
    for d, document in enumerate(zip(IDS, WEIGHTS, strict=True)):
        tokens, every, log_joint = assignments(*document, topics, alpha)
        probabilities = np.exp(log_joint - logsumexp(log_joint))
        for z, p in zip(every, probabilities, strict=True):
            np.add.at(by_word, (z, tokens), p)
            np.add.at(by_document[d], z, p)
    return by_word, by_document


def estimates(topics, alpha, **options):
    """Independent estimates of both kinds of counts, each from many copies of the documents."""
    rng, n_runs, n_copies = np.random.default_rng(1), 50, 1000
    ids, weights = (np.tile(x, (n_copies, 1)) for x in (IDS, WEIGHTS))
    by_word, by_document = [], []
    for _ in range(n_runs):
        run = expected_counts(ids, weights=weights, topics=topics, alpha=alpha, rng=rng, **options)
        by_word.append(run.by_word / n_copies)
        by_document.append(run.by_document.reshape(n_copies, len(IDS), -1).mean(axis=0))
    return np.stack(by_word), np.stack(by_document)


def errors(found, exact):
    """Differences from the exact values in Monte Carlo standard errors."""
    standard_error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    return np.abs(found.mean(axis=0) - exact) / np.maximum(standard_error, 1e-12)


@pytest.mark.parametrize("case", CASES)
def test_enumeration(case):
    topics, alpha = CASES[case]
    found, exact = estimates(topics, alpha, sweeps=40, discard=20), exact_counts(topics, alpha)
    assert errors(found[0], exact[0]).max() < 4
    assert errors(found[1], exact[1]).max() < 4


def test_enumeration_can_tell():
    """Neither topics that are not normalised nor the pass that sets the tokens give the counts."""
    topics, alpha = CASES["two topics"]
    exact = exact_counts(topics, alpha)[0]
    unnormalised = estimates([[1.0], [1.3]] * topics, alpha, sweeps=20)[0]
    assert errors(unnormalised, exact).max() > 20
    start = estimates(topics, alpha, sweeps=1, discard=0)[0]
    assert errors(start, exact).max() > 5


def test_gradient_identity():
    """Expected counts are the gradient of log p(w | pi) in log pi."""
    topics, alpha = CASES["two topics"]
    gradient, h = np.empty(topics.shape), 1e-5
    for index in np.ndindex(topics.shape):
        up, down = np.log(topics), np.log(topics)
        up[index] += h
        down[index] -= h
        slope = log_probability(np.exp(up), alpha) - log_probability(np.exp(down), alpha)
        gradient[index] = slope / (2 * h)
    np.testing.assert_allclose(exact_counts(topics, alpha)[0], gradient, rtol=1e-7)
    assert errors(estimates(topics, alpha, sweeps=40)[0], gradient).max() < 4


def batch(rng, weights=WEIGHTS, ids=IDS, **options):
    return expected_counts(ids, weights=weights, topics=TOPICS, alpha=0.5, rng=rng, **options)


def test_counts_add_up():
    found = batch(np.random.default_rng(1), sweeps=7, discard=2)
    by_word = np.zeros(4)
    np.add.at(by_word, IDS, WEIGHTS)
    np.testing.assert_allclose(found.by_word.sum(axis=0), by_word)
    np.testing.assert_allclose(found.by_document.sum(axis=1), WEIGHTS.sum(axis=1))
    np.testing.assert_allclose(found.by_word.sum(axis=1), found.by_document.sum(axis=0))
    # Means of five sweeps.
    np.testing.assert_allclose(5 * found.by_word, np.round(5 * found.by_word), atol=1e-12)


def test_padding_and_layout_do_not_matter():
    ids = np.pad(IDS, ((0, 0), (0, 2)), constant_values=3)
    weights = np.pad(WEIGHTS, ((0, 0), (0, 2)))
    first = batch(np.random.default_rng(1))
    second = batch(np.random.default_rng(1), ids=ids.astype("int32"), weights=weights.astype(float))
    np.testing.assert_array_equal(first.by_word, second.by_word)
    third = expected_counts(
        IDS,
        weights=WEIGHTS,
        topics=np.asfortranarray(TOPICS),
        alpha=[0.5, 0.5],
        rng=np.random.default_rng(1),
    )
    np.testing.assert_array_equal(first.by_word, third.by_word)


def test_the_generator_decides():
    rng = np.random.default_rng(1)
    first, second = batch(rng), batch(rng)
    assert np.any(first.by_word != second.by_word)
    np.testing.assert_array_equal(batch(np.random.default_rng(1)).by_word, first.by_word)


def test_documents_without_words():
    found = batch(np.random.default_rng(1), weights=np.zeros_like(WEIGHTS))
    assert not found.by_word.any()
    assert found.by_document.shape == (3, 2)
    assert not found.by_document.any()


def test_word_that_no_topic_has():
    """It is shared out as the proportions are."""
    topics = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    found = expected_counts(
        [[0, 2]],
        weights=[[300, 300]],
        topics=topics,
        alpha=0.1,
        rng=np.random.default_rng(1),
        sweeps=50,
    )
    assert found.by_word[0, 0] == pytest.approx(300)
    assert found.by_word[:, 2].sum() == pytest.approx(300)
    assert found.by_word[0, 2] > 290


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ids": [[0, 1]]}, r"same shape.*got shapes \(1, 2\)"),
        ({"ids": [[0, 1, 4]] * 3}, "integers from 0 to 3.*got int64 from 0 to 4"),
        ({"ids": IDS - 1}, "integers from 0 to 3.*got int64 from -1"),
        ({"ids": IDS.astype(float)}, "integers from 0 to 3.*got float64"),
        ({"weights": WEIGHTS - 1}, "not negative, got int64 from -1"),
        ({"weights": WEIGHTS / 2}, "whole numbers.*from 0.5"),
        ({"weights": np.full((3, 3), np.nan)}, "whole numbers.*nan"),
        ({"topics": TOPICS[0]}, r"matrix \(topics, words\), got shape \(4,\)"),
        ({"alpha": 0.0}, "one positive number or 2"),
        ({"alpha": [1.0, 1.0, 1.0]}, "one positive number or 2"),
        ({"alpha": np.nan}, "one positive number or 2"),
        ({"sweeps": 3, "discard": 3}, "at least one of the `sweeps`, got discard=3 and sweeps=3"),
        ({"sweeps": 0}, "at least one"),
    ],
)
def test_bad_input(change, message):
    arguments = {"weights": WEIGHTS, "topics": TOPICS, "alpha": 0.5, **change}
    ids = arguments.pop("ids", IDS)
    with pytest.raises(ValueError, match=message):
        expected_counts(ids, rng=np.random.default_rng(1), **arguments)


def test_the_first_tokens_do_not_decide_on_the_topics_of_a_document():
    """At a small alpha five sweeps put as many tokens into the right topics as thousands do."""
    rng = np.random.default_rng(1)
    topics, shares = rng.dirichlet(np.full(200, 0.1), size=20), np.zeros((60, 20))
    for row in shares:
        row[rng.choice(20, 2, replace=False)] = 0.5
    documents = rng.multinomial(100, shares @ topics)
    ids = np.tile(np.arange(200), (60, 1))

    def by_document(sweeps, repeats):
        given = {"weights": documents, "topics": topics, "alpha": 0.01, "rng": rng}
        runs = [expected_counts(ids, **given, sweeps=sweeps) for _ in range(repeats)]
        return np.mean([run.by_document for run in runs], axis=0)

    misplaced = np.abs(by_document(5, 20) - by_document(4000, 1)).sum() / 2 / documents.sum()
    # Without a spread first pass 0.10, after a uniform one 0.03.
    assert misplaced < 0.02
