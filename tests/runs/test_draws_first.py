#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Whatever fails after the last draw, the draws are returned, and what failed is said."""

import logging
import os
import shutil

from functools import partial
from types import MappingProxyType

import numpy as np
import pandas as pd
import pymc as pm
import pytensor.tensor as pt
import pytest

from pytensor.raise_op import Assert

import pymc_geodesic as pmg

from pymc_geodesic.runs import deterministics, results, run_loop
from pymc_geodesic.runs.checkpoints import checkpoint
from pymc_geodesic.runs.deterministics import Traced
from pymc_geodesic.runs.results import ChainError
from pymc_geodesic.step_methods import progress

ROWS = np.random.default_rng(1).normal(3.0, 2.0, 500)
RUN = {"tune": 10, "draws": 20, "chains": 2, "random_seed": 1, "progressbar": False}


@pytest.fixture(autouse=True)
def warnings_are_logged(caplog):
    caplog.set_level(logging.WARNING, logger="pymc")


def model_with(extra=lambda mu, s: None, **options):
    with pm.Model(**options) as model:
        mu, s = pm.Normal("mu", 0, 10), pm.HalfNormal("s", 5)
        extra(mu, s)
        pm.Normal("y", mu, s, observed=pm.Minibatch(ROWS, batch_size=50), total_size=len(ROWS))
    return model


def sample(model, **options):
    options = RUN | {"compute_convergence_checks": False, "step": step} | options
    return pmg.sample(model=model, **options)


def step():
    return pmg.SGNHT(step_size=0.005)


def three(mu, s):
    pm.Deterministic("z", mu * np.arange(3), dims="g")


def one(mu, s):
    pm.Deterministic("d", mu)


@pytest.fixture(scope="module")
def plain():
    return sample(model_with())


def same(idata, plain):
    for name in ("mu", "s"):
        np.testing.assert_array_equal(idata.posterior[name], plain.posterior[name])


@pytest.mark.parametrize("on_disk", [False, True])
def test_deterministics_that_fail(plain, caplog, tmp_path, monkeypatch, on_disk):
    """They are NaN at draws for which they fail, and left out if they fail for all."""
    middle = np.median(plain.posterior["mu"])

    def asserting(mu, s):
        pm.Deterministic("d", Assert("mu too large")(2 * mu, pt.lt(mu, middle)))
        if not on_disk:
            pm.Deterministic("n", Assert("no")(pt.ones((3,), dtype="int8"), pt.lt(mu, middle)))
        pm.Deterministic("never", Assert("never true")(mu, pt.lt(mu, -1e9)))
        pm.Deterministic("good", mu + s)

    options = {}
    if on_disk:
        monkeypatch.setattr(run_loop.InProcess, "seconds", 0.0)
        options = {"checkpoint": tmp_path / "run.zarr", "checkpoint_every": 1e-9}
    idata = sample(model_with(asserting), **options)
    same(idata, plain)
    mu = idata.posterior["mu"].values
    fails = mu >= np.median(mu)
    assert 0.4 < fails.mean() < 0.6
    np.testing.assert_array_equal(idata.posterior["d"], np.where(fails, np.nan, 2 * mu))
    np.testing.assert_allclose(idata.posterior["good"], mu + idata.posterior["s"])
    assert "`never` could not be computed and is left out" in caplog.text
    assert "where it is NaN in the result: AssertionError: mu too large" in caplog.text
    assert caplog.text.count("where it is NaN in the result: AssertionError: mu too") == 1
    if not on_disk:
        assert "`d` could not be computed for 20 of 40 draws" in caplog.text
        assert idata.posterior["n"].dtype == float
        assert (idata.posterior["n"].isnull().all("n_dim_0") == fails).all()


@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize(
    ("labels", "texts"),
    [
        ([("a", 1), ("a", 2), ("b", 1)], ["a, 1", "a, 2", "b, 1"]),
        (pd.MultiIndex.from_product([["a"], [1, 2, 3]]), ["a, 1", "a, 2", "a, 3"]),
        ([("a", 1), "b", None], ["a, 1", "b", "None"]),
        (pd.interval_range(0, 3), ["(0, 1]", "(1, 2]", "(2, 3]"]),
    ],
)
def test_labels_that_no_array_holds_are_texts(plain, caplog, tmp_path, labels, texts, on_disk):
    model = model_with(three, coords={"g": labels})
    idata = sample(model, checkpoint=tmp_path / "run.zarr" if on_disk else None)
    same(idata, plain)
    assert idata.posterior["g"].values.tolist() == texts
    assert "`g` are texts in the result" in caplog.text
    same(pmg.read(tmp_path / "run.zarr") if on_disk else idata, plain)


