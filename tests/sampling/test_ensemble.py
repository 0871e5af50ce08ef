#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Many chains that continue from a few: their moments, and what their draws depend on."""

import logging
import os
import subprocess
import sys

import numpy as np
import pymc as pm
import pytensor
import pytest
import xarray as xr

from scipy.special import expit

import pymc_geodesic as pmg

from pymc_geodesic.runs.convergence import of_superchains
from pymc_geodesic.sampling import begin, run
from pymc_geodesic.sampling.ensemble import MOST_TUNED, Ensemble, can_multiply

N, TUNE = 2_000, 200


def regression():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((N, 3))
    y = x @ [1.0, -0.5, 0.2] + rng.standard_normal(N)
    covariance = np.linalg.inv(x.T @ x + np.eye(3))
    with pm.Model() as model:
        xb, yb = pm.Minibatch(x, y, batch_size=50)
        slopes = pm.Normal("slopes", shape=3)
        pm.Normal("y", xb @ slopes, 1.0, observed=yb, total_size=N)
    return model, covariance @ x.T @ y, covariance


@pytest.fixture(scope="module")
def tuned():
    model, mean, covariance = regression()
    with model:
        sampler = pmg.SGNHT().sampler
    chains = [begin(sampler, random_seed=[1, i], tune=TUNE, draws=100) for i in range(4)]
    chains, *_ = run(sampler, chains, TUNE, chain_method="vectorized")
    return sampler, chains, mean, covariance


def test_moments(tuned):
    sampler, chains, mean, covariance = tuned
    _, draws, _ = Ensemble(sampler, chains, 64).advance(200)
    slopes = draws["slopes"]
    scores = (slopes - mean) @ np.linalg.cholesky(np.linalg.inv(covariance))
    # Means of chains are independent but for their common starts; errors from their spread.
    of_chains = scores.mean(axis=1)
    error = of_chains.std(axis=0, ddof=1) / 8
    assert np.all(np.abs(of_chains.mean(axis=0)) < 4.5 * error)
    squares = np.square(scores).mean(axis=1)
    # Steps of a third of a posterior scale widen by a hundredth.
    assert np.all(np.abs(squares.mean(axis=0) - 1) < 4.5 * squares.std(axis=0, ddof=1) / 8 + 0.03)
    # Chains of one origin have random numbers of their own.
    between = np.corrcoef(scores[::4, 100:].reshape(16, -1))
    assert np.abs(between[np.triu_indices(16, 1)]).mean() < 0.15


def test_draws_do_not_depend_on_calls_or_on_other_chains(tuned):
    sampler, chains, *_ = tuned
    _, whole, statistics = Ensemble(sampler, chains, 8).advance(12)
    parts = Ensemble(sampler, chains, 8)
    found = [parts.advance(n) for n in (5, 7)]
    joined = np.concatenate([draws["slopes"] for _, draws, _ in found], axis=1)
    np.testing.assert_array_equal(joined, whole["slopes"])
    _, more, _ = Ensemble(sampler, chains, 16).advance(12)
    np.testing.assert_allclose(more["slopes"][:8], whole["slopes"], rtol=1e-6)
    _, thinned, kept = Ensemble(sampler, chains, 8, thin=3).advance(12)
    np.testing.assert_array_equal(thinned["slopes"], whole["slopes"][:, 2::3])
    np.testing.assert_array_equal(kept["thermostat"], statistics["thermostat"][:, 2::3])


def test_statistics_are_those_of_single_chains(tuned):
    sampler, chains, *_ = tuned
    _, _, one_by_one = run(sampler, chains, 100, chain_method="vectorized")
    _, _, together = Ensemble(sampler, chains, 64).advance(100)
    assert set(together) == set(one_by_one)
    for name, values in one_by_one.items():
        assert together[name].shape == (64, 100)
        if name != "warning":
            assert together[name].dtype == values.dtype, name
    for name in ("kinetic_temperature", "thermostat", "potential_estimate"):
        a, b = together[name].mean(axis=1), one_by_one[name].mean(axis=1)
        spread = 5 * a.std(ddof=1) * np.sqrt(1 / 64 + 1 / 4)
        assert abs(a.mean() - b.mean()) < spread, name


