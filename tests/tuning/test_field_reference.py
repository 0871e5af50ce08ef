#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The reference forgets the way from a poor start, and does not follow what it tests."""

from copy import deepcopy

import numpy as np
import pytest

from pymc_geodesic.tuning.energy_range import FieldReference


def fed(path, *, tune, draws=100):
    reference = FieldReference([(2,)], dtype="float64")
    reference.begin(tune=tune, draws=draws)
    for t, x in enumerate(path):
        if t == tune:
            reference.freeze()
        yield reference
        reference.observe([np.full(2, x)])
    yield reference


@pytest.mark.parametrize(("tune", "start"), [(1000, 511), (1030, 511), (100, 63), (40, 31)])
def test_frozen_at_the_mean_over_about_the_second_half(tune, start):
    path = np.random.default_rng(1).normal(size=tune + 50)
    path[: tune // 4] += 1e6
    *_, reference = fed(path, tune=tune)
    end = tune if tune != 1030 else 1023
    np.testing.assert_allclose(reference.arrays[0], path[start:end].mean())


def test_stays_where_it_is_while_it_is_tested():
    path = np.random.default_rng(1).normal(size=200)
    arrays = [r.arrays[0][0] for r in fed(path, tune=64)]
    # The mean over draws 2^k - 1 to 2^(k + 1) - 2, adopted after the last of them.
    changes = np.flatnonzero(np.diff(arrays)) + 1
    np.testing.assert_array_equal(changes, [1, 3, 7, 15, 31, 63])


@pytest.mark.parametrize(("draws", "n"), [(400, 100), (10, 20)])
def test_without_tuning_it_is_unknown_for_a_quarter_of_the_draws(draws, n):
    path = np.random.default_rng(1).normal(size=draws + 40)
    known = [r.known for r in fed(path, tune=0, draws=draws)]
    np.testing.assert_array_equal(known, np.arange(len(known)) >= n)
    *_, reference = fed(path, tune=0, draws=draws)
    np.testing.assert_allclose(reference.arrays[0], path[:n].mean())


def test_a_chain_begins_anew():
    *_, reference = fed(np.ones(50), tune=30)
    assert reference.known
    reference.begin(tune=30, draws=10)
    assert not reference.known
    np.testing.assert_array_equal(reference.arrays[0], 0)


def test_resumes():
    path = np.random.default_rng(1).normal(size=90)
    first = list(zip(range(40), fed(path, tune=60), strict=False))[-1][1]
    other = deepcopy(first)
    for x in path[40:]:
        for reference in (first, other):
            reference.observe([np.full(2, x)])
    np.testing.assert_array_equal(first.arrays[0], other.arrays[0])
    assert first.n_mean == other.n_mean


def test_runs_that_overflow_are_no_errors():
    *_, reference = fed([1e308, -1e308] * 30, tune=40)
    assert reference.known
