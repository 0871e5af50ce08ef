#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Loops over rows, of different lengths within, are compiled for a batch as operations on rows."""

import numpy as np

from pytensor.graph.traversal import apply_ancestors
from pytensor.scan.op import Scan
from written_loops import scan_over_rows_of_different_lengths

import pymc_geodesic as pmg

from pymc_geodesic.kernel.host_gradient import HostGradient


def test_jax_computes_what_numpy_does_without_a_loop():
    model = pmg.minibatch(scan_over_rows_of_different_lengths(), batch_size=10)
    nodes = apply_ancestors([*model.basic_RVs, *model.potentials])
    assert not any(isinstance(node.op, Scan) for node in nodes)
    with model:
        problem = pmg.SGNHT().sampler.problem
    point, rows = problem.position_of({"a": np.array(0.3), "b": np.array(-0.7)}), [np.arange(20)]
    ways = (HostGradient(problem.potential, interprets=x) for x in (False, True))
    compiled, interpreted = (way(point, rows * len(way.n_rows)) for way in ways)
    for a, b in zip(compiled.gradient, interpreted.gradient, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    np.testing.assert_allclose(compiled.energy, interpreted.energy, rtol=1e-12)
