#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Topics of documents in memory: draws, their description, and starts of models."""

import logging
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pymc as pm
import pytest

from scipy import sparse

import pymc_geodesic as pmg

from pymc_geodesic.algorithms.default_schedules import default_starts
from pymc_geodesic.component_order import guessed_geometry, match_chains
from pymc_geodesic.topic_models.documents import drawn_shares, sweeps_for
from pymc_geodesic.topic_models.sample import Assignments

WORDS = np.array([f"{about}{i}" for about in ("sport", "law", "film", "food") for i in range(6)])
TOPICS = np.kron(np.eye(4), np.full(6, 0.15)) + 0.1 / 24
ALPHA = 0.2


def corpus_of(n_documents=1000, length=40, shares=None):
    rng = np.random.default_rng(3)
    shares = rng.dirichlet(np.full(4, ALPHA), n_documents) if shares is None else shares
    counts = rng.multinomial(length, shares @ TOPICS)
    return shares, pmg.BagOfWords(counts, vocabulary=WORDS)


@pytest.fixture(scope="module")
def planted():
    shares, corpus = corpus_of()
    return shares, corpus, pmg.topics.sample(corpus, n_topics=4, rng=1)


def order_of(topics):
    """The planted topic that each found one is about."""
    return np.argmax(topics @ TOPICS.T, axis=1)


def test_planted_topics_and_priors_are_found(planted):
    _, corpus, idata = planted
    topics = idata.posterior["topics"]
    assert topics.dims == ("chain", "draw", "topic", "word")
    assert topics["word"].values.tolist() == WORDS.tolist()
    mean = topics.mean(("chain", "draw")).values
    order = order_of(mean)
    assert sorted(order) == [0, 1, 2, 3]
    # About 10,000 tokens of each topic: standard deviations of 0.004 at 0.15.
    np.testing.assert_allclose(mean, TOPICS[order], atol=0.02)
    # Standard deviations of 1,000 documents are three per cent.
    assert idata.posterior.attrs["alpha"] == pytest.approx(ALPHA, rel=0.15)
    again = pmg.topics.sample(corpus, n_topics=4, rng=1)
    np.testing.assert_array_equal(again.posterior["topics"], topics)
    given = pmg.topics.sample(corpus, n_topics=4, alpha=0.3, eta=0.1, draws=4, rng=1)
    assert (given.posterior.attrs["alpha"], given.posterior.attrs["eta"]) == (0.3, 0.1)


def test_chains_describe_one_solution(planted):
    # Ten topics for four subjects have many solutions.
    found = pmg.topics.sample(planted[1], n_topics=10, chains=3, alpha=0.1, rng=2, tune=300)
    draws = found.posterior["topics"].values
    assert match_chains(draws, guessed_geometry(draws)).is_identity


@pytest.mark.filterwarnings("ignore:The topics still improve")
def test_a_saved_result_knows_its_priors(planted, tmp_path):
    pytest.importorskip("zarr")
    corpus = pmg.BagOfWords(planted[1].matrix[:50])
    for alpha in (0.3, [0.1, 0.2, 0.3, 0.4]):
        idata = pmg.topics.sample(corpus, n_topics=4, alpha=alpha, tune=5, draws=4, rng=1)
        pmg.save(idata, tmp_path / f"{np.ndim(alpha)}.zarr")
        again = pmg.read(tmp_path / f"{np.ndim(alpha)}.zarr")
        np.testing.assert_array_equal(again.posterior.attrs["alpha"], alpha)
        shares = pmg.topics.proportions(again, documents=corpus, rng=1)
        np.testing.assert_array_equal(
            shares, pmg.topics.proportions(idata, documents=corpus, rng=1)
        )


