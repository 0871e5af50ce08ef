#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import pytest

from pymc_geodesic.plots import plot_sphere
from pymc_geodesic.plots.maps import WorldMap, _rotation_to

RNG = np.random.default_rng(3)


def unit(mean, *shape):
    x = RNG.normal(mean, size=(*shape, len(mean)))
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


DIRECTIONS = unit([0.0, -2.0, 1.0], 2, 150)
PLANE = unit([0.0, -2.0], 2, 150)
IDATA = az.from_dict(
    {
        "posterior": {
            "mu": np.stack([DIRECTIONS, -DIRECTIONS], axis=2),
            "theta": PLANE,
            "high": unit(np.ones(5), 2, 150),
            "beta": RNG.normal(size=(2, 150, 3)),
        }
    },
    coords={"cluster": ["a", "b"]},
    dims={"mu": ["cluster", "axis"]},
)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def legend_labels(ax):
    return [text.get_text().split(":")[0] for text in ax.get_legend().get_texts()]


def draw(ax):
    """Everything that matplotlib does late, and the warnings that it gives then."""
    ax.figure.canvas.draw()


@pytest.mark.parametrize("projection", ["mollweide", "3d"])
def test_everything_at_once_can_be_drawn(projection):
    ax = plot_sphere(
        {"first": DIRECTIONS, "second": -DIRECTIONS},
        data=DIRECTIONS[0],
        log_density=lambda x: 3.0 * x[:, 2],
        contours=(0.5, 0.9),
        projection=projection,
        center=(-90.0, 20.0),
        tilt=30.0,
    )
    assert ax.name == projection
    assert legend_labels(ax) == ["first", "second"]
    draw(ax)


def test_circle_can_be_drawn():
    ax = plot_sphere(
        {"first": PLANE, "second": -PLANE},
        data=PLANE[0],
        log_density=lambda x: 3.0 * x[:, 1],
    )
    assert ax.name == "polar"
    assert legend_labels(ax) == ["first", "second"]
    draw(ax)


def test_directions_of_a_posterior_are_found_and_named():
    ax = plot_sphere(IDATA, var_names="mu")
    assert legend_labels(ax) == ["mu[a]", "mu[b]"]
    assert legend_labels(plot_sphere(IDATA, var_names=["mu"], coords={"cluster": ["b"]})) == [
        "mu[b]"
    ]
    assert plot_sphere(IDATA, var_names="theta").name == "polar"


def test_directions_of_the_plane_and_of_space_need_two_pictures():
    with pytest.raises(ValueError, match=r"some in two and some in three.*`var_names`"):
        plot_sphere(IDATA)


def test_posterior_without_directions_is_refused():
    idata = az.from_dict({"posterior": {"beta": RNG.normal(size=(2, 10, 3))}})
    with pytest.raises(ValueError, match=r"unit vectors with 2 or 3 entries.*'beta'"):
        plot_sphere(idata)


def test_draws_into_given_axes_and_needs_no_data():
    ax = plt.figure().add_subplot(projection="mollweide")
    assert plot_sphere(ax=ax) is ax
    ax = plt.figure().add_subplot(projection="polar")
    assert plot_sphere(PLANE, ax=ax) is ax


@pytest.mark.parametrize(
    ("draws", "projection", "needed"),
    [(None, "mollweide", "mollweide"), (None, "3d", "3d"), (PLANE, "mollweide", "polar")],
)
def test_refuses_axes_of_other_projections(draws, projection, needed):
    _, ax = plt.subplots()
    with pytest.raises(ValueError, match=f'projection "{needed}", got "rectilinear"'):
        plot_sphere(draws, projection=projection, ax=ax)


def test_refuses_unknown_projections():
    with pytest.raises(ValueError, match="'mollweide', '3d', 'zoom', got 'mercator'"):
        plot_sphere(projection="mercator")


def test_refuses_points_in_other_dimensions():
    with pytest.raises(ValueError, match=r"directions of shape .*pmg.summary"):
        plot_sphere(np.ones((4, 5)))


@pytest.mark.parametrize("options", [{"draws": 3 * DIRECTIONS}, {"data": 3 * PLANE[0]}])
def test_refuses_vectors_of_other_lengths(options):
    with pytest.raises(ValueError, match=r"got a length of 3\..*Divide"):
        plot_sphere(**options)


@pytest.mark.parametrize("projection", ["mollweide", "3d", "zoom"])
def test_forty_directions_are_named_where_they_are(projection):
    many = {f"mu[{i}]": unit(5 * mean, 30) for i, mean in enumerate(unit([0.0] * 3, 40))}
    ax = plot_sphere(many, projection=projection)
    assert ax.get_legend() is None
    assert {text.get_text() for text in ax.texts} >= set(many)
    draw(ax)


def test_forty_directions_of_the_plane_are_named_within_the_circle():
    many = {f"mu[{i}]": unit(5 * mean, 30) for i, mean in enumerate(unit([0.0] * 2, 40))}
    ax = plot_sphere(many)
    assert ax.get_legend() is None
    assert {text.get_text() for text in ax.texts} == set(many)
    arcs = [line for line in ax.lines if line.get_linewidth() == 3]
    assert all(0 < np.min(line.get_ydata()) < 1 for line in arcs)
    draw(ax)


