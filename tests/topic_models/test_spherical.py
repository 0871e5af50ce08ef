#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Log perplexity of documents on the sphere, against SciPy's density and by hand."""

import arviz as az
import numpy as np
import pytest
import scipy.sparse as sp

from scipy.special import logsumexp
from scipy.stats import vonmises_fisher

import pymc_geodesic as pmg

ALPHA, KAPPA, N = np.array([0.5, 1.0, 2.0]), 7.0, 20


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


RNG = np.random.default_rng(1)
TOPICS = unit(np.abs(RNG.normal(size=(4, 3, 5))))
DOCUMENTS = unit(np.abs(RNG.normal(size=(6, 5)))) * 1.0


def log_perplexity(topics=TOPICS, **change):
    arguments = {"documents": DOCUMENTS, "alpha": ALPHA, "kappa": KAPPA, "n_proportions": N}
    return pmg.topics.log_perplexity(topics, rng=7, **{**arguments, **change})


def log_likelihoods():
    """Log vMF(v_d | m, n) of shape (draws, proportions, documents), by SciPy."""
    theta = np.random.default_rng(7).dirichlet(ALPHA, N)
    means = unit(np.einsum("nk,mkv->mnv", theta, TOPICS))
    every = [[vonmises_fisher(mu, KAPPA).logpdf(DOCUMENTS) for mu in row] for row in means]
    return np.array(every)


def test_definition():
    found, every = log_perplexity(), log_likelihoods()
    whole = -(logsumexp(every, axis=(0, 1)) - np.log(4 * N)).mean()
    assert found.value == pytest.approx(whole, rel=1e-10)
    single = -(logsumexp(every, axis=1) - np.log(N)).mean(axis=1)
    np.testing.assert_allclose(found.single, single, rtol=1e-10)
    for m in range(1, 5):
        part = -(logsumexp(every[:m], axis=(0, 1)) - np.log(m * N)).mean()
        assert found.cumulative[m - 1] == pytest.approx(part, rel=1e-10)


def test_many_words():
    """With all topics the same the proportions do not matter; log c of an independent source."""
    mean = np.zeros(5000)
    mean[0] = 1.0
    documents = unit(sp.random(10, 5000, density=0.01, rng=RNG).toarray() + 0.1 * mean)
    found = log_perplexity(np.tile(mean, (2, 3, 1)), documents=sp.csr_matrix(documents), kappa=3e4)
    by_hand = 8722.5215379 - 3e4 * documents[:, 0].mean()
    np.testing.assert_allclose(found.cumulative, by_hand, rtol=1e-9)


def test_forms_of_input():
    expected = log_perplexity().cumulative
    idata = az.from_dict({"posterior": {"beta": TOPICS.reshape(2, 2, 3, 5)}})
    for documents in (sp.csr_array(DOCUMENTS), sp.coo_matrix(DOCUMENTS)):
        found = log_perplexity(idata, documents=documents, var_name="beta")
        np.testing.assert_allclose(found.cumulative, expected, rtol=1e-12)
    single_precision = log_perplexity(TOPICS.astype("float32"))
    np.testing.assert_allclose(single_precision.cumulative, expected, rtol=1e-5)
    one_draw = log_perplexity(TOPICS[0])
    assert one_draw.cumulative.shape == (1,)
    assert one_draw.value == pytest.approx(expected[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"documents": 2 * DOCUMENTS}, "`documents` expected unit vectors, got length 2"),
        ({"documents": 0 * DOCUMENTS}, "`documents` expected unit vectors, got length 0"),
        ({"documents": DOCUMENTS * np.nan}, "`documents` expected unit vectors, got length nan"),
        ({"documents": DOCUMENTS[:, :4]}, r"with 5 columns.*got shape \(6, 4\)"),
        ({"topics": TOPICS / 2}, "`topics` expected unit vectors, got length 0.5"),
        ({"topics": TOPICS[0, 0]}, r"array \(\.\.\., topics, words\).*got shape \(5,\)"),
        ({"kappa": -1.0}, "`kappa` expected one positive number, got -1"),
        ({"n_proportions": 0}, "`n_proportions` expected 1 or more, got 0"),
        ({"alpha": [1.0, 1.0]}, "one positive number or 3"),
    ],
)
def test_bad_input(change, message):
    with pytest.raises(ValueError, match=message):
        log_perplexity(**change)


def test_unknown_variable():
    idata = az.from_dict({"posterior": {"beta": TOPICS[None], "x": np.zeros((1, 4))}})
    with pytest.raises(ValueError, match=r"among \['beta', 'x'\], got 'topics'"):
        log_perplexity(idata)
    with pytest.raises(ValueError, match=r"matrices.*got 'x' with draws of shape \(\)"):
        log_perplexity(idata, var_name="x")
