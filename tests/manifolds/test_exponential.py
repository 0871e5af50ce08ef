#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The exponential of small matrices beside SciPy's."""

import numpy as np
import pytensor.tensor as pt
import pytest
import scipy.linalg

from pytensor.compile.mode import Mode

from pymc_geodesic.manifolds.exponential import exponential

INTERPRETED = Mode(linker="py", optimizer=None)


def evaluated(a):
    return exponential(pt.constant(a)).eval(mode=INTERPRETED)


@pytest.mark.parametrize("norm", [0.0, 1e-300, 1e-8, 0.9, 1.1, 7.0, 60.0])
@pytest.mark.parametrize("n", [1, 2, 6, 20])
def test_antisymmetric_matrices_give_rotations(n, norm):
    """Whose entries are known to rounding times the length of the way."""
    a = np.random.default_rng(n).normal(size=(3, n, n))
    a = a - a.mT
    a *= norm / np.maximum(np.abs(a).sum(axis=-2, keepdims=True).max(-1, keepdims=True), 1e-300)
    found, tolerance = evaluated(a), 1e-14 * max(norm, 1.0)
    np.testing.assert_allclose(found, scipy.linalg.expm(a), atol=tolerance)
    np.testing.assert_allclose(
        found @ found.mT, np.broadcast_to(np.eye(n), a.shape), atol=tolerance
    )


@pytest.mark.parametrize("norm", [0.5, 5.0, 20.0])
def test_other_matrices(norm):
    a = np.random.default_rng(1).normal(size=(5, 4, 4))
    a *= norm / np.abs(a).sum(axis=-2).max(-1)[:, None, None]
    expected = scipy.linalg.expm(a)
    scale = np.abs(expected).max(axis=(-1, -2), keepdims=True)
    np.testing.assert_allclose(evaluated(a) / scale, expected / scale, atol=1e-12)


def test_single_precision():
    a = np.array([[0, -3.0], [3.0, 0]], dtype="float32")
    found = evaluated(a)
    assert found.dtype == "float32"
    expected = [[np.cos(3), -np.sin(3)], [np.sin(3), np.cos(3)]]
    np.testing.assert_allclose(found, expected, atol=3e-6)


@pytest.mark.parametrize("entry", [1e3, np.inf, np.nan])
def test_a_way_that_is_too_long_is_not_a_number(entry):
    assert np.all(np.isnan(evaluated(np.array([[0, -entry], [entry, 0]]))))
