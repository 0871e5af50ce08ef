#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Reflections at walls, against particles that are followed from wall to wall."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

from pytensor.compile.mode import Mode

import pymc_geodesic as pmg

INTERPRETED = Mode(linker="py", optimizer=None)
TIMES = [0.3, 1.0, 4.0, 47.0]


def moved(manifold, x, v, t):
    arguments = (pt.constant(np.asarray(part, dtype=float)) for part in (x, v, t))
    return pytensor.function([], manifold.geodesic(*arguments), mode=INTERPRETED)()


def followed_in_a_ball(x, v, t):
    while True:
        a, b, c = v @ v, x @ v, x @ x - 1
        until = (-b + np.sqrt(b * b - a * c)) / a
        if until > t:
            return x + t * v, v
        x, t = x + until * v, t - until
        x = x / np.linalg.norm(x)
        v = v - 2 * (v @ x) * x
        # Away from the wall, which rounding may have missed.
        x = x * (1 - 1e-15)


@pytest.mark.parametrize("t", TIMES)
@pytest.mark.parametrize("n", [1, 2, 5])
def test_in_a_ball(n, t):
    rng = np.random.default_rng(n)
    for _ in range(5):
        x, v = rng.normal(size=(2, n))
        x *= rng.uniform() / np.linalg.norm(x)
        for found, expected in zip(
            moved(pmg.Ball(), x, v, t), followed_in_a_ball(x, v, t), strict=True
        ):
            np.testing.assert_allclose(found, expected, atol=1e-11)


def test_along_the_sphere_of_a_ball():
    """A particle that grazes the wall creeps along it."""
    y, w = moved(pmg.Ball(), [1 - 1e-16, 0.0], [0.0, 1.0], 1.0)
    np.testing.assert_allclose(y, [np.cos(1), np.sin(1)], atol=1e-6)
    np.testing.assert_allclose(w, [-np.sin(1), np.cos(1)], atol=1e-6)


def test_through_the_center_of_a_ball():
    y, w = moved(pmg.Ball(), [0.5, 0.0], [1.0, 0.0], 2.0)
    np.testing.assert_allclose([y, w], [[-0.5, 0.0], [-1.0, 0.0]], atol=1e-15)


@pytest.mark.parametrize("t", TIMES)
@pytest.mark.parametrize(
    ("lower", "upper"), [(-0.5, 2.0), (-0.5, np.inf), (-np.inf, 2.0), (-np.inf, np.inf)]
)
def test_between_two_walls(lower, upper, t):
    x, v = np.array([0.1, 1.9, -0.2]), np.array([1.3, 0.4, -2.1])
    expected = np.empty((2, 3))
    for i in range(3):
        y, w = x[i] + t * v[i], v[i]
        while not lower <= y <= upper:
            y, w = 2 * (upper if y > upper else lower) - y, -w
        expected[:, i] = y, w
    found = moved(pmg.Box(lower, upper), x, v, t)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_walls_of_their_own_for_each_entry():
    box = pmg.Box([0.0, 10.0], [1.0, 20.0])
    y, _ = moved(box, [[0.5, 12.0]], [[1.0, -4.0]], 1.0)
    np.testing.assert_allclose(y, [[0.5, 12.0]])


def test_walls_that_make_no_box():
    with pytest.raises(ValueError, match=r"walls below `upper`, got Box\(2.0, 1.0\)"):
        pmg.Box(2, 1)
    with pytest.raises(ValueError, match="`lower` expected walls that are all finite"):
        pmg.Box([0.0, -np.inf], 1)
