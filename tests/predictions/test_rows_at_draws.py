#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Graphs of rows at all draws, against PyMC's own functions of all rows."""

import numpy as np
import pymc as pm
import pytest

from pymc.distributions.moments import mean

import pymc_geodesic as pmg

from pymc_geodesic.predictions.rows_of_model import ModelRows, RowsAtDraws, flat_draws

N, S = 60, 40
X = np.random.default_rng(0).standard_normal(N)
GROUP = np.random.default_rng(1).integers(0, 7, N)


@pytest.fixture(scope="module")
def model():
    with pm.Model() as found:
        mu, offset = pm.Normal("mu"), pm.Normal("offset", shape=7)
        effect = pm.Deterministic("effect", mu + 2 * offset)
        slope, sigma = pm.Normal("slope"), pm.HalfNormal("sigma")
        pm.Normal("y", effect[GROUP] + slope * X, sigma, observed=X)
        parts = [pm.Normal.dist(0, 1), pm.Normal.dist(10, 1)]
        pm.Mixture("mixture", w=[0.3, 0.7], comp_dists=parts, observed=X)
        pm.ZeroInflatedPoisson("count", psi=0.5, mu=pm.math.exp(slope * X), observed=GROUP)
        east = np.tile([1.0, 0.0, 0.0], (N, 1))
        pmg.VonMisesFisher("direction", mu=east[0], kappa=5.0, observed=east)
    return found


@pytest.fixture(scope="module")
def draws(model):
    return pm.sample_prior_predictive(S, model=model, random_seed=1)["prior"].to_dataset()


@pytest.fixture(scope="module")
def flat(model, draws):
    return flat_draws(draws, model.free_RVs)


NAMES = "y", "mixture", "count", "direction"


def test_means_of_rows(model, flat):
    rows = (found := ModelRows(model)).rows(N)
    [y] = RowsAtDraws(rows, [mean(found.drawn("y", rows))], flat)(slice(3, 30))
    effect = (flat["mu"][:, None] + 2 * flat["offset"])[:, GROUP]
    expected = effect + flat["slope"][:, None] * X
    np.testing.assert_allclose(y, expected[:, 3:30], rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_each_row_is_drawn_anew_for_each_draw(model, flat, name):
    rows = (found := ModelRows(model)).rows(N)
    rng = np.random.default_rng(2)
    function = RowsAtDraws(rows, [found.drawn(name, rows)], flat, rng=rng)
    [first], [second] = function(slice(None)), function(slice(None))
    assert first.shape[:2] == (S, N)
    if name == "count":
        assert np.mean(first == second) < 0.9
    else:
        assert len(np.unique(first[..., 0] if first.ndim > 2 else first)) == S * N
        assert not np.any(first == second)
    if name == "mixture":
        # 70 per cent are near ten, with a standard error of .01.
        assert abs(np.mean(first > 5) - 0.7) < 0.05
