#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Tests of uniformity have their level, and the power to see what they are for."""

import numpy as np
import pymc as pm
import pytest

from scipy.stats import kstest

import pymc_geodesic as pmg

from pymc_geodesic.diagnostics import bingham_test, rayleigh_test, watson_test


@pytest.mark.parametrize("n", [2, 3, 10])
def test_the_level(n):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(2000, 100, n))
    X /= np.linalg.norm(X, axis=-1, keepdims=True)
    assert kstest([rayleigh_test(x).p_value for x in X], "uniform").pvalue > 1e-3
    share = np.mean([bingham_test(x).p_value < 0.05 for x in X])
    assert abs(share - 0.05) < 0.02
    if n == 2:
        p_values = [watson_test(pmg.vectors_to_angles(x)).p_value for x in X]
        assert abs(np.mean(np.array(p_values) < 0.05) - 0.05) < 0.02
        assert abs(np.mean(np.array(p_values) < 0.5) - 0.5) < 0.05


def test_the_power():
    mu = [0.0, 0.6, 0.8]
    directions = pm.draw(pmg.VonMisesFisher.dist(mu, 1.0, size=100), random_seed=1)
    axes = pm.draw(pmg.Watson.dist(mu, 3.0, size=100), random_seed=1, mode="FAST_COMPILE")
    assert rayleigh_test(directions).p_value < 1e-4
    assert rayleigh_test(axes).p_value > 0.01
    assert bingham_test(axes).p_value < 1e-4
    angles = np.random.default_rng(1).vonmises(0, 3, 200)
    angles[::2] += np.pi
    assert watson_test(angles).p_value < 1e-4
    assert rayleigh_test(pmg.angles_to_vectors(angles)).p_value > 0.01


@pytest.mark.parametrize("n", [2, 3, 10, 1000])
def test_angles_more_even_than_by_chance_are_not_refused(n):
    """The series of the probability needs ever more terms as the statistic goes to zero."""
    assert watson_test(2 * np.pi * np.arange(n) / n).p_value > 0.9


def test_bad_input():
    with pytest.raises(ValueError, match="matrix of unit vectors"):
        rayleigh_test([1.0, 0.0])
    with pytest.raises(ValueError, match="two or more angles"):
        watson_test([1.0])


def test_degrees_are_an_argument_and_not_taken_for_radians():
    radians = np.mod(np.random.default_rng(1).vonmises(2.0, 0.5, 500), 2 * np.pi)
    degrees = np.rad2deg(radians)
    found = [watson_test(degrees, unit="degrees").p_value, watson_test(radians).p_value]
    assert found[0] == pytest.approx(found[1])
    assert found[0] < 1e-4
    with pytest.raises(ValueError, match=r'`angles` expected .* radians .* `unit="degrees"`'):
        watson_test(degrees)
    with pytest.raises(ValueError, match=r"degrees from -360 to 360, .* codes of missing values"):
        watson_test([*degrees, 999], unit="degrees")
    with pytest.raises(ValueError, match="`unit` expected one of 'radians', 'degrees', got 'turn"):
        watson_test(radians, unit="turns")
    with pytest.raises(ValueError, match="1 that are missing"):
        watson_test([*radians, np.nan])


@pytest.mark.parametrize("test", [rayleigh_test, bingham_test])
def test_vectors_of_other_lengths_are_refused(test):
    with pytest.raises(ValueError, match="`X` expected unit vectors in its rows, got norms in"):
        test(np.random.default_rng(1).uniform(0, 360, (20, 2)))
    assert test(np.eye(3).round(3)).p_value > 0.1
