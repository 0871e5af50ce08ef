#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Runs whose draws are corrected with gradients of all rows."""

import logging
import time

from importlib import import_module
from types import SimpleNamespace

import arviz_base as az
import numpy as np
import pymc as pm
import pytest

from scipy import special

import pymc_geodesic as pmg

from pymc_geodesic.runs.refined import as_drawn

N = 3_000


def regression(n=N, batch_size=50):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(n, 2))
    y = x @ [1.0, -1.0] + rng.normal(size=n)
    with pm.Model() as model:
        x_batch, y_batch = pm.Minibatch(x, y, batch_size=batch_size)
        beta = pm.Normal("beta", shape=2)
        pm.Deterministic("ratio", beta[0] / beta[1])
        pm.Normal("y", x_batch @ beta, 1.0, observed=y_batch, total_size=n)
    precision = x.T @ x + np.eye(2)
    return model, np.linalg.solve(precision, x.T @ y), np.linalg.inv(precision)


def assert_exact(posterior, mean, cov, *, tolerance):
    draws = posterior["beta"].to_numpy().reshape(-1, 2)
    sd = np.sqrt(np.diag(cov))
    assert np.all(np.abs(draws.mean(axis=0) - mean) < tolerance * sd)
    np.testing.assert_allclose(draws.std(axis=0), sd, rtol=tolerance)


@pytest.fixture(scope="module")
def hot():
    """A run with steps and a friction that leave the draws twice as wide as the posterior."""
    model, mean, cov = regression()
    said = []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())
    logger = logging.getLogger("pymc")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    with model:
        step = pmg.SGHMC(step_size=0.003, friction=30.0, n_steps=20)
        idata = pmg.sample(300, tune=300, step=step, random_seed=1, progressbar=False)
    logger.removeHandler(handler)
    logger.setLevel(level)
    return model, mean, cov, idata, said


def test_a_hot_run_is_corrected_and_says_so(hot):
    _, mean, cov, idata, said = hot
    raw = idata["raw_posterior"]["beta"].to_numpy().reshape(-1, 2)
    assert np.all(raw.std(axis=0) > 1.5 * np.sqrt(np.diag(cov)))
    assert_exact(idata["posterior"], mean, cov, tolerance=0.01)
    [sentence] = [text for text in said if text.startswith("Corrected")]
    assert "gradients of all rows at" in sentence
    assert any(text.startswith("The correction was needed: before it") for text in said)
    assert not any("follow the posterior" in text for text in said)
    assert not any(text.startswith("These draws do not follow") for text in said)


def test_deterministics_are_those_of_corrected_draws(hot):
    posterior = hot[3]["posterior"]
    beta = posterior["beta"].to_numpy()
    np.testing.assert_allclose(posterior["ratio"], beta[..., 0] / beta[..., 1])


def test_what_judges_the_sampler_sees_the_raw_draws(hot, capsys):
    model, *_, idata, _ = hot
    assert not pmg.diagnose(idata, model=model).ok
    assert not pmg.stein_check(idata, model=model).passed
    drawn = as_drawn(idata)
    np.testing.assert_array_equal(drawn["posterior"]["beta"], idata["raw_posterior"]["beta"])
    assert "refinement" not in drawn.children
    capsys.readouterr()


def test_summary_has_the_errors_of_the_correction(hot):
    idata = hot[3]
    table = pmg.summary(idata, round_to="none")
    figures = idata["refinement"]["beta"]
    np.testing.assert_allclose(table["mcse_mean"].to_numpy()[:2], figures.sel(figure="mcse_mean"))
    np.testing.assert_allclose(table["mean"].to_numpy()[:2], figures.sel(figure="mean"))
    assert np.all(figures.sel(figure="mcse_mean") < 0.01 * figures.sel(figure="sd"))
    raw = pmg.summary(idata, group="raw_posterior", round_to="none")
    assert raw["mcse_mean"].iloc[0] > 10 * table["mcse_mean"].iloc[0]


