#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A diagonal mass with some directions of its own, against the matrix that it is."""

import numpy as np
import pytensor.tensor as pt
import pytest

from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.manifolds import Euclidean, Sphere
from pymc_geodesic.mass.arrays import joined, mass_form, split
from pymc_geodesic.mass.low_rank import LowRankMass

SHAPES = [(), (4,), (2, 3)]
SIZE = 11


@pytest.fixture
def rng():
    return np.random.default_rng(5)


@pytest.fixture
def parts(rng):
    """Scales, directions and curvatures of a mass with two directions and a column of zeros."""
    scales = [np.exp(rng.standard_normal(shape)) for shape in SHAPES]
    directions = np.zeros((SIZE, 3))
    directions[:, :2] = np.linalg.qr(rng.standard_normal((SIZE, 2)))[0]
    return scales, directions, np.array([0.01, 7.0, 1.0])


@pytest.fixture
def mass(parts):
    scales, directions, curvatures = parts
    return LowRankMass(
        scales, directions=directions, curvatures=curvatures, shapes=SHAPES, dtype="float64"
    )


def vector(rng):
    return split(rng.standard_normal(SIZE), SHAPES)


def covariance(mass):
    """The inverse of the mass, from how its velocities move positions."""
    columns = [joined(mass.rate(split(column, SHAPES))) for column in np.eye(SIZE)]
    return np.array(columns).T @ np.array(columns)


def test_it_is_the_mass_of_its_definition(mass, parts):
    scales, u, curvatures = parts
    s = joined(scales)
    inner = np.eye(SIZE) + u @ np.diag(curvatures - 1) @ u.T
    expected = np.linalg.inv(inner / np.outer(s, s))
    np.testing.assert_allclose(covariance(mass), expected, rtol=1e-10, atol=1e-12)


def test_forces_are_the_transpose_of_rates_and_whitening_their_inverse(mass, rng):
    mass = mass.refined(np.exp(rng.standard_normal(SIZE)))
    velocity, gradient = vector(rng), vector(rng)
    power = joined(mass.rate(velocity)) @ joined(gradient)
    np.testing.assert_allclose(power, joined(velocity) @ joined(mass.force(gradient)), rtol=1e-12)
    np.testing.assert_allclose(mass.whiten(mass.rate(velocity)), joined(velocity), rtol=1e-10)


def test_corrections_whiten_what_draws_show_and_leave_soft_directions_balanced(mass, rng):
    variances = np.exp(rng.standard_normal(SIZE))
    refined = mass.refined(variances)
    rate = np.array([joined(mass.rate(split(column, SHAPES))) for column in np.eye(SIZE)]).T
    expected = rate @ np.diag(variances) @ rate.T
    np.testing.assert_allclose(covariance(refined), expected, rtol=1e-10, atol=1e-12)


def test_the_symbolic_frame_is_the_same_map(mass, rng):
    mass = mass.refined(np.exp(rng.standard_normal(SIZE)))
    inputs = [pt.tensor(shape=shape, dtype="float64") for shape in SHAPES]
    frame = mass.frame([pt.as_tensor(array) for array in mass.arrays])
    maps = Interpreted(inputs, [*frame.to_frame(tuple(inputs)), *frame.from_frame(tuple(inputs))])
    x = vector(rng)
    for found, expected in zip(maps(*x), [*mass.force(x), *mass.rate(x)], strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_curved_variables_keep_a_number(rng):
    directions = np.zeros((7, 2))
    directions[:4] = np.linalg.qr(rng.standard_normal((4, 2)))[0]
    mass = LowRankMass(
        [np.ones(4), np.asarray(2.0)],
        directions=directions,
        curvatures=np.array([0.1, 3.0]),
        shapes=[(4,), (3,)],
        dtype="float64",
    )
    refined = mass.refined(np.array([1, 1, 1, 1, 2.0, 3.0, 4.0]))
    v = [rng.standard_normal(4), rng.standard_normal(3)]
    np.testing.assert_allclose(refined.rate(v)[1], 2 * np.sqrt(3) * v[1])
    scale = refined.frame([pt.as_tensor(array) for array in refined.arrays]).diagonal(1).scale
    np.testing.assert_allclose(scale.eval(), 2 * np.sqrt(3))


def test_the_form_follows_from_the_entries_that_may_have_any_mass():
    flat, sphere = Euclidean(), Sphere()
    assert mass_form([flat], [(100,)]) == "dense"
    assert mass_form([flat], [(101,)]) == "low_rank"
    assert mass_form([flat, sphere], [(1,), (200,)]) == "diagonal"
    assert mass_form([flat, sphere], [(2,), (200,)]) == "low_rank"
    assert mass_form([flat, sphere], [(101,), (3,)]) == "low_rank"


def test_directions_are_damped_and_nothing_else(mass, parts, rng):
    _, directions, _ = parts
    inputs = [pt.tensor(shape=shape, dtype="float64") for shape in SHAPES]
    frame = mass.frame([pt.as_tensor(array) for array in mass.arrays])
    exponents = np.array([0.5, -0.2, 3.0])
    damped = Interpreted(inputs, frame.damp_directions(tuple(inputs), pt.as_tensor(exponents)))
    velocity = vector(rng)
    found, before = joined(damped(*velocity)), joined(velocity)
    along = directions.T @ found
    np.testing.assert_allclose(along, np.exp(-exponents) * (directions.T @ before), rtol=1e-12)
    across = np.eye(SIZE) - directions @ directions.T
    np.testing.assert_allclose(across @ found, across @ before, rtol=1e-12)


@pytest.mark.parametrize("n_columns", [3, 9])
def test_turned_it_whitens_what_was_left(parts, rng, n_columns):
    """With columns enough it is exact; with fewer it keeps the softest and stiffest axes."""
    scales, u, curvatures = parts
    columns, values = np.zeros((SIZE, n_columns)), np.ones(n_columns)
    columns[:, :3], values[:3] = u, curvatures
    mass = LowRankMass(
        scales, directions=columns, curvatures=values, shapes=SHAPES, dtype="float64"
    ).refined(np.exp(0.2 * rng.standard_normal(SIZE)))
    v = np.linalg.qr(rng.standard_normal((SIZE, 2)))[0]
    left = np.array([[30.0, 2.0], [2.0, 0.4]])
    turned = mass.turned(v, left)
    to_frame = np.array([mass.whiten(split(column, SHAPES)) for column in np.eye(SIZE)]).T
    found = to_frame @ covariance(turned) @ to_frame.T
    expected = np.eye(SIZE) + v @ (left - np.eye(2)) @ v.T
    if n_columns == 9:
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    else:
        # Before, the variance along the widest axis was 30 times too small.
        assert np.linalg.eigvalsh(np.linalg.solve(found, expected)).max() < 3
    assert np.allclose(turned.directions.T @ turned.directions, np.diag(turned.directions.any(0)))


def test_without_directions_it_is_not_turned(mass):
    assert mass.turned(np.zeros((SIZE, 0)), np.zeros((0, 0))) is mass
