#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Energies that leave what the tuning phase saw, and those that only look like it."""

from copy import deepcopy

import numpy as np
import pytest

from pymc_geodesic.tuning.energy_range import EnergyRange, overflowing


def settled(energies, *, freedom=5):
    energy_range = EnergyRange(freedom)
    for energy in energies:
        energy_range.observe(energy)
    energy_range.settle()
    return energy_range


def flags(energy_range, energies, *, draws_per_batch=0):
    return [energy_range.has_left(u, draws_per_batch=draws_per_batch) for u in energies]


def test_a_chain_that_runs_off():
    rng = np.random.default_rng(1)
    energy_range = settled(rng.normal(100, 2, 200))
    path = 100 + np.geomspace(1, 1e12, 60)
    found = flags(energy_range, path)
    assert found == list(path > energy_range.mean + 300 * energy_range.deviation + 50)
    assert found[-1]


def test_the_way_from_a_poor_start_is_no_measure():
    rng = np.random.default_rng(1)
    burn_in = 1e9 * np.exp(-np.arange(100) / 5)
    energies = np.concatenate([burn_in, rng.normal(0, 2, 100)])
    assert flags(settled(energies), [1e4] * 5)[-1]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("noise", [0.0, 100.0])
def test_energies_of_a_stationary_chain_stay(seed, noise):
    rng = np.random.default_rng(seed)
    energies = 0.5 * rng.chisquare(5, 2_000) + noise * rng.normal(size=2_000)
    assert not any(flags(settled(energies[:100]), energies[100:]))


@pytest.mark.parametrize("seed", range(20))
def test_batches_with_outlying_rows_stay(seed):
    """Squares of Cauchy draws: the next 10,000 batches exceed the first 100 by any factor."""
    energies = np.random.default_rng(seed).standard_cauchy(10_000) ** 2
    energy_range = settled(energies[:100])
    assert not any(flags(energy_range, energies[100:], draws_per_batch=1))
    assert not any(flags(energy_range, np.repeat(energies, 4), draws_per_batch=4))


def test_a_chain_that_tuned_at_its_mode_may_climb():
    """Of a thousand dimensions, with steps so small that tuning saw nothing of them."""
    energy_range = settled(1e-6 * np.arange(100), freedom=1_000)
    assert not any(flags(energy_range, np.linspace(0, 600, 50)))


def test_without_tuning_nothing_is_known():
    for energies in ([], [1.0] * 10, [np.inf] * 100, [np.nan] * 100):
        assert not any(flags(settled(energies), [0.0, 1e300, np.inf]))


def test_one_batch_or_two_say_nothing():
    energy_range = settled(np.random.default_rng(1).normal(size=100))
    far = [1e9] * 7
    assert flags(energy_range, [*far[:2], 0.0, *far[:3]], draws_per_batch=1) == [False] * 5 + [True]
    energy_range.has_left(0.0, draws_per_batch=3)
    assert flags(energy_range, far, draws_per_batch=3) == [False] * 6 + [True]


def test_resumes():
    first = settled(np.random.default_rng(1).normal(size=100))
    flags(first, [1e9, 1e9], draws_per_batch=1)
    other = deepcopy(first)
    assert (
        flags(other, [1e9], draws_per_batch=1) == flags(first, [1e9], draws_per_batch=1) == [True]
    )


def test_positions_that_will_overflow():
    assert overflowing({"x": np.array([1.0, -1e103])}) == ("x", 1e103)
    assert overflowing({"x": np.array([1e102]), "y": np.zeros(0)}) is None
    assert overflowing({"x": np.float32(1e13) * np.ones(2, "float32")})[0] == "x"
    assert overflowing({"x": np.ones(2, "float32"), "y": np.array(1e12, "float32")}) is None
