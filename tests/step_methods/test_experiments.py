#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The experiments of the papers in the small: many chains at once. In full in `benchmarks/`."""

import numpy as np
import pymc as pm
import pytest

from chains import (
    add_gradient_noise,
    assert_mean,
    assert_temperature_of_positions,
    chain_averages,
    run,
)

import pymc_geodesic as pmg

from pymc_geodesic.distributions.bessel import bessel_ratio

M = 200


def noise_rows(variance, shape, n_rows=400):
    rows = np.random.default_rng(1).normal(size=(n_rows, *shape))
    return (rows - rows.mean(axis=0)) * np.sqrt(variance) / rows.std(axis=0)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["SGGMC", "gSGNHT"])
def test_circle_with_huge_gradient_noise(method):
    """Liu, Zhu and Song (2016), section 5.1: E cos = 0.446692, E sin = -0.257897."""
    means = np.array([[np.cos(np.pi / 3), s * np.sin(np.pi / 3)] for s in (1, -1)])
    with pm.Model() as model:
        x = pmg.SphericalUniform("x", shape=(M, 2))
        first, second = 5 * (x * means[0]).sum(-1), 5 * (x * means[1]).sum(-1) + np.log(2)
        pm.Potential("target", pm.math.logaddexp(first, second).sum())
        add_gradient_noise("noise", x, noise_rows(1000.0, (M, 2)))
    common = {"model": model, "step_size": 0.01, "n_steps": 500}
    step = (
        pmg.SGGMC(friction=10.0, gradient_noise=1000.0, **common)
        if method == "SGGMC"
        else pmg.gSGNHT(diffusion=10.0, thermostat="per_point", **common)
    )
    angles = []
    for point, stats in run(step, model.initial_point(), draws=200, discard=40):
        position = point[step.vars[0].name]
        angles.append(np.arctan2(position[:, 1], position[:, 0]))
        if method == "gSGNHT":
            assert stats["thermostat"] == pytest.approx(15, rel=0.1)
    angles = np.array(angles)
    assert_mean(np.cos(angles).mean(axis=0), 0.446692)
    assert_mean(np.sin(angles).mean(axis=0), -0.257897)
    edges = np.linspace(-np.pi, np.pi, 64)
    grid = np.linspace(-np.pi, np.pi, 63_001)
    density = np.exp(5 * np.cos(grid - np.pi / 3)) + 2 * np.exp(5 * np.cos(grid + np.pi / 3))
    truth = np.histogram(grid, edges, weights=density)[0]
    found = np.histogram(angles, edges)[0]
    assert 0.5 * np.abs(found / found.sum() - truth / truth.sum()).sum() < 0.03


@pytest.mark.slow
def test_double_well_with_an_unknown_noise():
    """Ding et al. (2014), section 5: kinetic energy 1/2 and thermostat A + h V / 2."""
    step_size, variance = 0.01, 200.0
    with pm.Model() as model:
        x = pm.Flat("x", shape=(M, 1))
        well = (x + 4) * (x + 1) * (x - 1) * (x - 3) / 14 + 0.5
        pm.Potential("target", -well.sum())
        add_gradient_noise("noise", x, noise_rows(variance, (M, 1)))
    step = pmg.SGNHT(
        model=model,
        step_size=step_size,
        diffusion=1e-3,
        thermostat="per_point",
        n_steps=500,
    )
    averages, stats = chain_averages(
        step,
        model.initial_point(),
        {"mean": lambda p: p["x"][:, 0], "square": lambda p: p["x"][:, 0] ** 2},
        draws=400,
        discard=200,
        tune=100,
    )
    grid = np.linspace(-8, 7, 20_001)
    density = np.exp(-((grid + 4) * (grid + 1) * (grid - 1) * (grid - 3) / 14))
    density /= density.sum()
    assert_mean(averages["mean"], (grid * density).sum(), errors=5)
    assert_mean(averages["square"], (grid**2 * density).sum(), errors=5)
    assert stats["kinetic_temperature"] / 2 == pytest.approx(0.5, abs=0.01)
    assert_temperature_of_positions(stats, allowed=0.02)
    assert stats["thermostat"] == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("thermostat", ["per_variable", "shared"])
def test_two_spheres_with_different_gradient_noise(thermostat):
    """One friction for both makes the noisier too hot and the other too cold."""
    noise = {"a": 200.0, "b": 10.0}
    with pm.Model() as model:
        for name, variance in noise.items():
            x = pmg.VonMisesFisher(name, np.tile(np.eye(3)[0], (M, 1)), 10.0)
            add_gradient_noise(f"noise_{name}", x, noise_rows(variance, (M, 3)))
    step = pmg.gSGNHT(
        model=model,
        step_size=0.02,
        diffusion=1.0,
        thermostat=thermostat,
        n_steps=100,
    )
    point = model.initial_point()
    names = {name: model.rvs_to_values[model[name]].name for name in noise}
    cosines = {name: lambda p, key=key: p[key][:, 0] for name, key in names.items()}
    averages, stats = chain_averages(step, point, cosines, draws=60, discard=60, tune=40)
    temperatures = [stats[f"kinetic_temperature_{name}"] for name in noise]
    if thermostat == "shared":
        positions = [stats[f"configurational_temperature_{name}"] for name in noise]
        for hot, cold in (temperatures, positions):
            assert hot > 1.3
            assert cold < 0.7
        return
    assert_temperature_of_positions(stats, allowed=0.02)
    assert temperatures == pytest.approx([1, 1], abs=0.02)
    for name in noise:
        assert_mean(averages[name], float(bessel_ratio(3, 10.0).eval()))
