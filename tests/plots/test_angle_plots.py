#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
import matplotlib.pyplot as plt
import numpy as np
import pytest

from scipy.stats import vonmises

import pymc_geodesic as pmg

ANGLES = np.random.default_rng(1).vonmises(3.0, 4.0, (2, 300, 2))


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_areas_of_a_rose_are_shares():
    ax = pmg.plot_rose(ANGLES, bins=12, density=lambda x: vonmises(4.0, 3.0).pdf(x))
    ax.figure.canvas.draw()
    areas = [0.5 * bar.get_height() ** 2 * bar.get_width() for bar in ax.patches]
    assert sum(areas) == pytest.approx(1)
    inside = (np.pi - 2 * np.pi / 12 < ANGLES).mean()
    assert areas[-1] == pytest.approx(inside)
    # The line encloses the same area.
    [line] = ax.lines
    assert np.mean(line.get_ydata()[:-1] ** 2) * np.pi == pytest.approx(1, rel=1e-6)


def test_a_torus_shows_pairs_and_regions():
    log_density = lambda x: 4 * np.cos(x - 3.0).sum(-1)  # noqa: E731
    ax = pmg.plot_torus(np.mod(ANGLES, 2 * np.pi), log_density=log_density, max_draws=100)
    ax.figure.canvas.draw()
    [dots] = ax.lines
    assert len(dots.get_xdata()) == 100
    assert np.abs(dots.get_xdata()).max() <= np.pi
    labels = [text.get_text() for text in ax.artists[0].get_texts()]
    assert labels == ["densest 50%", "densest 80%", "densest 95%"]


def test_axes_are_drawn_at_one_end():
    x = np.random.default_rng(1).normal([3.0, 0.0, 0.0], 0.3, (400, 3))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    x[::2] *= -1
    ax = pmg.plot_sphere(x, data=x[:10], axial=True)
    [text] = ax.get_legend().get_texts()
    assert "95% within" in text.get_text()
    ax.figure.canvas.draw()


def test_bad_input():
    with pytest.raises(ValueError, match='projection "polar"'):
        pmg.plot_rose(ANGLES, ax=plt.figure().add_subplot())
    with pytest.raises(ValueError, match="pairs in the last axis"):
        pmg.plot_torus(np.zeros(3))
    with pytest.raises(ValueError, match="one or more finite angles"):
        pmg.plot_rose([np.nan])


def test_degrees_are_an_argument():
    degrees = np.rad2deg(ANGLES) % 360
    roses = [pmg.plot_rose(x, unit=unit) for x, unit in ((ANGLES, "radians"), (degrees, "degrees"))]
    heights = [[bar.get_height() for bar in ax.patches] for ax in roses]
    assert heights[0] == pytest.approx(heights[1])
    [dots] = pmg.plot_torus(degrees, unit="degrees").lines
    [expected] = pmg.plot_torus(ANGLES).lines
    assert dots.get_xdata() == pytest.approx(expected.get_xdata())


@pytest.mark.parametrize("plot", [pmg.plot_rose, pmg.plot_torus])
def test_degrees_are_not_taken_for_radians(plot):
    with pytest.raises(ValueError, match=r'radians from -2 pi to 2 pi, .* `unit="degrees"`'):
        plot(np.rad2deg(ANGLES))
