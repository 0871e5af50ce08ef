#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Kept draws whose velocities were too hot are told from those that were hot by chance."""

import logging

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.tuning.velocity_balance import VelocityHeat


def found(temperatures):
    heat = VelocityHeat(["x", "y"], draws=len(temperatures))
    return [heat.observe(row) for row in temperatures]


def test_the_hottest_variable_is_named_after_the_last_draw():
    draws = np.random.default_rng(1).chisquare(4, (400, 2)) / 4 * [1.0, 1.5]
    *before, last = found(draws)
    assert set(before) == {None}
    assert "`y`" in last
    assert float(last.split()[-1]) == pytest.approx(draws[:, 1].mean(), rel=0.01)


@pytest.mark.parametrize("freedom", [1, 4, 100])
def test_chance_is_not_called_hot(freedom):
    rng = np.random.default_rng(1)
    for n_draws in (100, 130, 1000):
        for _ in range(300):
            # Of one transition each, the widest that a draw can have.
            assert found(rng.chisquare(freedom, (n_draws, 2)) / freedom)[-1] is None


def test_few_draws_and_draws_without_velocities_say_nothing():
    assert found(np.full((50, 2), 9.0))[-1] is None
    assert found(np.zeros((200, 0)))[-1] is None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("sample", [pm.sample, pmg.sample])
def test_a_step_that_is_too_hot_says_so(sample, caplog):
    rng = np.random.default_rng(1)
    with caplog.at_level(logging.WARNING, logger="pymc"), pm.Model():
        mu = pm.Normal("mu", shape=20)
        batch = pm.Minibatch(rng.standard_normal((1_000, 20)), batch_size=100)
        pm.Normal("y", mu, 1.0, observed=batch, total_size=1_000)
        options = {"tune": 50, "chains": 1, "progressbar": False, "random_seed": 1}
        # The noise has variance 1e4, and heats the velocities by 5 / friction.
        for friction, is_hot in ((100.0, False), (5.0, True)):
            caplog.clear()
            sample(400, step=pmg.SGGMC(step_size=1e-3, friction=friction, n_steps=20), **options)
            assert ("velocities of `mu` had temperature" in caplog.text) == is_hot
