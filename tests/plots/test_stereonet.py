#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Stereonets: places of poles, great circles, cones and colours of clusters."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

from matplotlib.colors import to_rgb

import pymc_geodesic as pmg

from pymc_geodesic.plots.stereonet import Stereonet
from pymc_geodesic.plots.style import color_of

RADII = {"equal_area": lambda p: np.sqrt(2) * np.sin((np.pi / 2 - p) / 2)}
RADII["equal_angle"] = lambda p: np.tan((np.pi / 2 - p) / 2)


@pytest.fixture
def ax():
    yield plt.subplots()[1]
    plt.close("all")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def some_poles(n, dip=40.0, direction=120.0):
    rng = np.random.default_rng(1)
    return pmg.directions.from_dip(rng.normal(dip, 5, n).clip(0, 90), rng.normal(direction, 8, n))


@pytest.mark.parametrize("net", RADII)
def test_places_are_those_of_the_projection(ax, net):
    trend, plunge = np.array([0.0, 90.0, 200.0, 310.0]), np.array([0.0, 30.0, 60.0, 90.0])
    lines = pmg.directions.from_trend(trend, plunge)
    for ends in (lines, -lines):
        east, north = Stereonet(ax, net, axial=True).on_net(ends)
        radius = RADII[net](np.deg2rad(plunge))
        np.testing.assert_allclose(np.hypot(east, north), radius, atol=1e-12)
        np.testing.assert_allclose(east, radius * np.sin(np.deg2rad(trend)), atol=1e-12)
    upward = Stereonet(ax, net, axial=False).on_net(lines * [1, 1, -1])
    np.testing.assert_allclose(upward, Stereonet(ax, net, axial=True).on_net(lines), atol=1e-12)


def test_equal_areas_stay_equal(ax):
    """Uniform axes fill the net uniformly: a quarter of them within half the radius."""
    x = np.random.default_rng(1).normal(size=(20_000, 3))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    inside = np.hypot(*Stereonet(ax, "equal_area", axial=True).on_net(x)) < 0.5
    assert abs(inside.mean() - 0.25) < 5 * np.sqrt(0.25 * 0.75 / 20_000)


@pytest.mark.parametrize(("dip", "direction"), [(40, 120), (90, 10), (0, 0), (5, 350)])
def test_great_circles_are_planes(ax, dip, direction):
    net, drawn = Stereonet(ax, "equal_area", axial=True), []
    net.curve = lambda x, **style: drawn.append(x)
    pole = pmg.directions.from_dip(dip, direction)
    net.plane(pole)
    [line] = drawn
    np.testing.assert_allclose(line @ pole, 0, atol=1e-12)
    assert np.all(line[:, 2] <= 1e-12)
    assert line[:, 2].min() == pytest.approx(-np.sin(np.deg2rad(dip)), abs=1e-12)


def test_rows_have_the_colours_of_their_components(ax):
    x = np.concatenate([some_poles(30), some_poles(20, 80, 300)])
    shares = np.zeros((50, 2))
    shares[:30, 0], shares[30:, 1] = 1.0, 1.0
    shares[0] = 0.5
    named = xr.DataArray(shares, dims=("row", "set"), coords={"set": ["bedding", "joints"]})
    pmg.plot_stereonet(data=x, membership=named, ax=ax)
    colors = ax.collections[0].get_facecolor()[:, :3]
    np.testing.assert_allclose(colors[1], to_rgb(color_of(0)))
    np.testing.assert_allclose(colors[-1], to_rgb(color_of(1)))
    # A row that may be of both is pale.
    assert colors[0].min() > 0.7
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["set bedding", "set joints"]


def test_a_cone_has_its_radius_and_crosses_the_horizon_once(ax):
    rng = np.random.default_rng(1)
    x = np.array([1.0, 0.0, 0.0]) + 0.1 * rng.normal(size=(2_000, 3))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    pmg.plot_stereonet({"pole": rng.choice([-1, 1], (2_000, 1)) * x}, ax=ax, cone=0.9)
    [text] = [text.get_text() for text in ax.get_legend().get_texts()]
    radius = np.rad2deg(np.quantile(np.arccos(np.abs(x[:, 0])), 0.9))
    assert f"90% within {radius:.0f}" in text or f"90% within {radius:.1f}"[:14] in text
    lines = [line.get_xydata() for line in ax.lines if len(line.get_xydata()) == 181]
    [border] = lines
    # It goes on at the other side, and no line is drawn across the net.
    assert np.isnan(border[:, 0]).sum() in (1, 2)
    ends = border[np.isfinite(border[:, 0])]
    assert {*np.sign(ends[:, 0])} == {-1.0, 1.0}


def test_planes_and_both_nets_are_drawn():
    draws = some_poles(400).reshape(4, 100, 3)
    for net in RADII:
        ax = pmg.plot_stereonet({"a": draws}, data=some_poles(20), planes=True, net=net)
        assert len(ax.lines) > 30
    ax = pmg.plot_stereonet({"a": draws}, data=-some_poles(20), axial=False)
    # Directions that point up are open.
    assert ax.collections[0].get_facecolor().size == 0


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"`membership` expected the shape \(20, K\)"):
        pmg.plot_stereonet(data=some_poles(20), membership=np.ones((10, 2)))
    with pytest.raises(ValueError, match=r"`data` expected directions of shape \(..., 3\)"):
        pmg.plot_stereonet(data=np.ones((5, 2)))
    with pytest.raises(ValueError, match="`data` expected unit vectors, got a length of 2"):
        pmg.plot_stereonet(data=2 * some_poles(5))
    with pytest.raises(ValueError, match="`ax` expected ordinary axes"):
        pmg.plot_stereonet(data=some_poles(5), ax=plt.subplot(projection="polar"))
