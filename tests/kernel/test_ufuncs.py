#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Direct calls of NumPy's functions give the same numbers as PyTensor's operations."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

from pytensor.compile.mode import Mode

from pymc_geodesic.kernel.interpreted import interpreted
from pymc_geodesic.kernel.interpreted_once import interpreted_once
from pymc_geodesic.kernel.ufuncs import ByUfunc, ReduceFew


def operations(function):
    return {type(node.op) for node in function.maker.fgraph.apply_nodes}


def test_elementwise_operations_give_the_same_numbers():
    x, y, k = pt.dmatrix("x"), pt.dvector("y"), pt.lvector("k")
    written = [
        pt.exp(-(x**2)) * y + pt.switch(x > 0, x, y) / (1 + x**2),
        pt.gammaln(x**2 + 1) + x + y + 3.0,
        (pt.sqrt(k) + pt.log(x)).astype("float32"),
        pt.eq(k, 2) & (y > 0),
    ]
    rng = np.random.default_rng(1)
    arrays = rng.normal(size=(4, 3)), rng.normal(size=3), np.array([1, 2, 3])
    function = interpreted([x, y, k], written)
    assert ByUfunc in operations(function)
    with pytensor.config.change_flags(cxx=""):
        plain = pytensor.function([x, y, k], written, mode=Mode("py", "fast_compile"))
    for found, expected in zip(function(*arrays), plain(*arrays), strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_functions_that_are_infinite_at_one_do_not_warn():
    x = pt.dscalar("x")
    with np.errstate(all="raise"):
        assert interpreted([x], [pt.arctanh(x)])(0.5)[0] == np.arctanh(0.5)


def test_lengths_that_only_numpy_would_broadcast_are_refused():
    x, y = pt.dvector("x"), pt.dvector("y")
    function = interpreted([x, y], [pt.exp(x) + y])
    np.testing.assert_allclose(function(np.zeros(3), np.ones(3))[0], 2 * np.ones(3))
    with pytest.raises(ValueError, match="equal lengths along axis 0, got"):
        function(np.zeros(3), np.ones(1))


@pytest.mark.parametrize("n", [2, 3, 7])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize(("reduce", "ufunc"), [(pt.sum, np.add), (pt.max, np.maximum)])
def test_few_entries_are_reduced_exactly_as_numpy_does(n, axis, reduce, ufunc):
    for length in (4, 60):
        shape = [length, length, length]
        shape[axis] = n
        x = pt.tensor("x", dtype="float64", shape=[s if s == n else None for s in shape])
        function = interpreted([x], [reduce(x, axis=axis)])
        assert operations(function) == {ReduceFew}
        array = np.random.default_rng(1).normal(size=shape)
        np.testing.assert_array_equal(function(array)[0], ufunc.reduce(array, axis=axis))


@pytest.mark.parametrize("length", [2, None])
def test_reductions_of_infinities_do_not_warn(length):
    x = pt.tensor("x", dtype="float64", shape=(None, length))
    for n in (3, 3_000):
        [found] = interpreted_once([x], [x.sum(axis=1)])(np.full((n, 2), [np.inf, -np.inf]))
        assert np.all(np.isnan(found))
