#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A product moves every factor by its own law and counts intrinsic dimensions."""

import numpy as np
import pytensor
import pytensor.tensor as pt

from half_line import HalfLine
from pytensor.compile.mode import Mode
from stiefel import Stiefel

import pymc_geodesic as pmg

from pymc_geodesic.algorithms.thermostat import Thermostat
from pymc_geodesic.manifolds import Product

SHAPES = [(), (2, 3), (5, 3), (4,)]
PRODUCT = Product([pmg.Euclidean(), pmg.Euclidean(), pmg.Sphere(), pmg.Simplex()], shapes=SHAPES)


def evaluate(outputs):
    return pytensor.function([], outputs, mode=Mode(linker="py", optimizer=None))()


def random_state():
    rng = np.random.default_rng(1)
    x = PRODUCT.project(tuple(pt.constant(rng.normal(size=shape)) for shape in SHAPES))
    v = PRODUCT.to_tangent(x, tuple(pt.constant(rng.normal(size=shape)) for shape in SHAPES))
    return x, v


def test_dimensions_are_intrinsic():
    assert PRODUCT.point_dims == (1, 1, 2, 3)
    assert PRODUCT.dims == (1, 6, 10, 3)
    assert PRODUCT.dim == 20
    assert PRODUCT.batch_shapes == ((), (2, 3), (5,), ())


def test_points_have_the_axes_of_their_manifold():
    shapes = [(), (2,), (5, 4, 2), (4,)]
    product = Product([HalfLine(), HalfLine(), Stiefel(), pmg.Sphere()], shapes=shapes)
    assert product.batch_shapes == ((), (2,), (5,), ())
    assert product.point_dims == (1, 1, 5, 3)
    assert product.dims == (1, 2, 25, 3)
    rng = np.random.default_rng(1)
    x = product.random_point(tuple(pt.constant(rng.normal(size=shape)) for shape in shapes))
    v = product.to_tangent(x, tuple(pt.constant(rng.normal(size=shape)) for shape in shapes))
    squares = evaluate(list(product.squared_norm(v)))
    assert tuple(square.shape for square in squares) == product.batch_shapes
    thermostat = Thermostat(product, grouping="per_point")
    assert thermostat.shapes == product.batch_shapes
    frictions = thermostat.friction(tuple(map(pt.constant, squares)))
    for friction, square, velocity in zip(frictions, squares, v, strict=True):
        damped, velocity = evaluate([friction * velocity, velocity])
        assert damped.shape == velocity.shape
        for index in np.ndindex(square.shape):
            np.testing.assert_allclose(damped[index], square[index] * velocity[index])


def test_factors_move_by_their_own_geodesics():
    x, v = random_state()
    t = pt.constant(0.4)
    y, w = PRODUCT.geodesic(x, v, t)
    for factor, *arguments, position, velocity in zip(PRODUCT.factors, x, v, y, w, strict=True):
        expected = evaluate(list(factor.geodesic(*arguments, t)))
        np.testing.assert_allclose(evaluate(position), expected[0], atol=1e-14)
        np.testing.assert_allclose(evaluate(velocity), expected[1], atol=1e-14)


def test_squared_norms_have_the_batch_shape_and_survive_the_move():
    x, v = random_state()
    before = evaluate(list(PRODUCT.squared_norm(v)))
    after = evaluate(list(PRODUCT.squared_norm(PRODUCT.geodesic(x, v, pt.constant(0.4))[1])))
    assert tuple(square.shape for square in before) == PRODUCT.batch_shapes
    for a, b in zip(before, after, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)


def test_fold_acts_on_the_simplex_alone():
    x, v = random_state()
    folded, _ = PRODUCT.fold(x, v)
    old, new = evaluate(list(x)), evaluate(list(folded))
    for a, b in zip(old[:3], new[:3], strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(np.abs(old[3]), new[3])


def test_repr_lists_the_factors_with_their_shapes():
    assert "Sphere()(5, 3) x Simplex()(4,)" in repr(PRODUCT)