def test_a_run_of_many_chains(caplog):
    model, mean, covariance = regression()
    with caplog.at_level(logging.INFO, logger="pymc"):
        idata = pmg.sample(30, tune=TUNE, chains=48, model=model, random_seed=1, progressbar=False)
    posterior = idata["posterior"]
    assert posterior.sizes["chain"] == 48
    assert posterior.sizes["draw"] == 30
    assert posterior.attrs["n_superchains"] == MOST_TUNED
    assert "R-hat" not in caplog.text
    assert "too few" not in caplog.text
    error = np.abs(posterior["slopes"].mean(("chain", "draw")).to_numpy() - mean)
    assert np.all(error < 0.1 * np.sqrt(np.diag(covariance)))


@pytest.mark.parametrize("offset", [0.0, 1.0])
def test_superchains_that_have_not_forgotten_their_starts(offset):
    rng = np.random.default_rng(1)
    shift = offset * rng.standard_normal(16)[np.arange(64) % 16]
    values = rng.standard_normal((64, 20, 2)) + shift[:, None, None]
    found = of_superchains({"x": xr.DataArray(values, dims=("chain", "draw", "x_dim"))}, 16)
    assert any("Nested R-hat" in x.message for x in found) == bool(offset)


def test_rows_by_weight():
    rng = np.random.default_rng(1)
    n = 60_000
    x = np.column_stack([np.ones(n), rng.standard_normal(n), rng.lognormal(0, 2.2, n)])
    y = (rng.random(n) < expit(x @ [-4.0, 0.5, 0.004])).astype("int32")
    with pm.Model():
        xb, yb = pm.Minibatch(x, y, batch_size=200)
        beta = pm.Normal("beta", 0.0, 5.0, shape=3)
        pm.Bernoulli("y", logit_p=xb @ beta, observed=yb, total_size=n)
        sampler = pmg.SGNHT().sampler
    chains = [begin(sampler, random_seed=[1, i], tune=400, draws=100) for i in range(4)]
    chains, *_ = run(sampler, chains, 400, chain_method="vectorized")
    assert chains[0].tuning.center.weights is not None
    _, one_by_one, _ = run(sampler, chains, 400, chain_method="vectorized")
    _, together, _ = Ensemble(sampler, chains, 32).advance(60)
    [a, b] = (x[name] for x in (together, one_by_one) for name in x)
    sd = b.std(axis=(0, 1))
    assert np.all(np.abs(a.mean(axis=(0, 1)) - b.mean(axis=(0, 1))) < 0.35 * sd)
    assert np.all(np.abs(np.log(a.std(axis=(0, 1)) / sd)) < 0.25)


def test_modes_are_moved_apart():
    rng = np.random.default_rng(1)
    with pm.Model():
        place = pm.Normal("place", 0.3, 1.0)
        # The sign of the place is known from its prior only.
        rows = pm.Minibatch(rng.normal(1.0, 1.0, N), batch_size=50)
        pm.Normal("x", place**2, 1.0, observed=rows, total_size=N)
        sampler = pmg.SGNHT().sampler
    chains = [begin(sampler, random_seed=[1, i], tune=TUNE, draws=50) for i in range(8)]
    chains, *_ = run(sampler, chains, TUNE, chain_method="vectorized")
    starts = np.array([np.sign(chain.values["place"]) for chain in chains])
    assert len({chain.tuning.mode for chain in chains}) == 2
    tuned, draws, statistics = Ensemble(sampler, chains, 42).advance(50)
    # Every chain stays in the mode of its own origin.
    np.testing.assert_array_equal(np.sign(draws["place"][:, -1]), np.resize(starts, 42))
    own = [chain.settings.step_size for chain in tuned]
    np.testing.assert_array_equal(statistics["step_size"][:, 0], np.resize(own, 42))


@pytest.mark.parametrize(("friction", "is_hot"), [(100.0, False), (5.0, True)])
def test_chains_that_are_too_hot_say_so(friction, is_hot):
    rng = np.random.default_rng(1)
    with pm.Model():
        mu = pm.Normal("mu", shape=20)
        batch = pm.Minibatch(rng.standard_normal((1_000, 20)), batch_size=100)
        pm.Normal("y", mu, 1.0, observed=batch, total_size=1_000)
        # The noise has variance 1e4, and heats the velocities by 5 / friction.
        sampler = pmg.SGGMC(step_size=1e-3, friction=friction, n_steps=20).sampler
    chains = [begin(sampler, random_seed=[1, i], tune=50, draws=20) for i in range(4)]
    chains, *_ = run(sampler, chains, 50, chain_method="vectorized")
    ensemble = Ensemble(sampler, chains, 40)
    found = [ensemble.advance(10)[2]["warning"] for _ in range(2)]
    said = [x.message for warnings in found for x in warnings.ravel() if x is not None]
    assert any("velocities of `mu` had temperature" in text for text in said) == is_hot


