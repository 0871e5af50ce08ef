#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A variable of the rows that is not named in ``local`` is noticed, and no other one is."""

import warnings

import numpy as np
import pymc as pm
import pytest

from local_models import proportions, random_effects

import pymc_geodesic as pmg

N = 12
RNG = np.random.default_rng(3)
DESIGN, OUTCOME = RNG.normal(size=(300, N)), RNG.normal(size=300)
GROUPS = RNG.integers(0, N, 300).astype("int32")


def coefficients():
    """As many coefficients as a batch has rows."""
    with pm.Model() as model:
        x, y = pm.Minibatch(DESIGN, OUTCOME, batch_size=N)
        beta = pm.Normal("beta", shape=N)
        pm.Normal("y", x @ beta, 1.0, observed=y, total_size=300)
    return model


def groups():
    """As many groups as a batch has rows."""
    with pm.Model() as model:
        group, y = pm.Minibatch(GROUPS, OUTCOME, batch_size=N)
        effect = pm.Normal("effect", shape=N)
        pm.Normal("y", effect[group], 1.0, observed=y, total_size=300)
    return model


def test_random_effects_of_a_batch_are_noticed():
    with pytest.warns(UserWarning, match=r"`effect` has an entry for each of the 10 rows"):
        pmg.SGNHT(model=random_effects(10), step_size=1e-3, backend="jax")


def test_proportions_of_a_batch_are_noticed():
    with pytest.warns(UserWarning, match=r"LocalGMC\(\[theta\]\)"):
        pmg.gSGNHT(model=proportions(10), step_size=1e-3, backend="jax")


@pytest.mark.parametrize("build", [coefficients, groups])
def test_variables_that_rows_share_are_not(build):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pmg.SGNHT(model=build(), step_size=1e-3, backend="jax")


def test_those_that_are_named_are_not():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        local = pmg.LocalGMC("effect")
        pmg.SGNHT(model=random_effects(10), local=local, step_size=1e-3, backend="jax")
