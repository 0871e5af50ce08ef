#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A run integrates variables of rows out, says so, and their entries can be drawn afterwards."""

import shutil

import numpy as np
import pymc as pm
import pymc.dims as dims
import pytest
import xarray as xr

import pymc_geodesic as pmg

from pymc_geodesic.monte_carlo import mcse
from pymc_geodesic.runs import choose_step
from pymc_geodesic.stages import log

N, BATCH_SIZE = 2_000, 100
SPREAD, NOISE = 0.8, 0.5
SHORT = {"tune": 20, "draws": 20, "chains": 2, "random_seed": 1, "progressbar": False}
# A transition of finite length leaves means right, and sds to a few per cent.
BIAS = 0.03


def measured_twice():
    """Two measurements of each row, with a Gaussian effect of the row."""
    rng = np.random.default_rng(1)
    y = 1.0 + rng.normal(0, SPREAD, (N, 1)) + rng.normal(0, NOISE, (N, 2))
    with pm.Model(coords={"row": np.arange(N) + 10}) as model:
        mean = pm.Normal("mean", 0.0, 10.0)
        effect = pm.Normal("effect", 0.0, SPREAD, dims="row")
        pm.Deterministic("total", mean + effect, dims="row")
        for i in range(2):
            pm.Normal(f"y{i}", mean + effect, NOISE, observed=y[:, i], dims="row")
    return model, y


@pytest.fixture(scope="module")
def run():
    model, y = measured_twice()
    said = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log, "info", said.append)
        idata = pmg.sample(
            model=model, batch_size=BATCH_SIZE, random_seed=1, chains=2, progressbar=False
        )
    return model, y, idata, said


def test_the_posterior_is_right_and_lacks_what_is_integrated_out(run):
    model, y, idata, said = run
    assert [*idata.posterior.data_vars] == ["mean"]
    variance = SPREAD**2 + NOISE**2 / 2
    sd = 1 / np.sqrt(N / variance + 0.01)
    draws = idata.posterior["mean"].values
    error = np.hypot(mcse(draws) / sd, BIAS)
    assert abs(draws.mean() - sd**2 * N / variance * y.mean()) / sd < 4 * error
    assert abs(draws.std() / sd - 1) < 4 * 1.4 * error
    [sentence] = [text for text in said if "integrated out" in text]
    assert sentence.startswith("`effect` is integrated out, row by row.")
    assert "The result does not have `effect`, `total`." in sentence
    assert not pmg.diagnose(idata, model=model).findings


def test_entries_are_drawn_afterwards(run):
    model, y, idata, _ = run
    few = [11, 10, 500]
    found = pmg.local_posterior(idata, {"effect": few}, model=model, thin=2, random_seed=1)
    effect = found.posterior["effect"]
    assert effect.dims == ("chain", "draw", "row")
    assert effect["row"].values.tolist() == few
    mean = idata.posterior["mean"].isel(draw=slice(None, None, 2)).values
    variance = 1 / (1 / SPREAD**2 + 2 / NOISE**2)
    rest = y[np.array(few) - 10].sum(axis=1) - 2 * mean[..., None]
    z = (effect.values - variance / NOISE**2 * rest) / np.sqrt(variance)
    n = z[..., 0].size
    assert np.abs(z.mean(axis=(0, 1))).max() < 4.5 / np.sqrt(n)
    assert np.abs(z.std(axis=(0, 1)) - 1).max() < 4.5 / np.sqrt(2 * n)
    with pytest.raises(ValueError, match=r"expected entries of `effect`, got 1 .* such as 5"):
        pmg.local_posterior(idata, {"effect": [5]}, model=model)
    with pytest.raises(ValueError, match=r"integrated out, which are \['effect'\], got `mean`"):
        pmg.local_posterior(idata, {"mean": [0]}, model=model)
    with pytest.raises(ValueError, match=r"expected a free variable, .* got `total`"):
        pmg.local_posterior(idata, {"total": [10]}, model=model)


@pytest.mark.filterwarnings("ignore:`effect` expected fewer entries than rows")
def test_named_variables_are_sampled():
    model, _ = measured_twice()
    options = SHORT | {"batch_size": BATCH_SIZE, "compute_convergence_checks": False}
    idata = pmg.sample(model=model, var_names=["mean", "total"], **options)
    assert idata.posterior["total"].sizes["row"] == N
    idata = pmg.sample(model=model, keep={"effect": "mean"}, **options)
    assert idata["running/mean"]["effect"].dims == ("chain", "row")


def test_a_run_is_continued_without_them(tmp_path):
    pytest.importorskip("zarr")
    model, _ = measured_twice()
    short = SHORT | {"batch_size": BATCH_SIZE, "compute_convergence_checks": False}
    expected = pmg.sample(model=model, **short)
    pmg.sample(model=model, checkpoint=tmp_path / "run", **(short | {"draws": 8}))
    shutil.copytree(tmp_path / "run", tmp_path / "copy")
    found = pmg.resume(tmp_path / "run", model=model, draws=20, progressbar=False)
    np.testing.assert_array_equal(found.posterior["mean"], expected.posterior["mean"])
    assert [*found.posterior.data_vars] == ["mean"]


def test_entries_of_a_model_with_named_dimensions():
    y = np.random.default_rng(2).normal(1.0, 1.0, N)
    with pm.Model(coords={"row": np.arange(N) + 10}) as model:
        mean = dims.Normal("mean", 0.0, 10.0)
        effect = dims.Normal("effect", mean, SPREAD, dims="row")
        dims.Normal("y", effect, NOISE, observed=dims.as_xtensor(y, dims=("row",)))
    draws = {"mean": (("chain", "draw"), np.ones((2, 200)))}
    idata = xr.DataTree.from_dict({"posterior": xr.Dataset(draws)})
    found = pmg.local_posterior(idata, {"effect": [10, 15]}, model=model, random_seed=1)
    variance = 1 / (1 / SPREAD**2 + 1 / NOISE**2)
    exact = variance * (1.0 / SPREAD**2 + y[[0, 5]] / NOISE**2)
    z = (found.posterior["effect"].mean(("chain", "draw")).values - exact) / np.sqrt(variance / 400)
    assert np.abs(z).max() < 5


def test_draws_survive_the_failure_of_the_check_of_quadrature(monkeypatch, caplog):
    def failing(*arguments):
        raise ZeroDivisionError

    monkeypatch.setattr(choose_step, "error_of_quadrature", failing)
    idata = pmg.sample(model=measured_twice()[0], batch_size=BATCH_SIZE, **SHORT)
    assert idata.posterior.sizes["draw"] == 20
    assert "The draws were not checked, because the checks failed: ZeroDivisionError" in caplog.text
