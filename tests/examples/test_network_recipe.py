#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The program that turns the features of a frozen network into calibrated probabilities."""

import runpy

from pathlib import Path

import numpy as np
import pytest

from scipy.special import softmax

import pymc_geodesic as pmg

PROGRAM = Path(__file__).parents[2] / "examples" / "recipes" / "last_layer.py"


def write(path, n, seed):
    """Write features of unequal scales, and labels of three kinds; return their probabilities."""
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((n, 4)) * [1, 10, 0.1, 3] + [0, 5, 0, -2]
    slopes = np.array([[2.0, 0, -2], [0, 0.1, 0], [0, 0, 5], [0.3, 0, 0]])
    p = softmax(features @ slopes, axis=1)
    labels = (p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    np.savez(path, features=features, labels=labels)
    return p[np.arange(n), labels]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_program_is_calibrated(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(PROGRAM.read_text(encoding="utf-8").splitlines()) <= 40
    write("train.npz", 3_000, seed=1)
    p = write("test.npz", 2_000, seed=2)
    found = runpy.run_path(str(PROGRAM))["main"]("train.npz", "test.npz")
    # The true probabilities lose the least.
    assert abs(found["log loss"] + np.log(p).mean()) < 0.02
    assert found["calibration error"] < 0.06
    assert (tmp_path / "calibration.png").stat().st_size > 10_000
    assert pmg.read("last_layer.zarr").posterior["weight"].dims[2:] == ("feature", "kind")
