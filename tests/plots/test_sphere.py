#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
import matplotlib.pyplot as plt
import numpy as np
import pytest

from pymc_geodesic.plots import plot_sphere
from pymc_geodesic.plots.sphere import _levels, _on_map, _rotation_to


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def directions():
    x = np.random.default_rng(3).normal([0.0, -2.0, 1.0], size=(2, 150, 3))
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def test_everything_at_once_can_be_drawn(directions, tmp_path):
    ax = plot_sphere(
        directions[0],
        draws={"first": directions, "second": -directions},
        log_density=lambda x: 3.0 * x[:, 2],
        center=(-90.0, 20.0),
        tilt=30.0,
    )
    assert ax.name == "mollweide"
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert [label.split(":")[0] for label in labels] == ["first", "second"]
    ax.figure.savefig(tmp_path / "sphere.png", dpi=40)


def test_draws_into_given_axes_and_needs_no_data():
    ax = plt.figure().add_subplot(projection="mollweide")
    assert plot_sphere(ax=ax) is ax


def test_refuses_other_projections():
    _, ax = plt.subplots()
    with pytest.raises(ValueError, match='projection "mollweide", got "rectilinear"'):
        plot_sphere(ax=ax)


def test_refuses_points_that_are_not_in_three_dimensions():
    with pytest.raises(ValueError, match="three dimensions"):
        plot_sphere(np.ones((4, 2)))


def test_legend_gives_the_direction_and_the_radius_of_the_cap():
    # All draws lie 10 degrees from the pole, so the cap about the mean has that radius.
    angle = np.linspace(0, 2 * np.pi, 100, endpoint=False)
    ring = np.column_stack(
        [
            np.sin(np.deg2rad(10)) * np.cos(angle),
            np.sin(np.deg2rad(10)) * np.sin(angle),
            np.full(100, np.cos(np.deg2rad(10))),
        ]
    )
    (text,) = plot_sphere(draws=ring).get_legend().get_texts()
    assert "90.0° (95% within 10.0°)" in text.get_text()


def test_draws_are_thinned(directions):
    ax = plot_sphere(draws=directions, max_draws=60)
    clouds = [line for line in ax.lines if line.get_marker() == "."]
    assert [len(line.get_xdata()) for line in clouds] == [60]


@pytest.mark.parametrize("tilt", [0.0, 90.0, -30.0])
def test_center_is_brought_to_the_middle(tilt):
    rotation = _rotation_to((90.0, 0.0), tilt)
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(_on_map([0.0, 1.0, 0.0], rotation), 0, atol=1e-14)


def test_tilt_turns_clockwise():
    longitude, latitude = _on_map([0.0, 0.0, 1.0], _rotation_to((0.0, 0.0), 90.0))
    np.testing.assert_allclose([longitude, latitude], [np.pi / 2, 0], atol=1e-14)


def test_regions_hold_the_mass_they_claim():
    # With density proportional to exp(k z), the height z above which half the mass lies is known.
    kappa = 2.0
    latitude = np.deg2rad(np.linspace(-89.5, 89.5, 180))[:, None]
    values = np.broadcast_to(kappa * np.sin(latitude), (180, 361))
    levels, mass = _levels(values, np.cos(latitude), (0.5, 0.9))
    heights = np.log(np.exp(kappa) - mass * (np.exp(kappa) - np.exp(-kappa))) / kappa
    np.testing.assert_allclose(levels / kappa, heights, atol=0.02)
    np.testing.assert_allclose(mass, [0.9, 0.5])


def test_flat_density_has_no_borders():
    ax = plot_sphere(log_density=lambda x: np.zeros(len(x)))
    assert not ax.collections
