#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What is said of the topics of several chains."""

import arviz_base as az
import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.potential.components import components_in
from pymc_geodesic.run_record import ATTRIBUTE, write_record
from pymc_geodesic.runs import convergence
from pymc_geodesic.runs.convergence import warnings_of_convergence

N_TOPICS, N_WORDS, N_DOCUMENTS, ALPHA = 6, 40, 300, 0.1
RNG = np.random.default_rng(2)
MEANS = RNG.dirichlet(np.full(N_WORDS, 0.1), size=N_TOPICS) + 1e-6
MEANS /= MEANS.sum(axis=1, keepdims=True)
COUNTS = np.array(
    [
        RNG.multinomial(30, shares @ MEANS)
        for shares in RNG.dirichlet([ALPHA] * N_TOPICS, N_DOCUMENTS)
    ]
)


def model_of(*, softmax=False):
    with pm.Model() as model:
        shape = (N_TOPICS, N_WORDS)
        if softmax:
            topics = pm.Deterministic("topics", pm.math.softmax(pm.Normal("eta", shape=shape), -1))
        else:
            topics = pmg.SymmetricDirichlet("topics", 0.1, shape=shape)
        batch = pm.Minibatch(pmg.BagOfWords(COUNTS), batch_size=5)
        options = {"observed": batch, "total_size": N_DOCUMENTS}
        pmg.LatentDirichletAllocation("w", topics, ALPHA, **options)
    return model


def run(*, orders=None, n_other=0, mixes=True, n_draws=400):
    """Draws of four chains: in their own orders, with other topics in the last, and slow or not."""
    rng = np.random.default_rng(5)
    means = np.stack([MEANS] * 4)
    means[-1, :n_other] = rng.dirichlet(np.full(N_WORDS, 0.1), size=n_other)
    if orders is not None:
        means = np.stack([mean[order] for mean, order in zip(means, orders, strict=True)])
    shape = (4, n_draws, N_TOPICS, N_WORDS)
    noise = rng.normal(size=shape)
    noise = noise if mixes else np.cumsum(noise, axis=1) / n_draws**0.5
    draws = (means[:, None] + 1e-6) * np.exp(0.1 * noise)
    groups = {
        "posterior": {"topics": draws / draws.sum(axis=-1, keepdims=True)},
        "sample_stats": {
            "potential_estimate": rng.normal(size=shape[:2]),
            "step_size": np.full(shape[:2], 1e-3),
            "diverging": np.zeros(shape[:2], bool),
        },
    }
    return az.from_dict(groups)


def said(idata, model=None):
    found = warnings_of_convergence(idata, model or model_of())
    return [(warning.level, warning.message) for warning in found]


def orders():
    rng = np.random.default_rng(3)
    return [np.arange(N_TOPICS), *(rng.permutation(N_TOPICS) for _ in range(3))]


@pytest.mark.parametrize("softmax", [False, True])
def test_the_variables_of_the_topics(softmax):
    expected = {"topics": {"eta"}} if softmax else {"topics": {"topics"}}
    assert components_in(model_of(softmax=softmax)) == expected


def test_nothing_is_said_of_the_same_topics_in_one_order():
    assert said(run()) == []


def test_the_order_of_topics_is_no_disagreement():
    [(level, text)] = said(run(orders=orders()))
    assert level == "info"
    assert "number them differently: `pmg.topics.align(idata, 'topics')`" in text


@pytest.mark.parametrize(("tolerance", "expected"), [(np.inf, "info"), (0.1, "warn")])
def test_other_topics_are_counted(tolerance, expected, monkeypatch):
    """They are an alarm if one chain predicts worse than the others."""
    monkeypatch.setattr(convergence, "PREDICTS_WORSE", tolerance)
    [(level, text)] = said(run(orders=orders(), n_other=2))
    assert "4 of 6 are alike in all chains" in text
    assert "The perplexities of the chains are" in text
    assert level == expected


