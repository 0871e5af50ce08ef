#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Thermostats divide by the intrinsic dimension, and by that of their own group."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

from pytensor.compile.mode import Mode

import pymc_geodesic as pmg

from pymc_geodesic.algorithms.thermostat import Thermostat
from pymc_geodesic.manifolds import Product

INTERPRETED = Mode(linker="py", optimizer=None)
SHAPES = [(), (2, 3), (4,)]
MANIFOLD = Product([pmg.Euclidean(), pmg.Sphere(), pmg.Simplex()], shapes=SHAPES)
RNG = np.random.default_rng(1)
VELOCITY = [RNG.normal(size=shape) for shape in SHAPES]
SQUARES = [VELOCITY[0] ** 2, (VELOCITY[1] ** 2).sum(-1), (VELOCITY[2] ** 2).sum(-1)]
EXPECTED = {
    "shared": [sum(np.sum(square) for square in SQUARES) / (1 + 2 * 2 + 3)],
    "per_variable": [SQUARES[0], SQUARES[1].sum() / 4, SQUARES[2] / 3],
    "per_point": [SQUARES[0], SQUARES[1] / 2, SQUARES[2] / 3],
}


def evaluate(outputs):
    return pytensor.function([], list(outputs), mode=INTERPRETED)()


def constants(arrays):
    return tuple(pt.constant(array) for array in arrays)


@pytest.mark.parametrize("grouping", EXPECTED)
def test_temperature_of_each_group(grouping):
    thermostat = Thermostat(MANIFOLD, grouping=grouping)
    temperatures = evaluate(thermostat.temperature(constants(VELOCITY)))
    for actual, expected in zip(temperatures, EXPECTED[grouping], strict=True):
        np.testing.assert_allclose(actual, expected)
    assert tuple(np.shape(t) for t in temperatures) == thermostat.shapes


@pytest.mark.parametrize("grouping", EXPECTED)
def test_heat_follows_the_temperature_and_friction_broadcasts(grouping):
    thermostat = Thermostat(MANIFOLD, grouping=grouping)
    start = thermostat.initial(1.5)
    heated = evaluate(thermostat.heat(constants(start), constants(VELOCITY), pt.constant(0.2)))
    for actual, expected in zip(heated, EXPECTED[grouping], strict=True):
        np.testing.assert_allclose(actual, 1.5 + 0.2 * (expected - 1))
    damped = evaluate(
        v * friction
        for v, friction in zip(
            constants(VELOCITY), thermostat.friction(constants(start)), strict=True
        )
    )
    for actual, v in zip(damped, VELOCITY, strict=True):
        np.testing.assert_allclose(actual, 1.5 * v)


def test_a_circle_has_one_dimension():
    circle = Product([pmg.Sphere()], shapes=[(2,)])
    [temperature] = evaluate(Thermostat(circle).temperature((pt.constant([0.6, 0.8]),)))
    assert temperature == pytest.approx(1.0)


def heat_once(xi, velocity, time, **options):
    """Heat of one shared thermostat, divided by the plain ``time (T - 1)``."""
    thermostat = Thermostat(MANIFOLD)
    temperature = sum(np.sum(v**2) for v in velocity) / (1 + 2 * 2 + 3)
    [heated] = evaluate(
        thermostat.heat(
            (pt.constant(xi),),
            constants(velocity),
            pt.constant(time),
            **{name: pt.constant(value) for name, value in options.items()},
        )
    )
    return (heated - xi) / (time * (temperature - 1))


@pytest.mark.parametrize(
    ("xi", "time", "expected"),
    [
        (1.0, 0.01, 1.0),  # xi^2 / 4 is below one
        (2.2, 0.01, 2.2**2 / 4),
        (-2.2, 0.01, 2.2**2 / 4),
        (8.0, 0.01, 16.0),
        (8.0, 0.5, 2.0),  # |xi| / (8 time), a change of an eighth at zero temperature
    ],
)
def test_tuning_moves_the_thermostat_faster_by_a_known_factor(xi, time, expected):
    for tuning, factor in ((1.0, expected), (0.0, 1.0)):
        assert heat_once(xi, VELOCITY, time, tuning=tuning) == pytest.approx(factor, rel=1e-10)
    assert heat_once(xi, VELOCITY, time) == pytest.approx(1.0, rel=1e-10)


def test_tuning_counts_no_more_than_four_of_the_excess_temperature():
    hot = [10 * v for v in VELOCITY]
    excess = sum(np.sum(v**2) for v in hot) / (1 + 2 * 2 + 3) - 1
    assert excess > 4
    assert heat_once(8.0, hot, 0.01, tuning=1.0) == pytest.approx(16.0 * 4 / excess)
    assert heat_once(8.0, hot, 0.01, tuning=0.0) == pytest.approx(1.0)
