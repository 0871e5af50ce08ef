#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The model of some rows and that of all others have the terms of all rows together."""

import numpy as np
import pymc as pm
import pytest

from written_groups_and_missing import two_likelihoods_other_rows
from written_latent_variables import gp_marginal, latent_of_each_row
from written_likelihoods import censored_normal, multinomial_rows
from written_regressions import linear_data_dims, many_outcomes_matrix, sparse_design

from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.rows import DependentRowsError
from pymc_geodesic.rows.subset import subset


def densities(model, point):
    """The log density, and what of it is of rows."""
    rows = [x for x in [*model.observed_RVs, *model.potentials] if x.name != "small"]
    outputs = [model.logp(), *(x.sum() for x in model.logp(vars=rows, sum=False))]
    found = Interpreted(model.value_vars, outputs)(*(point[x.name] for x in model.value_vars))
    return found[0], sum(found[1:])


@pytest.mark.parametrize(
    "make",
    [
        linear_data_dims,
        many_outcomes_matrix,
        sparse_design,
        censored_normal,
        multinomial_rows,
        latent_of_each_row,
    ],
)
def test_parts_add_up_to_the_whole(make):
    model = make()
    rng = np.random.default_rng(1)
    point = {
        name: np.asarray(x + 0.1 * rng.normal(size=np.shape(x)))
        for name, x in model.initial_point().items()
    }
    n = max(len(model.rvs_to_values[rv].eval()) for rv in model.observed_RVs)
    chosen = rng.random(n) < 0.3
    some, others = subset(model, np.flatnonzero(chosen)), subset(model, ~chosen)
    assert {x.name for x in some.free_RVs} == {x.name for x in model.free_RVs}
    whole, of_rows = densities(model, point)
    parts = [densities(one, point) for one in (some, others)]
    priors = {whole - of_rows, *(a - b for a, b in parts)}
    np.testing.assert_allclose(sorted(priors), whole - of_rows, rtol=1e-9)
    assert sum(b for _, b in parts) == pytest.approx(of_rows, rel=1e-9)


def test_other_lengths_stay_whole():
    model = two_likelihoods_other_rows()
    few = subset(model, [0, 5])
    sizes = {rv.name: len(few.rvs_to_values[rv].eval()) for rv in few.observed_RVs}
    assert sizes == {"y": 2, "z": 36, "small": 3}


def test_rows_that_depend_on_each_other_are_refused():
    with pytest.raises(DependentRowsError):
        subset(gp_marginal(), [0, 1])


def test_a_row_must_exist():
    with pm.Model() as model:
        pm.Normal("y", pm.Normal("mean"), 1.0, observed=np.zeros(10))
    with pytest.raises(IndexError):
        subset(model, [10])
