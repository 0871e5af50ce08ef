#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Draws of all chains in coordinates around one center, wherever the coordinates jump."""

import numpy as np
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.kernel.representatives import Representatives, without_seam
from pymc_geodesic.manifolds import Circle, Euclidean, Product, ProjectiveSphere
from pymc_geodesic.manifolds.scaled_stiefel import ScaledStiefel

CHAINS, DRAWS = 4, 300


def wrapped(x):
    return np.angle(np.exp(1j * x))


def angles(center, sd=0.3):
    """Draws of chains, ``(chain, draw, 2)``, of two angles around a center."""
    return wrapped(np.random.default_rng(1).normal(center, sd, (CHAINS, DRAWS, 2)))


@pytest.mark.parametrize("center", [0.0, 1.0, np.pi, -np.pi + 0.01])
def test_angles_deviate_alike_wherever_they_are(center):
    x = without_seam(Circle(), angles(center))
    expected = without_seam(Circle(), angles(0.0))
    deviations, others = (y - y.mean(axis=(0, 1)) for y in (x, expected))
    assert np.abs(deviations - others).max() < 1e-12
    assert np.abs(wrapped(x - angles(center))).max() < 1e-12


def test_angles_from_everywhere_stay_within_half_a_turn():
    x = np.random.default_rng(1).uniform(-np.pi, np.pi, (CHAINS, DRAWS, 5))
    found = without_seam(Circle(), x)
    assert np.abs(wrapped(found - x)).max() < 1e-12
    assert np.all(np.ptp(found, axis=(0, 1)) <= 2 * np.pi + 1e-12)
    assert np.abs(found.std(axis=(0, 1)) / (np.pi / np.sqrt(3)) - 1).max() < 0.1


def test_the_center_is_a_least_mean_square():
    """Most angles are about one place, and the last draw, where the search begins, opposite it."""
    x = np.append(wrapped(np.random.default_rng(1).normal(3.0, 0.8, 400)), -0.1)[None]
    found = without_seam(Circle(), x)
    assert found.std() == pytest.approx(0.82, rel=0.1)


@pytest.mark.parametrize("n", [3, 4])
def test_axes_and_quaternions_of_random_signs_agree(n):
    rng = np.random.default_rng(1)
    x = rng.normal([3.0, *[0.0] * (n - 1)], 0.3, (CHAINS, DRAWS, n))
    x /= np.linalg.norm(x, axis=-1, keepdims=True)
    found = without_seam(ProjectiveSphere(), x * rng.choice([-1, 1], (CHAINS, DRAWS, 1)))
    side = np.sign(found[0, 0, 0])
    assert np.array_equal(found, side * x)


def test_draws_that_are_not_finite_move_no_other():
    x = angles(np.pi)
    x[1, 5] = np.nan
    found = without_seam(Circle(), x)
    assert np.isnan(found).sum() == 2
    assert np.nanstd(found) == pytest.approx(0.3, rel=0.1)
    assert np.isnan(without_seam(Circle(), np.full((2, 3), np.nan))).all()


def test_scaled_frames_of_all_chains_have_one_center():
    """Chains that begin at different frames, but draw from the same ones."""
    manifold = ScaledStiefel(np.array([0.5, 1.0]), np.array([[0.0, 2.0], [2.0, 0.0]]))
    turns = np.random.default_rng(1).normal(0.0, 0.3, (2, 200))
    turns[:, 0] = -0.5, 0.5
    frames = np.zeros((2, 200, 4, 2))
    frames[..., 0, 0] = frames[..., 1, 1] = np.cos(turns)
    frames[..., 1, 0], frames[..., 0, 1] = np.sin(turns), -np.sin(turns)
    found = without_seam(manifold, manifold.embed(frames))
    # An angular velocity of one turns the first column by two away from the second.
    angle = -2.0 * found[..., -1, 0]
    assert np.abs(angle - angle.mean() - (turns - turns.mean())).max() < 0.02


def test_chains_of_several_variables():
    product = Product([Euclidean(), Circle()], shapes=[(3,), (2,)])
    x, flat = angles(np.pi), np.zeros((CHAINS, DRAWS, 3))
    windows = [[[flat[i, j], x[i, j]] for j in range(DRAWS - i)] for i in range(CHAINS)]
    found = Representatives(product).of_chains(windows)
    assert [len(window) for window in found] == [DRAWS - i for i in range(CHAINS)]
    assert found[1][2][0] is windows[1][2][0]
    assert windows[0][0][1] is not found[0][0][1]
    assert np.std([draw[1] for window in found for draw in window]) == pytest.approx(0.3, rel=0.05)


def test_nothing_is_done_where_nothing_jumps():
    product = Product([Euclidean(), pmg.Sphere()], shapes=[(3,), (2,)])
    windows = [[[np.zeros(3), np.array([1.0, 0.0])]]]
    assert Representatives(product).of_chains(windows) is windows
    x = np.zeros((1, 2, 3))
    assert without_seam(None, x) is x
