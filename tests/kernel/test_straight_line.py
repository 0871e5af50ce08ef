#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Graphs that are written as one function of Python give the numbers of PyTensor."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

from pytensor.compile.mode import Mode
from pytensor.tensor.basic import Alloc
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.special import Softmax, softmax

from pymc_geodesic.kernel.interpreted import for_many, interpreted
from pymc_geodesic.kernel.ufuncs import SumOfProducts

RNG = np.random.default_rng(1)


def operations(function):
    return {type(node.op) for node in function.maker.fgraph.apply_nodes}


def by_pytensor(inputs, outputs):
    with pytensor.config.change_flags(cxx=""):
        return pytensor.function(inputs, outputs, mode=Mode("py", "fast_compile"))


def require_same(inputs, outputs, *arrays):
    function = interpreted(inputs, outputs)
    pairs = zip(function(*arrays), by_pytensor(inputs, outputs)(*arrays), strict=True)
    for found, expected in pairs:
        assert isinstance(found, np.ndarray)
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    return function


def test_axes_are_moved_added_and_dropped():
    x = pt.tensor("x", shape=(None, 1, None))
    outputs = [x.dimshuffle(2, "x", 0), x.dimshuffle(0, 2, "x"), x.mT, x.squeeze(1), x[0, 0, 0]]
    outputs += [x.sum().dimshuffle("x", "x"), x[0, 0, 0] + 1, x[:, 0, 1], x[::-1, 0, 1:]]
    require_same([x], [pt.exp(y) for y in outputs] + outputs, RNG.normal(size=(3, 1, 2)))


def test_an_axis_of_several_entries_is_not_dropped():
    x = pt.tensor("x", shape=(None, 1))
    function = interpreted([x], [pt.exp(x).squeeze(1) + 0])
    with pytest.raises((TypeError, ValueError)):
        function(np.zeros((3, 2)))


def test_places_that_are_computed_are_looked_up():
    x, i = pt.dvector("x"), pt.lscalar("i")
    require_same([x, i], [x[i], x[i:], x[:i].sum()], np.arange(5.0), np.int64(2))


def test_results_belong_to_the_caller():
    x = pt.dvector("x")
    function = interpreted([x], [x, pt.alloc(x.sum(), 3, 2), pt.alloc(x, 2, 2).T])
    given = np.array([1.0, 2.0])
    for found in function(given):
        found += 1.0
    np.testing.assert_array_equal(given, [1.0, 2.0])


def test_repeated_values_are_not_written_into():
    x, rows = pt.dvector("x"), pt.lvector("rows")
    zeros = pt.alloc(x.sum() * 0, 4)
    outputs = [pt.inc_subtensor(zeros[rows], x), zeros + 1, pt.set_subtensor(zeros[1:], 2.0)]
    require_same([x, rows], outputs, np.array([1.0, 2.0]), np.array([3, 3]))


@pytest.mark.parametrize("axis", [-1, -2])
def test_products_with_a_vector_are_added_by_a_product_of_matrices(axis):
    shape = [None, None, None]
    shape[-3 - axis] = 1
    vector, matrix = pt.tensor("v", shape=shape), pt.dtensor3("m")
    arrays = RNG.normal(size=[2, 40, 30]), RNG.normal(size=[2, 40, 30])
    arrays = arrays[0].take([0], -3 - axis), arrays[1]
    function = require_same([vector, matrix], [(vector * matrix).sum(axis)], *arrays)
    assert SumOfProducts in operations(function)
    function = require_same([vector, matrix], [(matrix * vector).sum(axis)], *arrays)
    assert SumOfProducts in operations(function)
    with pytest.raises(ValueError, match="equal lengths along axis 0, got 1 and 2"):
        function(arrays[0][:1], arrays[1])


def test_other_sums_of_products_stay():
    x, y = pt.dmatrix("x"), pt.dmatrix("y")
    product = pt.tensor("v", shape=(1, None)) * x
    few = pt.tensor("w", shape=(1, 3)) * pt.tensor("z", shape=(None, 3))
    inputs = [x, y, product.owner.inputs[0], *few.owner.inputs]
    outputs = [(x * y).sum(1), product.sum(1) + product[:, 0], few.sum(1), product.sum()]
    shapes = [(5, 4), (5, 4), (1, 4), (1, 3), (5, 3)]
    function = require_same(inputs, outputs, *(RNG.normal(size=shape) for shape in shapes))
    assert SumOfProducts not in operations(function)


def test_values_are_repeated_at_many_points_at_once():
    x, y = pt.dvector("x"), pt.dmatrix("y")
    graph = [pt.alloc(x, y.shape[0], x.shape[0]), pt.alloc(x.sum(), y.shape[1]), y.sum(1)]
    inputs, outputs = for_many([x, y], graph, varying=[x, y])
    arrays = RNG.normal(size=(3, 2)), RNG.normal(size=(3, 5, 4))
    function = require_same(inputs, outputs, *arrays)
    found = [node.op for node in function.maker.fgraph.apply_nodes]
    assert any(isinstance(op, Alloc) for op in found)
    cores = [type(op.core_op) for op in found if isinstance(op, Blockwise)]
    assert Alloc not in cores


def test_operations_of_others_are_written_out():
    x = pt.tensor("x", shape=(None, 3))
    gradient = pt.grad(pt.logsumexp(x, axis=1).sum(), x)
    for output in (gradient, softmax(x, axis=1)):
        function = require_same([x], [output], RNG.normal(size=(4, 3)))
        assert Softmax not in operations(function)


def test_errors_are_those_of_the_operation():
    x = pt.dvector("x")
    with pytest.raises(IndexError):
        interpreted([x], [pt.exp(x)[3]])(np.zeros(2))