def test_slow_topics_are_not_certain():
    [(level, text)] = said(run(mixes=False))
    assert level == "info"
    assert text.startswith("The smallest effective sample size of the largest entries of `topics`")


def toward(start, shares):
    """A run whose topics go from a start to the right ones, by shares of the way."""
    idata = run()
    way = np.asarray(shares)[:, None, None]
    idata["posterior"]["topics"].values[:] *= way
    idata["posterior"]["topics"].values[:] += (1 - way) * start
    return idata


def test_topics_that_still_improve_are_told_though_all_chains_agree():
    idata = toward(MEANS.mean(axis=0), np.linspace(0.3, 0.8, 400))
    [(level, text)] = [one for one in said(idata) if one[0] == "warn"]
    assert level == "warn"
    assert text.startswith("The components of `topics` still improve: the perplexity of the data f")
    record = write_record("SGRLD", {}, {"topics": "Simplex"}, components=["topics"])
    idata["sample_stats"].attrs[ATTRIBUTE] = record
    assert pmg.diagnose(idata, model=model_of()).names == ("not_stationary",)


def test_few_draws_that_still_improve_are_told():
    idata = toward(MEANS.mean(axis=0), np.linspace(0.3, 0.8, 400)).isel(draw=slice(None, None, 20))
    assert "still improve" in said(idata)[0][1]


def test_topics_that_tell_nothing_are_told():
    idata = toward(MEANS.mean(axis=0)[::-1], np.full(400, 0.0))
    assert "predict the data no better than none would" in said(idata)[0][1]


def test_the_energy_of_topics_tells_nothing():
    idata = run()
    idata["sample_stats"]["potential_estimate"][1] += 2
    assert said(idata) == []


def test_draws_that_are_not_numbers_are_no_components():
    idata = run()
    idata["posterior"]["topics"][1, 3, 2, 5] = np.nan
    assert said(idata) == []


@pytest.mark.parametrize("n_other", [0, 2])
def test_the_diagnosis_agrees(n_other):
    idata = run(mixes=False, n_other=n_other)
    record = write_record("SGRLD", {}, {"topics": "Simplex"}, components=["topics"])
    idata["sample_stats"].attrs[ATTRIBUTE] = record
    assert pmg.diagnose(idata).names == (("different_components",) if n_other else ())


def test_a_run_records_its_topics_and_no_temperature():
    with model_of():
        idata = pmg.sample(5, tune=5, chains=2, random_seed=1, progressbar=False)
    assert '"components": ["topics"]' in idata.sample_stats.attrs[ATTRIBUTE]
    assert "configurational_temperature" not in idata.sample_stats
    # The numbers of the documents, not their words.
    np.testing.assert_array_equal(idata.observed_data["w"], np.arange(N_DOCUMENTS)[:, None])


def corpus(rng, *, n_topics=5, n_words=200, n_documents=2_000):
    topics = rng.dirichlet(np.full(n_words, 0.05), size=n_topics)
    shares = rng.dirichlet(np.full(n_topics, 0.1), size=n_documents)
    return pmg.BagOfWords(np.array([rng.multinomial(15, p / p.sum()) for p in shares @ topics]))


@pytest.mark.slow
@pytest.mark.parametrize("length", [1000, 30])
def test_a_run_that_is_too_short_is_told_and_one_that_has_ended_is_not(length, caplog):
    texts = corpus(np.random.default_rng(1))
    with pm.Model():
        batch = pm.Minibatch(texts, batch_size=50)
        topics = pmg.SymmetricDirichlet("topics", 0.1, shape=(5, texts.n_words))
        pmg.LatentDirichletAllocation("w", topics, 0.1, observed=batch, total_size=len(texts))
        pmg.sample(length, tune=length, random_seed=1, progressbar=False)
    assert "effective sample size of `potential_estimate`" not in caplog.text
    assert ("The components of `topics`" in caplog.text) is (length < 1000)
