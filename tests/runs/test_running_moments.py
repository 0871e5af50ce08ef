#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Moments that are kept while drawing are those of all draws, in constant memory."""

import tracemalloc

from types import SimpleNamespace

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

import pymc_geodesic as pmg

RNG = np.random.default_rng(1)
DATA = RNG.normal(1.0, 2.0, (200, 3))
COORDS = {"column": ["a", "b", "c"]}
NAMES = ["weights", "mean", "sigma", "total"]
QUIET = {"progressbar": False, "quiet": True, "compute_convergence_checks": False, "random_seed": 3}


def normal_model():
    """Transformed and other variables, of all shapes, and a Deterministic."""
    with pm.Model(coords=COORDS) as model:
        mean, sigma = pm.Normal("mean", dims="column"), pm.HalfNormal("sigma")
        weights = pm.Dirichlet("weights", np.ones(4))
        pm.Deterministic("total", mean.sum() + weights[0])
        batch = pm.Minibatch(DATA, batch_size=20)
        pm.Normal("y", mean, sigma, observed=batch, total_size=(200, None))
    return model


@pytest.mark.parametrize("cores", [1, 2])
def test_moments_are_those_of_the_draws(cores):
    with normal_model():
        running = pmg.RunningMoments(NAMES, every=7)
        step = pmg.gSGNHT(step_size=0.02, diffusion=2.0)
        idata = pm.sample(30, tune=20, chains=2, cores=cores, step=step, callback=running, **QUIET)
    found, posterior = running.to_datatree(), idata["posterior"].to_dataset()
    for name in NAMES:
        draws = posterior[name]
        assert found["mean"][name].dims == tuple(dim for dim in draws.dims if dim != "draw")
        np.testing.assert_allclose(found["mean"][name], draws.mean("draw"), rtol=1e-10)
        np.testing.assert_allclose(found["sd"][name], draws.std("draw", ddof=1), rtol=1e-8)
        kept = draws.isel(draw=[6, 13, 20, 27])
        np.testing.assert_array_equal(found["draws"][name], kept)
        np.testing.assert_array_equal(found["draws"]["draw"], kept["draw"])
    assert list(found["mean"]["column"].values) == COORDS["column"]
    assert found["mean"].attrs["n_draws"] == [30, 30]
    idata["running"] = found
    assert idata["running/draws"]["mean"].sizes == {"chain": 2, "draw": 4, "column": 3}


def test_a_second_run_starts_anew():
    with normal_model():
        running = pmg.RunningMoments("mean")
        step = pmg.gSGNHT(step_size=0.02, diffusion=2.0)
        for _ in range(2):
            idata = pm.sample(
                5, tune=0, chains=1, step=step, callback=running, var_names=["sigma"], **QUIET
            )
    assert list(idata["posterior"].data_vars) == ["sigma"]
    found = running.to_datatree()
    assert found["mean"].attrs["n_draws"] == [5]
    assert list(found.children) == ["mean", "sd"]


@pytest.mark.parametrize("cores", [1, 2])
def test_a_run_without_recorded_variables(cores, capsys):
    with normal_model():
        running = pmg.RunningMoments(["mean"])
        step = pmg.gSGNHT(step_size=0.02, diffusion=2.0)
        idata = pm.sample(
            30, tune=20, chains=2, cores=cores, step=step, callback=running, var_names=[], **QUIET
        )
    assert not idata["posterior"].data_vars
    assert idata["sample_stats"].sizes == {"chain": 2, "draw": 30}
    assert running.to_datatree()["mean"]["mean"].shape == (2, 3)
    pmg.diagnose(idata)
    assert capsys.readouterr().out