def test_entries_that_are_hot_and_cold_are_named():
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((2_000, 4))
    with pm.Model():
        a = pm.Normal("a", 0.0, 10.0, shape=4)
        batch = pm.Minibatch(rows, batch_size=10)
        pm.Normal("y", a, [0.5, 2.0, 2.0, 2.0], observed=batch, total_size=len(rows))
        given = {"step_size": 1e-3, "diffusion": 10.0, "n_steps": 100}
        sampler = pmg.SGNHT(**given, variance_reduction=None).sampler
    chains = [begin(sampler, random_seed=[1, i], tune=200, draws=40) for i in range(4)]
    chains, *_ = run(sampler, chains, 200, chain_method="vectorized")
    _, _, statistics = Ensemble(sampler, chains, 40).advance(40)
    [text] = [x.message for x in statistics["warning"][:, -1] if x is not None]
    assert "of `a[0]` had temperature" in text


def test_what_cannot_be_multiplied():
    model, *_ = regression()
    with model:
        given = pmg.SGHMC(step_size=0.01, friction=1.0).sampler
        in_passes = pmg.SGNHT(replacement=False).sampler
    for sampler in (given, in_passes):
        assert not can_multiply(sampler, begin(sampler, tune=TUNE, draws=10))


def test_single_precision_tunes_itself():
    rng = np.random.default_rng(1)
    data = rng.normal(2, 1, (N, 2)).astype("float32")
    with pytensor.config.change_flags(floatX="float32"):
        with pm.Model() as model:
            mean = pm.Normal("mean", 0, 10, shape=2)
            rows = pm.Minibatch(data, batch_size=50)
            pm.Normal("x", mean, 1, observed=rows, total_size=N)
        idata = pmg.sample(50, tune=TUNE, model=model, random_seed=1, progressbar=False)
    assert idata.posterior["mean"].dtype == "float32"
    error = idata.posterior["mean"].mean(("chain", "draw")).to_numpy() - data.mean(axis=0)
    assert np.all(np.abs(error) < 0.3 / np.sqrt(N))
    assert "certified" in idata.posterior.attrs["verdict"]


def test_chains_are_divided_over_devices(tmp_path):
    """Draws of chains on eight devices are those on one, in the same process and in another."""
    environment = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=8"}
    command = [sys.executable, "-c", ON_EIGHT_DEVICES, str(tmp_path / "draws.npz")]
    subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    found = np.load(tmp_path / "draws.npz")
    assert found["n_devices"] == 8
    assert found["divided"].shape == (16, 6, 3)
    np.testing.assert_array_equal(found["divided"][:15], found["alone"])
    np.testing.assert_array_equal(found["divided"][:, 4:], found["pickled"])


ON_EIGHT_DEVICES = """
import sys
import cloudpickle
import numpy as np
import pymc as pm
import pymc_geodesic as pmg
from pymc_geodesic.sampling import begin
from pymc_geodesic.sampling.ensemble import Ensemble

x = np.random.default_rng(1).standard_normal((500, 3))
with pm.Model():
    rows = pm.Minibatch(x, batch_size=50)
    mean = pm.Normal("mean", shape=3)
    pm.Normal("x", mean, 1.0, observed=rows, total_size=500)
    sampler = pmg.SGHMC(step_size=0.02, friction=1.0, n_steps=3).sampler
tuned = [begin(sampler, random_seed=[1, i], tune=0, draws=6) for i in range(4)]
divided, alone = (Ensemble(sampler, tuned, n) for n in (16, 15))
first = divided.advance(4)[1]["mean"]
other = cloudpickle.loads(cloudpickle.dumps(divided))
parts = [first, divided.advance(2)[1]["mean"]]
[kernel] = [part._kernel for part in divided._parts]
np.savez(
    sys.argv[1],
    n_devices=len(kernel.carried[0].sharding.device_set),
    divided=np.concatenate(parts, axis=1),
    alone=alone.advance(6)[1]["mean"],
    pickled=other.advance(2)[1]["mean"],
)
"""
