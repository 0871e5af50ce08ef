#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Friction, injected noise and the noise of the gradient balance at temperature one."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

from chains import add_gradient_noise, assert_temperature_of_positions, chain_averages

import pymc_geodesic as pmg

from pymc_geodesic.algorithms.splitting import balanced_kick, least_friction
from pymc_geodesic.manifolds import Product

M = 300


@pytest.mark.parametrize("variance", [1e-3, 1.0, 1e3, 1e8])
def test_least_friction_leaves_something_to_inject(variance):
    step_size = 0.1
    friction = pt.constant(least_friction(step_size, variance))
    flat = Product([pmg.Euclidean()], shapes=[()])
    [scale], [injected] = balanced_kick(flat, (friction,), step_size, (pt.constant(variance),))
    assert 0 <= injected.eval() <= 0.002 * step_size**2 * variance
    assert scale.eval() == pytest.approx(1.0)


def noisy_model(space, variance, *, n=3, n_rows=400):
    """M independent points whose gradient has Gaussian noise of a known variance.

    The rows of a `pm.Minibatch` of one row are the noise; they have mean zero and the variance
    exactly, coordinate by coordinate.
    """
    rng = np.random.default_rng(1)
    noise = rng.normal(size=(n_rows, M, n))
    noise -= noise.mean(axis=0)
    noise *= np.sqrt(variance) / noise.std(axis=0)
    with pm.Model() as model:
        if space == "sphere":
            x = pmg.VonMisesFisher("x", np.tile(np.eye(n)[0], (M, 1)), 2.0)
        else:
            x = pm.Normal("x", shape=(M, n))
        if variance:
            add_gradient_noise("noise", x, noise)
    return model


@pytest.mark.parametrize(
    ("space", "damping", "variance"),
    [
        ("flat", 0.5, 0.0),
        ("sphere", 1.0, 0.0),
        ("sphere", 0.1, 5.0),  # within what the friction carries
        ("sphere", 0.1, 500.0),  # far beyond: 2 C - step_size V < 0
        ("flat", 0.1, 500.0),
    ],
)
def test_temperature_of_sggmc_is_one(space, damping, variance):
    step_size = 0.1
    step = pmg.SGGMC(
        model=noisy_model(space, variance),
        step_size=step_size,
        friction=damping / step_size,
        gradient_noise=variance,
        n_steps=20,
    )
    _, stats = chain_averages(step, step.model.initial_point(), {}, draws=40, discard=10)
    assert stats["kinetic_temperature"] == pytest.approx(1, abs=0.02)
    assert not stats["diverging"]
    if variance == 500.0:
        assert stats["friction"] > damping / step_size


@pytest.mark.parametrize(("damping", "variance"), [(0.5, 0.0), (1.0, 0.0), (2.0, 0.0), (1.0, 20.0)])
def test_friction_does_not_widen_the_position(damping, variance):
    """Without the scale of the gradient the variance is cosh(C eps / 2): 1.03, 1.13, 1.54."""
    step_size = 0.1
    step = pmg.SGGMC(
        model=noisy_model("flat", variance),
        step_size=step_size,
        friction=damping / step_size,
        gradient_noise=variance,
        n_steps=200,
    )
    point = step.model.initial_point()
    averages, _ = chain_averages(
        step, point, {"square": lambda new: (new["x"] ** 2).mean(axis=-1)}, draws=100, discard=20
    )
    square = averages["square"]
    error = np.std(square) / np.sqrt(M)
    assert error < 0.01
    # What is left is the bias of second order, eps^2 / 4 at most.
    assert abs(np.mean(square) - 1) < 4 * error + step_size**2 / 4


def test_noise_that_is_ignored_heats():
    step = pmg.SGGMC(model=noisy_model("flat", 50.0), step_size=0.1, friction=1.0, n_steps=20)
    _, stats = chain_averages(step, step.model.initial_point(), {}, draws=30, discard=20)
    # 1 + eps V / (2 C)
    assert stats["kinetic_temperature"] == pytest.approx(3.5, rel=0.1)


def test_thermostat_finds_the_noise_on_a_circle():
    """Mean A + eps V / 2 with the intrinsic dimension, 1; half of it with the ambient one."""
    step = pmg.gSGNHT(
        model=noisy_model("sphere", 100.0, n=2),
        step_size=0.1,
        diffusion=1.0,
        thermostat="per_point",
        n_steps=20,
    )
    _, stats = chain_averages(step, step.model.initial_point(), {}, draws=150, discard=100)
    assert stats["kinetic_temperature"] == pytest.approx(1, abs=0.02)
    assert_temperature_of_positions(stats, allowed=0.05)
    assert stats["thermostat"] == pytest.approx(1.0 + 0.1 * 100.0 / 2, rel=0.05)
