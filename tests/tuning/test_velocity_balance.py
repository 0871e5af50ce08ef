#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Entries and directions that are hot or cold are told from those that are so by chance."""

import numpy as np
import pytest

from pymc_geodesic.tuning.velocity_balance import VelocityBalance


def found(draws, shapes):
    balance = VelocityBalance(["x", "y"], shapes, draws=len(draws))
    first = int(np.prod(shapes[0]))
    parts = [(v[:first].reshape(shapes[0]), v[first:].reshape(shapes[1])) for v in draws]
    *before, last = [balance.observe(part) for part in parts]
    assert set(before) == {None}
    return last


@pytest.mark.parametrize("size", [4, 200])
def test_the_hottest_and_the_coldest_entry_are_named(size):
    draws = np.random.default_rng(1).standard_normal((1_000, size + 1))
    draws[:, 1] *= 1.5
    draws[:, size] *= 0.5
    said = found(draws, [(size // 2, 2), ()])
    assert said.startswith("of `x[0, 1]` had temperature 2.")
    assert "and of `y` had temperature 0.2" in said


def test_correlated_noise_is_seen_where_all_entries_are_right():
    rng = np.random.default_rng(1)
    common = rng.standard_normal((2_000, 1))
    draws = np.sqrt(0.5) * common + np.sqrt(0.5) * rng.standard_normal((2_000, 3))
    said = found(draws, [(2,), ()])
    assert said.startswith("of a direction, mostly of `")
    assert "had temperature 2." in said
    assert "had temperature 0.5" in said


@pytest.mark.parametrize("size", [2, 20, 1_500])
def test_chance_is_not_called_unbalanced(size):
    rng = np.random.default_rng(1)
    for n_draws in (100, 130, 1_000):
        for _ in range(30):
            assert found(rng.standard_normal((n_draws, size)), [(size - 1,), ()]) is None


def test_one_entry_and_few_draws_say_nothing():
    assert found(np.full((200, 1), 9.0), [(0,), ()]) is None
    assert found(np.full((50, 4), 9.0), [(3,), ()]) is None
