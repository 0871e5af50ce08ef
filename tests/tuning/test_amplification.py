#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""How much temperatures of single variables exaggerate errors."""

import numpy as np
import pytest

from pymc_geodesic.mass import JointMass, LowRankMass, VariableMasses
from pymc_geodesic.tuning.energy_range import amplification


def test_it_is_that_of_the_correlation_with_other_variables():
    precision = np.linalg.inv([[1.0, 0.99, 0.0], [0.99, 1.0, 0.0], [0.0, 0.0, 9.0]])
    shapes = [(), (), ()]
    found = amplification(JointMass(precision, shapes=shapes, dtype="float64"), shapes)
    ridge = 1 / np.sqrt(1 - 0.99**2)
    np.testing.assert_allclose(found, [ridge, ridge, 1.0], rtol=1e-10)


def test_correlations_within_a_variable_exaggerate_nothing():
    precision = np.linalg.inv([[1.0, 0.99, 0.0], [0.99, 1.0, 0.0], [0.0, 0.0, 9.0]])
    shapes = [(2,), ()]
    found = amplification(JointMass(precision, shapes=shapes, dtype="float64"), shapes)
    np.testing.assert_allclose(found, 1.0, rtol=1e-10)


def test_a_mean_and_its_effects():
    # Effects around a mean: the mean given the effects is known n times as well as by itself.
    n = 400
    direction = np.append(np.sqrt(n), np.ones(n)) / np.sqrt(2 * n)
    shapes = [(), (n,)]
    mass = LowRankMass(
        [np.asarray(1.0), np.ones(n)],
        directions=direction[:, None],
        curvatures=np.array([1e-3]),
        shapes=shapes,
        dtype="float64",
    )
    found = amplification(mass, shapes)
    # Half of the direction is the mean: variance (1 + 1,000) / 2 and curvature (1 + .001) / 2.
    assert found[0] == pytest.approx(np.sqrt(0.5 * 1001 * 0.5 * 1.001), rel=1e-6)
    # The effects share the other half among 400; of 64 of them it is a little more.
    assert 1.0 < found[1] < 1.5


def test_separate_masses_exaggerate_nothing():
    shapes = [(3,), (2,)]
    dense = VariableMasses(
        [np.diag([1.0, 4.0, 9.0]), np.asarray([1e-3, 1e3])],
        dense=[True, False],
        shapes=shapes,
        dtype="float64",
    )
    np.testing.assert_allclose(amplification(dense, shapes), 1.0, rtol=1e-10)
