#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Operations that PyTensor cannot write for JAX are named before anything is sampled."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

from pytensor.graph.op import Op
from pytensor.link.jax.dispatch import jax_funcify
from pytensor.scalar.basic import UnaryScalarOp, same_out
from pytensor.tensor.elemwise import Elemwise

import pymc_geodesic as pmg

from pymc_geodesic.kernel.jax.function import JAXFunction

MESSAGE = "expected operations that JAX can compile, got `{}`. Write it with other operations"


class Cube(Op):
    """An operation of a user."""

    itypes, otypes = (pt.dvector,), (pt.dvector,)

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0] ** 3

    def pullback(self, inputs, outputs, cotangents):
        return [3 * inputs[0] ** 2 * cotangents[0]]


class KnownCube(Cube):
    """The same, with what it is in JAX."""


@jax_funcify.register(KnownCube)
def known_cube(op, **kwargs):
    return lambda x: x**3


class OfEntries(UnaryScalarOp):
    """An operation of entries, which PyTensor finds within another when it writes that."""

    def impl(self, x):
        return x + 1


def model_of(operation):
    with pm.Model() as model:
        slope = pm.Normal("slope", shape=2)
        batch = pm.Minibatch(np.arange(40.0), batch_size=10)
        pm.Normal("y", operation(slope).sum(), 1.0, observed=batch, total_size=40)
    return model


@pytest.mark.parametrize("make", [pmg.SGNHT, pmg.GMC, lambda: pmg.sample(5, progressbar=False)])
def test_a_step_names_an_operation_that_is_not_known(make):
    with model_of(Cube()), pytest.raises(NotImplementedError, match=MESSAGE.format("Cube")):
        make()


def test_an_operation_inside_another_is_named_when_it_is_written():
    x = pt.dvector("x")
    function = JAXFunction([x], [Elemwise(OfEntries(same_out, name="of_entries"))(x)])
    with pytest.raises(NotImplementedError, match=MESSAGE.format("of_entries")):
        function(np.ones(2))


def test_an_operation_that_is_registered_is_compiled():
    with model_of(KnownCube()):
        step = pmg.SGLD(step_size=1e-3, variance_reduction=None, n_steps=1)
    step.setup_chain(np.random.default_rng(1), 0, 1)
    point, _ = step.step({"slope": np.ones(2)})
    assert np.isfinite(point["slope"]).all()


def test_a_shape_of_which_an_entry_was_set_is_known_when_jax_traces():
    """As gradients have it of arrays that were broadcast, such as a row for each of many nodes."""
    x = pt.matrix("x", dtype="float64")
    shape = pt.set_subtensor(pt.as_tensor([x.shape[0], x.shape[1]])[1], 1)
    function = JAXFunction([x], [pt.alloc(1.0, shape[0], shape[1])])
    np.testing.assert_array_equal(function(np.ones((3, 2)))[0], np.ones((3, 1)))


def test_an_operation_that_needs_another_package_is_named():
    x = pt.dvector("x")
    with pytest.raises(NotImplementedError, match=MESSAGE.format("kve")):
        JAXFunction([x], [pt.kve(1.0, x)])(np.ones(2))
