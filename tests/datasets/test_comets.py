#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
import numpy as np

from pymc_geodesic.datasets import load_comets


def test_shape_and_dtype():
    x = load_comets()
    assert x.shape == (3798, 3)
    assert x.dtype == np.float64


def test_normals_have_unit_length():
    np.testing.assert_allclose(np.linalg.norm(load_comets(), axis=1), 1.0, rtol=0, atol=1e-15)


def test_halley_is_the_first_row():
    # 1P/Halley moves against the planets: i = 162.26 and Omega = 58.42 degrees.
    expected = [0.25953739, -0.15954311, -0.9524633]
    np.testing.assert_allclose(load_comets()[0], expected, rtol=0, atol=1e-8)


def test_normals_fill_both_hemispheres():
    prograde = np.mean(load_comets()[:, 2] > 0)
    assert 0.4 < prograde < 0.6
