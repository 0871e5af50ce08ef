#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Interpreted functions give the numbers of compiled ones, without warnings and loops."""

import pickle

import numpy as np
import pytensor.tensor as pt
import pytest

from pytensor.compile.builders import OpFromGraph
from pytensor.compile.mode import get_mode
from pytensor.scalar.basic import Add, Mul
from pytensor.tensor.elemwise import Elemwise
from scipy.special import hyp2f1

from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.kernel.jax.function import JAXFunction

MATRIX = np.random.default_rng(1).normal(size=(4, 3))


def logs_of_small_numbers(x):
    return [pt.log1mexp(-pt.abs(x)), pt.log(pt.sigmoid(100 * x)), pt.softplus(x)]


def within_operation(x):
    inner = pt.dmatrix("inner")
    return [OpFromGraph([inner], [pt.exp(inner).sum(axis=1)], inline=True)(x)]


def clipped(x):
    return [pt.clip(x, -0.5, 0.5), pt.gammaln(x**2 + 1), pt.switch(x > 0, x, 1 / x)]


@pytest.mark.parametrize("write", [logs_of_small_numbers, within_operation, clipped])
def test_the_numbers_are_those_of_compiled_functions(write):
    x = pt.dmatrix("x")
    outputs = write(x)
    function = Interpreted([x], outputs)
    found = function(MATRIX)
    nodes = function._function.maker.fgraph.apply_nodes
    assert all(
        node.op.nfunc_spec or isinstance(node.op.scalar_op, Add | Mul)
        for node in nodes
        if isinstance(node.op, Elemwise)
    )
    for array, output in zip(found, outputs, strict=True):
        expected = output.eval({x: MATRIX}, mode=get_mode("JAX"))
        np.testing.assert_allclose(array, expected, rtol=1e-12)


@pytest.mark.parametrize("operation", [pt.add, pt.mul])
def test_operations_may_have_many_operands(operation):
    """NumPy's functions take at most 32 arrays."""
    x = pt.vectors(100)
    values = [np.full(2, 1.0 + i / 1000) for i in range(100)]
    expected = sum(values) if operation is pt.add else np.prod(values, axis=0)
    np.testing.assert_allclose(Interpreted(x, [operation(*x)])(*values)[0], expected, rtol=1e-13)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "bool"])
def test_functions_of_integers_are_as_precise_as_their_results(dtype):
    x = pt.vector("x", dtype=dtype)
    outputs = [pt.gammaln(x + 1).astype("float64"), pt.log(x + 1), x / (x + 2)]
    given = np.arange(40).astype(dtype)
    for output, found in zip(outputs, JAXFunction([x], outputs)(given), strict=True):
        [expected] = Interpreted([x], [output])(given)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-6 if dtype == "int8" else 1e-14)


def test_derivatives_of_a_hypergeometric_function_have_many_operands():
    """Their loop has 33, as in the Pareto model of customers."""
    inputs = pt.dscalars("a", "b", "c", "z")
    outputs = pt.grad(pt.hyp2f1(*inputs), inputs)
    values = [np.array(x) for x in (3.3, 1.7, 4.3, 0.4)]
    found, expected = Interpreted(inputs, outputs)(*values), JAXFunction(inputs, outputs)(*values)
    for ours, jaxs, i in zip(found, expected, range(4), strict=True):
        ends = [hyp2f1(*(x + (i == j) * h for j, x in enumerate(values))) for h in (-1e-6, 1e-6)]
        np.testing.assert_allclose([ours, jaxs], (ends[1] - ends[0]) / 2e-6, rtol=1e-8)


def test_infinities_do_not_warn():
    x = pt.dmatrix("x")
    [found] = Interpreted([x], [x.sum(axis=1)])(np.full((3, 2), [np.inf, -np.inf]))
    assert np.all(np.isnan(found))


def test_inputs_that_are_returned_are_copied():
    x, y = pt.vector("x"), pt.scalar("y")
    array = np.arange(3.0)
    found = Interpreted([x, y], [y, x])(array, 2.0)
    np.testing.assert_array_equal(found[1], array)
    assert not np.shares_memory(found[1], array)
    assert found[0].shape == ()


def test_a_pickled_function_is_made_anew():
    x = pt.dmatrix("x")
    function = Interpreted([x], [pt.exp(x)])
    expected = function(MATRIX)
    copy = pickle.loads(pickle.dumps(function))
    assert copy._function is None
    np.testing.assert_array_equal(copy(MATRIX), expected)
