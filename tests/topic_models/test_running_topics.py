#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Topics of which a run kept moments alone are read, drawn and put in order."""

import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

import pymc_geodesic as pmg

RNG = np.random.default_rng(4)
TOPICS = RNG.dirichlet(np.full(25, 0.2), size=4)
ORDERS = np.array([[0, 1, 2, 3], [2, 0, 3, 1]])
WORDS = [f"word{i}" for i in range(25)]


def run_with(**groups):
    """A result of `pmg.sample(keep=...)` with these groups below `running`."""
    idata = az.from_dict({"posterior": {"scale": RNG.normal(size=(2, 30))}})
    coords = {"word": WORDS, "topic": range(4)}
    dims = {"mean": ("chain", "topic", "word"), "draws": ("chain", "draw", "topic", "word")}
    dims["sd"] = dims["mean"]
    trees = {
        name: xr.Dataset({"topics": (dims[name], values)}, coords=coords)
        for name, values in groups.items()
    }
    idata["running"] = xr.DataTree.from_dict(trees)
    return idata


@pytest.fixture
def idata():
    means = TOPICS[ORDERS]
    return run_with(mean=means, sd=means / 10)


def test_means_are_read_and_put_in_order(idata):
    with pytest.raises(ValueError, match=r"Call `idata = pmg\.topics\.align"):
        pmg.topics.top_words(idata)
    ordered = pmg.topics.align(idata)
    np.testing.assert_array_equal(ordered["running/mean"]["topics"], TOPICS[[[0, 1, 2, 3]] * 2])
    np.testing.assert_allclose(
        ordered["running/sd"]["topics"] * 10, ordered["running/mean"]["topics"]
    )
    table = pmg.topics.top_words(ordered, n=3)
    best = np.argsort(-TOPICS, axis=1)[:, :3]
    assert table["word"].tolist() == [WORDS[i] for i in best.ravel()]
    assert len(pmg.topics.coherence(ordered, documents=RNG.poisson(1.0, (30, 25)))) == 4


def test_draws_that_were_kept_go_before_means():
    draws = np.stack([TOPICS[order][None] * np.ones((5, 1, 1)) for order in ORDERS])
    idata = run_with(mean=np.full((2, 4, 25), 0.04), draws=draws)
    ordered = pmg.topics.align(idata)
    np.testing.assert_array_equal(ordered["running/draws"]["topics"][1, 3], TOPICS)


def test_moments_cannot_be_matched_by_draw(idata):
    with pytest.raises(ValueError, match="`per_draw` expected all draws, got moments"):
        pmg.topics.align(idata, per_draw=True)


def test_means_are_drawn(idata):
    axes = pmg.plot_topics(pmg.topics.align(idata), "topics", n_words=3)
    assert len(axes) == 4
    assert axes[0].get_yticklabels()[0].get_text() == WORDS[TOPICS[0].argmax()]
    plt.close("all")


def test_missing_topics_are_named(idata):
    with pytest.raises(ValueError, match=r"among \['scale', 'topics'\], got 'beta'"):
        pmg.topics.top_words(idata, var_name="beta")
