#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Names of graphs: the same for what computes the same, in every process, and for nothing else."""

import os
import subprocess
import sys

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

from pytensor.graph.basic import Apply
from pytensor.graph.op import Op

from pymc_geodesic.distributions.bessel import RowwiseGraph
from pymc_geodesic.kernel.graph_names import is_known, name_of_graph

PROGRAM = """
import pytensor
import pytensor.tensor as pt
from pytensor.compile.builders import OpFromGraph
from pymc_geodesic.kernel.graph_names import name_of_graph
x = pt.vector("x")
square = OpFromGraph([x], [x**2 + 1.5])
states = pytensor.scan(
    lambda s: s + square(x)[0], outputs_info=[x[0]], n_steps=5, return_updates=False
)
print(name_of_graph([x], [states[-1] + pt.sum(x, axis=0), x[1:3]]))
"""


class Doubled(Op):
    """An operation of a user, which may change from one process to the next."""

    __props__ = ()

    def make_node(self, x):
        return Apply(self, [pt.as_tensor(x)], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = 2 * inputs[0]


def loop(x, factor, n_steps=3, name="loop"):
    states = pytensor.scan(
        lambda s: factor * s, outputs_info=[x], n_steps=n_steps, name=name, return_updates=False
    )
    return states[-1]


x, y = pt.vector("x"), pt.vector("y")
SAME = {
    "other names": lambda a: pt.exp(a) + 1,
    "a loop": lambda a: loop(a, 2.0),
    "a constant that is not a number": lambda a: a + np.nan,
}


@pytest.mark.parametrize("write", SAME.values(), ids=SAME)
def test_graphs_that_compute_the_same_have_one_name(write):
    name = name_of_graph([x], [write(x)])
    assert name is not None
    assert name_of_graph([y], [write(y)]) == name


def test_graphs_that_differ_have_other_names():
    graphs = [
        ([x, y], [x - y]),
        ([y, x], [x - y]),
        ([x, y], [x + y]),
        ([x, y], [x - y, x]),
        ([x, y], [x, x - y]),
        ([x], [x + 1.0]),
        ([x], [x + 2.0]),
        ([x], [x + np.float64(0.1)]),
        ([x], [x + np.float32(0.1)]),
        ([x], [x + np.nan]),
        ([x], [x + np.array([1.0, 2.0])]),
        ([x], [x + np.array([1.0, 3.0])]),
        ([x], [x[1:]]),
        ([x], [x[2:]]),
        ([x], [x[:2]]),
        ([x], [x.sum()]),
        ([x], [x.prod()]),
        ([x], [x.sum(keepdims=True)]),
        ([x], [x.astype("float32")]),
        ([x], [x.astype("int64")]),
        ([x], [loop(x, 2.0)]),
        ([x], [loop(x, 3.0)]),
        ([x], [loop(x, 2.0, n_steps=4)]),
        ([x], [loop(x, 2.0, name="other")]),
    ]
    for shape in ((None,), (3,), (4,)):
        z = pt.tensor("z", dtype="float64", shape=shape)
        graphs.append(([z], [pt.exp(z)]))
    single = pt.tensor("z", dtype="float32", shape=(3,))
    graphs.append(([single], [pt.exp(single)]))
    names = [name_of_graph(*graph) for graph in graphs]
    assert None not in names
    assert len(set(names)) == len(names)


def test_what_a_graph_does_with_other_axes_is_part_of_its_name():
    number = pt.scalar("number")
    names = {
        name_of_graph([x], [RowwiseGraph([number], [number + 1], core_ndim=n)(x[0])])
        for n in (0, 1)
    }
    assert None not in names
    assert len(names) == 2


def test_parameters_of_operations_are_stored():
    """Operations among them are looked up by identity, which one made anew might share."""
    kinds, found = [Op], []
    while kinds:
        kind = kinds.pop()
        kinds += kind.__subclasses__()
        if is_known(kind):
            found += [isinstance(getattr(kind, x, None), property) for x in props_of(kind)]
    assert len(found) > 100
    assert not any(found)


def props_of(kind):
    return getattr(kind, "__props__", None) or ()


def test_what_may_be_another_thing_elsewhere_has_no_name():
    assert name_of_graph([x], [Doubled()(x)]) is None
    assert name_of_graph([x], [loop(x, 2.0) + Doubled()(x)]) is None
    # Its value is not in the graph.
    assert name_of_graph([x], [x + pytensor.shared(1.0)]) is None
    assert name_of_graph([x], [x + y]) is None


def test_names_are_the_same_in_another_process():
    names = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=os.environ | {"PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    [name] = names
    assert len(name) == 64
