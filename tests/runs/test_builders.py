#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Objects that build a PyMC model are sampled as they are, and their methods work afterwards."""

import numpy as np
import pymc as pm
import pytest
import xarray as xr

import pymc_geodesic as pmg

from pymc_geodesic.stages import log

# Bambi asks pandas for columns of strings in a way that pandas is going to change.
pytestmark = pytest.mark.filterwarnings("ignore:For backward compatibility")

N = 4_000
SHORT = {"tune": 10, "draws": 20, "chains": 2, "random_seed": 1, "progressbar": False}


class Builder:
    """What PyMC-Marketing's objects have."""

    def __init__(self):
        self.data = xr.Dataset({"spent": ("customer", np.linspace(-1, 1, N))})

    def build_model(self):
        with pm.Model() as self.model:
            pm.Normal("y", pm.Normal("mean"), 1.0, observed=self.data["spent"].values)

    def create_fit_data_group(self):
        return self.data

    def set_idata_attrs(self, idata):
        idata.attrs = {"model_type": "of a test"}
        return idata


def test_a_builder_holds_its_result():
    builder = Builder()
    with pytest.raises(TypeError, match=r"expected a `pm.Model`, got .*Builder"):
        pmg.sample(model=builder, **SHORT)
    builder.build_model()
    assert len(pmg.minibatch(builder).free_RVs) == 1
    idata = pmg.sample(model=builder, **SHORT)
    assert builder.idata is idata
    assert builder.is_fitted_
    assert idata.attrs["model_type"] == "of a test"
    assert idata["fit_data"]["spent"].size == N
    assert pmg.diagnose(idata, model=builder) is not None


def test_draws_are_returned_if_a_builder_cannot_complete_them(monkeypatch):
    builder, said = Builder(), []
    builder.build_model()
    builder.create_fit_data_group = lambda: 1 / 0
    monkeypatch.setattr(log, "warning", said.append)
    assert pmg.sample(model=builder, **SHORT).posterior["mean"].shape == (2, 20)
    assert any("could not complete it: ZeroDivisionError" in str(text) for text in said)


@pytest.fixture(scope="module")
def regression():
    """A model of Bambi, its data, and its result."""
    bmb, pd = pytest.importorskip("bambi"), pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"x": rng.normal(3.0, 1.0, N), "g": rng.choice(list("abcd"), N)})
    data["y"] = 1.0 - 0.5 * data["x"] + rng.standard_normal(N)
    model = bmb.Model("y ~ x", data)
    said = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log, "info", said.append)
        idata = pmg.sample(model=model, random_seed=1, progressbar=False)
    return model, data, idata, said


def test_the_intercept_is_that_of_the_formula(regression):
    _, data, idata, _ = regression
    design = np.stack([np.ones(N), data["x"]], axis=1)
    covariance = np.linalg.inv(design.T @ design)
    mean, sd = covariance @ design.T @ data["y"], np.sqrt(np.diag(covariance))
    draws = np.stack([idata.posterior[name].values.ravel() for name in ("Intercept", "x")])
    assert np.all(np.abs(draws.mean(1) - mean) < 0.25 * sd)
    np.testing.assert_allclose(draws.std(1), sd, rtol=0.25)


def test_what_bambi_leaves_out_is_left_out_and_not_spoken_of(regression):
    model, _, idata, said = regression
    assert set(idata.posterior.data_vars) == {"Intercept", "x", "sigma"}
    assert model.backend.fit
    assert idata.posterior.attrs["modeling_interface"] == "bambi"
    assert not any("`mu`" in text for text in said)


def test_bambi_predicts_from_the_result(regression):
    model, data, idata, _ = regression
    new = data.head(3)
    predicted = model.predict(idata, data=new, kind="response", inplace=False)
    mu = idata.posterior["Intercept"] + idata.posterior["x"] * new["x"].to_xarray()
    np.testing.assert_allclose(predicted.posterior["mu"], mu)
    assert predicted.posterior_predictive["y"].shape == (4, 1000, 3)


def test_what_bambi_has_changed_is_not_compared_with_the_model(regression):
    model, _, idata, _ = regression
    with pytest.raises(ValueError, match="got a result of Bambi"):
        pmg.diagnose(idata, model=model)


def test_offsets_of_groups_are_left_out(regression):
    bmb = pytest.importorskip("bambi")
    model = bmb.Model("y ~ x + (1|g)", regression[1])
    idata = pmg.sample(model=model, **SHORT)
    assert set(idata.posterior.data_vars) == {"Intercept", "x", "sigma", "1|g", "1|g_sigma"}
    assert idata.posterior["1|g"].dims == ("chain", "draw", "g__factor_dim")
