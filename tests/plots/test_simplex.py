#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.plots.ternary import CORNERS

RNG = np.random.default_rng(1)
THREE = RNG.dirichlet([2.0, 3.0, 6.0], size=(2, 100))
MANY = RNG.dirichlet([1.0, 5.0, 2.0, 0.5, 3.0], size=(2, 100))
IDATA = az.from_dict(
    {
        "posterior": {
            "soil": np.stack([THREE, THREE[..., ::-1]], axis=2),
            "many": MANY,
            "beta": RNG.normal(size=(2, 100, 3)),
        }
    },
    coords={"place": ["here", "there"], "part": ["sand", "silt", "clay"], "letter": list("abcde")},
    dims={"soil": ["place", "part"], "many": ["letter"]},
)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def texts(ax):
    return {text.get_text() for text in ax.texts}


def test_three_entries_are_a_triangle():
    ax = pmg.plot_simplex(IDATA, var_names="soil", contours=(0.5, 0.9))
    assert {"sand", "silt", "clay"} <= texts(ax)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["soil[here]", "soil[there]"]
    ax.figure.canvas.draw()


def test_means_are_where_the_weights_put_them():
    ax = pmg.plot_simplex(THREE, labels=["x", "y", "z"])
    [mean] = [line for line in ax.lines if line.get_marker() == "o"]
    np.testing.assert_allclose(np.ravel(mean.get_data()), THREE.mean(axis=(0, 1)) @ CORNERS)
    assert ax.get_legend() is None
    assert {"x", "y", "z"} <= texts(ax)


def test_draws_stay_inside_and_are_thinned():
    ax = pmg.plot_simplex(THREE, max_draws=40)
    [cloud] = [line for line in ax.lines if line.get_marker() == "."]
    x, y = cloud.get_data()
    assert len(x) == 40
    assert (y >= 0).all()
    assert (y <= np.sqrt(3) * np.minimum(x, 1 - x)).all()


def test_contours_end_at_the_sides():
    corner = RNG.dirichlet([0.5, 0.5, 20.0], size=2000)
    ax = pmg.plot_simplex(corner, contours=(0.5, 0.9))
    lines = [line for line in ax.lines if line.get_path_effects()]
    assert lines
    for line in lines:
        x, y = line.get_data()
        assert np.nanmin(y - 0) > 0
        assert np.nanmax(y - np.sqrt(3) * np.minimum(x, 1 - x)) < 0.01


def test_other_numbers_of_entries_are_bars_in_falling_order():
    ax = pmg.plot_simplex(IDATA, var_names="many")
    mean = MANY.mean(axis=(0, 1))
    heights = [bar.get_height() for bar in ax.patches]
    np.testing.assert_allclose(heights, np.sort(mean)[::-1])
    names = [label.get_text() for label in ax.get_xticklabels()]
    assert names == [list("abcde")[i] for i in np.argsort(-mean)]
    [intervals] = ax.collections
    low, high = np.quantile(MANY.reshape(-1, 5), [0.055, 0.945], axis=0)
    found = np.array([segment[:, 1] for segment in intervals.get_segments()])
    np.testing.assert_allclose(found, np.column_stack([low, high])[np.argsort(-mean)])


def test_the_smallest_entries_are_left_out_and_counted():
    ax = pmg.plot_simplex(MANY, n_entries=2)
    assert len(ax.patches) == 2
    rest = np.sort(MANY.mean(axis=(0, 1)))[:3].sum()
    assert ax.get_title() == f"3 more hold {rest:.1%}"


def test_draws_into_given_axes():
    _, (left, right) = plt.subplots(1, 2)
    assert pmg.plot_simplex(THREE, ax=left) is left
    assert pmg.plot_simplex(MANY, ax=right) is right


def test_a_part_can_be_chosen():
    both = np.stack([MANY, MANY], axis=2)
    idata = az.from_dict({"posterior": {"p": both}})
    with pytest.raises(ValueError, match=r"one vector to draw as bars, got \[.*`coords`"):
        pmg.plot_simplex(idata)
    assert pmg.plot_simplex(idata, coords={"p_dim_0": [1]}).get_title() == "p[1]"


def test_vectors_of_several_sizes_need_several_pictures():
    with pytest.raises(ValueError, match=r"equal length, got lengths \[3, 5\]"):
        pmg.plot_simplex(IDATA)


def test_posterior_without_probability_vectors_is_refused():
    with pytest.raises(ValueError, match=r"probability vectors, got the variables \['beta'\]"):
        pmg.plot_simplex(az.from_dict({"posterior": {"beta": RNG.normal(size=(2, 9, 3))}}))


def test_names_must_fit():
    with pytest.raises(ValueError, match="`labels` expected 5 names, got 2"):
        pmg.plot_simplex(MANY, labels=["a", "b"])


def test_one_draw_has_no_interval():
    ax = pmg.plot_simplex(np.array([[0.5, 0.2, 0.2, 0.1]]))
    assert ax.get_ylabel() == "probability"
    assert not ax.collections
    assert "interval" in pmg.plot_simplex(RNG.dirichlet(np.ones(4), size=20)).get_ylabel()


@pytest.mark.parametrize("draws", [100 * THREE, {"a": THREE, "b": 100 * THREE}])
def test_percentages_are_refused(draws):
    with pytest.raises(ValueError, match="`draws` expected probability vectors, got"):
        pmg.plot_simplex(draws)
