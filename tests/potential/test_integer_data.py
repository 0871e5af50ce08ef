#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Integers of 64 bits, which PyMC does not observe: see `docs/developing/upstream.md`."""

import numpy as np
import pymc as pm
import pytest

from pymc_geodesic.potential.minibatch import find_batch_sources

COUNTS = np.random.default_rng(1).poisson(3.0, size=200)


def counts(dtype):
    with pm.Model() as model:
        batch = pm.Minibatch(COUNTS.astype(dtype), batch_size=10)
        pm.Poisson("y", pm.Exponential("rate", 1.0), observed=batch, total_size=200)
    return model


def test_pymc_still_refuses_64_bits():
    """When this fails, PyMC has mended it: the note and the advice in the documentation can go."""
    with pytest.raises(TypeError, match=r"Variables that depend on other nodes.*Cast"):
        counts("int64")


def test_32_bits_are_observed():
    [source] = find_batch_sources(counts("int32"))
    assert source.n_rows == 200


def test_64_bits_may_index_parameters():
    with pm.Model() as model:
        group, y = pm.Minibatch(COUNTS % 5, COUNTS.astype("float64"), batch_size=10)
        effect = pm.Normal("effect", shape=5)
        pm.Normal("y", effect[group], observed=y, total_size=200)
    assert len(find_batch_sources(model)) == 1