def test_bad_variables():
    with pm.Model() as model:
        x, y = pm.Minibatch(DATA, DATA[:, 0], batch_size=20)
        mean = pm.Deterministic("mean", x @ pm.Normal("beta", shape=3))
        pm.Normal("y", mean, observed=y, total_size=200)
    with pytest.raises(ValueError, match=r"\['beta', 'mean'\], got \['y'\]"):
        pmg.RunningMoments(["beta", "y"], model=model)
    with pytest.raises(ValueError, match=r"got \['mean'\], which belong to other rows"):
        pmg.RunningMoments(["beta", "mean"], model=model)
    with pytest.raises(ValueError, match=r"`every`"):
        pmg.RunningMoments(["beta"], every=0, model=model)
    with pytest.raises(ValueError, match="expected draws after the tuning phase, got none"):
        pmg.RunningMoments(["beta"], model=model).to_datatree()


def test_memory_does_not_grow_with_the_draws():
    size, n_draws = 100_000, 300
    with pm.Model() as model:
        pm.Normal("x", shape=size)
    running = pmg.RunningMoments(["x"], every=100, model=model)
    trace, rng = SimpleNamespace(varnames=["small"]), np.random.default_rng(1)
    tracemalloc.start()
    try:
        for i in range(n_draws):
            point = {"x": rng.normal(5.0, 2.0, size)}
            running(trace, SimpleNamespace(chain=0, draw_idx=i, tuning=False, point=point))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # The moments, the draws that are kept, and what passes through; all draws are 300.
    assert peak < 9 * 8 * size
    found = running.to_datatree()
    assert abs(float(found["mean"]["x"].mean()) - 5) < 5 * 2 / np.sqrt(size * n_draws)
    assert abs(float((found["sd"]["x"] ** 2).mean()) - 4) < 5 * 4 * np.sqrt(2 / (size * n_draws))


@pytest.mark.slow
def test_memory_of_a_run():
    """A trace would take 400 times 8 MB."""
    size = 1_000_000
    with pm.Model():
        scale = pm.HalfNormal("scale")
        x = pm.Normal("x", shape=size)
        pm.Normal("y", x[:3] * scale, observed=pm.Minibatch(DATA, batch_size=20), total_size=200)
        running = pmg.RunningMoments(["x"])
        step = pmg.SGLD(step_size=0.01, variance_reduction=None, n_steps=1)
        tracemalloc.start()
        try:
            idata = pm.sample(
                300, tune=100, chains=1, step=step, callback=running, var_names=["scale"], **QUIET
            )
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert idata["posterior"]["scale"].shape == (1, 300)
    assert running.to_datatree()["mean"]["x"].shape == (1, size)
    # The chain's position, velocity and mean, a copy of its beginning, the moments, and what passes
    # through: 13 arrays measured.
    assert peak < 16 * 8 * size


def test_angles_and_axes_have_means_across_the_seam():
    with pm.Model() as model:
        pm.VonMises("angle", 0.0, 1.0, shape=2)
        pmg.Watson("axis", [0.0, 0.0, 1.0], 0.0)
        x = pm.Normal("x", shape=2)
        pm.Deterministic("turned", pt.arctan2(x[1], x[0]))
    names = ["angle", "axis", "turned", "x"]
    running = pmg.RunningMoments(names, model=model)
    rng = np.random.default_rng(1)
    plain = rng.normal([np.pi, 0.0], 0.2, (2, 300, 2))
    for chain, draws in enumerate(plain):
        for draw in draws:
            angle = np.angle(np.exp(1j * draw))
            axis = rng.choice([-1, 1]) * np.array([np.cos(draw[1]), np.sin(draw[1]), 0.0])
            running.add(chain, [angle, axis, angle[0], angle])
    found = running.to_datatree()
    means, deviations = found["mean"].to_dataset(), found["sd"].to_dataset()
    mean = means["angle"].mean("chain").to_numpy()
    expected = plain.mean(axis=(0, 1))
    assert np.abs(np.angle(np.exp(1j * (mean - expected)))).max() < 1e-12
    np.testing.assert_allclose(deviations["angle"], plain.std(axis=1, ddof=1), rtol=1e-10)
    np.testing.assert_allclose(means["turned"], means["angle"][:, 0], rtol=1e-12)
    assert abs(float(means["axis"].mean("chain")[0])) > 0.95
    assert deviations["x"].to_numpy()[:, 0].min() > 2.5
