#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Ranks and coverages of the simulation-based calibration, for draws that are right or not."""

import importlib
import sys

from pathlib import Path

import numpy as np
import pytest

from pymc_geodesic.calibration.simulations import N_RANKED, ranks_among

ROOT = Path(__file__).parents[2]
N = 400

pytestmark = pytest.mark.skipif(
    not (ROOT / "benchmarks").is_dir(), reason="not part of a source archive"
)


@pytest.fixture(scope="module")
def calibration():
    pytest.importorskip("nutpie")
    sys.path.insert(0, str(ROOT))
    yield importlib.import_module("benchmarks.correctness.calibration")
    sys.path.remove(str(ROOT))


def simulated(calibration, *, sd=1.0, shift=0.0):
    """Ranks of standard normal truths among normal draws."""
    rng = np.random.default_rng(1)
    ranks = [
        ranks_among(shift + sd * rng.standard_normal((4, 500, 2)), rng.standard_normal(2)).tolist()
        for _ in range(N)
    ]
    return calibration.Ranks(["a", "b"], ranks, [False] * N, [1.0] * N)


def test_exact_draws_are_calibrated(calibration):
    found = simulated(calibration)
    assert calibration.is_calibrated(found)
    assert found.uniformity() > 0.001
    assert np.min(found.ranks) >= 0
    assert np.max(found.ranks) <= N_RANKED


@pytest.mark.parametrize(("sd", "shift"), [(0.7, 0.0), (1.4, 0.0), (1.0, 0.8)])
def test_wrong_draws_are_not(calibration, sd, shift):
    found = simulated(calibration, sd=sd, shift=shift)
    assert not calibration.is_calibrated(found)
    assert found.uniformity() < 0.001


def test_intervals_hold_what_they_say(calibration):
    ranks = np.arange(N_RANKED + 1)
    for level, (low, high) in calibration.INTERVALS.items():
        assert np.mean((ranks >= low) & (ranks < high)) == level
