#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A variable of the rows that is not named in ``local`` is noticed, and no other one is."""

import warnings

import numpy as np
import pymc as pm
import pytest
import scipy.sparse as sp

from local_models import proportions, random_effects
from pymc.distributions.transforms import ordered

import pymc_geodesic as pmg

from pymc_geodesic.potential import Potential
from pymc_geodesic.potential.total_size import warn_of_row_variables

N = 12
RNG = np.random.default_rng(3)
DESIGN, OUTCOME = RNG.normal(size=(300, N)), RNG.normal(size=300)
START = np.arange(float(N))
GROUPS = RNG.integers(0, N, 300).astype("int32")


def look_at(model):
    """Look at all variables of a model, as a step does that was told of no local ones."""
    potential = Potential(model, model.value_vars, initial_point=model.initial_point())
    warn_of_row_variables(model, potential.variables)


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


def components():
    """As many components of a mixture as a batch has rows."""
    with pm.Model() as model:
        y = pm.Minibatch(OUTCOME, batch_size=N)
        means = pm.Normal("means", np.arange(N), 1.0, shape=N, transform=ordered, initval=START)
        weights = pm.Dirichlet("weights", np.ones(N))
        pm.NormalMixture("y", weights, means, 1.0, observed=y, total_size=300)
    return model


def topics():
    """As many topics as a batch has documents."""
    counts = sp.csr_array(1.0 + RNG.poisson(0.5, size=(40, 15)))
    with pm.Model() as model:
        documents = pm.Minibatch(pmg.BagOfWords(counts), batch_size=N)
        topics = pmg.SymmetricDirichlet("topics", 0.8, shape=(N, 15))
        pmg.LatentDirichletAllocation("w", topics, 0.1, observed=documents, total_size=40)
    return model


def test_random_effects_of_a_batch_are_noticed():
    with pytest.warns(UserWarning, match=r"`effect` has an entry for each of the 10 rows"):
        look_at(random_effects(10))


def test_proportions_of_a_batch_are_noticed():
    with pytest.warns(UserWarning, match=r"LocalGMC\(\[theta\]\)"):
        pmg.gSGNHT(model=proportions(10), step_size=1e-3)


@pytest.mark.parametrize("build", [coefficients, groups, components, topics])
def test_variables_that_rows_share_are_not(build):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        look_at(build())


def test_those_that_are_named_are_not():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        local = pmg.LocalGMC("effect")
        pmg.SGNHT(model=random_effects(10), local=local, step_size=1e-3)
