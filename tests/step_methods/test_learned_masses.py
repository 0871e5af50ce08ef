#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Every step with every mass that it can learn: the right widths, or a sentence that says not."""

import logging

from itertools import product

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

# Widths of a posterior whose gradient noise has variances of which the largest is a hundred times
# the smallest: batches of 10 of 200 rows.
WIDTHS, N_ROWS, BATCH = np.array([0.045, 0.13, 0.45]), 200, 10
GIVEN = {"step_size": 0.03, "n_steps": 20}
STEPS = {
    "SGHMC": (pmg.SGHMC, {**GIVEN, "friction": 10.0}),
    "SGGMC": (pmg.SGGMC, {**GIVEN, "friction": 10.0}),
    "SGNHT": (pmg.SGNHT, {**GIVEN, "diffusion": 10.0}),
    "gSGNHT": (pmg.gSGNHT, {**GIVEN, "diffusion": 10.0}),
    "SGNPHMC": (pmg.SGNPHMC, {"step_size": 0.01, "gradient_noise": "fisher"}),
    "GMC": (pmg.GMC, {"n_leapfrog": 5}),
}
KINDS = [None, "diag", "dense", "position", "dense_position"]
# What the page on masses recommends for this noise has to be right without a warning.
RIGHT = {(name, kind) for name in ("SGHMC", "SGNHT") for kind in ("diag", "dense")}
QUICK = {("SGHMC", "diag", True), ("SGNHT", "position", True), ("SGNHT", "diag", True)}


def excluded(name, kind, batches):
    """GMC has no batches; known noise excludes a dense mass, and SGNPHMC no batches."""
    is_dense = kind is not None and kind.startswith("dense")
    return (name == "GMC" and batches) or (name == "SGNPHMC" and (is_dense or not batches))


CASES = [
    pytest.param(
        *case, marks=[] if case in QUICK else [pytest.mark.slow], id=" ".join(map(str, case))
    )
    for case in product(STEPS, KINDS, (True, False))
    if not excluded(*case)
]


def ratios_of_variances(name, kind, batches):
    """Sample the mean of a normal distribution; variances over the exact ones."""
    scales, (cls, options) = WIDTHS * np.sqrt(N_ROWS), STEPS[name]
    rows = np.random.default_rng(1).normal(size=(N_ROWS, 3)) * scales
    mass = None if kind is None else pmg.MonteCarloEM(kind=kind)
    with pm.Model():
        theta = pm.Flat("theta", shape=3)
        data = pm.Minibatch(rows, batch_size=BATCH) if batches else rows
        pm.Normal("x", theta, scales, observed=data, total_size=N_ROWS if batches else None)
        idata = pm.sample(
            3_000,
            tune=6_000,
            chains=2,
            cores=1,
            step=cls(mass=mass, **options),
            initvals={"theta": rows.mean(axis=0)},
            random_seed=1,
            progressbar=False,
            compute_convergence_checks=False,
        )
    return idata.posterior["theta"].values.reshape(-1, 3).var(axis=0) / WIDTHS**2


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "kind", "batches"), CASES)
def test_widths_are_right_or_the_run_says_that_they_are_not(name, kind, batches, caplog):
    with caplog.at_level(logging.WARNING, logger="pymc"):
        found = ratios_of_variances(name, kind, batches)
    says = "had temperature" in caplog.text
    assert says or np.all((found > 0.75) & (found < 1.3))
    assert not (says and (not batches or (name, kind) in RIGHT))
