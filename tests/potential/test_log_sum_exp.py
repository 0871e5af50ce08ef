#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The gradient of the logarithm of a sum of exponentials is the softmax."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

from pytensor.compile.mode import Mode
from pytensor.tensor.special import LogSumExp

from pymc_geodesic.potential.stacking import with_softmax_gradients

INTERPRETED = Mode(linker="py", optimizer="fast_compile")


@pytest.mark.parametrize("axis", [0, 1, (0, 1)])
def test_values_and_gradients_are_those_of_pytensor(axis):
    x = pt.matrix("x")
    weight = pt.exp(pt.sum(x, axis=axis) / 1e3)
    old = pt.sum(weight * pt.logsumexp(x, axis=axis))
    [new] = with_softmax_gradients([old])
    outputs = [old, new, pytensor.grad(old, x), pytensor.grad(new, x)]
    values = np.random.default_rng(1).normal(0.0, 10.0, (4, 3))
    values[2, 1] = -np.inf
    finite = np.where(np.isfinite(values), values, -1e3)
    for point in (finite, finite + 700.0, finite - 700.0):
        one, other, slope, found = pytensor.function([x], outputs, mode=INTERPRETED)(point)
        np.testing.assert_allclose(other, one, rtol=1e-13)
        np.testing.assert_allclose(found, slope, rtol=1e-10, atol=1e-10 * np.abs(slope).max())


def test_an_entry_without_probability_has_no_gradient():
    x = pt.vector("x")
    [new] = with_softmax_gradients([pt.logsumexp(x)])
    found = pytensor.function([x], pytensor.grad(new, x), mode=INTERPRETED)
    np.testing.assert_allclose(found(np.array([-np.inf, 1.0, 1.0])), [0.0, 0.5, 0.5])


def test_the_given_graph_does_not_change():
    x = pt.vector("x")
    old = pt.logsumexp(x)
    op = old.owner.op
    with_softmax_gradients([old])
    assert old.owner.op is op
    assert type(op) is LogSumExp
