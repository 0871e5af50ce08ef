#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Targets with known moments: every sampler finds them within Monte Carlo error.

A variable of M points is M chains, so that the standard errors come from independent averages. The
step size is a tenth of the shortest time of the dynamics, 1 / sqrt(kappa + n): the bias, of order
step_size^2, is then measured below a quarter of the standard error of each test (halving the step
size moves no figure by more than that).
"""

import numpy as np
import pymc as pm
import pytest

from chains import add_gradient_noise, assert_mean, assert_temperature_of_positions, chain_averages
from exact_moments import assert_moments, assert_moments_by_gmc, direction, stochastic_step

import pymc_geodesic as pmg

from pymc_geodesic.distributions.bessel import bessel_ratio

EVERY = [(n, kappa) for n in (2, 3, 10, 50) for kappa in (0.5, 5.0, 50.0)]
FAST = {(2, 5.0), (10, 5.0)}
GRID = [
    pytest.param(n, kappa, marks=() if (n, kappa) in FAST else pytest.mark.slow)
    for n, kappa in EVERY
]
SHARE = 0.15


def step_size_for(n, kappa):
    return SHARE / np.sqrt(kappa + n / 3)


def noise_rows(variance, n_points, n, n_rows=200):
    """Rows of Gaussian noise with mean zero and the variance exactly in every coordinate."""
    noise = np.random.default_rng(1).normal(size=(n_rows, n_points, n))
    noise -= noise.mean(axis=0)
    return noise * np.sqrt(variance) / noise.std(axis=0)


def von_mises_fisher(n, kappa, *, n_points, variance=0.0):
    with pm.Model() as model:
        x = pmg.VonMisesFisher("x", np.tile(direction(n), (n_points, 1)), kappa)
        if variance:
            add_gradient_noise("noise", x, noise_rows(variance, n_points, n))
    return model


def moments(n, kappa):
    """The cosine to the mean direction and its square, and their means."""
    mu, ratio = direction(n), float(bessel_ratio(n, kappa).eval())
    statistics = {
        "mean": lambda point: point["x_unitvector__"] @ mu,
        "square": lambda point: (point["x_unitvector__"] @ mu) ** 2,
    }
    return statistics, {"mean": ratio, "square": 1 - (n - 1) * ratio / kappa}


@pytest.mark.parametrize("noisy", [False, True], ids=["exact", "noisy"])
@pytest.mark.parametrize("method", [pmg.SGGMC, pmg.gSGNHT])
@pytest.mark.parametrize(("n", "kappa"), GRID)
def test_von_mises_fisher(n, kappa, method, noisy):
    """With gradient noise as strong as friction: known to SGGMC, unknown to gSGNHT."""
    step_size = step_size_for(n, kappa)
    friction = 0.1 / step_size
    variance = friction / step_size if noisy else 0.0
    model = von_mises_fisher(n, kappa, n_points=100, variance=variance)
    step = stochastic_step(method, model, step_size=step_size, variance=variance)
    stats = assert_moments(step, *moments(n, kappa), discard=60 if noisy else 20)
    if method is pmg.gSGNHT:
        expected = friction + 0.5 * step_size * variance
        assert stats["thermostat"] == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize(("n", "kappa"), GRID)
def test_von_mises_fisher_by_gmc(n, kappa):
    """The Metropolis test couples the points of one variable: few points, many draws."""
    model, step_size = von_mises_fisher(n, kappa, n_points=4), 4 * step_size_for(n, kappa)
    assert_moments_by_gmc(model, *moments(n, kappa), step_size=step_size, n_steps=100)


def product_model(n_points):
    """Independent factors with exact moments, each with an axis of chains."""
    with pm.Model() as model:
        pmg.VonMisesFisher("sphere", np.tile(direction(3), (n_points, 1)), 4.0)
        pm.Dirichlet("simplex", np.tile([3.0, 4.0, 5.0], (n_points, 1)))
        pm.HalfNormal("scale", 2.0, shape=(n_points, 1))
        pm.Normal("location", 1.0, 0.5, shape=(n_points, 2))
    return model


MOMENTS = {
    "sphere": lambda x: x @ direction(3),
    "simplex": lambda p: p[:, 0],
    "scale": lambda s: s[:, 0] ** 2,
    "location": lambda y: y[:, 1],
}
EXACT = {"sphere": 1 / np.tanh(4.0) - 0.25, "simplex": 0.25, "scale": 4.0, "location": 1.0}


@pytest.mark.parametrize("method", [pmg.SGGMC, pmg.gSGNHT])
def test_products(method):
    """Near the poles of a simplex density the gradient is steep: a smaller step than elsewhere."""
    model = product_model(300)
    friction = {"friction": 1.0} if method is pmg.SGGMC else {"diffusion": 1.0}
    thermostat = {} if method is pmg.SGGMC else {"thermostat": "per_point"}
    step = method(model=model, step_size=0.02, n_steps=100, **friction, **thermostat)
    variables = {variable.name: variable for variable in step.sampler.problem.variables}

    def moment(name):
        value = variables[name].value.name
        transform = model.rvs_to_transforms[model[name]]

        def compute(point):
            x = point[value]
            if name == "simplex":
                x = np.concatenate([x, -x.sum(-1, keepdims=True)], axis=-1)
                x = np.exp(x) / np.exp(x).sum(-1, keepdims=True)
            if name == "scale":
                x = np.exp(x)
            return MOMENTS[name](x)

        assert transform is not None or name == "location"
        return compute

    averages, stats = chain_averages(
        step,
        model.initial_point(),
        {name: moment(name) for name in EXACT},
        draws=100,
        discard=10,
    )
    for name, exact in EXACT.items():
        assert_mean(averages[name], exact)
        assert stats[f"kinetic_temperature_{name}"] == pytest.approx(1, abs=0.02)
    assert_temperature_of_positions(stats, allowed=0.02)
