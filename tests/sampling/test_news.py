#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What a chain says of its rows when its tuning phase ends."""

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

ROWS = np.random.default_rng(1).normal(1.0, 1.0, 1_000)


def model_of(batch):
    with pm.Model() as model:
        mean = pm.Normal("mean", 0.0, 10.0)
        scale = pm.HalfNormal("scale", 5.0)
        pm.Normal("x", mean, scale, observed=batch, total_size=len(ROWS))
    return model


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize("reduction", ["control_variates", None])
def test_noise_that_sums_to_zero_is_named(replacement, reduction, caplog):
    caplog.set_level("INFO")
    with model_of(pm.Minibatch(ROWS, batch_size=20)):
        step = pmg.SGNHT(replacement=replacement, variance_reduction=reduction)
        pmg.sample(60, tune=60, chains=1, step=step, random_seed=1, progressbar=False)
    assert "tuned itself" in caplog.text
    wrong = "Rows are taken without replacement" in caplog.text
    assert wrong is (not replacement and reduction is None)