def test_corrected_draws_can_be_corrected_anew_and_stored(hot, tmp_path):
    import xarray as xr

    model, mean, cov, idata, _ = hot
    again = pmg.refine(idata, model)
    np.testing.assert_array_equal(again["raw_posterior"]["beta"], idata["raw_posterior"]["beta"])
    assert_exact(again["posterior"], mean, cov, tolerance=0.01)
    again.to_netcdf(tmp_path / "run.nc")
    with xr.open_datatree(tmp_path / "run.nc") as found:
        assert found["refinement"].attrs["rows"] == "all rows"


def test_an_entry_that_never_changes_stays_as_it_is(hot):
    model, *_, idata, _ = hot
    with model.copy() as wider:
        pm.Deterministic("effects", pm.math.stack([0.0 * wider["beta"][0], wider["beta"][1]]))
    draws = idata["raw_posterior"]["beta"].to_numpy()
    effects = draws * [0.0, 1.0]
    found = pmg.refine(az.from_dict({"posterior": {"beta": draws, "effects": effects}}), wider)
    figures = found["refinement"]["effects"][..., 0]
    np.testing.assert_array_equal(figures.sel(figure=["mean", "sd", "mcse_mean"]), 0.0)


def test_draws_are_not_corrected_if_that_is_not_wanted():
    model, *_ = regression()
    with model:
        step = pmg.SGHMC(step_size=0.001, friction=30.0)
        options = {"step": step, "tune": 50, "random_seed": 1, "progressbar": False}
        plain = pmg.sample(100, refine=False, **options)
    assert "raw_posterior" not in plain.children
    with pytest.raises(ValueError, match="`refine` expected True or False"):
        pmg.sample(100, model=model, refine="no")


def test_a_checkpoint_keeps_the_raw_draws(tmp_path):
    model, mean, cov = regression()
    path = tmp_path / "run.zarr"
    with model:
        idata = pmg.sample(
            200, tune=300, chains=2, checkpoint=path, random_seed=1, progressbar=False
        )
    assert_exact(idata["posterior"], mean, cov, tolerance=0.02)
    stored = pmg.read(path)
    assert "raw_posterior" not in stored.children
    np.testing.assert_array_equal(stored["posterior"]["beta"], idata["raw_posterior"]["beta"])
    assert_exact(pmg.refine(stored, model)["posterior"], mean, cov, tolerance=0.02)


def test_batches_about_the_mean_do_for_many_rows(monkeypatch):
    model, mean, cov = regression(batch_size=100)
    module = import_module("pymc_geodesic.runs.refine")
    monkeypatch.setattr(module, "MOST_ROWS", 0)
    monkeypatch.setattr(module, "BATCHES", (500,))
    wrong = np.random.default_rng(2).multivariate_normal(mean, 1.3 * cov, (4, 250))
    idata = az.from_dict({"posterior": {"beta": wrong + 0.2 * np.sqrt(np.diag(cov))}})
    found = pmg.refine(idata, model)
    assert found["refinement"].attrs["rows"] == "batches of 500 rows"
    assert_exact(found["posterior"], mean, cov, tolerance=0.06)


def test_a_run_that_batches_correct_has_a_verdict(monkeypatch, caplog):
    module = import_module("pymc_geodesic.runs.verdict")
    monkeypatch.setattr(module, "gradients_of_run", lambda *_, **__: (None, "one takes 3 s"))
    model, mean, cov = regression(batch_size=100)
    with caplog.at_level(logging.INFO):
        idata = pmg.sample(300, tune=300, model=model, random_seed=1, progressbar=False)
    assert idata["refinement"].attrs["rows"].startswith("batches of")
    assert_exact(idata["posterior"], mean, cov, tolerance=0.06)
    assert idata["posterior"].attrs["verdict"] in ("certified", "corrected, not certified")
    assert idata["posterior"].attrs["verdict_reason"] in caplog.text


def test_checks_have_no_more_time_on_a_busy_machine(monkeypatch):
    """Their cost is that of the processor, and so is what they have a share of."""
    results, plan = (import_module(f"pymc_geodesic.runs.{x}") for x in ("results", "plan"))
    given, checked = [], results.checked_with_rows
    monkeypatch.setattr(
        results, "checked_with_rows", lambda *x, **y: given.append(y["seconds"]) or checked(*x, **y)
    )
    slow = SimpleNamespace(
        perf_counter=lambda: 1e6 + time.perf_counter(), process_time=time.process_time
    )
    monkeypatch.setattr(plan, "time", slow)
    before = time.process_time()
    pmg.sample(50, tune=50, model=regression()[0], random_seed=1, progressbar=False)
    assert given[0] < time.process_time() - before


