#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Constants that outlive a function do not gather lines of code."""

import numpy as np
import pytensor.tensor as pt
import pytest

from pytensor.compile.builders import OpFromGraph

from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.kernel.jax.function import JAXFunction


def interpreted(inputs, outputs):
    function = Interpreted(inputs, outputs)
    function(np.array(1.0))
    return function


def compiled(inputs, outputs):
    function = JAXFunction(inputs, outputs)
    function(np.array(1.0))
    return function


def useless_switch(x, constant):
    """Return a graph with a condition that makes no difference, like four in pm.LKJCorr."""
    return x + pt.switch(x > 0, constant, constant)


def within_operation(x, constant):
    inner = pt.scalar("inner")
    return OpFromGraph([inner], [useless_switch(inner, constant)], inline=True)(x)


@pytest.mark.parametrize(
    ("make", "write"),
    [(interpreted, useless_switch), (compiled, useless_switch), (interpreted, within_operation)],
)
def test_lines_of_constants_do_not_multiply(make, write):
    """Without forgetting them there are more than three times as many after each function."""
    constant, x = pt.constant(2.0), pt.scalar("x")
    graph, lengths = write(x, constant), []
    for _ in range(3):
        function = make([x], [graph])
        lengths.append(len(constant.tag.trace))
    assert function(np.array(1.0))[0] == pytest.approx(3.0)
    assert lengths[0] == lengths[2]
