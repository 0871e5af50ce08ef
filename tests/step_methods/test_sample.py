#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The steps through ``pm.sample``: seeds, processes and what ArviZ gets."""

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

N = 40
RNG = np.random.default_rng(1)
DATA = RNG.normal(size=N)
DIRECTIONS = RNG.normal([1.0, 1.0, 0.0], 1.0, (N, 3))
DIRECTIONS /= np.linalg.norm(DIRECTIONS, axis=1, keepdims=True)
QUIET = {
    "progressbar": False,
    "quiet": True,
    "compute_convergence_checks": False,
    "random_seed": 5,
}


def small_model():
    with pm.Model() as model:
        theta = pm.Normal("theta")
        batch = pm.Minibatch(DATA, batch_size=4)
        pm.Normal("x", theta, observed=batch, total_size=N)
    return model


def mixed_model(*, minibatch=True):
    with pm.Model() as model:
        data = pm.Minibatch(DIRECTIONS, batch_size=5) if minibatch else DIRECTIONS
        mu = pmg.VonMisesFisher("mu", [0.6, 0.8, 0.0], 1.0)
        kappa = pm.HalfNormal("kappa", 5.0)
        weights = pm.Dirichlet("weights", np.ones(3))
        scaled = {"total_size": N} if minibatch else {}
        pmg.VonMisesFisher("x", mu, kappa * weights[0], observed=data, **scaled)
    return model


@pytest.fixture(scope="module")
def small():
    """A model with its step."""
    model = small_model()
    return model, pmg.gSGNHT(model=model, step_size=0.05, diffusion=2.0)


def sample(small, **keywords):
    model, step = small
    options = QUIET | {"draws": 8, "tune": 4, "chains": 2, "step": step}
    with model:
        return pm.sample(**(options | keywords))


@pytest.fixture(scope="module")
def in_one_process(small):
    return sample(small, cores=1)


def test_chains_differ(in_one_process):
    first, second = in_one_process.posterior["theta"].values
    assert np.all(first != second)


def test_a_seed_gives_the_same_draws_again(small, in_one_process):
    again = sample(small, cores=1)
    other = sample(small, cores=1, random_seed=6)
    expected = in_one_process.posterior["theta"]
    np.testing.assert_array_equal(again.posterior["theta"], expected)
    assert np.all(other.posterior["theta"].values != expected.values)


@pytest.mark.parametrize("context", ["fork", "spawn", "forkserver"])
def test_processes_give_the_draws_of_one(small, in_one_process, context):
    elsewhere = sample(small, cores=2, mp_ctx=context)
    for group in ("posterior", "sample_stats"):
        expected, actual = in_one_process[group], elsewhere[group]
        for name in ("theta",) if group == "posterior" else ("thermostat", "potential_estimate"):
            np.testing.assert_array_equal(actual[name].values, expected[name].values)


def test_arviz_gets_draws_and_statistics(small, in_one_process):
    _, step = small
    assert in_one_process.posterior["theta"].shape == (2, 8)
    stats = in_one_process.sample_stats
    assert set(step.stats_dtypes_shapes) - {"warning", "sampler"} <= set(stats.data_vars)
    assert stats["kinetic_temperature"].shape == (2, 8)
    assert stats["diverging"].dtype == bool


def test_progress_bar_without_a_terminal(small, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    idata = sample(small, cores=1, chains=1, progressbar=True, quiet=False)
    assert idata.posterior["theta"].shape == (1, 8)
    assert "Temperature" in capsys.readouterr().out


def test_gmc_through_sample():
    with mixed_model():
        step = pmg.GMC(n_leapfrog=3)
        idata = pm.sample(draws=5, tune=30, chains=1, cores=1, step=step, **QUIET)
    stats = idata.sample_stats
    assert {"acceptance_rate", "accepted", "energy", "step_size", "diverging"} <= set(stats)
    assert np.ptp(stats["step_size"].values) == 0  # tuned, then kept
    np.testing.assert_allclose(idata.posterior["weights"].sum("weights_dim_0"), 1, atol=1e-12)
