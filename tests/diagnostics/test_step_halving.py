#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Biases of known size, estimated by halving the step."""

import logging

import numpy as np
import pymc as pm
import pytest

from scipy.linalg import solve_discrete_lyapunov

import pymc_geodesic as pmg

from pymc_geodesic.diagnostics.extrapolation import extrapolated, has_failed, statistics_of
from pymc_geodesic.runs.halved import _coarse
from pymc_geodesic.sampling.inputs import Randomness


def normal(points, step, **options):
    with pm.Model() as model:
        pm.Normal("x", shape=points)
        return model, step(**options)


def variance(step_size, friction, *, precision=1.0, noise=0.0):
    """Exact variance of SGHMC's draws of a normal, with gradients of this noise variance."""
    h = friction * step_size / 2
    a = np.array([[1, step_size / 2], [0, 1]])
    b = np.diag([1, np.exp(-h)])
    kick = np.array([[1, 0], [-step_size * np.cosh(h) * precision, 1]])
    injected = 2 * np.sinh(2 * h) + (step_size * np.cosh(h)) ** 2 * noise
    late = a @ b
    return solve_discrete_lyapunov(late @ kick @ b @ a, injected * np.outer(*late[:, [1, 1]].T))[
        0, 0
    ]


def test_order_is_known_to_the_step():
    with pm.Model():
        pm.Normal("x", shape=1)
        orders = [
            method(step_size=0.1).order for method in (pmg.SGGMC, pmg.SGHMC, pmg.gSGNHT, pmg.SGLD)
        ]
        assert orders == [2, 2, 2, 1]
        assert pmg.SGNHT(step_size=0.1, integrator="euler").order == 1


def test_bias_of_langevin_dynamics():
    """A standard normal has variance 1 / (1 - h / 4) at step size h."""
    h = 0.8
    model, step = normal(4, pmg.SGLD, step_size=h, n_steps=10)
    functions = {"square": lambda draws: (draws["x"] ** 2).mean("x_dim_0")}
    result = pmg.step_halving(model, step, functions=functions, tune=50, random_seed=1)
    assert result.order == 1
    assert result.step_size == h
    square = result.table.loc[("square", "mean")]
    bias = 2 * (1 / (1 - h / 4) - 1 / (1 - h / 8))
    assert abs(square["bias"] - bias) < 4 * square["bias_error"]
    assert square["z"] > 8
    assert square["gain"] > 4
    assert square["bias_low"] < square["bias"] < square["bias_high"]
    # What the next power of h leaves is a quarter of the bias at most.
    assert abs(square["extrapolated"] - 1) < bias / 4 + 4 * square["extrapolated_error"]
    assert ("square", "sd") not in result.table.index
    assert "is off by" in str(result)
    assert not result.failed
    assert result.runs[0]["posterior"].sizes["draw"] == 1000
    # Three transitions of two chains, for kept draws and discarded ones.
    assert result.n_transitions == 3 * 10 * 4 * 1100


def test_each_chain_has_its_own_distribution_with_minibatches():
    """Both variances are those of single chains, whose rows heat them."""
    n, size, sd, e = 400, 200, 2.0, 0.02
    data = np.random.default_rng(1).normal(0.0, sd, n)
    with pm.Model() as model:
        x = pm.Normal("x", 0.0, 100.0)
        batch = pm.Minibatch(data, batch_size=size)
        pm.Normal("y", x, sd, observed=batch, total_size=n)
        step = pmg.SGHMC(step_size=e, friction=20.0, n_steps=10)
    result = pmg.step_halving(model, step, order=1, draws=2000, tune=50, random_seed=1)
    precision, noise = n / sd**2 + 1e-4, n**2 / size * data.var() / sd**4
    truth = [variance(s, 20.0, precision=precision, noise=noise) ** 0.5 for s in (e, e / 2)]
    row = result.table.loc[("x", "sd")]
    # Without the noise of gradients, both would be exact.
    assert truth[0] / truth[1] > 1.02
    errors = row["bias_error"] / 2, row["extrapolated_error"]
    assert abs(row["estimate"] - row["halved"] - (truth[0] - truth[1])) < 4 * errors[0]
    assert abs(row["extrapolated"] - (2 * truth[1] - truth[0])) < 4 * errors[1]
    assert row["gain"] > 2


def test_fine_chains_do_not_see_their_partners():
    model, step = normal(2, pmg.SGHMC, step_size=0.4, friction=0.025, n_steps=2)
    options = {"draws": 30, "tune": 0, "chains": 2, "random_seed": 1}
    coupled = pmg.step_halving(model, step, **options)
    apart = pmg.step_halving(model, step, coupled=False, **options)
    fine = [result.runs[1]["posterior"]["x"].to_numpy() for result in (coupled, apart)]
    coarse = [result.runs[0]["posterior"]["x"].to_numpy() for result in (coupled, apart)]
    np.testing.assert_array_equal(*fine)
    assert np.abs(coarse[0] - fine[0]).mean() < 0.3 * np.abs(coarse[1] - fine[1]).mean()
    table = coupled.table
    np.testing.assert_allclose(
        table["extrapolated"], (4 * table["halved"] - table["estimate"]) / 3, rtol=1e-12
    )


