#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Graphs written for other inputs."""

import numpy as np
import pytensor.tensor as pt

from pytensor.graph.traversal import ancestors
from pytensor.tensor.shape import Shape, Shape_i

from pymc_geodesic.groups.effect_density import with_length_of
from pymc_geodesic.kernel.interpreted import Interpreted


def test_lengths_come_from_another_array():
    x, start, scale = pt.vector("x"), pt.vector("start"), pt.scalar("scale")
    graph = pt.ones(x.shape[0]).cumsum() * scale + pt.zeros_like(pt.exp(x)) + x
    [found] = with_length_of(start, [graph], [x])
    shapes = [v.owner for v in ancestors([found]) if v.owner is not None]
    shapes = [node for node in shapes if isinstance(node.op, Shape | Shape_i)]
    assert shapes
    assert all(node.inputs == [start] for node in shapes)
    values = [np.array([0.5, -1.0, 2.0]), np.zeros(3), np.array(3.0)]
    [value] = Interpreted([x, start, scale], [found])(*values)
    np.testing.assert_allclose(value, 3.0 * np.arange(1, 4) + values[0])
