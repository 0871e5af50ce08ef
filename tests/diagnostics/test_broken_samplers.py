#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Samplers that are broken on purpose are caught; as they are, they pass."""

import importlib

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.algorithms.thermostat import Thermostat

pytestmark = pytest.mark.slow
# The package has a function of the same name, which hides the module.
SGGMC = importlib.import_module("pymc_geodesic.algorithms.sggmc")
OPTIONS = {"step_size": 0.05, "n_steps": 20}


def draws(build):
    with pm.Model() as model:
        pmg.VonMisesFisher("x", mu=[0.0, 0.6, 0.8], kappa=4.0)
        pm.MvNormal("y", mu=[1.0, -1.0], cov=[[1.0, 0.6], [0.6, 2.0]])
        step = build()
        idata = pm.sample(
            500,
            tune=200,
            chains=4,
            cores=1,
            step=step,
            random_seed=1,
            progressbar=False,
            compute_convergence_checks=False,
        )
    return idata, model


def sggmc():
    return pmg.SGGMC(friction=1.0, **OPTIONS)


def gsgnht():
    return pmg.gSGNHT(diffusion=1.0, thermostat="per_variable", **OPTIONS)


def positions_caught(idata, model):
    table = pmg.configurational_temperature(idata, model=model)
    return bool((table["z"].abs() > 4).any())


def velocities_caught(idata):
    return bool((pmg.kinetic_temperature(idata)["z"].abs() > 4).any())


@pytest.mark.parametrize("build", [sggmc, gsgnht])
def test_as_they_are_they_pass(build):
    idata, model = draws(build)
    assert not velocities_caught(idata)
    assert not positions_caught(idata, model)
    check = pmg.stein_check(idata, model=model)
    assert check.passed, str(check)
    assert pmg.kernel_stein_discrepancy(idata, model=model, random_seed=1).p_value > 0.01


def test_noise_that_is_too_large(monkeypatch):
    kick = SGGMC.kick

    def too_noisy(*args, noise, **options):
        return kick(*args, noise=tuple(1.2 * z for z in noise), **options)

    monkeypatch.setattr(SGGMC, "kick", too_noisy)
    idata, model = draws(sggmc)
    assert velocities_caught(idata)
    assert positions_caught(idata, model)
    assert not pmg.stein_check(idata, model=model).passed
    assert pmg.kernel_stein_discrepancy(idata, model=model, random_seed=1).p_value < 0.01


def test_velocities_that_leave_the_tangent_space(monkeypatch):
    kick = SGGMC.kick

    class NeverTangent:
        def to_tangent(self, x, u):
            return u

    def not_projected(manifold, *args, **options):
        return kick(NeverTangent(), *args, **options)

    monkeypatch.setattr(SGGMC, "kick", not_projected)
    idata, model = draws(sggmc)
    assert positions_caught(idata, model)
    assert not pmg.stein_check(idata, model=model).passed


def test_thermostat_with_the_dimension_of_the_embedding(monkeypatch):
    def temperature(self, velocity):
        squares = self.manifold.squared_norm(velocity)
        sizes = [np.prod(shape) for shape in self.manifold.shapes]
        return tuple(square.sum() / size for square, size in zip(squares, sizes, strict=True))

    monkeypatch.setattr(Thermostat, "temperature", temperature)
    idata, model = draws(gsgnht)
    table = pmg.kinetic_temperature(idata)
    assert table.loc["x", "mean"] == pytest.approx(1.5, abs=0.1)
    assert table.loc["y", "mean"] == pytest.approx(1.0, abs=0.1)
    assert positions_caught(idata, model)
    assert not pmg.stein_check(idata, model=model).passed