def test_noise_and_rows_of_the_longer_transitions():
    rng, n = np.random.default_rng(1), 20_000
    halves = []
    for _ in range(2):
        # Batches are shared by two transitions.
        rows = rng.integers(0, 50, (n // 2, 3)).repeat(2, axis=0)
        halves.append(Randomness([rng.standard_normal((n, 2))], [rows], np.arange(n) % 2 == 0))
    noise, rows, _ = _coarse(*halves, steps_per_batch=2)
    z, fine = noise[0], np.concatenate([half.noise[0] for half in halves])
    assert z.shape == (n, 2)
    assert abs(z.var() - 1) < 4 * np.sqrt(2 / z.size)
    assert abs((z[1:] * z[:-1]).mean()) < 4 / np.sqrt(z.size)
    np.testing.assert_allclose(z.sum(axis=0) * np.sqrt(2), fine.sum(axis=0))
    fine_rows = np.concatenate([half.rows[0] for half in halves])
    np.testing.assert_array_equal(rows[0][::2], fine_rows[::4])
    np.testing.assert_array_equal(rows[0][1::2], fine_rows[::4])


def test_thermostats_on_a_sphere():
    with pm.Model() as model:
        pmg.VonMisesFisher("x", mu=[1.0, 0.0, 0.0], kappa=2.0)
        step = pmg.gSGNHT(step_size=0.3, diffusion=2.0, n_steps=6)
    result = pmg.step_halving(model, step, tune=100, random_seed=1, draws=500)
    assert result.table["gain"].min() > 2
    assert not result.failed


def test_a_self_tuned_step():
    data = np.random.default_rng(1).normal(2.0, 1.0, 2000)
    with pm.Model() as model:
        mean = pm.Normal("mean", 0.0, 10.0)
        batch = pm.Minibatch(data, batch_size=100)
        pm.Normal("y", mean, 1.0, observed=batch, total_size=2000)
    result = pmg.step_halving(model, draws=300, tune=300, chains=2, random_seed=1)
    row = result.table.loc[("mean", "mean")]
    assert abs(row["extrapolated"] - data.mean()) < 4 * row["extrapolated_error"]
    assert row["bias_error"] < 0.2 / np.sqrt(2000)


def test_parted_chains_are_reported(caplog):
    """Two narrow modes, between which chains of a pair change at different times."""
    with pm.Model() as model:
        pm.NormalMixture("x", w=[0.5, 0.5], mu=[-2.5, 2.5], sigma=[1.0, 1.0])
        step = pmg.SGHMC(step_size=0.5, friction=0.05, n_steps=2)
    with caplog.at_level(logging.WARNING, logger="pymc"):
        result = pmg.step_halving(model, step, draws=400, tune=50, random_seed=1)
    assert "the mean of x" in result.failed
    assert "The coupling failed for" in caplog.text
    assert "The coupling failed" in str(result)


def test_intervals_of_independent_and_coupled_series():
    """Standard errors of the bias cover it, whether the series are coupled or not."""
    rng = np.random.default_rng(1)
    for shared, least in ((0.0, 0), (0.95, 5)):
        covered, gains = [], []
        for _ in range(300):
            a, b, c = rng.standard_normal((3, 4, 100))
            coarse = 0.4 + shared * c + np.sqrt(1 - shared**2) * a
            fine = 0.1 + shared * c + np.sqrt(1 - shared**2) * b
            found = next(statistics_of(coarse, fine, with_sd=False))
            row = extrapolated(found, order=2, probability=0.9)
            covered.append(row["bias_low"] < 0.4 < row["bias_high"])
            gains.append(row["gain"])
        # Three standard errors of a share of 300.
        assert abs(np.mean(covered) - 0.9) < 0.052
        assert np.median(gains) > least
        assert has_failed(found, row["gain"]) == (shared == 0)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"replacement": False}, "expected batches with replacement"),
        ({"step_size": pmg.PolynomialSchedule(0.1, 100, 0.6)}, "expected a constant step size"),
        ({"steps_per_batch": 2, "n_steps": 3}, "a multiple of `steps_per_batch`"),
    ],
)
def test_steps_that_cannot_be_coupled(options, says):
    model, step = normal(1, pmg.SGHMC, **{"step_size": 0.1, "friction": 1.0} | options)
    with pytest.raises(ValueError, match=says):
        pmg.step_halving(model, step, draws=10, tune=0)


def test_steps_without_a_bias_of_this_kind():
    model, _ = normal(1, pmg.SGHMC, step_size=0.1)
    with pytest.raises(ValueError, match="`step` expected a stochastic-gradient step"):
        pmg.step_halving(model, pmg.GMC)
    with pytest.raises(TypeError, match="`step` expected a step of pymc_geodesic"):
        pmg.step_halving(model, pm.NUTS)
