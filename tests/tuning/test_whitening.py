#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Draws that ran off while a chain was tuned do not enter the mass."""

import numpy as np
import pytest

from pymc_geodesic.mass.arrays import VariableMasses
from pymc_geodesic.tuning.whitening import whitened, without_runaways

SIZE = 3
UNIT = VariableMasses([np.ones(SIZE)], dense=[False], shapes=[(SIZE,)], dtype="float64")


def ordinary(n=100):
    return [[row] for row in np.random.default_rng(1).standard_normal((n, SIZE))]


@pytest.mark.parametrize("size", [1e9, 1e200, np.inf, np.nan])
def test_draws_that_ran_off_are_left_out(size):
    draws = ordinary()
    draws[7:20] = [[np.array([0.0, size, 1.0])]] * 13
    near = without_runaways(UNIT, draws)
    assert len(near) == 87
    assert np.all(np.abs(whitened(UNIT, near)) < 10)


def test_wide_tails_are_kept():
    draws = [[row] for row in np.random.default_rng(2).standard_cauchy((1_000, SIZE))]
    assert len(without_runaways(UNIT, draws)) == 1_000
