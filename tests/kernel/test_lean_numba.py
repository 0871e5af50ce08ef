#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What replaces slow-to-compile operations gives the same numbers, and is kept on disk."""

from __future__ import annotations

import numpy as np
import pytensor.tensor as pt
import pytest

from pytensor.configdefaults import config
from pytensor.graph.traversal import ancestors
from two_processes import outputs_of_two

from pymc_geodesic.kernel.backend import Backend
from pymc_geodesic.kernel.numba.fixed_shapes import FixedShape
from pymc_geodesic.kernel.numba.matrix_products import MatrixProduct
from pymc_geodesic.kernel.numba.matrix_reductions import MatrixReduction

LEFT, RIGHT = (3, 4), (4, 5)


def compiled(inputs, output):
    """Compile for Numba, and return the function and the operations that it uses."""
    function = Backend.resolve("numba", None).compile(inputs, [output])
    [result] = function.maker.fgraph.outputs
    nodes = [variable.owner for variable in ancestors([result]) if variable.owner is not None]
    return function, [node.op for node in nodes]


def matrix(rng, shape, dtype, layout):
    """Make numbers in memory by rows, by columns, or with gaps."""
    values = rng.normal(size=shape).astype(dtype)
    if layout == "gaps":
        wide = np.zeros((*shape[:-1], 2 * shape[-1]), dtype=dtype)
        wide[..., ::2] = values
        return wide[..., ::2]
    return np.asarray(values, order="C" if layout == "rows" else "F")


@pytest.fixture
def rng():
    """Return a generator with a fixed seed."""
    return np.random.default_rng(20261121)


def flipped(things, transposed):
    """Transpose those of two matrices, or shapes, that are asked for."""
    pairs = zip(things, transposed, strict=True)
    return [(x[::-1] if isinstance(x, tuple) else x.mT) if flip else x for x, flip in pairs]


