#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A run ends when it has drawn enough, and not before."""

import logging

from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pymc as pm
import pytest

from scipy.signal import lfilter

import pymc_geodesic as pmg

from pymc_geodesic.runs import run_loop, until
from pymc_geodesic.runs.deterministics import Traced
from pymc_geodesic.runs.until import Until, until_of

RUN = {"tune": 0, "chains": 2, "random_seed": 1, "progressbar": False}
RUN |= {"compute_convergence_checks": False}


def three():
    with pm.Model(coords={"axis": ["a", "b", "c"]}) as model:
        pm.Normal("x", 0.0, [1.0, 1.0, 2.0], dims="axis")
        pm.Normal("z")
    return model


def step():
    return pmg.SGHMC(step_size=0.3, friction=1.0, n_steps=5)


@pytest.fixture(scope="module")
def whole():
    return pmg.sample(400, model=three(), step=step, **RUN)


def rule(goals, *, began=0.0):
    model = three()
    return Until(goals, model=model, names=["x", "z"], began=began)


def chains(rng, n, *, correlation, shape=()):
    """Autoregressive draws of four chains, with unit variance."""
    shocks = rng.normal(size=(4, n, *shape)) * np.sqrt(1 - correlation**2)
    shocks[:, 0] = rng.normal(size=(4, *shape))
    return lfilter([1], [1, -correlation], shocks, axis=1)


def test_the_draws_are_the_first_ones_of_the_whole_run(whole, caplog):
    caplog.set_level(logging.INFO, logger="pymc")
    found = pmg.sample(400, until={"mcse": 0.15}, model=three(), step=step, **RUN)
    n = found.posterior.sizes["draw"]
    assert n in (50, 75, 113, 170, 255)
    for name in ("x", "z"):
        np.testing.assert_array_equal(found.posterior[name], whole.posterior[name][:, :n])
    # The widest entry is the slowest one.
    [line] = [x for x in caplog.messages if x.startswith(f"Stopped after {n} draws of each chain")]
    assert "of `x[c]`" in line


def test_corrected_means_need_few_draws(caplog):
    """Those of a normal posterior, for which control variates leave no error."""
    caplog.set_level(logging.INFO, logger="pymc")
    data = np.random.default_rng(1).normal(2.0, 1.0, 2_000)
    with pm.Model() as model:
        mu = pm.Normal("mu", 0, 10, shape=2)
        batch = pm.Minibatch(data, batch_size=100)
        pm.Normal("y", mu.sum(), 1.0, observed=batch, total_size=len(data))
        pm.Normal("z", mu[0], 1.0, observed=1.0)
    options = RUN | {"tune": 300, "chains": 4, "model": model, "until": {"mcse": 0.03}}
    found = pmg.sample(300, **options)
    assert found.posterior.sizes["draw"] == 50
    assert any("after the correction of the draws" in x for x in caplog.messages)
    error = found.refinement["mu"].sel(figure="mcse_mean")
    assert error.max() < 0.03 * found.posterior["mu"].std()
    assert pmg.sample(300, refine=False, **options).posterior.sizes["draw"] > 50


def test_batches_tell_the_error_of_a_corrected_mean_where_rows_are_many(monkeypatch):
    module = import_module("pymc_geodesic.runs.refined")
    monkeypatch.setattr(module, "gradients_of_run", lambda *_, **__: (None, "one takes 3 s"))
    rng = np.random.default_rng(1)
    x = rng.normal(size=(20_000, 2))
    y = (rng.random(len(x)) < 1 / (1 + np.exp(-x @ [0.5, -0.5]))).astype("int32")
    with pm.Model() as model:
        x_batch, y_batch = pm.Minibatch(x, y, batch_size=100)
        slope = pm.Normal("slope", 0.0, 1.0, shape=2)
        pm.Bernoulli("y", logit_p=x_batch @ slope, observed=y_batch, total_size=len(x))
    options = RUN | {"tune": 300, "chains": 4}
    found = pmg.sample(300, model=model, until={"mcse": 0.03}, **options)
    assert found.posterior.sizes["draw"] == 50


def test_draws_that_do_not_suffice_are_said(caplog):
    found = pmg.sample(60, until={"ess": 1e4}, model=three(), step=step, **RUN)
    assert found.posterior.sizes["draw"] == 60
    assert any(x.startswith("All 60 draws of each chain do not meet") for x in caplog.messages)


def test_thinned_draws_count(whole):
    options = RUN | {"keep": {"z": "mean"}, "thin": 2}
    found = pmg.sample(400, until={"mcse": 0.2}, model=three(), step=step, **options)
    n = found.posterior.sizes["draw"]
    assert n in (50, 75, 113, 170)
    np.testing.assert_array_equal(found.posterior["x"], whole.posterior["x"][:, 1 : 2 * n : 2])
    assert found["running/mean"].attrs["n_draws"] == [n, n]


