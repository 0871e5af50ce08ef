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


@pytest.mark.parametrize("rows", [[[0, 2, 2, 1]], [[0, 2, 2, 1], [1, 1, 1, -1]], [[3, 3, -4, 0]]])
def test_entries_of_many_points_are_found_and_added_to(rows):
    """Where some are counted from the end, too."""
    x, y, i = pt.dvector("x"), pt.dvector("y"), pt.lvector("i")
    graph = [x[i] * y, pt.inc_subtensor(x[i], y), pt.set_subtensor(x[i], 2.0)]
    inputs, outputs = for_many([x, y, i], graph, varying=[x, y, i])
    n = len(rows)
    require_same(inputs, outputs, RNG.normal(size=(n, 4)), RNG.normal(size=(n, 4)), np.array(rows))


def test_entries_that_do_not_exist_are_an_error():
    x, y, i = pt.dvector("x"), pt.dvector("y"), pt.lvector("i")
    for graph in ([x[i] + 0], [pt.inc_subtensor(x[i], y)]):
        function = interpreted(*for_many([x, y, i], graph, varying=[x, y, i]))
        for place in (4, -5):
            with pytest.raises(IndexError):
                function(np.ones((2, 4)), np.ones((2, 1)), np.array([[0], [place]]))


def test_nothing_is_looked_up_or_added():
    x, y, i = pt.dvector("x"), pt.dvector("y"), pt.lvector("i")
    graph = [x[i] + 0, pt.inc_subtensor(x[i], y)]
    inputs, outputs = for_many([x, y, i], graph, varying=[x, y, i])
    none = np.zeros((2, 0))
    require_same(inputs, outputs, RNG.normal(size=(2, 4)), none, none.astype("int64"))


def test_numbers_of_one_type_are_added_to_another():
    x, y, i = pt.dvector("x"), pt.fvector("y"), pt.bvector("i")
    graph = [pt.inc_subtensor(x[i], y), x[i] + y]
    inputs, outputs = for_many([x, y, i], graph, varying=[x, y, i])
    place = np.array([[1, 1], [0, 2]], "int8")
    require_same(inputs, outputs, RNG.normal(size=(2, 4)), np.ones((2, 2), "float32"), place)


def test_quotients_of_integers_are_fractions():
    inputs = [pt.lvector("x"), pt.bvector("y"), pt.bvector("z")]
    x, y, z = inputs
    arrays = np.array([1, 2]), np.array([3, 0], "int8"), np.array([2, 4], "int8")
    require_same(inputs, [x / z, y / z, x / y], *arrays)