@pytest.mark.parametrize("transposed", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("sizes", [(3, 4, 5), (3, 4, 1), (1, 4, 5), (0, 4, 5)])
def test_products_of_matrices(rng, transposed, sizes):
    rows, inner, columns = sizes
    shapes = flipped([(rows, inner), (inner, columns)], transposed)
    symbols = [pt.tensor(dtype="float64", shape=shape) for shape in shapes]
    left, right = flipped(symbols, transposed)
    function, operations = compiled(symbols, left @ right)
    for layout in ("rows", "columns", "gaps"):
        values = [matrix(rng, shape, "float64", layout) for shape in shapes]
        expected = np.matmul(*flipped(values, transposed))
        [found] = function(*values)
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    if 1 not in sizes:
        assert any(isinstance(op, MatrixProduct) for op in operations)


def test_products_of_short_floats_stay_short(rng):
    x, y = pt.fmatrices("xy")
    function, operations = compiled([x, y], x @ y)
    values = [rng.normal(size=shape).astype("float32") for shape in (LEFT, RIGHT)]
    [found] = function(*values)
    assert found.dtype == "float32"
    np.testing.assert_allclose(found, np.matmul(*values), rtol=1e-5)
    assert any(isinstance(op, MatrixProduct) for op in operations)


@pytest.mark.parametrize("transposed", [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("n_stacked", [0, 1, 6])
def test_products_of_stacks(rng, transposed, n_stacked):
    shapes = flipped([LEFT, RIGHT], transposed)
    symbols = [pt.tensor(dtype="float64", shape=(None, *shape)) for shape in shapes]
    values = [rng.normal(size=(n_stacked, *shape)) for shape in shapes]
    left, right = flipped(symbols, transposed)
    function, operations = compiled(symbols, left @ right)
    expected = np.matmul(*flipped(values, transposed))
    np.testing.assert_allclose(function(*values)[0], expected, rtol=1e-13)
    assert any(isinstance(op, MatrixProduct) and op.batched for op in operations)


def test_products_of_integers_are_left_alone():
    x = pt.matrix(dtype="int64")
    function, operations = compiled([x], x @ x)
    assert not any(isinstance(op, MatrixProduct) for op in operations)
    np.testing.assert_array_equal(function(np.full((2, 2), 3))[0], np.full((2, 2), 18))


def test_operands_that_do_not_fit_are_an_error(rng):
    x, y = pt.matrices("xy")
    function, _ = compiled([x, y], x @ y)
    with pytest.raises(ValueError, match="incompatible"):
        function(rng.normal(size=(3, 4)), rng.normal(size=(3, 4)))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("layout", ["rows", "columns", "gaps"])
@pytest.mark.parametrize("shape", [(3, 4), (0, 4), (3, 0)])
def test_sums_of_matrices(rng, axis, layout, shape):
    x = pt.matrix("x")
    function, operations = compiled([x], x.sum(axis=axis))
    values = matrix(rng, shape, "float64", layout)
    np.testing.assert_allclose(function(values)[0], values.sum(axis=axis), rtol=1e-13)
    assert any(isinstance(op, MatrixReduction) for op in operations)


@pytest.mark.parametrize("axis", [0, 1])
def test_sums_of_short_floats_are_accumulated_in_long_ones(rng, axis):
    x = pt.fmatrix("x")
    function, operations = compiled([x], x.sum(axis=axis))
    values = rng.gamma(1.0, size=(1_000_000, 2)).astype("float32")
    # Half of the terms are lost next to the sum of the others.
    values[:, 1] = np.where(np.arange(len(values)) < 500_000, 100.0, 1e-3)
    expected = values.sum(axis=0, dtype="float64")
    [found] = function(values if axis == 0 else np.ascontiguousarray(values.T))
    assert found.dtype == "float32"
    np.testing.assert_allclose(found, expected, rtol=np.finfo("float32").eps)
    [op] = [op for op in operations if isinstance(op, MatrixReduction)]
    assert op.acc_dtype == "float64"
    np.testing.assert_allclose(
        op(pt.as_tensor(values if axis == 0 else values.T)).eval(mode="FAST_COMPILE"),
        expected,
        rtol=np.finfo("float32").eps,
    )


@pytest.mark.parametrize("axis", [0, 1])
def test_maxima_of_short_floats_are_those_floats(rng, axis):
    x = pt.fmatrix("x")
    function, _ = compiled([x], x.max(axis=axis))
    values = rng.normal(size=LEFT).astype("float32")
    [found] = function(values)
    assert found.dtype == "float32"
    np.testing.assert_array_equal(found, values.max(axis=axis))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("layout", ["rows", "columns", "gaps"])
def test_maxima_of_matrices(rng, axis, layout):
    x = pt.matrix("x")
    function, operations = compiled([x], x.max(axis=axis))
    values = matrix(rng, LEFT, "float64", layout)
    np.testing.assert_array_equal(function(values)[0], values.max(axis=axis))
    values[1, 2], values[2, 0] = np.nan, -np.inf
    np.testing.assert_array_equal(function(values)[0], values.max(axis=axis))
    np.testing.assert_array_equal(function(np.full(LEFT, -np.inf))[0], -np.inf)
    assert any(isinstance(op, MatrixReduction) for op in operations)


def test_shapes_are_still_checked(rng):
    x = pt.matrix("x")
    function, operations = compiled([x], pt.specify_shape(x, (3, None)) + 1.0)
    assert any(isinstance(op, FixedShape) for op in operations)
    values = rng.normal(size=(3, 7))
    np.testing.assert_array_equal(function(values)[0], values + 1)
    with pytest.raises(AssertionError, match="another shape"):
        function(values[:2])


@pytest.mark.parametrize("op", [MatrixProduct(transpose_left=True), MatrixProduct(batched=True)])
def test_products_without_a_compiler(rng, op):
    values = rng.normal(size=(2, 4, 4)) if op.batched else rng.normal(size=(4, 4))
    left = values if op.batched else values.T
    found = op(pt.as_tensor(values), pt.as_tensor(values)).eval(mode="FAST_COMPILE")
    np.testing.assert_allclose(found, left @ values)


SAMPLE = """
import numpy as np, pymc as pm, pymc_geodesic as pmg
from numba.core import event

class Compilations(event.Listener):
    names = []
    def on_start(self, event):
        self.names.append(event.data["dispatcher"].py_func.__name__)
    def on_end(self, event):
        pass

event.register("numba:compile", Compilations())
data = np.random.default_rng(1).normal(size=(200, 3))
with pm.Model():
    mu = pm.Normal("mu", 0, 10, shape=3)
    batch = pm.Minibatch(data, batch_size=20)
    pm.Normal("x", mu, 1, observed=batch, total_size=len(data))
    step = pmg.SGNHT(step_size=1e-3, diffusion=10.0, backend="numba")
    pm.sample(3, tune=3, step=step, chains=1, progressbar=False, compute_convergence_checks=False)
# The pointers to BLAS are looked up anew in each process.
print([name for name in Compilations.names if not name.endswith("_pointer")])
"""


def test_a_second_process_compiles_nothing(tmp_path):
    first, second = (output.splitlines()[-1] for output in outputs_of_two(SAMPLE, tmp_path))
    assert "numba_funcified_fgraph" in first
    assert second == "[]"


def test_kernels_work_without_a_cache(rng):
    x = pt.matrix("x")
    values = rng.normal(size=LEFT)
    with config.change_flags(numba__cache=False):
        function, _ = compiled([x], x @ x.T)
        np.testing.assert_allclose(function(values)[0], values @ values.T)
