#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What the tuning phase does to a thermostat."""

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg


@pytest.mark.parametrize("grouping", ["shared", "per_variable"])
def test_tuning_leaves_the_type_of_the_thermostat_alone(grouping):
    # JAX would trace the kernel anew in the middle of a chain.
    with pm.Model() as model:
        pm.Normal("a", shape=3)
        pm.Normal("b")
        step = pmg.SGNHT(step_size=0.1, diffusion=0.1, thermostat=grouping)
    step.setup_chain(np.random.default_rng(1), 8, 2)
    before = [(type(xi), xi.dtype, xi.shape) for xi in step.chain.state.thermostat]
    point = model.initial_point()
    for draw in range(10):
        if draw == 8:
            step.stop_tuning()
        assert [(type(xi), xi.dtype, xi.shape) for xi in step.chain.state.thermostat] == before
        point, _ = step.step(point)
