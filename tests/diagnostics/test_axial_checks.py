#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Checks of axes: draws with folded signs are right, and wrong ones are found."""

import arviz as az
import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

A = np.diag([1.0, 6.0, 3.0])


@pytest.fixture(scope="module")
def target():
    with pm.Model() as model:
        pmg.Bingham("x", A)
    return model


def draws(scale=1.0, seed=1):
    x = pm.draw(pmg.Bingham.dist(scale * A, size=2000), random_seed=seed, mode="FAST_COMPILE")
    # The last entry of most of these axes is near zero.
    x = x * np.where(x[:, -1:] < 0, -1, 1)
    return az.from_dict({"posterior": {"x": x.reshape(4, 500, 3)}})


@pytest.mark.parametrize("order", [1, 2])
def test_stein_identities_of_axes(target, order):
    check = pmg.stein_check(draws(), model=target, order=order)
    assert check.passed, str(check)
    assert len(check.table) == 6
    assert not pmg.stein_check(draws(0.6), model=target, order=order).passed


def test_kernel_stein_discrepancy_of_axes(target):
    assert pmg.kernel_stein_discrepancy(draws(), model=target, random_seed=1).p_value > 0.01
    assert pmg.kernel_stein_discrepancy(draws(0.6), model=target, random_seed=1).p_value < 0.01


def test_temperature_of_axes(target):
    found = pmg.configurational_temperature(draws(), model=target, random_seed=1).loc["x"]
    assert abs(found["mean"] - 1) < 4.5 * found["mcse"]
    hot = pmg.configurational_temperature(draws(0.6), model=target, random_seed=1).loc["x"]
    assert hot["mean"] - 1 > 4.5 * hot["mcse"]