def test_a_run_that_is_too_short_says_so():
    _, corpus = corpus_of(2000)
    with pytest.warns(UserWarning, match="topics still improve: .* per cent .* Increase `tune`"):
        pmg.topics.sample(corpus, n_topics=4, tune=1, thin=1, draws=20, rng=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pmg.topics.sample(corpus, n_topics=4, rng=1)


def test_memory_is_as_stated():
    rng = np.random.default_rng(1)
    corpus = pmg.BagOfWords((rng.random((5000, 400)) < 0.1).astype(int))
    n_entries, n_topics = corpus.matrix.nnz, 10
    options = {"n_topics": n_topics, "draws": 2, "tune": 2, "rng": 1}
    pmg.topics.sample(corpus, **options)
    tracemalloc.start()
    pmg.topics.sample(corpus, **options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    of_draws = 8 * n_topics * 400 * 2 * 2
    stated = 12 * n_entries + 3 * (4 * n_entries + 8 * 5000 * n_topics) + of_draws
    # A copy of the documents while they are read, and small arrays.
    assert peak < stated + 24 * n_entries + 2e5
    assert corpus.matrix.data.nbytes + corpus.matrix.indices.nbytes == 12 * n_entries


def test_description_of_topics(planted):
    shares, corpus, idata = planted
    texts = [f"text {i} " + "and so on " * 20 for i in range(len(corpus))]
    found = pmg.topics.describe(idata, documents=corpus, texts=texts, n_words=6, rng=1)
    table, order = found.table, order_of(idata.posterior["topics"].values[0, 0])
    assert table.columns.to_list() == [
        *("label", "size", "lower", "upper", "coherence", "words", "document")
    ]
    assert table["size"].is_monotonic_decreasing
    assert table["size"].sum() == pytest.approx(1)
    assert np.all((table["lower"] <= table["size"]) & (table["size"] <= table["upper"]))
    # Sizes differ from those that generated the words by their binomial errors, 0.003.
    sizes = shares.mean(axis=0)[order]
    np.testing.assert_allclose(found.sizes, sizes, atol=0.015)
    for topic, row in table.iterrows():
        subject = WORDS[6 * order[topic]][:-1]
        assert all(word.startswith(subject) for word in row["words"].split())
        assert all(word.startswith(subject) for word in row["label"].split(", "))
        assert found.labels[topic] == row["label"]
        number = int(row["document"].split()[1])
        assert shares[number, order[topic]] > 0.9
        assert len(row["document"]) <= 80
    assert np.all(table["coherence"] > 0)
    axes = pmg.plot_topics(idata, sizes=found.sizes, labels=np.array(found.labels))
    assert axes[0].get_title(loc="left").startswith(table["label"].iloc[0])


def test_texts_without_words_are_counted_out():
    texts = ["?", *10 * ["goal game", "vote law"]]
    with pytest.warns(UserWarning, match="1 of 21 texts"):
        corpus = pmg.BagOfWords.from_texts(texts)
    idata = pmg.topics.sample(corpus, n_topics=2, alpha=0.1, eta=0.1, rng=1)
    options = {"documents": corpus, "rng": 1}
    for given in (texts, texts[1:]):
        table = pmg.topics.describe(idata, texts=given, **options).table
        assert set(table["document"]) == {"goal game", "vote law"}
    with pytest.raises(ValueError, match="`texts` expected the texts of 20 documents, got 3"):
        pmg.topics.describe(idata, texts=texts[:3], **options)
    with pytest.raises(ValueError, match="`alpha` expected the Dirichlet parameters"):
        pmg.topics.describe(idata.posterior["topics"].values, **options)
    with pytest.raises(ValueError, match="`labels` expected 2"):
        pmg.plot_topics(idata, labels=["one"])


def test_prevalence_by_group_and_by_number():
    """Groups with different mean shares, in documents whose length leaves little to the prior."""
    rng = np.random.default_rng(5)
    year = rng.random(1500)
    means = np.column_stack([0.1 + 0.4 * year, 0.5 - 0.4 * year, *2 * [np.full(1500, 0.2)]])
    shares = np.array([rng.dirichlet(2 * row) for row in means])
    _, corpus = corpus_of(length=400, shares=shares)
    idata = pmg.topics.sample(corpus, n_topics=4, rng=1)
    order = order_of(idata.posterior["topics"].values[0, 0])
    late = np.where(year > 0.5, "late", "early")
    options = {"documents": corpus, "rng": 1}
    found = pmg.topics.prevalence(idata, covariates=pd.Series(late), **options)
    for name in ("early", "late"):
        rows = found[found["term"] == name].set_index("topic")
        expected = shares[late == name].mean(axis=0)[order]
        np.testing.assert_allclose(rows["mean"], expected, atol=0.01)
        # Of 750 documents with standard deviations of about 0.25.
        width = (rows["upper"] - rows["lower"]) / (2 * 1.6)
        errors = shares[late == name].std(axis=0)[order] / np.sqrt(750)
        np.testing.assert_allclose(width, errors, rtol=0.25)
    slopes = pmg.topics.prevalence(idata, covariates=pd.DataFrame({"year": year}), **options)
    assert slopes["term"].unique().tolist() == ["intercept", "year"]
    design = np.column_stack([np.ones(1500), year])
    expected = np.linalg.lstsq(design, shares, rcond=None)[0][1][order]
    found = slopes[slopes["term"] == "year"].set_index("topic")
    np.testing.assert_allclose(found["mean"], expected, atol=0.03)
    assert np.all((found["lower"] < expected) & (expected < found["upper"]))


@pytest.mark.parametrize(
    ("covariates", "message"),
    [
        (["a", "b"], "`covariates` expected 1000 rows, one for each document, got 2"),
        ([None] * 1000, "expected no missing values, got 1000"),
        (pd.DataFrame({"a": ["x"] * 1000, "b": 1.0}), "got the column 'a' beside others"),
        (np.ones(1000), "got 1 columns of rank 0"),
    ],
)
def test_bad_covariates(planted, covariates, message):
    _, corpus, idata = planted
    with pytest.raises(ValueError, match=message):
        pmg.topics.prevalence(idata, documents=corpus, covariates=covariates)


def test_drawn_shares_have_the_means_of_the_posterior(planted):
    _, corpus, _ = planted
    counts = corpus.matrix[:20]
    rng = np.random.default_rng(2)
    drawn = np.array([drawn_shares(TOPICS, counts, alpha=ALPHA, rng=rng) for _ in range(400)])
    mean = pmg.topics.proportions(TOPICS, documents=counts, alpha=ALPHA, sweeps=2000, rng=1)
    errors = drawn.std(axis=0) / np.sqrt(400) + 1e-3
    assert np.all(np.abs(drawn.mean(axis=0) - mean) < 5 * errors)
    assert (sweeps_for(1), sweeps_for(4), sweeps_for(20)) == (100, 25, 20)


def model_of(corpus, **options):
    with pm.Model() as model:
        batch = pm.Minibatch(corpus, batch_size=50)
        topics = pmg.SymmetricDirichlet("topics", 0.1, shape=(4, 24), **options)
        pmg.LatentDirichletAllocation(
            "w", topics, ALPHA, observed=batch, total_size=len(corpus), sweeps=4
        )
    return model


def test_models_start_from_gibbs_sampling(planted, caplog):
    corpus = planted[1]
    options = {"tune": 0, "random_seed": 1, "progressbar": False}
    with caplog.at_level(logging.INFO, logger="pymc"), model_of(corpus):
        one = pmg.sample(2, chains=2, **options)
        options |= {"compute_convergence_checks": False, "cores": 1, "chains": 1}
        other = pm.sample(2, step=pmg.SGRLD(), **options)
    assert "Finding a start of `topics` by collapsed Gibbs sampling of 1,000" in caplog.text
    for draws in (*one.posterior["topics"].values, other.posterior["topics"].values[0]):
        order = order_of(draws[0])
        assert sorted(order) == [0, 1, 2, 3]
        np.testing.assert_allclose(draws[0], TOPICS[order], atol=0.05)
    # Chains of a run start in one solution, and each by itself.
    first = one.posterior["topics"].values[:, 0]
    np.testing.assert_array_equal(order_of(first[0]), order_of(first[1]))
    assert np.any(first[0] != first[1])


def test_given_starts_are_kept(planted):
    start = np.random.default_rng(1).dirichlet(np.ones(24), 4)
    with model_of(planted[1]):
        step = pmg.SGRLD(step_size=1e-9)
        idata = pmg.sample(
            1, tune=0, chains=1, step=step, initvals={"topics": start}, progressbar=False
        )
    np.testing.assert_allclose(idata.posterior["topics"].values[0, 0], start, atol=1e-3)


@pytest.mark.parametrize("n_priors", [1, 2])
def test_two_corpora_start_from_gibbs_sampling(planted, n_priors):
    rng = np.random.default_rng(1)
    with pm.Model() as model:
        topics = [pm.Dirichlet(f"topics_{i}", np.full((4, 24), 0.1)) for i in range(n_priors)]
        for i in range(2):
            batch = pm.Minibatch(planted[1], batch_size=50)
            pmg.LatentDirichletAllocation(
                f"w_{i}", topics[i % n_priors], ALPHA, observed=batch, total_size=1000
            )
    first, second = default_starts(model, 2 * [model.initial_point()], rng)
    for rv in topics:
        value, transform = model.rvs_to_values[rv].name, model.rvs_to_transforms[rv]
        one, other = (transform.backward(point[value]).eval() for point in (first, second))
        assert np.any(one != other)
        np.testing.assert_array_equal(order_of(one), order_of(other))
        np.testing.assert_allclose(one, TOPICS[order_of(one)], atol=0.05)


def test_drawn_topics_are_normal_numbers_in_single_precision():
    # Topics of many tokens, and words that no topic has: their probabilities underflow.
    counts = np.zeros((5, 2_000), int)
    counts[:, :40] = np.random.default_rng(1).multinomial(2_000, np.ones(40) / 40, 5)
    assignments = Assignments(sparse.csr_array(counts), alpha=np.full(2, 0.1), beta=0.005)
    rng = np.random.default_rng(1)
    assignments.sweep(rng, 1)
    topics = assignments.draw_topics(rng).astype("float32")
    assert topics.min() >= np.finfo("float32").tiny
    np.testing.assert_allclose(topics.sum(axis=1), 1.0, rtol=1e-5)


def test_an_impossible_start_of_topics_is_explained(planted):
    with model_of(planted[1]) as model:
        step = pmg.SGRLD(step_size=1e-4)
        point = model.initial_point()
        step.setup_chain(np.random.default_rng(1), tune=0, draws=1)
        point["topics_simplex__"] = np.where(np.arange(23) == 3, np.nan, point["topics_simplex__"])
        with pytest.raises(pm.exceptions.SamplingError, match=r"start.*topics"):
            step.step(point)
