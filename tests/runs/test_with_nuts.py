#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""``exact="nuts"`` is ``pm.sample`` with the same settings and the same kind of result."""

import numpy as np
import pymc as pm
import pytest
import whole_models

import pymc_geodesic as pmg

from pymc_geodesic.runs import memory_limits

SHORT = {"tune": 50, "draws": 30, "chains": 2, "random_seed": 1, "progressbar": False}


@pytest.fixture
def calls(monkeypatch):
    """What ``pm.sample`` was asked for; it draws in one process, which takes less time."""
    found = []
    inner = pm.sample

    def sample(*args, **kwargs):
        found.append((args, kwargs))
        return inner(*args, **kwargs, cores=1)

    monkeypatch.setattr(pm, "sample", sample)
    return found


def linear(n=40):
    y = np.random.default_rng(1).normal(2.0, 1.0, n)
    with pm.Model(coords={"row": range(n)}) as model:
        data = pm.Data("data", y, dims="row")
        mean = pm.Normal("mean", 0.0, 10.0)
        pm.Deterministic("error", data - mean, dims="row")
        pm.Normal("y", mean, 1.0, observed=data, dims="row")
    return model


def test_settings_are_those_of_the_run(calls):
    model = linear()
    idata = pmg.sample(
        model=model,
        exact="nuts",
        initvals={"mean": 1.0},
        discard_tuned_samples=False,
        compute_convergence_checks=False,
        **SHORT,
    )
    [(args, kwargs)] = calls
    assert args == (30,)
    assert (kwargs["tune"], kwargs["chains"], kwargs["initvals"]) == (50, 2, {"mean": 1.0})
    assert not kwargs["discard_tuned_samples"]
    assert idata.posterior["mean"].sizes == {"chain": 2, "draw": 30}
    assert idata.posterior["error"].dims == ("chain", "draw", "row")
    assert {"warmup_posterior", "observed_data", "sample_stats"} <= {*idata.children}
    assert "tree_depth" in idata.sample_stats


def test_the_seed_decides(calls):
    short = SHORT | {"compute_convergence_checks": False, "model": linear(), "exact": "nuts"}
    first, again = pmg.sample(**short), pmg.sample(**short)
    np.testing.assert_array_equal(first.posterior["mean"], again.posterior["mean"])
    others = pmg.sample(**short | {"random_seed": np.random.SeedSequence(2)})
    assert not np.array_equal(first.posterior["mean"], others.posterior["mean"])


def test_few_rows_and_rows_that_depend_on_each_other_are_sampled(calls):
    y = np.cumsum(np.random.default_rng(1).normal(size=30))
    with pm.Model():
        s = pm.HalfNormal("s")
        walk = pm.Normal("walk", shape=30).cumsum() * s
        pm.Normal("y", walk, 0.1, observed=y)
        with pytest.raises(ValueError, match=r"`pmg.sample\(model=model, exact='nuts'\)`"):
            pmg.sample(batch_size=5, **SHORT)
        idata = pmg.sample(exact="nuts", compute_convergence_checks=False, **SHORT)
    assert idata.posterior["walk"].shape == (2, 30, 30)


def test_minibatches_are_sampled_with_all_rows(calls):
    y = np.random.default_rng(1).normal(2.0, 1.0, 1_000)
    with pm.Model() as model:
        mean = pm.Normal("mean", 0.0, 10.0)
        pm.Normal("y", mean, 1.0, observed=pm.Minibatch(y, batch_size=10), total_size=1_000)
    idata = pmg.sample(model=model, exact="nuts", **SHORT | {"tune": 200, "draws": 200})
    draws = idata.posterior["mean"].values
    exact_mean, exact_sd = 1_000 * y.mean() / 1_000.01, 1 / np.sqrt(1_000.01)
    # 400 draws, correlated little: five errors of the mean and of the standard deviation.
    assert abs(draws.mean() - exact_mean) < 5 * exact_sd / 10
    assert abs(draws.std() / exact_sd - 1) < 0.4


def test_deterministics_of_rows_that_do_not_fit_are_left_out(calls, monkeypatch):
    monkeypatch.setattr(memory_limits, "available_bytes", lambda: 10_000)
    options = SHORT | {"compute_convergence_checks": False, "model": linear(), "exact": "nuts"}
    idata = pmg.sample(**options)
    assert {*idata.posterior.data_vars} == {"mean"}
    with pytest.raises(MemoryError, match=r"for `error`\. Draw less, or leave out variables"):
        pmg.sample(var_names=["error"], **options)


@pytest.mark.parametrize(
    ("name", "value"), [("step", pmg.SGNHT), ("batch_size", 10), ("thin", 2), ("keep", {"mean": 2})]
)
def test_what_nuts_does_not_have_is_refused(name, value):
    with pytest.raises(ValueError, match=f"`{name}` expected its default beside `exact='nuts'`"):
        pmg.sample(model=linear(), exact="nuts", **{name: value}, **SHORT)


def test_other_samplers_are_unknown():
    with pytest.raises(ValueError, match="`exact` expected"):
        pmg.sample(model=whole_models.linear()[0], exact="hmc", **SHORT)
