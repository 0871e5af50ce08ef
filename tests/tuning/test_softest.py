#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A soft direction that the mass has left is found, and friction follows it."""

import numpy as np
import pytest

from pymc_geodesic.algorithms.tuning_rules import (
    Demands,
    GradientNoise,
    balanced_rule,
    thermostat_rule,
)
from pymc_geodesic.tuning.softest import softest_curvature


@pytest.mark.parametrize("n_entries", [2, 50, 500])
@pytest.mark.parametrize("correlation", [0.0, 0.6])
def test_chance_is_not_a_soft_direction(n_entries, correlation):
    rng = np.random.default_rng(2)
    draws = rng.standard_normal((600, n_entries))
    for i in range(1, 600):
        draws[i] = correlation * draws[i - 1] + np.sqrt(1 - correlation**2) * draws[i]
    assert softest_curvature(draws) == 1.0


def test_a_soft_direction_is_found_among_many_entries():
    rng = np.random.default_rng(3)
    direction = rng.standard_normal(300)
    direction /= np.linalg.norm(direction)
    draws = rng.standard_normal((800, 300))
    draws += np.outer(draws @ direction * (np.sqrt(30.0) - 1), direction)
    assert 1 / 40 < softest_curvature(draws) < 1 / 22


@pytest.mark.parametrize("rule", [balanced_rule, thermostat_rule])
def test_friction_is_critical_unless_noise_needs_more(rule):
    quiet, loud = (
        Demands(GradientNoise(v, 1.5 * v), curvature=1.0, accuracy=0.05, softest=0.04)
        for v in (0.001, 2.0)
    )
    step_size, parameters = rule(quiet)
    assert parameters["diffusion"] + 0.5 * step_size * 0.001 == pytest.approx(0.2, rel=0.01)
    assert rule(loud)[1] == rule(loud._replace(softest=1.0))[1]
