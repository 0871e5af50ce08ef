#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
import numpy as np

from pymc_geodesic.datasets import load_protein_angles


def test_shape_and_dtype():
    angles = load_protein_angles()
    assert angles.shape == (10_891, 2)
    assert angles.dtype == np.float64


def test_angles_are_on_the_torus():
    angles = load_protein_angles()
    assert np.all(angles > -np.pi)
    assert np.all(angles <= np.pi)


def test_right_handed_helices_are_the_most_frequent():
    phi, psi = np.degrees(load_protein_angles()).T
    is_helix = (np.abs(phi + 63) < 10) & (np.abs(psi + 43) < 10)
    # A square of 20 degrees is 0.3 per cent of the torus.
    assert np.mean(is_helix) > 0.1


def test_the_forbidden_quarter_is_nearly_empty():
    phi, psi = np.degrees(load_protein_angles()).T
    assert np.mean((phi > 90) & (psi < 0)) < 0.001