def test_a_continued_run_decides_anew(tmp_path, whole, monkeypatch):
    """It ends where the run without an interruption does, or where other goals are met."""
    pytest.importorskip("zarr")
    original, path = run_loop.run, tmp_path / "run.zarr"

    def interrupted(sampler, chains, n, **options):
        if chains[0].n_drawn >= 60:
            raise KeyboardInterrupt
        return original(sampler, chains, min(n, 10), **options)

    goals = {"mcse": 0.15}
    expected = pmg.sample(400, until=goals, model=three(), step=step, **RUN).posterior
    monkeypatch.setattr(run_loop.InProcess, "seconds", 0.0)
    monkeypatch.setattr(run_loop, "run", interrupted)
    options = RUN | {"model": three(), "step": step, "checkpoint": path}
    part = pmg.sample(400, until=goals, **options)
    assert part.posterior.sizes["draw"] < expected.sizes["draw"]
    monkeypatch.setattr(run_loop, "run", original)
    model = three()
    for more, n in (
        ({}, expected.sizes["draw"]),
        ({}, expected.sizes["draw"]),
        ({"until": {"mcse": 0.001, "ess": 1.0}}, expected.sizes["draw"]),
        ({"draws": 400}, 400),
    ):
        found = pmg.resume(path, model=model, progressbar=False, **more).posterior
        assert found.sizes["draw"] == n
        np.testing.assert_array_equal(found["x"], whole.posterior["x"][:, :n])


def test_the_time_is_up(monkeypatch):
    """Not before the first look; between looks as soon as it is."""
    clock = SimpleNamespace(now=0.0)
    fake = SimpleNamespace(perf_counter=lambda: clock.now)
    monkeypatch.setattr(until, "time", fake)
    found = rule({"seconds": 10.0, "mcse": 1e-6})
    draws = {"x": np.random.default_rng(1).normal(size=(2, 10, 3))}
    draws["z"] = draws["x"][..., 0]
    clock.now = 20.0
    for _ in range(4):
        found.put(draws, (2, 10))
        assert not found.met
    assert found.n_draws(1e9) == 10
    clock.now = 9.0
    found.put(draws, (2, 10))
    assert not found.met
    assert found.n_draws(3.0) == 3
    found.put(draws, (2, 10))
    assert not found.met
    clock.now = 10.0
    assert found.n_draws(3.0) == 1
    found.put(draws, (2, 10))
    assert found.met == "seconds"


@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_errors_are_not_larger_than_claimed(correlation):
    """Of 200 runs that stop themselves; the nominal shares are 32 and 5 per cent."""
    rng, errors, asked = np.random.default_rng(3), [], 0.1
    for _ in range(200):
        found, z, n = rule({"mcse": asked}), chains(rng, 10_000, correlation=correlation), 0
        while not found.met:
            part = z[:, n : n + found.n_draws(np.inf)]
            found.put({"x": np.repeat(part[..., None], 3, axis=-1), "z": part}, part.shape)
            n += part.shape[1]
        errors.append(z[:, :n].mean() / found._worst("mcse").error)
    errors = np.abs(errors)
    # Two standard errors above the shares.
    assert (errors > 1).mean() < 0.32 + 2 * np.sqrt(0.32 * 0.68 / 200)
    assert (errors > 1.96).mean() < 0.05 + 2 * np.sqrt(0.05 * 0.95 / 200)


def test_entries_of_large_variables_are_chosen_evenly():
    found = until._chosen({"large": 10_000, "small": 3, "empty": 0, "other": 400})
    assert set(found) == {"large", "small", "other"}
    assert sum(map(len, found.values())) <= until.MOST_ENTRIES
    np.testing.assert_array_equal(found["small"], [0, 1, 2])
    assert found["large"][0] == 0
    assert found["large"][-1] == 9_999


@pytest.mark.parametrize(
    ("goals", "said"),
    [
        ({}, "`until` expected numbers by name"),
        (0.05, "`until` expected numbers by name"),
        ({"rhat": 1.01}, "`until` expected one of 'mcse', 'ess', 'seconds', got 'rhat'"),
        ({"mcse": 0.0}, "`until` expected a positive, finite number, got 0.0"),
        ({"ess": "many"}, "`until` expected a positive, finite number, got 'many'"),
    ],
)
def test_other_goals_are_refused(goals, said):
    model = three()
    with pytest.raises(ValueError, match=said):
        until_of(goals, model=model, traced=Traced(model, None), began=0.0)


def test_a_run_without_draws_is_refused():
    options = RUN | {"keep": {"x": "mean", "z": "mean"}}
    with pytest.raises(ValueError, match="`until` expected a free variable whose draws are kept"):
        pmg.sample(100, until={"ess": 100}, model=three(), step=step, **options)
    with pytest.raises(ValueError, match="`until` expected its default beside `exact='nuts'`"):
        pmg.sample(100, until={"ess": 100}, model=three(), exact="nuts", **RUN)
