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


def scores_of(name, names, *, batch_size=N_ROWS, known_spread=True, draws=500, **options):
    """Draws ``(chain, draw, entry)`` in exact standard deviations from the exact means."""
    with many_random_effects(batch_size, known_spread=known_spread):
        step = getattr(pmg, name)(names, backend="jax", **options)
        idata = pm.sample(
            draws, tune=300, chains=2, cores=1, step=step, random_seed=2, progressbar=False
        )
    exact, scores = columns_posterior(known_spread=known_spread), []
    for key in names:
        draws_of = idata.posterior[key].values
        mean, sd = exact[key] if key in exact else exact[f"{key}_log__"]
        scores.append(((np.log(draws_of) if key == "spread" else draws_of) - mean) / sd)
    return np.concatenate(scores, axis=-1)


def test_posterior_of_the_global_variable():
    scores = scores_of(
        "SGNHT",
        ["location"],
        batch_size=100,
        draws=800,
        local=local_gmc("effect", draws=4, tune=2, n_leapfrog=3),
        step_size=0.008,
        diffusion=10.0,
        n_steps=5,
    )
    assert_mean(batch_averages(scores), 0.0)
    assert_widths(scores)


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
