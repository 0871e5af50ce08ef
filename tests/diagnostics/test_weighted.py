#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Summaries weighted by step size, against computation by hand."""

import arviz as az
import numpy as np
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.run_record import ATTRIBUTE, write_record

RNG = np.random.default_rng(1)
X = RNG.normal(size=(2, 5))
P = RNG.dirichlet(np.ones(3), size=(2, 5))
STEP_SIZES = np.array([[0.5, 0.4, 0.3, 0.2, 0.1], [0.4, 0.3, 0.2, 0.1, 0.05]])


def draws(step_sizes, **posterior):
    return az.from_dict({"posterior": posterior, "sample_stats": {"step_size": step_sizes}})


def test_means_and_deviations():
    found = pmg.weighted(draws(STEP_SIZES, x=X, p=P))
    weights = STEP_SIZES / STEP_SIZES.sum()
    mean = (weights * X).sum()
    assert float(found["x"].sel(statistic="mean")) == pytest.approx(mean, rel=1e-12)
    sd = np.sqrt((weights * (X - mean) ** 2).sum())
    assert float(found["x"].sel(statistic="sd")) == pytest.approx(sd, rel=1e-12)
    np.testing.assert_allclose(
        found["p"].sel(statistic="mean"), (weights[..., None] * P).sum(axis=(0, 1)), rtol=1e-12
    )
    assert found["p"].dims[0] == "statistic"
    assert list(found["statistic"].values) == ["mean", "sd", "q5.5", "q50", "q94.5"]


def test_equal_weights_are_ordinary_summaries():
    found = pmg.weighted(draws(np.full((2, 5), 0.1), x=X), quantiles=(0.25, 0.5))["x"]
    assert float(found.sel(statistic="mean")) == pytest.approx(X.mean())
    assert float(found.sel(statistic="sd")) == pytest.approx(X.std())
    assert float(found.sel(statistic="q50")) == pytest.approx(np.median(X))
    assert float(found.sel(statistic="q25")) == pytest.approx(np.quantile(X, 0.25))


def test_weight_pulls_the_median():
    """With nearly all the weight on one draw every quantile is that draw."""
    weights = np.full((2, 5), 1e-9)
    weights[1, 3] = 1.0
    found = pmg.weighted(draws(weights, x=X))["x"]
    np.testing.assert_allclose(found.sel(statistic=["mean", "q50"]), X[1, 3], rtol=1e-6)


def test_choice_of_variables():
    found = pmg.weighted(draws(STEP_SIZES, x=X, p=P), var_names=["x"], quantiles=())
    assert list(found.data_vars) == ["x"]
    assert found["x"].shape == (2,)


def test_without_step_sizes():
    idata = az.from_dict({"posterior": {"x": X}, "sample_stats": {"lp": X}})
    with pytest.raises(ValueError, match=r"expected a `step_size`.*got \['lp'\]"):
        pmg.weighted(idata)


def test_angles_across_the_seam():
    x = np.angle(np.exp(1j * (np.pi + 0.1 * X)))
    idata = draws(STEP_SIZES, x=x)
    record = write_record("gSGNHT", {}, {"x": "Circle"})
    idata["sample_stats"].attrs[ATTRIBUTE] = record
    weights = STEP_SIZES / STEP_SIZES.sum()
    found = pmg.weighted(idata)["x"]
    expected = np.pi + 0.1 * (weights * X).sum()
    off = float(found.sel(statistic="mean")) - expected
    assert abs(np.angle(np.exp(1j * off))) < 1e-12
    sd = 0.1 * np.sqrt((weights * (X - (weights * X).sum()) ** 2).sum())
    assert float(found.sel(statistic="sd")) == pytest.approx(sd, rel=1e-10)
