#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Whether a sampler finds the exact moments of a target, within four Monte Carlo standard errors.

A variable of M points is M chains, so that the standard errors come from independent averages.
Statistics are functions of PyMC's point, with one number for each chain; `expected` has their exact
means by the same names.
"""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

from chains import assert_mean, assert_temperature_of_positions, chain_averages

import pymc_geodesic as pmg

from pymc_geodesic.distributions.bingham_constant import bingham_log_normalizer


def direction(n):
    """A mean direction that no axis and no symmetry favours."""
    mu = np.arange(1.0, n + 1) * np.where(np.arange(n) % 2, -1, 1)
    return mu / np.linalg.norm(mu)


def second_moments(A):
    """E xx' of axes with the density exp(x'Ax), from the constant's gradient."""
    value = pt.matrix("A", shape=A.shape)
    gradient = -pytensor.grad(bingham_log_normalizer(value), value)
    return gradient.eval({value: A}, mode="FAST_COMPILE")


def stochastic_step(method, model, *, step_size, damping=0.1, variance=0.0, **options):
    """A step whose friction takes a share of the velocity per transition.

    Gradient noise of this variance is known to SGGMC and left to gSGNHT's thermostats.
    """
    friction = damping / step_size
    own = (
        {"friction": friction, "gradient_noise": variance or None}
        if method is pmg.SGGMC
        else {"diffusion": friction, "thermostat": "per_point"}
    )
    options = {"n_steps": 25} | own | options
    return method(model=model, step_size=step_size, **options)


def assert_moments(step, statistics, expected, *, draws=100, discard=20, allowed=0.02):
    """Assert that a stochastic-gradient step finds them, at temperature one; return its stats."""
    averages, stats = chain_averages(
        step, step.model.initial_point(), statistics, draws=draws, discard=discard
    )
    for name, exact in expected.items():
        assert_mean(averages[name], exact)
    assert stats["kinetic_temperature"] == pytest.approx(1, abs=allowed)
    assert_temperature_of_positions(stats, allowed=allowed)
    return stats


def assert_moments_by_gmc(
    model, statistics, expected, *, step_size, draws=60, discard=5, n_runs=20, **options
):
    """Assert that GMC finds them.

    Its test couples the points of one variable: take few of them, in many runs.
    """
    options = {"n_leapfrog": 5, "n_steps": 50} | options
    step = pmg.GMC(model=model, step_size=step_size, **options)
    runs = [
        chain_averages(
            step, model.initial_point(), statistics, draws=draws, discard=discard, seed=seed
        )
        for seed in range(n_runs)
    ]
    for name, exact in expected.items():
        assert_mean([averages[name].mean() for averages, _ in runs], exact)
    assert 0.5 < runs[0][1]["acceptance_rate"] <= 1
