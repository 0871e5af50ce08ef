#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Leave-one-out cross-validation from a sample of rows, beside that of all rows."""

import arviz as az
import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.diagnostics.leave_one_out import SubsampledLOO

RNG = np.random.default_rng(1)
N = 3_000
X = RNG.standard_normal((N, 2))
Y = 1.0 + X @ [0.5, -1.0] + RNG.standard_t(4, N)


def draws_of(**means_and_sds):
    rng = np.random.default_rng(2)
    return az.from_dict(
        {
            "posterior": {
                name: np.asarray(mean) + sd * rng.standard_normal((2, 250, *np.shape(mean)))
                for name, (mean, sd) in means_and_sds.items()
            }
        }
    )


def regression(*, n_columns=2, minibatch=False):
    with pm.Model() as model:
        x, y = pm.Minibatch(X, Y, batch_size=50) if minibatch else (X, Y)
        beta = pm.Normal("beta", 0.0, 10.0, shape=n_columns)
        sigma = pm.HalfNormal("sigma", 5.0)
        mu = 1.0 + x[:, :n_columns] @ beta
        pm.Normal("y", mu, sigma, observed=y, total_size=N if minibatch else None)
    return model


IDATA = draws_of(beta=([0.5, -1.0], 0.03), sigma=(1.4, 0.02))


def exact(idata, model, name="y"):
    whole = idata.copy()
    pm.compute_log_likelihood(whole, model=model, progressbar=False)
    return az.loo(whole, pointwise=True, var_name=name)


@pytest.mark.parametrize("minibatch", [False, True])
def test_a_sample_estimates_what_all_rows_give(minibatch):
    expected = exact(IDATA, regression())
    found = pmg.loo(IDATA, regression(minibatch=minibatch), rows=500)
    assert isinstance(found, SubsampledLOO)
    assert found.subsampling_se > 0
    # Five standard errors: one test in a million would fail by chance.
    assert abs(found.elpd - expected.elpd) < 5 * found.subsampling_se
    assert found.se == pytest.approx(expected.se, rel=0.2)
    assert 0 < found.p < 3 * expected.p
    sample = found.loo_subsample_observations
    np.testing.assert_allclose(found.elpd_i.values[sample], expected.elpd_i.values[sample])
    np.testing.assert_allclose(found.pareto_k.values[sample], expected.pareto_k.values[sample])
    assert 500 < np.isfinite(found.pareto_k.values).sum() <= 625
    low, high = found.interval
    assert low < found.elpd < high
    assert f"between {low:,.1f} and {high:,.1f}" in str(found)


@pytest.mark.parametrize("minibatch", [False, True])
def test_few_rows_are_exact(minibatch):
    found = pmg.loo(IDATA, regression(minibatch=minibatch), rows=N)
    expected = exact(IDATA, regression())
    assert not isinstance(found, SubsampledLOO)
    np.testing.assert_allclose(found.elpd_i, expected.elpd_i)
    assert found.elpd == pytest.approx(expected.elpd)


def test_models_are_compared_on_the_same_rows():
    worse = draws_of(beta=([0.5], 0.03), sigma=(1.7, 0.02))
    models = {"both": (IDATA, regression()), "one": (worse, regression(n_columns=1))}
    found = az.compare({name: pmg.loo(*pair) for name, pair in models.items()}, round_to="none")
    expected = az.compare({name: exact(*pair) for name, pair in models.items()}, round_to="none")
    assert list(found.index) == ["both", "one"]
    difference = found.loc["one", "elpd_diff"] - expected.loc["one", "elpd_diff"]
    assert abs(difference) < 5 * found.loc["one", "subsampling_dse"]
    assert found.loc["one", "dse"] == pytest.approx(expected.loc["one", "dse"], rel=0.3)
    assert found.loc["both", "weight"] > 0.9
