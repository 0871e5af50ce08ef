#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Log densities of rows at draws, beside their formulas."""

import warnings

import arviz as az
import numpy as np
import pymc as pm
import pytest

from scipy import stats

from pymc_geodesic.rows import DependentRowsError
from pymc_geodesic.runs.row_densities import RowDensities

N = 600
RNG = np.random.default_rng(1)
X = RNG.standard_normal(N)
Y = 1.0 + X + RNG.standard_normal(N)
IS_MISSING = RNG.random(N) < 0.1
DRAWS = az.from_dict({"posterior": {name: RNG.standard_normal((1, 3)) for name in "ab"}})


def densities_of(model, name):
    densities = RowDensities(model, name)
    points = densities.points.of(DRAWS)
    draws = [[x[0, i] for x in points] for i in range(3)]
    return densities, draws


@pytest.fixture(scope="module")
def with_missing():
    with warnings.catch_warnings(), pm.Model() as model:
        warnings.simplefilter("ignore")
        a, b = pm.Normal("a"), pm.Normal("b")
        x = pm.Normal("x", 0.5, 2.0, observed=np.where(IS_MISSING, np.nan, X))
        pm.Normal("y", a + b * x, 1.5, observed=Y)
    return model


def test_rows_with_an_entry_of_their_own_are_integrated(with_missing):
    densities, draws = densities_of(with_missing, "y")
    a, b = (DRAWS.posterior[name].values[0][:, None] for name in "ab")
    given = stats.norm(a + b * X, 1.5).logpdf(Y)
    integrated = stats.norm(a + b * 0.5, np.sqrt(1.5**2 + 4 * b**2)).logpdf(Y)
    expected = np.where(IS_MISSING, integrated, given)
    chosen = np.array([5, *np.flatnonzero(IS_MISSING)[:4], N - 1])
    np.testing.assert_allclose(densities.of_rows(draws, chosen), expected[:, chosen], rtol=1e-5)
    np.testing.assert_allclose(densities.of_all_rows(draws[1]), expected[1], rtol=1e-5)


def test_one_of_several_variables_is_named(with_missing):
    with pytest.raises(ValueError, match="which are `y`, `x_observed`; got None"):
        RowDensities(with_missing, None)


@pytest.mark.parametrize("n", [50, N])
def test_entries_of_a_row_count_once(n):
    both = np.column_stack([X, Y])[:n]
    with pm.Model() as model:
        a = pm.Normal("a")
        pm.Normal("xy", a, 1.5, observed=both)
    densities, draws = densities_of(model, None)
    expected = stats.norm(DRAWS.posterior["a"].values[0, 2], 1.5).logpdf(both).sum(axis=1)
    assert densities.n_rows == n
    np.testing.assert_allclose(densities.of_all_rows(draws[2]), expected)


def test_rows_that_depend_on_each_other_are_refused():
    with pm.Model() as model:
        a = pm.Normal("a")
        pm.MvNormal("y", a * np.ones(50), np.eye(50) + 0.5, observed=Y[:50])
    with pytest.raises(DependentRowsError, match="one number for all of them"):
        RowDensities(model, "y")


def test_a_part_of_the_data_is_refused():
    with pm.Model() as model:
        a = pm.Normal("a")
        pm.Normal("y", a, 1.0, observed=pm.Data("batch", Y[:50]), total_size=N)
    with pytest.raises(ValueError, match="all of its 600 rows, got 50"):
        RowDensities(model, "y")


def test_a_known_density_is_refused():
    with pm.Model() as model:
        pm.Normal("a")
        pm.Normal("y", 0.0, 1.0, observed=Y)
    with pytest.raises(ValueError, match="depends on a sampled variable"):
        RowDensities(model, "y")