def test_circles_of_other_concentrations_are_all_seen():
    angles = [RNG.vonmises(1.0, kappa, 500) for kappa in (0.5, 20.0, 1e8)]
    draws = {str(i): np.stack([np.cos(a), np.sin(a)], 1) for i, a in enumerate(angles)}
    ax = plot_sphere(draws)
    peaks = [np.max(line.get_ydata()) for line in ax.lines if line.get_linewidth() == 1.8]
    assert len(peaks) == 3
    assert min(peaks) > 1.5
    assert ax.get_legend().get_title().get_text() == "each density to its own scale"
    draw(ax)


@pytest.mark.parametrize("radius", [1e-4, 1.0, 60.0])
def test_zoomed_map_is_as_wide_as_its_draws(radius):
    tilted = ring(radius) @ _rotation_to((20.0, 40.0), 0.0)
    ax = plot_sphere(tilted, projection="zoom", log_density=lambda x: 9.0 * x[:, 2])
    x, y = ax.lines[0].get_data()
    # Lambert's map stretches radii so that areas are kept.
    expected = np.rad2deg(2 * np.sin(np.deg2rad(radius) / 2))
    np.testing.assert_allclose(np.hypot(x, y), expected, rtol=1e-6)
    assert ax.get_xlim()[1] == pytest.approx(1.08 * expected, rel=1e-6)
    draw(ax)


def test_zoomed_map_has_north_above_and_east_to_the_right():
    center = np.array([0.6, 0.0, 0.8])
    points = center + 1e-3 * np.array([[-0.8, 0.0, 0.6], [0.0, 1.0, 0.0]])
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    ax = plot_sphere(data=points, projection="zoom", center=(0.0, np.rad2deg(np.arcsin(0.8))))
    (east, north) = np.transpose(ax.lines[0].get_data())[::-1]
    np.testing.assert_allclose(np.rad2deg([[1e-3, 0], [0, 1e-3]]), [east, north], atol=1e-6)


def ring(radius):
    """Directions that all lie so many degrees from the pole."""
    angle, radius = np.linspace(0, 2 * np.pi, 100, endpoint=False), np.deg2rad(radius)
    sine = np.sin(radius)
    return np.column_stack(
        [sine * np.cos(angle), sine * np.sin(angle), np.full(100, np.cos(radius))]
    )


def test_legend_gives_the_direction_and_the_radius_of_the_cap():
    (text,) = plot_sphere(ring(10)).get_legend().get_texts()
    assert "90.0° (95% within 10.0°)" in text.get_text()
    (text,) = plot_sphere(ring(10), cap=None).get_legend().get_texts()
    assert text.get_text().endswith("90.0°")


def test_border_of_the_cap_goes_through_the_ring():
    ax = plot_sphere(ring(10), cap=0.5, projection="3d", center=(0, 90))
    [border] = [
        line for line in ax.lines if line.get_linestyle() == "--" and line.get_alpha() is None
    ]
    np.testing.assert_allclose(border.get_data_3d()[2], np.cos(np.deg2rad(10)), atol=1e-12)


def test_far_side_of_the_globe_is_faint():
    ax = plot_sphere(data=np.vstack([ring(10), -ring(30)]), projection="3d", center=(0, 90))
    dots = [line for line in ax.lines if line.get_marker() == "."]
    heights = {line.get_alpha(): line.get_data_3d()[2] for line in dots}
    assert (heights[max(heights)] > 0).all()
    assert (heights[min(heights)] < 0).all()


def test_globe_faces_what_it_shows():
    ax = plot_sphere(DIRECTIONS, projection="3d")
    mean = DIRECTIONS.mean(axis=(0, 1))
    assert ax.azim == pytest.approx(np.rad2deg(np.arctan2(mean[1], mean[0])))
    assert ax.elev == pytest.approx(np.rad2deg(np.arcsin(mean[2] / np.linalg.norm(mean))))


def test_draws_are_thinned():
    ax = plot_sphere(DIRECTIONS, max_draws=60)
    clouds = [line for line in ax.lines if line.get_marker() == "."]
    assert [len(line.get_xdata()) for line in clouds] == [60]


def world_map(center, tilt):
    return WorldMap(plt.figure().add_subplot(projection="mollweide"), center, tilt)


@pytest.mark.parametrize("tilt", [0.0, 90.0, -30.0])
def test_center_is_brought_to_the_middle(tilt):
    rotation = _rotation_to((90.0, 0.0), tilt)
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-14)
    found = world_map((90.0, 0.0), tilt)._on_map(np.array([0.0, 1.0, 0.0]))
    np.testing.assert_allclose(found, 0, atol=1e-14)


def test_tilt_turns_clockwise():
    longitude, latitude = world_map((0.0, 0.0), 90.0)._on_map(np.array([0.0, 0.0, 1.0]))
    np.testing.assert_allclose([longitude, latitude], [np.pi / 2, 0], atol=1e-14)


@pytest.mark.parametrize("projection", ["mollweide", "3d"])
def test_flat_density_has_no_borders(projection):
    ax = plot_sphere(log_density=lambda x: np.zeros(len(x)), projection=projection)
    assert not ax.collections


def test_circle_without_a_cap_marks_no_mean():
    angles = np.concatenate([np.full(50, 1.0), np.full(50, -1.0)])
    angles = angles + np.random.default_rng(1).normal(0, 0.1, 100)
    draws = {"x": np.column_stack([np.cos(angles), np.sin(angles)])}
    ax = plot_sphere(draws, cap=None)
    assert not [line for line in ax.lines if line.get_marker() == "o"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["x"]
    assert plot_sphere(draws["x"], cap=None).get_legend() is None
