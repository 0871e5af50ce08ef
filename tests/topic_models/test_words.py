#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The table of the words of topics."""

import arviz as az
import numpy as np
import pytest

import pymc_geodesic as pmg

WORDS = ["ant", "bee", "cat", "dog"]
DRAWS = np.random.default_rng(1).dirichlet([4.0, 1.0, 8.0, 2.0], size=(2, 50, 3))


def test_table():
    table = pmg.topics.top_words(DRAWS, vocabulary=WORDS, n=2, ci_prob=0.5)
    assert list(table.columns) == ["topic", "rank", "word", "mean", "lower", "upper"]
    assert table["topic"].to_list() == [0, 0, 1, 1, 2, 2]
    assert table["rank"].to_list() == [0, 1] * 3
    assert table["word"].to_list() == ["cat", "ant"] * 3
    flat = DRAWS.reshape(100, 3, 4)
    of_second = table[(table["topic"] == 1) & (table["word"] == "ant")].iloc[0]
    assert of_second["mean"] == pytest.approx(flat[:, 1, 0].mean())
    assert of_second["lower"] == pytest.approx(np.quantile(flat[:, 1, 0], 0.25))
    assert of_second["upper"] == pytest.approx(np.quantile(flat[:, 1, 0], 0.75))


def test_idata_is_read_like_an_array():
    idata = az.from_dict({"posterior": {"topics": DRAWS}})
    found = pmg.topics.top_words(idata, vocabulary=WORDS, n=4)
    assert found.equals(pmg.topics.top_words(DRAWS, vocabulary=np.array(WORDS), n=4))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"vocabulary": WORDS[:3]}, "`vocabulary` expected 4 words, as many as the topics, got 3"),
        ({"n": 5}, "`n` expected 1 to 4, the number of words, got 5"),
        ({"n": 0}, "got 0"),
    ],
)
def test_bad_input(change, message):
    with pytest.raises(ValueError, match=message):
        pmg.topics.top_words(DRAWS, **{"vocabulary": WORDS, "n": 2, **change})
