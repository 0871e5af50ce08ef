#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Data of which rows are taken have room on the device, so that nothing is compiled for more."""

import numpy as np
import pytensor
import pytensor.tensor as pt

from pytensor.graph.traversal import ancestors

from pymc_geodesic.kernel.jax.function import JAXFunction
from pymc_geodesic.kernel.jax.resident import shape_on_device
from pymc_geodesic.potential.lifted_data import lift_data

ROWS = pt.vector("rows", dtype="int64", shape=(3,))


def lifted(graph, data):
    [found] = lift_data([graph], of_any_length=[data])
    shared = [x for x in ancestors([found]) if isinstance(x, pytensor.compile.SharedVariable)]
    return found, shared


def data_of(n):
    return pytensor.shared(np.arange(2.0 * n).reshape(n, 2), shape=(n, 2))


def test_only_rows_are_taken():
    data = data_of(1_000)
    _, [x] = lifted(data[ROWS].sum(), data)
    assert x.type.shape == (None, 2)
    _, [x] = lifted(data[ROWS].sum() + data.mean(), data)
    assert x.type.shape == (1_000, 2)
    _, [x] = lifted(data[ROWS].sum() / data.shape[0], data)
    assert x.type.shape == (1_000, 2)


def test_more_rows_need_no_compiler():
    rows, compiled = np.array([1, 5, 999]), set()
    for n in (1_000, 1_010, 1_024):
        data = data_of(n)
        graph, [x] = lifted(data[ROWS].sum(axis=1), data)
        assert shape_on_device(x) == (1_024, 2)
        function = JAXFunction([ROWS], [graph])
        [found] = function(rows)
        np.testing.assert_array_equal(found, data.get_value()[rows].sum(axis=1))
        compiled |= set(map(id, function._by_shapes.values()))
    assert len(compiled) == 1
