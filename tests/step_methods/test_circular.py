#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Angles close: no wall at pi, PyMC's own distributions included."""

import numpy as np
import pymc as pm
import pytest

from chains import assert_mean, assert_temperature_of_positions, chain_averages, run
from exact_moments import assert_moments, assert_moments_by_gmc, stochastic_step
from pymc.distributions.transforms import circular

import pymc_geodesic as pmg

from pymc_geodesic.distributions.bessel import bessel_ratio

N_POINTS, MU = 100, 3.1
CASES = {
    "VonMises-weak": (lambda n: pm.VonMises("x", MU, 0.5, shape=n), 0.5),
    "VonMises-strong": (lambda n: pm.VonMises("x", MU, 50.0, shape=n), 50.0),
    "WrappedNormal": (lambda n: pmg.WrappedNormal("x", MU, 0.8, shape=n), 1.6),
    "WrappedCauchy": (lambda n: pmg.WrappedCauchy("x", MU, 0.7, shape=n), 16.0),
    "Cardioid": (lambda n: pmg.Cardioid("x", MU, 0.4, shape=n), 1.0),
}
LENGTHS = {"WrappedNormal": np.exp(-0.32), "WrappedCauchy": 0.7, "Cardioid": 0.4}
FAST = {"VonMises-weak", "WrappedCauchy"}


GRID = [pytest.param(n, marks=() if n in FAST else pytest.mark.slow) for n in CASES]


def target(name, n_points):
    """A model of so many angles, its statistics and their means, and its largest curvature."""
    make, curvature = CASES[name]
    with pm.Model() as model:
        make(n_points)
    [value] = [v.name for v in model.value_vars]
    length = LENGTHS.get(name) or float(bessel_ratio(2, curvature).eval())
    statistics = {
        "cosine": lambda point: np.cos(point[value] - MU),
        "sine": lambda point: np.sin(point[value] - MU),
    }
    return model, statistics, {"cosine": length, "sine": 0.0}, curvature


@pytest.mark.parametrize("method", [pmg.SGGMC, pmg.gSGNHT])
@pytest.mark.parametrize("name", GRID)
def test_exact_moments(name, method):
    model, statistics, expected, curvature = target(name, N_POINTS)
    assert isinstance(pmg.manifold_of(model["x"]), pmg.Circle)
    step_size = 0.15 / np.sqrt(curvature + 0.5)
    step = stochastic_step(method, model, step_size=step_size, damping=0.3)
    [value] = [v.name for v in model.value_vars]
    statistics["inside"] = lambda point: np.abs(point[value]) <= np.pi
    averages, stats = chain_averages(step, model.initial_point(), statistics, draws=150, discard=40)
    assert averages["inside"].min() == 1
    for statistic, exact in expected.items():
        assert_mean(averages[statistic], exact)
    assert_temperature_of_positions(stats, allowed=0.03)


@pytest.mark.parametrize("name", GRID)
def test_exact_moments_by_gmc(name):
    model, *exact, curvature = target(name, 4)
    assert_moments_by_gmc(model, *exact, step_size=0.6 / np.sqrt(curvature + 0.5))


def torus(n_points):
    """Two dependent angles, and their moments by quadrature."""
    kappa, lam, mu = np.array([3.0, 5.0]), 2.5, np.array([3.0, -3.0])
    with pm.Model() as model:
        pmg.BivariateVonMises("x", np.tile(mu, (n_points, 1)), kappa, lam)
    [value] = [v.name for v in model.value_vars]
    statistics = {
        "product": lambda point: np.sin(point[value] - mu).prod(-1),
        "cosine": lambda point: np.cos(point[value] - mu)[:, 1],
    }
    grid = np.arange(400) * 2 * np.pi / 400
    a, b = np.meshgrid(grid, grid, indexing="ij")
    weight = np.exp(kappa[0] * np.cos(a) + kappa[1] * np.cos(b) + lam * np.sin(a) * np.sin(b))
    weight /= weight.sum()
    product, cosine = (weight * np.sin(a) * np.sin(b)).sum(), (weight * np.cos(b)).sum()
    return model, statistics, {"product": product, "cosine": cosine}


@pytest.mark.parametrize("method", [pmg.SGGMC, pytest.param(pmg.gSGNHT, marks=pytest.mark.slow)])
def test_two_angles_on_the_torus(method):
    model, *exact = torus(N_POINTS)
    step = stochastic_step(method, model, step_size=0.06, damping=0.12)
    assert_moments(step, *exact, draws=120, allowed=0.03)


@pytest.mark.slow
def test_two_angles_on_the_torus_by_gmc():
    model, *exact = torus(4)
    assert_moments_by_gmc(model, *exact, step_size=0.25)


def test_a_uniform_angle_with_the_circular_transform():
    """The mean direction of angles that scatter about pi, under a uniform prior."""
    rng = np.random.default_rng(1)
    angles = np.angle(np.exp(1j * (np.pi + rng.vonmises(0, 4.0, 20))))
    with pm.Model() as model:
        mu = pm.Uniform("mu", -np.pi, np.pi, default_transform=circular)
        pm.VonMises("x", mu, 4.0, observed=angles)
    step = pmg.SGGMC(model=model, step_size=0.05, friction=2.0, n_steps=20)
    assert step.sampler.problem.manifold_names == {"mu": "Circle"}
    draws = [point["mu_circular__"] for point, _ in run(step, model.initial_point(), draws=4000)]
    total = np.exp(1j * angles).sum()
    expected = float(bessel_ratio(2, 4.0 * abs(total)).eval())
    away = np.cos(np.array(draws) - np.angle(total))
    batches = away.reshape(40, -1).mean(1)
    error = batches.std(ddof=1) / np.sqrt(40)
    assert abs(batches.mean() - expected) < 4 * error + 0.02 * (1 - expected)
