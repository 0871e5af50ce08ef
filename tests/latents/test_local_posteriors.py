#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The posterior of a global variable beside local ones, against its exact moments.

Widths are known to about one per cent: one chain has many columns that do not know of each other.
"""

import pymc as pm
import pytest

from chains import assert_mean, assert_widths, batch_averages
from local_models import columns_posterior, local_gmc, many_random_effects

import pymc_geodesic as pmg

pytestmark = pytest.mark.slow


def test_posterior_of_the_global_variable():
    # Batches of half of the rows leave noise that the thermostat takes out.
    with many_random_effects(batch_size=100):
        step = pmg.SGNHT(
            ["location"],
            local=local_gmc("effect", draws=4, tune=2, n_leapfrog=3),
            step_size=0.008,
            diffusion=10.0,
            n_steps=5,
        )
        idata = pm.sample(
            800, tune=300, chains=2, cores=1, step=step, random_seed=2, progressbar=False
        )
    mean, sd = columns_posterior()
    scores = (idata.posterior["location"].values - mean) / sd
    assert_mean(batch_averages(scores), 0.0)
    assert_widths(scores)
