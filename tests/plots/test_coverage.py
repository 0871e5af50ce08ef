#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Lines about draws hold the share of fresh draws that they state, whatever the distribution."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from scipy.spatial import ConvexHull
from scipy.stats import vonmises_fisher

import pymc_geodesic as pmg

from pymc_geodesic.plots.density import choose_bandwidth, regions_of_draws
from pymc_geodesic.plots.sphere_mesh import isolines, mesh_near
from pymc_geodesic.plots.ternary import CORNERS, _density

N, N_NEW = 1500, 4000
POLE = np.array([0.6, 0.0, 0.8])


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def girdle(rng, n):
    return unit(rng.normal(size=(n, 3)) * [1.0, 1.0, 0.1])


def antipodal(rng, n):
    return vonmises_fisher(POLE, 200.0, seed=rng).rvs(n) * rng.choice([-1, 1], size=(n, 1))


def three_axes(rng, n):
    axes = np.eye(3)[rng.integers(3, size=n)]
    return unit(axes + 0.02 * rng.normal(size=(n, 3)))


SPHERES = {
    "tight": lambda rng, n: vonmises_fisher(POLE, 1e7, seed=rng).rvs(n),
    "unimodal": lambda rng, n: vonmises_fisher(POLE, 20.0, seed=rng).rvs(n),
    "girdle": girdle,
    "antipodal": antipodal,
    "three axes": three_axes,
    "near-uniform": lambda rng, n: vonmises_fisher(POLE, 0.1, seed=rng).rvs(n),
}


def inside(lines, x, outside):
    """Whether each point is within an odd number of closed lines, seen from a point outside all."""
    # From there the sphere is a plane, by stereographic projection, on which lines have an inside.
    ahead, across = outside, np.linalg.svd(outside[None])[2][1:]

    def flat(y):
        return (y @ across.T) / (1 - y @ ahead)[..., None]

    found = np.zeros(len(x), bool)
    px, py = flat(x).T
    for line in map(flat, lines):
        (x0, y0), (x1, y1) = line[:-1].T, line[1:].T
        # Rays to the right, counted where they cross a segment.
        for i in range(len(x0)):
            if y0[i] == y1[i]:
                continue
            cross = (y0[i] > py) != (y1[i] > py)
            at = x0[i] + (py - y0[i]) / (y1[i] - y0[i]) * (x1[i] - x0[i])
            found ^= cross & (px < at)
    return found


def allowance(share):
    """Four binomial errors of the draws that set the level and of the fresh ones, and 0.01.

    The last is for the density that sets the levels, of nineteen blocks in twenty, in place of all.
    """
    return 4 * np.sqrt(share * (1 - share) * (1 / N + 1 / N_NEW)) + 0.01


@pytest.mark.parametrize("share", [0.5, 0.9])
@pytest.mark.parametrize("name", SPHERES)
def test_lines_on_the_sphere(name, share):
    x = SPHERES[name](np.random.default_rng(1), N)
    fresh = SPHERES[name](np.random.default_rng(2), N_NEW)
    lines = regions_of_draws(x, [share])
    # The emptiest of many places; where draws are everywhere, it is outside the lines as well.
    places = vonmises_fisher(POLE, 1e-3, seed=3).rvs(400)
    empty = places[np.argmin((np.exp(4 * (places @ x.T - 1))).sum(axis=1))]
    held = inside(lines, fresh, empty).mean()
    assert held == pytest.approx(share, abs=allowance(share))


TRIANGLES = {
    "middle": lambda rng, n: rng.dirichlet([3.0, 4.0, 5.0], size=n),
    "sides": lambda rng, n: rng.dirichlet([0.5, 0.5, 0.5], size=n),
    "three corners": lambda rng, n: np.stack(
        [rng.dirichlet(np.roll([60.0, 2.0, 2.0], k)) for k in rng.integers(3, size=n)]
    ),
}


@pytest.mark.parametrize("share", [0.5, 0.9])
@pytest.mark.parametrize("name", TRIANGLES)
def test_lines_in_the_triangle(name, share):
    points = TRIANGLES[name](np.random.default_rng(1), N) @ CORNERS
    fresh = TRIANGLES[name](np.random.default_rng(2), N_NEW) @ CORNERS
    x, y, density, at_points = _density(points)
    level = np.quantile(at_points, 1 - share)
    column, row = np.rint((fresh - [x[0], y[0]]) / [x[1] - x[0], y[1] - y[0]]).astype(int).T
    on_grid = (column >= 0) & (column < len(x)) & (row >= 0) & (row < len(y))
    values = np.zeros(N_NEW)
    values[on_grid] = density[column[on_grid], row[on_grid]]
    assert np.mean(values >= level) == pytest.approx(share, abs=allowance(share))


def test_neighbours_in_a_slow_chain_do_not_choose_the_bandwidth():
    """A path through the sphere asks for kernels as wide as the sphere shows, not as its steps."""
    rng = np.random.default_rng(1)
    slow = np.empty((N, 3))
    state = rng.normal(size=3)
    for i in range(N):
        state = 0.995 * state + np.sqrt(1 - 0.995**2) * rng.normal(size=3)
        slow[i] = state
    x = unit(3 * POLE + slow)
    assert choose_bandwidth(x) > 2 * choose_bandwidth(rng.permutation(x))


def test_draws_that_repeat_do_not_narrow_the_kernels():
    x = vonmises_fisher(POLE, 20.0, seed=1).rvs(300)
    alone, repeated = choose_bandwidth(x), choose_bandwidth(np.repeat(x, 5, axis=0))
    assert repeated > 0.5 * alone
    assert choose_bandwidth(np.repeat(x[:1], 50, axis=0)) == 0.0
    assert regions_of_draws(np.repeat(x[:1], 50, axis=0), [0.5]) == []


def test_mesh_covers_the_sphere():
    vertices, triangles = mesh_near(vonmises_fisher(POLE, 1e-3, seed=1).rvs(500), edge=0.2, reach=4)
    np.testing.assert_allclose(np.linalg.norm(vertices, axis=1), 1)
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    assert np.linalg.norm(a - b, axis=1).max() < 0.2
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()
    assert area == pytest.approx(ConvexHull(vertices).area, rel=1e-9)


def test_lines_are_circles_of_latitude():
    vertices, triangles = mesh_near(POLE[None], edge=0.02, reach=1.0)
    heights = vertices @ POLE
    [line] = isolines(triangles, vertices, heights, 0.8)
    np.testing.assert_allclose(line @ POLE, 0.8, atol=1e-3)
    np.testing.assert_array_equal(line[0], line[-1])
    assert isolines(triangles, vertices, heights, 2.0) == []


@pytest.mark.parametrize("projection", ["mollweide", "3d", "zoom"])
@pytest.mark.parametrize("name", ["tight", "girdle", "antipodal", "near-uniform"])
def test_pictures_of_all_kinds(name, projection):
    x = SPHERES[name](np.random.default_rng(1), 300)
    ax = pmg.plot_sphere(
        {"a": x}, data=x[:9], contours=(0.5,), projection=projection, log_density=lambda y: y[:, 0]
    )
    ax.figure.canvas.draw()
    [text] = ax.get_legend().get_texts()
    has_no_mean = name in ("girdle", "antipodal", "near-uniform")
    assert ("no mean direction" in text.get_text()) == has_no_mean
    plt.close("all")
