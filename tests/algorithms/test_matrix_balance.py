#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Friction, injected noise and gradient noise balance as matrices, to the last digits."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

from pytensor.compile.mode import Mode

from pymc_geodesic.algorithms.matrix_friction import Spectrum, balanced_matrix

INTERPRETED = Mode(linker="py", optimizer=None)
STEP_SIZE, D = 0.1, 3


def positive_definite(seed, scale):
    rows = np.random.default_rng(seed).normal(size=(3 * D, D))
    return scale * rows.T @ rows / len(rows)


def maps(friction, covariance):
    """The matrices that damp, scale and color."""
    if friction.ndim == 2:
        spectrum = Spectrum(*np.linalg.eigh(friction))
    else:
        spectrum = Spectrum(pt.constant(friction))
    noise = None if covariance is None else pt.constant(covariance)
    x = pt.vector("x")
    balance = balanced_matrix(spectrum, noise, pt.constant(STEP_SIZE))
    function = pytensor.function([x], [f(x) for f in balance], mode=INTERPRETED)
    return [np.array(columns).T for columns in zip(*map(function, np.eye(D)), strict=True)]


@pytest.mark.parametrize("friction", [positive_definite(1, 5.0), np.array([0.5, 2.0, 9.0])])
@pytest.mark.parametrize(
    "noise",
    [None, 1.0, 50.0, 5000.0],  # none, what the friction carries, some and all beyond it
)
def test_velocities_keep_the_unit_covariance(friction, noise):
    covariance = None if noise is None else positive_definite(2, noise)
    damp, scale, color = maps(friction, covariance)
    heat = 0.0 if noise is None else STEP_SIZE**2 * scale @ covariance @ scale
    after_kick = damp @ damp.T + color @ color.T + heat
    np.testing.assert_allclose(damp @ after_kick @ damp.T, np.eye(D), atol=1e-10)


def test_a_multiple_of_one_is_the_scalar_friction():
    damp, scale, color = maps(np.full(D, 3.0), None)
    np.testing.assert_allclose(damp, np.exp(-0.15) * np.eye(D))
    np.testing.assert_allclose(scale, np.cosh(0.15) * np.eye(D))
    np.testing.assert_allclose(color, np.sqrt(2 * np.sinh(0.3)) * np.eye(D))
    matrix = maps(3.0 * np.eye(D), None)
    for found, expected in zip(matrix, (damp, scale, color), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_friction_is_raised_only_where_it_lacks():
    damp, *_ = maps(np.ones(D), np.diag([0.0, 10.0, 1000.0]))
    rates = -np.log(np.diag(damp)) / (STEP_SIZE / 2)
    assert rates[:2] == pytest.approx([1.0, 1.0])
    heat = STEP_SIZE**2 * 1000 * np.cosh(STEP_SIZE / 2) ** 2
    assert rates[2] == pytest.approx(np.arcsinh(heat / 2) / STEP_SIZE, rel=0.01)
