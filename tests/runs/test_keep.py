#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Moments that are kept in place of draws are those of the draws."""

import logging

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.runs import run_loop

RUN = {"draws": 24, "tune": 6, "chains": 2, "random_seed": 1, "progressbar": False}
RUN |= {"compute_convergence_checks": False}


@pytest.fixture(scope="module")
def made():
    """A model with a transformed variable and a Deterministic, and a step for it."""
    data = np.random.default_rng(1).normal(size=(400, 3))
    with pm.Model(coords={"column": ["a", "b", "c"]}) as model:
        mean, weights = pm.Normal("mean", dims="column"), pm.Dirichlet("weights", np.ones(4))
        scale = pm.HalfNormal("scale")
        pm.Deterministic("product", mean * weights[:3] / scale, dims="column")
        batch = pm.Minibatch(data, batch_size=20)
        pm.Normal("y", mean, scale, observed=batch, total_size=(400, None))
        return model, pmg.gSGNHT(step_size=0.01, diffusion=1.0, n_steps=2)


@pytest.fixture(autouse=True)
def no_lines(caplog):
    caplog.set_level(logging.WARNING, logger="pymc")


@pytest.mark.parametrize("options", [{}, {"chain_method": "sequential"}, {"thin": 3}])
def test_moments_are_those_of_the_draws(made, options, monkeypatch):
    _, step = made
    # Segments of a few draws each.
    monkeypatch.setattr(run_loop, "SEGMENT_BYTES", 5_000)
    draws = pmg.sample(step=step, **RUN, **options).posterior
    found = pmg.sample(step=step, keep={"mean": 4, "weights": 4, "product": 4}, **RUN, **options)
    assert list(found.posterior.data_vars) == ["scale"]
    np.testing.assert_array_equal(found.posterior["scale"], draws["scale"])
    running = found["running"]
    for name in ("mean", "weights", "product"):
        assert running["mean"][name].dims == tuple(d for d in draws[name].dims if d != "draw")
        np.testing.assert_allclose(running["mean"][name], draws[name].mean("draw"), rtol=1e-10)
        np.testing.assert_allclose(running["sd"][name], draws[name].std("draw", ddof=1), rtol=1e-8)
        every_fourth = draws[name].isel(draw=slice(3, None, 4))
        np.testing.assert_allclose(running["draws"][name], every_fourth, rtol=1e-12)
    assert running["mean"].attrs["n_draws"] == [draws.sizes["draw"]] * 2


def test_nothing_else_need_be_kept():
    with pm.Model():
        mean = pm.Normal("mean", shape=3)
        batch = pm.Minibatch(np.ones((400, 3)), batch_size=20)
        pm.Normal("y", mean, 1.0, observed=batch, total_size=(400, None))
        step = pmg.SGHMC(step_size=0.01, friction=1.0)
        found = pmg.sample(step=step, keep={"mean": "mean"}, **RUN)
    assert "posterior" not in found or not found.posterior.data_vars
    assert found["sample_stats"]["diverging"].shape == (2, 24)
    assert found["running/mean"]["mean"].shape == (2, 3)
    assert "draws" not in found["running"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keep": {"mean": "median"}}, "expected 'mean', or a number k"),
        ({"keep": {"mean": "mean", "weights": 2}}, "expected the same for all variables"),
        ({"keep": {"mean": 0}}, "`keep` expected"),
        ({"keep": {"nothing": "mean"}}, "got \\['nothing'\\]"),
        ({"keep": {"mean": "mean"}, "var_names": ["mean"]}, "not in `keep`, got mean"),
        ({"keep": {"mean": "mean"}, "checkpoint": "run.zarr"}, "expected no `checkpoint`"),
    ],
)
def test_bad_arguments_are_refused(made, options, message):
    with pytest.raises(ValueError, match=message):
        pmg.sample(step=made[1], **RUN, **options)