def test_dates_stay_dates(plain):
    dates = pd.date_range("2026-01-01", periods=3)
    model = model_with(three, coords={"g": dates})
    assert (sample(model).posterior["g"].values == dates.to_numpy()).all()


@pytest.mark.parametrize("on_disk", [False, True])
def test_variables_may_be_called_like_axes(caplog, tmp_path, on_disk):
    def extra(mu, s):
        for name in ("draw", "chain", "z_dim_0"):
            pm.Normal(name)
        pm.Normal("z", shape=2)
        pm.Deterministic("draw_", mu)

    idata = sample(
        model_with(extra),
        checkpoint=tmp_path / "run.zarr" if on_disk else None,
        compute_convergence_checks=True,
    )
    assert set(idata.posterior.data_vars) >= {"draw__", "chain_", "z_dim_0_", "z", "draw_"}
    assert "The variable `draw` is `draw__` in the result" in caplog.text
    assert "failed" not in caplog.text


@pytest.mark.parametrize("on_disk", [False, True])
def test_the_last_checks_may_be_interrupted_or_fail(plain, caplog, monkeypatch, tmp_path, on_disk):
    cases = [(KeyboardInterrupt, "Interrupted"), (ZeroDivisionError, "failed")]
    for i, (error, text) in enumerate(cases):

        def failing(*arguments, error=error):
            raise error

        monkeypatch.setattr(results, "warnings_of_convergence", failing)
        path = tmp_path / f"{i}.zarr" if on_disk else None
        idata = sample(model_with(), compute_convergence_checks=True, checkpoint=path)
        same(idata, plain)
        assert text in caplog.text


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_deterministics_may_be_interrupted(plain, caplog, monkeypatch, error):
    def failing(self, draws, shape):
        raise error

    monkeypatch.setattr(Traced, "_deterministics", failing)
    idata = sample(model_with(one))
    same(idata, plain)
    assert "the free variables only" in caplog.text
    found = pm.compute_deterministics(idata.posterior, model=model_with(one), progressbar=False)
    np.testing.assert_array_equal(found["d"], plain.posterior["mu"])


def test_data_that_no_array_holds_are_left_out(plain, caplog, monkeypatch):
    def failing(model):
        raise TypeError("no data")

    monkeypatch.setattr("pymc_geodesic.runs.traces.observations", failing)
    idata = sample(model_with())
    same(idata, plain)
    assert "The group `observed_data` is left out of the result: no data." in caplog.text


@pytest.mark.parametrize("stops", [None, RuntimeError("The sky fell."), KeyboardInterrupt()])
def test_a_cluster_that_is_gone_loses_nothing(plain, caplog, monkeypatch, tmp_path, stops):
    path, original = tmp_path / "run.zarr", run_loop.run

    def run(sampler, chains, n_draws, **options):
        if stops is not None and chains[0].n_drawn >= 15:
            raise stops
        return original(sampler, chains, n_draws, **options)

    def close(self):
        raise OSError("Connection to the scheduler is lost")

    with monkeypatch.context() as patch:
        patch.setattr(run_loop, "run", run)
        patch.setattr(run_loop.InProcess, "seconds", 0.0)
        patch.setattr(run_loop.InProcess, "close", close)
        if isinstance(stops, Exception):
            with pytest.raises(ChainError, match=r"The sky fell.* 5 of 20 draws of each") as caught:
                sample(model_with(), checkpoint=path)
            idata = caught.value.idata
        else:
            idata = sample(model_with(), checkpoint=path)
    n = 20 if stops is None else 5
    np.testing.assert_array_equal(idata.posterior["mu"], plain.posterior["mu"][:, :n])
    assert "The cluster was not told that the run has ended: OSError: Connection to" in caplog.text
    # The lock of the checkpoint is free.
    same(sample(model_with(), checkpoint=path), plain)


def test_a_client_that_is_refused_locks_nothing(tmp_path, monkeypatch, plain):
    def refused(*arguments, **options):
        raise ValueError("no client")

    path = tmp_path / "run.zarr"
    with monkeypatch.context() as patch:
        patch.setattr("pymc_geodesic.runs.plan.InProcess", refused)
        with pytest.raises(ValueError, match="no client"):
            sample(model_with(), checkpoint=path)
    same(sample(model_with(), checkpoint=path), plain)


