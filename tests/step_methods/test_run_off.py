#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Chains that diverge are marked `diverging`, with a warning; others never are."""

import numpy as np
import pymc as pm
import pytensor
import pytest

from chains import run

import pymc_geodesic as pmg

ROWS = np.random.default_rng(1).standard_cauchy(2_000)


def warnings_of(stats):
    return [s["warning"].message for s in stats if s["warning"] is not None]


def statistics(step, *, draws, tune=0, seed=1, start=None):
    start = step.model.initial_point() if start is None else start
    return [s for _, s in run(step, start, draws=tune + draws, tune=tune, seed=seed)][tune:]


@pytest.mark.parametrize("tune", [0, 50])
def test_a_density_that_grows_outwards(tune):
    """As negative data sizes make it: positions grow until their products overflow."""
    with pm.Model() as model:
        x = pm.Flat("x", shape=2)
        pm.Potential("hill", 0.5 * (x**2).sum())
    step = pmg.SGHMC(model=model, step_size=0.5, friction=0.5, n_steps=20)
    stats = statistics(step, draws=60, tune=tune)
    assert stats[-1]["diverging"]
    [warning] = warnings_of(stats)
    assert "SGHMC diverged: `x` has an entry of size" in warning
    assert "`diverging`" in warning
    assert "proper" in warning


def test_an_energy_that_tuning_never_saw():
    with pm.Model() as model:
        pm.Normal("x", shape=3)
    step = pmg.SGHMC(model=model, step_size=0.2, friction=1.0, n_steps=5)
    step.setup_chain(np.random.default_rng(1), 60, 60)
    point = model.initial_point()
    for _ in range(60):
        point, [stats] = step.step(point)
    step.stop_tuning()
    point, [stats] = step.step(point)
    assert not stats["diverging"]
    point = {"x": np.full(3, 1e6)}
    step.chain.state = step.chain.state._replace(velocity=(np.zeros(3),))
    point, [stats] = step.step(point)
    assert stats["diverging"]
    assert "potential energy is" in stats["warning"].message
    assert "in the tuning phase" in stats["warning"].message


def heavy_tails():
    with pm.Model() as model:
        pm.Cauchy("x", 0.0, 1.0, shape=3)
    return model, {"step_size": 0.3}


def outlying_rows():
    """A normal likelihood for Cauchy rows: single batches have any energy."""
    with pm.Model() as model:
        x = pm.Normal("x", 0.0, 10.0)
        batch = pm.Minibatch(ROWS, batch_size=10)
        pm.Normal("y", x, 1.0, observed=batch, total_size=len(ROWS))
    return model, {"step_size": 1e-3}


def narrow():
    with pm.Model() as model:
        pm.Normal("x", 0.0, np.geomspace(1e-3, 1.0, 10), shape=10)
        pm.Dirichlet("p", [0.5, 0.5, 0.5])
    return model, {"step_size": 1e-3}


@pytest.mark.parametrize("build", [heavy_tails, outlying_rows, narrow])
def test_good_chains_are_never_marked(build):
    model, options = build()
    step = pmg.gSGNHT(model=model, diffusion=1.0, n_steps=3, **options)
    for seed in range(20):
        stats = statistics(step, draws=400, tune=40 + 10 * seed, seed=seed)
        assert not any(s["diverging"] for s in stats)
        assert not any("diverged" in text for text in warnings_of(stats))


def test_short_tuning_phases_from_far_away_are_not_marked():
    with pm.Model() as model:
        pm.Normal("x", shape=3)
    step = pmg.SGHMC(model=model, step_size=0.1, friction=1.0)
    for seed in range(20):
        start = {"x": np.full(3, 1e3)}
        stats = statistics(step, draws=300, tune=25, seed=seed, start=start)
        assert not any(s["diverging"] for s in stats)


def test_float32_overflows_earlier():
    with pytensor.config.change_flags(floatX="float32"):
        with pm.Model() as model:
            pm.Flat("x", shape=2)
        step = pmg.SGHMC(model=model, step_size=0.5, friction=0.5)
        step.setup_chain(np.random.default_rng(1), 0, 5)
        _, [stats] = step.step({"x": np.full(2, 1e13, "float32")})
    assert stats["diverging"]
    assert "`x` has an entry of size 1e+13" in stats["warning"].message
