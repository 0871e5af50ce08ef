#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The distribution that the page on extending adds is sampled right, by draws and by steps."""

from pathlib import Path

import numpy as np
import pymc as pm

from time_of_day import DAY, TimeOfDay

import pymc_geodesic as pmg

FOLDER = Path(__file__).parents[2] / "examples" / "extending"
MU, RHO, N = 23.0, 0.4, 20_000


def assert_right(hours):
    """The mean cosine of independent hours is rho, within five standard errors."""
    assert np.all((hours >= 0) & (hours <= DAY))
    cosines = np.cos(2 * np.pi / DAY * (hours - MU))
    assert abs(cosines.mean() - RHO) < 5 * cosines.std() / np.sqrt(N)


def test_hours_are_right_by_draws_and_by_steps():
    assert_right(pm.draw(TimeOfDay.dist(MU, RHO), draws=N, random_seed=1))
    with pm.Model() as model:
        TimeOfDay("hour", MU, RHO, shape=N)
        step = pmg.SGGMC(step_size=0.5, friction=0.5, n_steps=100)
    step.setup_chain(np.random.default_rng(1), 0, 1)
    point, _ = step.step(model.initial_point())
    assert_right(next(iter(point.values())))


def test_each_is_one_short_file():
    for path in FOLDER.glob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) < 120, path.name