@pytest.mark.parametrize("change", ["removed", "renamed", "replaced"])
def test_a_checkpoint_that_goes_away(plain, tmp_path, monkeypatch, change):
    path, original = tmp_path / "run.zarr", run_loop.run

    def run(sampler, chains, n_draws, **options):
        if chains[0].n_drawn == 20 and path.exists():
            if change == "removed":
                shutil.rmtree(path)
            else:
                path.rename(tmp_path / "other.zarr")
            if change == "replaced":
                path.mkdir()
        return original(sampler, chains, n_draws, **options)

    monkeypatch.setattr(run_loop, "run", run)
    monkeypatch.setattr(run_loop.InProcess, "seconds", 0.0)
    with pytest.raises(ChainError, match="removed or renamed while the run wrote to it") as caught:
        sample(model_with(), checkpoint=path)
    idata = caught.value.idata
    same(idata, plain)
    assert "20 of 20 draws of each chain are the attribute `idata`" in str(caught.value)


def test_the_working_directory_may_change(plain, tmp_path, monkeypatch):
    original = run_loop.run
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)

    def run(*arguments, **options):
        os.chdir(tmp_path / "elsewhere")
        return original(*arguments, **options)

    monkeypatch.setattr(run_loop, "run", run)
    same(sample(model_with(), checkpoint="run.zarr"), plain)
    same(pmg.read(tmp_path / "run.zarr"), plain)


def test_moments_of_variables_called_like_axes():
    def extra(mu, s):
        pm.Normal("draw")
        pm.Normal("chain", dims="g")

    model = model_with(extra, coords={"g": [("a", 1), ("a", 2)]})
    idata = sample(model, keep={"draw": 5, "chain": 5}, var_names=["mu", "s"])
    assert dict(idata["running/draws"]["chain_"].sizes) == {"chain": 2, "draw": 4, "g": 2}
    assert idata["running/mean"]["draw_"].dims == ("chain",)


def test_blocks_of_draws_change_nothing(plain, monkeypatch):
    whole = sample(model_with(three, coords={"g": range(3)}))
    # Three draws a block, of two numbers in and three numbers out.
    monkeypatch.setattr(deterministics, "MOST_BYTES", 3 * 40)
    parts = sample(model_with(three, coords={"g": range(3)}))
    same(parts, plain)
    np.testing.assert_array_equal(parts.posterior["z"], whole.posterior["z"])


def test_a_checkpoint_is_written_before_much_waits(plain, tmp_path, monkeypatch):
    monkeypatch.setattr(run_loop.InProcess, "seconds", 0.0)
    monkeypatch.setattr(checkpoint, "WAITING_BYTES", 3 * 2 * 40)
    monkeypatch.setattr(checkpoint, "WRITTEN_BYTES", 2 * 2 * 40)
    commits, original = [], checkpoint.RunStore.commit

    def commit(self, parts, *arguments):
        parts = list(parts)
        commits.append([tree["posterior"].sizes["draw"] for _, tree in parts])
        original(self, parts, *arguments)

    monkeypatch.setattr(checkpoint.RunStore, "commit", commit)
    model = model_with(three, coords={"g": range(3)})
    idata = sample(model, checkpoint=tmp_path / "run.zarr", checkpoint_every=1e9)
    same(idata, plain)
    assert commits == [[2, 2]] * 5 + [[]]


@pytest.mark.parametrize(
    ("initvals", "message"),
    [
        ("adapt_diag", r"`initvals` expected values of variables by name.* got 'adapt_diag'"),
        (3, r"`initvals` expected values of variables by name"),
        ([{"mu": 1.0}], "expected one mapping for each of 2 chains, got 1"),
        ([{"mu": 1.0}, "mu"], "`initvals` expected values of variables by name"),
        ({"nu": 1.0}, "free variables, which are `mu`, `s`; got `nu`"),
        ({"d": 1.0}, "free variables, which are `mu`, `s`; got `d`"),
    ],
)
def test_initial_values_that_are_none(initvals, message):
    model = model_with(one)
    with pytest.raises((TypeError, ValueError), match=message):
        sample(model, initvals=initvals, step=None)
    with pytest.raises((TypeError, ValueError), match=message):
        pmg.find_starts(model, chains=2, initvals=initvals)


def test_initial_values_by_the_name_of_a_value_or_a_variable():
    model = model_with()
    for initvals in (
        {"s_log__": 1.0},
        {model["mu"]: 2.0},
        MappingProxyType({"mu": 2.0}),
        [None, {}],
    ):
        assert sample(model, initvals=initvals).posterior.sizes["draw"] == 20


def test_jupyter_without_widgets_has_no_bar(caplog, monkeypatch):
    caplog.set_level(logging.INFO, logger="pymc")
    monkeypatch.setattr(progress, "Console", partial(progress.Console, force_jupyter=True))
    monkeypatch.setattr(progress, "find_spec", lambda name: None)
    with progress.Progress(10, visible=True) as bar:
        assert bar._progress.disable
    assert "in Jupyter it needs the package ipywidgets" in caplog.text
