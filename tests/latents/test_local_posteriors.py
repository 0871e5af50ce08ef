#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Posteriors of global variables beside local ones, against their exact moments.

Widths are known to about one per cent: one chain has many columns that do not know of each other.
"""

import numpy as np
import pymc as pm
import pytest

from chains import assert_mean, assert_widths, batch_averages
from local_models import N_ROWS, columns_posterior, local_gmc, many_random_effects

import pymc_geodesic as pmg

pytestmark = pytest.mark.slow

# Batches leave noise that only thermostats take out: the other steps see all rows.
THERMOSTAT = {"batch_size": 100, "diffusion": 10.0, "step_size": 0.008}
FRICTION = {"friction": 40.0, "gradient_noise": None, "step_size": 0.008}
OPTIONS = {
    "SGNHT": THERMOSTAT,
    "gSGNHT": THERMOSTAT,
    "SGHMC": FRICTION,
    "SGGMC": FRICTION,
    "SGLD": {"step_size": 4e-4},
}


def scores_of(name, names, *, batch_size=N_ROWS, known_spread=True, draws=500, **options):
    """Draws ``(chain, draw, entry)`` in exact standard deviations from the exact means."""
    with many_random_effects(batch_size, known_spread=known_spread):
        step = getattr(pmg, name)(names, backend="jax", **options)
        idata = pm.sample(
            draws, tune=150, chains=2, cores=1, step=step, random_seed=2, progressbar=False
        )
    exact, scores = columns_posterior(known_spread=known_spread), []
    for key in names:
        draws_of = idata.posterior[key].values
        mean, sd = exact[key] if key in exact else exact[f"{key}_log__"]
        scores.append(((np.log(draws_of) if key == "spread" else draws_of) - mean) / sd)
    return np.concatenate(scores, axis=-1)


@pytest.mark.parametrize("name", OPTIONS)
def test_posterior_of_the_global_variable(name):
    local = local_gmc("effect", draws=4, tune=2, n_leapfrog=3)
    scores = scores_of(name, ["location"], local=local, n_steps=5, **OPTIONS[name])
    assert_mean(batch_averages(scores), 0.0)
    assert_widths(scores, known_within=0.015)


def test_random_effects_with_unknown_spread():
    scores = scores_of(
        "SGNHT",
        ["location", "spread"],
        batch_size=100,
        known_spread=False,
        local=local_gmc("effect", draws=8, tune=4, n_leapfrog=3),
        step_size=0.006,
        diffusion=10.0,
        n_steps=5,
    )
    assert_mean(batch_averages(scores), 0.0)
    assert_widths(scores, known_within=0.015)
