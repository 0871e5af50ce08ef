#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Step-size schedules: their values, their answers to bad input, and what a run records."""

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.schedules import as_schedule

T = np.array([0, 1, 7, 100, 100_000])


def test_polynomial():
    found = pmg.PolynomialSchedule(0.3, 50, 0.6)(T)
    np.testing.assert_allclose(found, [0.3 * (1 + t / 50) ** -0.6 for t in T], rtol=1e-14)
    assert (np.diff(found) < 0).all()


def test_constant():
    np.testing.assert_array_equal(pmg.ConstantSchedule(0.02)(T), np.full(5, 0.02))


def test_cyclical():
    """Starts again every period, halves in its middle, and never falls below a hundredth."""
    schedule = pmg.CyclicalSchedule(0.4, 20)
    np.testing.assert_allclose(schedule(np.array([0, 10, 20, 40, 50])), [0.4, 0.2, 0.4, 0.4, 0.2])
    cycle = schedule(np.arange(20))
    assert (np.diff(cycle) <= 0).all()
    assert cycle[5] == pytest.approx(0.2 * (np.cos(np.pi / 4) + 1))
    assert pmg.CyclicalSchedule(0.4, 1000)(np.array(999)) == pytest.approx(0.004)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: pmg.PolynomialSchedule(-0.1, 10, 0.5), "`a` expected a positive"),
        (lambda: pmg.PolynomialSchedule(0.1, -10, 0.5), "`b` expected a positive"),
        (lambda: pmg.PolynomialSchedule(0.1, 10, -0.5), "`c` expected a positive.*-0.5"),
        (lambda: pmg.PolynomialSchedule(0.1, 10, 0), "`c` expected a positive"),
        (lambda: pmg.PolynomialSchedule(np.inf, 10, 0.5), "`a` expected a positive, finite"),
        (lambda: pmg.ConstantSchedule(0), "`step_size` expected a positive"),
        (lambda: pmg.CyclicalSchedule(-1, 10), "`step_size` expected a positive"),
        (lambda: pmg.CyclicalSchedule(1, 2.5), "`period` expected a whole number"),
        (lambda: as_schedule(lambda t: -0.1 * np.ones(np.shape(t))), "`step_size` expected"),
        (lambda: as_schedule(lambda t: 0.1 - 0.01 * t), "`step_size` expected a positive"),
    ],
)
def test_bad_schedules(build, message):
    """An increasing schedule is one with a negative exponent; a function may not reach zero."""
    with pytest.raises(ValueError, match=message):
        build()


def test_functions_are_schedules():
    np.testing.assert_allclose(as_schedule(lambda t: 1 / (10.0 + t))(T), 1 / (10.0 + T))


def test_step_size_statistic_decreases():
    """The step size of a draw's last transition, counted over all transitions of the chain."""
    schedule = pmg.PolynomialSchedule(0.05, 10, 0.7)
    with pm.Model():
        pm.Dirichlet("p", [2.0, 3.0, 4.0])
        idata = pm.sample(
            draws=8,
            tune=2,
            chains=2,
            cores=1,
            step=pmg.SGRLD(step_size=schedule, n_steps=3),
            random_seed=1,
            progressbar=False,
            quiet=True,
            compute_convergence_checks=False,
        )
    expected = schedule(3 * np.arange(2, 10) + 2)
    found = idata["sample_stats"]["step_size"].values
    np.testing.assert_allclose(found, np.tile(expected, (2, 1)), rtol=1e-12)
    means = pmg.weighted(idata)["p"].sel(statistic="mean").values
    assert means.shape == (3,)
    weights = found[..., None] / found.sum()
    np.testing.assert_allclose(
        means, (weights * idata["posterior"]["p"].values).sum(axis=(0, 1)), rtol=1e-12
    )


def test_a_schedule_that_only_increases_is_refused():
    with pytest.raises(ValueError, match=r"got one that only increases, from 0\.1 to"):
        as_schedule(lambda t: 0.1 * (1 + t / 1000) ** 0.5)
    with pytest.raises(ValueError, match="`step_size` expected a positive"):
        as_schedule(lambda t: 0.1 - 1e-4 * t)


def test_a_schedule_that_starts_again_is_taken():
    schedule = pmg.CyclicalSchedule(0.1, 50)
    assert as_schedule(schedule) is schedule
