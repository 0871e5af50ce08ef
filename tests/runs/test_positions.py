#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A run whose positions are too wide says so, and others do not."""

import logging

import arviz as az
import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.runs.positions import warnings_of_positions

SAID = "These draws do not follow the posterior"


def finished(dims=(4, 400), **temperatures):
    rng = np.random.default_rng(1)
    stats = {
        f"configurational_temperature_{name}": mean + rng.standard_normal(dims)
        for name, mean in temperatures.items()
    }
    return az.from_dict({"posterior": {"x": rng.normal(size=(4, 400))}, "sample_stats": stats})


@pytest.mark.parametrize(("mean", "is_wrong"), [(1.1, False), (1.5, True), (0.5, True)])
def test_variables_that_are_off_are_named(mean, is_wrong):
    found = warnings_of_positions(finished(x=mean, y=1.0))
    assert len(found) == is_wrong
    for warning in found:
        assert f"{mean:.1f}"[:2] in warning.message
        assert "for `x`" in warning.message
        assert "`y`" not in warning.message


def test_runs_of_several_steps_or_none_say_nothing():
    assert warnings_of_positions(finished(dims=(4, 400, 2), x=2.0)) == []
    only_draws = az.from_dict({"posterior": {"x": np.zeros((2, 50))}})
    assert warnings_of_positions(only_draws) == []


@pytest.mark.filterwarnings("ignore")
def test_sample_says_that_friction_is_too_small(caplog):
    rng = np.random.default_rng(1)
    options = {"tune": 100, "chains": 2, "progressbar": False, "random_seed": 1}
    options["refine"] = False
    with caplog.at_level(logging.WARNING, logger="pymc"), pm.Model():
        mu = pm.Normal("mu", shape=20)
        batch = pm.Minibatch(rng.standard_normal((1_000, 20)), batch_size=100)
        pm.Normal("y", mu, 1.0, observed=batch, total_size=1_000)
        # The noise has variance 1e4, and heats by 5 / friction at this step.
        for friction, checked, said in (
            (200.0, True, False),
            (5.0, True, True),
            (5.0, False, False),
        ):
            caplog.clear()
            step = pmg.SGGMC(step_size=1e-3, friction=friction, n_steps=20)
            pmg.sample(300, step=step, compute_convergence_checks=checked, **options)
            assert (SAID in caplog.text) == said
