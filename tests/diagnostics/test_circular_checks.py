#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Checks of angles: draws about pi are right, and wrong ones are found."""

import arviz as az
import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg


@pytest.fixture(scope="module")
def target():
    with pm.Model() as model:
        pm.VonMises("x", 3.0, np.array([1.0, 8.0]))
    return model


def draws(kappa=(1.0, 8.0)):
    x = np.random.default_rng(1).vonmises(3.0, kappa, (4, 500, 2))
    return az.from_dict({"posterior": {"x": x}})


@pytest.mark.parametrize("order", [1, 2])
def test_stein_identities_of_angles(target, order):
    check = pmg.stein_check(draws(), model=target, order=order)
    assert check.passed, str(check)
    assert len(check.table) == 4 * order
    assert not pmg.stein_check(draws((1.0, 4.0)), model=target, order=order).passed


def test_kernel_stein_discrepancy_of_angles(target):
    assert pmg.kernel_stein_discrepancy(draws(), model=target, random_seed=1).p_value > 0.01
    wrong = pmg.kernel_stein_discrepancy(draws((1.0, 4.0)), model=target, random_seed=1)
    assert wrong.p_value < 0.01


def test_temperature_of_angles(target):
    found = pmg.configurational_temperature(draws(), model=target, random_seed=1).loc["x"]
    assert abs(found["mean"] - 1) < 4.5 * found["mcse"]
    hot = pmg.configurational_temperature(draws((0.5, 4.0)), model=target, random_seed=1).loc["x"]
    assert hot["mean"] - 1 > 4.5 * hot["mcse"]