def test_the_time_of_all_rows_is_that_of_a_part_of_them(monkeypatch):
    module, n, calls = import_module("pymc_geodesic.runs.gradients_at_draws"), 10**9, []
    part = [np.arange(10)]
    gradient = SimpleNamespace(is_stream=False, n_rows=(n,), chunks=lambda: iter([part]))
    gradient.many = lambda points, rows, are_drawn: calls.append(rows)
    times = iter([0.0, 5.0, 5.25])
    monkeypatch.setattr(module, "clock", lambda: np.full(3, next(times)))
    # The first call, which makes the function, does not count.
    assert module.seconds_of_one(gradient, [np.zeros(2)]) == pytest.approx(0.25 * n / 10)
    assert calls == [[part], [part]]


def test_draws_that_corrections_do_not_bring_nearer_are_left_alone(caplog):
    """Gradients off a narrow ridge tell nothing of the way back if they are not linear."""
    with pm.Model() as model:
        x = pm.Normal("x", 0, 1)
        pm.Potential("narrow", -0.5 * ((pm.math.exp(x) - 1) / 0.05) ** 2)
    draws = np.random.default_rng(3).normal(3.0, 1.0, (4, 250))
    found = pmg.refine(az.from_dict({"posterior": {"x": draws}}), model)
    moved = found["posterior"]["x"].to_numpy()
    said = "These draws do not follow the posterior" in caplog.text
    assert said or (abs(moved.mean()) < 0.1 and moved.std() < 0.1)


@pytest.mark.parametrize("concentration", [2.0, 0.3])
def test_probabilities_alone_are_corrected(concentration, caplog):
    """Their directions are not known, but functions with known averages are."""
    rows = np.random.default_rng(1).multinomial(5, [0.6, 0.3, 0.1], size=200).astype("int32")
    with pm.Model():
        p = pm.Dirichlet("p", np.full(3, concentration))
        batch = pm.Minibatch(rows, batch_size=20)
        pm.Multinomial("y", 5, p, observed=batch, total_size=len(rows))
        idata = pmg.sample(100, tune=200, random_seed=1, progressbar=False)
    a = concentration + rows.sum(axis=0)
    found = idata["refinement"]["p"]
    np.testing.assert_allclose(found.sel(figure="mean"), a / a.sum(), rtol=1e-3)
    sd = np.sqrt(a * (a.sum() - a) / (a.sum() + 1)) / a.sum()
    np.testing.assert_allclose(found.sel(figure="sd"), sd, rtol=0.02)
    assert "because that failed" not in caplog.text


def test_an_angle_alone_is_corrected(caplog):
    rows = np.random.default_rng(1).vonmises(2.0, 1.0, size=300)
    with pm.Model():
        a = pm.VonMises("a", 0.0, 1e-6)
        pm.Deterministic("sine", pm.math.sin(a))
        batch = pm.Minibatch(rows, batch_size=30)
        pm.VonMises("y", a, 1.0, observed=batch, total_size=len(rows))
        idata = pmg.sample(100, tune=200, random_seed=1, progressbar=False)
    pull = np.exp(1j * rows).sum()
    share = special.ive(1, abs(pull)) / special.ive(0, abs(pull))
    mean = idata["refinement"]["sine"].sel(figure="mean").item()
    assert mean == pytest.approx(share * np.sin(np.angle(pull)), abs=2e-3)
    assert "because that failed" not in caplog.text


def test_models_without_gradients_are_refused():
    with pm.Model() as model:
        pm.Bernoulli("z", 0.5)
        pm.Normal("x")
    idata = az.from_dict({"posterior": {"x": np.zeros((2, 30)), "z": np.zeros((2, 30), int)}})
    with pytest.raises(ValueError, match="`model` expected continuous variables"):
        pmg.refine(idata, model)
