#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import pytest

import pymc_geodesic as pmg

RNG = np.random.default_rng(1)
TOPICS = np.stack([RNG.dirichlet(a, size=(2, 60)) for a in RNG.gamma(0.3, 9, (3, 20)) + 0.05], 2)
WORDS = [f"word {i}" for i in range(20)]
ROOTS = np.sqrt(TOPICS)


def idata(**posterior):
    return az.from_dict(
        {"posterior": posterior},
        coords={"word": WORDS},
        dims={name: ["topic", "word"] for name in posterior},
    )


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("topics", [TOPICS, ROOTS], ids=["simplex", "sphere"])
def test_top_words_are_those_of_the_largest_means(topics):
    axes = pmg.plot_topics(idata(topics=topics), n_words=4)
    assert len(axes) == 3
    for i, ax in enumerate(axes):
        mean = topics[:, :, i].mean(axis=(0, 1))
        top = np.argsort(-mean)[:4]
        assert [label.get_text() for label in ax.get_yticklabels()] == [WORDS[j] for j in top]
        np.testing.assert_allclose([bar.get_width() for bar in ax.patches], mean[top])
        assert ax.get_title(loc="left") == f"topic {i}"
        [intervals] = ax.collections
        low, high = np.quantile(topics[:, :, i][..., top].reshape(-1, 4), [0.055, 0.945], axis=0)
        found = np.array([segment[:, 0] for segment in intervals.get_segments()])
        np.testing.assert_allclose(found, np.column_stack([low, high]))
    axes[0].figure.canvas.draw()


def test_topics_are_found_among_other_variables():
    draws = az.from_dict(
        {"posterior": {"w": TOPICS[:, :, 0], "topics": ROOTS, "beta": RNG.normal(size=(2, 60, 3))}}
    )
    axes = pmg.plot_topics(draws, vocabulary=WORDS)
    assert len(axes) == 3
    assert axes[0].get_yticklabels()[0].get_text().startswith("word ")


def test_two_candidates_need_a_name():
    draws = idata(a=TOPICS, b=ROOTS)
    with pytest.raises(ValueError, match=r"`var_names` expected one .*, got \['a', 'b'\]"):
        pmg.plot_topics(draws)
    assert len(pmg.plot_topics(draws, "b", coords={"topic": [2, 0]})) == 2


@pytest.mark.parametrize(
    "topics", [TOPICS, TOPICS[0], TOPICS[0, 0]], ids=["chains", "draws", "one draw"]
)
def test_arrays_are_shown_as_top_words_reads_them(topics):
    axes = pmg.plot_topics(topics, vocabulary=WORDS, n_words=3)
    table = pmg.topics.top_words(topics, vocabulary=WORDS, n=3)
    shown = [label.get_text() for ax in axes for label in ax.get_yticklabels()]
    assert shown == table["word"].to_list()
    assert [ax.get_title(loc="left") for ax in axes] == ["topic 0", "topic 1", "topic 2"]
    assert len(pmg.plot_topics(topics, coords={"topic": [2, 0]})) == 2


def test_draws_into_given_axes():
    _, axes = plt.subplots(3, 1)
    assert list(pmg.plot_topics(idata(t=TOPICS), axes=axes)) == list(axes)
    with pytest.raises(ValueError, match="`axes` expected 3, one per topic, got 2"):
        pmg.plot_topics(idata(t=TOPICS), axes=axes[:2])


def test_lengths_and_shapes_are_checked():
    with pytest.raises(ValueError, match="`vocabulary` expected 20 words, got 3"):
        pmg.plot_topics(idata(t=TOPICS), vocabulary=["a", "b", "c"])
    draws = az.from_dict({"posterior": {"w": TOPICS[:, :, 0]}})
    with pytest.raises(ValueError, match=r"`w` expected topics of shape \(K, V\), got \(20,\)"):
        pmg.plot_topics(draws)


def many_topics(n=50):
    return RNG.dirichlet(np.full(20, 0.3), size=(1, 10, n))


def test_many_topics_are_a_list():
    topics = many_topics()
    [ax] = pmg.plot_topics(topics, vocabulary=WORDS, n_words=6)
    assert len(ax.texts) == 300
    mean = topics.mean(axis=(0, 1))
    best = [WORDS[i] for i in np.argsort(-mean, axis=1)[:, :6].ravel()]
    assert [text.get_text() for text in ax.texts] == best
    ax.figure.canvas.draw()
    assert len(pmg.plot_topics(topics[:, :, :21], kind="bars", n_words=2)) == 21


def test_the_largest_topic_comes_first():
    sizes = [0.2, 0.5, 0.3]
    axes = pmg.plot_topics(idata(t=TOPICS), sizes=sizes)
    assert axes[0].get_title(loc="left") == "topic 1 (50.0%)"
    [ax] = pmg.plot_topics(idata(t=TOPICS), sizes=sizes, kind="list", n_words=2)
    assert ax.get_yticklabels()[0].get_text() == "topic 1 (50.0%)"
    assert len(ax.patches) == 3
    assert ax.texts[0].get_text() == WORDS[TOPICS[:, :, 1].mean(axis=(0, 1)).argmax()]
    with pytest.raises(ValueError, match="`sizes` expected 3, one per topic"):
        pmg.plot_topics(idata(t=TOPICS), sizes=sizes[:2])
    with pytest.raises(ValueError, match="`kind` expected 'bars' or 'list', got 'wordle'"):
        pmg.plot_topics(idata(t=TOPICS), kind="wordle")
