#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Frames and rotations: every sampler finds exact moments, and stays on the manifold.

A variable of M points is M chains, as in test_targets.py; step sizes follow the same rule.
"""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest

from chains import add_gradient_noise, assert_mean, chain_averages, run
from exact_moments import assert_moments, assert_moments_by_gmc, stochastic_step
from pytensor.compile.mode import Mode

import pymc_geodesic as pmg

from pymc_geodesic.distributions.matrix_constant import (
    log_mean_exponential,
    log_mean_over_rotations,
)

INTERPRETED = Mode(linker="py", optimizer=None)
SHARE = 0.15
FRAME = np.array([[2.0, 0.3], [-0.5, 1.0], [0.4, -0.2], [0.1, 0.6], [0.0, 0.2]])
ROTATION = np.array([[1.5, 0.2, 0.0], [-0.3, 1.0, 0.1], [0.0, 0.4, -0.6]])
TARGETS = {"frames": (pmg.MatrixLangevin, FRAME), "rotations": (pmg.MatrixFisher, ROTATION)}
GRID = [
    pytest.param(name, strength, marks=() if strength == 4.0 else pytest.mark.slow)
    for name in TARGETS
    for strength in (0.5, 4.0, 40.0)
]


def model_of(name, strength, *, n_points, variance=0.0):
    distribution, f = TARGETS[name]
    with pm.Model() as model:
        x = distribution("x", np.tile(strength * f, (n_points, 1, 1)))
        if variance:
            noise = np.random.default_rng(1).normal(size=(200, *x.type.shape))
            noise -= noise.mean(axis=0)
            add_gradient_noise("noise", x, noise * np.sqrt(variance) / noise.std(axis=0))
    return model


def expected_trace(name, strength):
    """Mean of tr(F'X) and its square, from the constant's slope along F."""
    _, f = TARGETS[name]
    scale = pt.scalar("scale", dtype="float64")
    along = scale * pt.constant(f)
    log_mean = (
        log_mean_exponential(along, n=5, p=2)
        if name == "frames"
        else log_mean_over_rotations(along)
    )
    slope = pytensor.function([scale], pytensor.grad(log_mean, scale), mode=INTERPRETED)
    h = 1e-4 * strength
    variance = (slope(strength + h) - slope(strength - h)) / (2 * h)
    return {"mean": slope(strength), "square": variance + slope(strength) ** 2}


def step_size_for(name, strength):
    _, f = TARGETS[name]
    return SHARE / np.sqrt(strength * np.linalg.norm(f, 2) + len(f) / 3)


def moments(name, strength):
    """The trace tr(F'X) and its square, and their means."""
    _, f = TARGETS[name]
    value = {"frames": "x_frame__", "rotations": "x_rotation__"}[name]
    statistics = {
        "mean": lambda point: (point[value] * f).sum(axis=(-1, -2)),
        "square": lambda point: (point[value] * f).sum(axis=(-1, -2)) ** 2,
    }
    return statistics, expected_trace(name, strength)


@pytest.mark.parametrize("noisy", [False, True], ids=["exact", "noisy"])
@pytest.mark.parametrize("method", [pmg.SGGMC, pmg.gSGNHT])
@pytest.mark.parametrize(("name", "strength"), GRID)
def test_moments(name, strength, method, noisy):
    """With gradient noise as strong as friction: known to SGGMC, unknown to gSGNHT."""
    step_size = step_size_for(name, strength)
    variance = 0.1 / step_size**2 if noisy else 0.0
    model = model_of(name, strength, n_points=64, variance=variance)
    step = stochastic_step(method, model, step_size=step_size, variance=variance)
    assert_moments(step, *moments(name, strength), draws=200)


@pytest.mark.parametrize(("name", "strength"), GRID)
def test_moments_by_gmc(name, strength):
    model = model_of(name, strength, n_points=4)
    step_size = 4 * step_size_for(name, strength)
    options = {"draws": 40, "n_runs": 16}
    assert_moments_by_gmc(model, *moments(name, strength), step_size=step_size, **options)


UNIFORM = [(3, 2), (10, 3), (50, 5), (3, 3), (5, 5)]
UNIFORM_GRID = [
    pytest.param(*case, marks=() if case == (3, 3) else pytest.mark.slow) for case in UNIFORM
]


def uniform(n, p, n_points):
    """Uniform frames, or rotations of n = p rows, and moments that follow from symmetry.

    Only rotations have a mean product of three diagonal entries: the six terms of the determinant,
    which is one, have the same mean.
    """
    with pm.Model() as model:
        if n == p:
            pmg.UniformRotation("x", n, shape=(n_points, n, n))
        else:
            pmg.UniformStiefel("x", n, p, shape=(n_points, n, p))
    [value] = [v.name for v in model.value_vars]
    statistics = {
        "mean": lambda point: point[value][:, 0, 0],
        "square": lambda point: point[value][:, -1, 0] ** 2,
        "fourth": lambda point: point[value][:, 0, -1] ** 4,
    }
    expected = {"mean": 0.0, "square": 1 / n, "fourth": 3 / (n * (n + 2))}
    if n == p == 3:
        statistics["product"] = lambda point: np.einsum("mii->mi", point[value]).prod(-1)
        expected["product"] = 1 / 6
    return model, statistics, expected


@pytest.mark.parametrize("method", [pmg.SGGMC, pmg.gSGNHT])
@pytest.mark.parametrize(("n", "p"), UNIFORM_GRID)
def test_moments_of_uniform_frames(n, p, method):
    model, statistics, expected = uniform(n, p, 64)
    step = stochastic_step(method, model, step_size=0.3 / np.sqrt(n / 3))
    averages, stats = chain_averages(step, model.initial_point(), statistics, draws=200, discard=20)
    for name, exact in expected.items():
        assert_mean(averages[name], exact)
    # Without a potential there is no temperature of positions.
    assert stats["kinetic_temperature"] == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize(("n", "p"), UNIFORM_GRID)
def test_moments_of_uniform_frames_by_gmc(n, p):
    model, *exact = uniform(n, p, 4)
    options = {"draws": 40, "n_runs": 16}
    assert_moments_by_gmc(model, *exact, step_size=1.2 / np.sqrt(n / 3), **options)


def largest_error(n_transitions):
    """Largest error of X'X along a chain of this many transitions."""
    with pm.Model() as model:
        pmg.MatrixLangevin("x", 3 * FRAME)
        pmg.MatrixFisher("r", 3 * ROTATION)
    step = pmg.SGGMC(model=model, step_size=0.1, friction=0.5, n_steps=1000)
    worst = 0.0
    for point, _ in run(step, model.initial_point(), draws=n_transitions // 1000):
        for value in point.values():
            worst = max(worst, np.abs(value.T @ value - np.eye(value.shape[1])).max())
    return worst


def test_frames_stay_frames():
    assert largest_error(10_000) < 1e-12


@pytest.mark.slow
def test_frames_stay_frames_for_a_million_transitions():
    assert largest_error(1_000_000) < 1e-12


def test_a_uniform_density_does_not_lengthen_steps_without_end():
    with pm.Model() as model:
        pmg.UniformStiefel("x", 5, 2)
    step = pmg.GMC(model=model)
    found = [stats["step_size"] for _, stats in run(step, model.initial_point(), draws=61, tune=60)]
    # Half a turn in seven dimensions.
    assert found[-1] == pytest.approx(np.pi / np.sqrt(7))


def test_self_tuning_on_minibatches():
    """A mean attitude from rows, with a free concentration: all is left to the step."""
    rng = np.random.default_rng(2)
    truth = pmg.quaternion_to_matrix(np.array([0.5, 0.5, -0.5, 0.5]))
    reference = rng.normal(size=(500, 3))
    seen = reference @ truth.T + 0.3 * rng.normal(size=(500, 3))
    with pm.Model():
        attitude = pmg.UniformRotation("attitude")
        sigma = pm.HalfNormal("sigma", 1.0)
        a, b = pm.Minibatch(reference, seen, batch_size=50)
        pm.Normal("y", (attitude * a[:, None, :]).sum(-1), sigma, observed=b, total_size=(500, 3))
        step = pmg.SGGMC()
        idata = pm.sample(
            400, tune=300, chains=2, cores=1, step=step, random_seed=1, progressbar=False
        )
    found = pmg.summary(idata)
    assert found["r_hat"].max() < 1.05
    mean = found.loc[found.index.str.startswith("attitude"), "mean"].to_numpy(dtype=float)
    left, _, right = np.linalg.svd(seen.T @ reference)
    nearest = left @ np.diag([1, 1, np.linalg.det(left @ right)]) @ right
    # The posterior of the angles is 0.3 / sqrt(500) / sqrt(2) wide.
    assert np.abs(mean.reshape(3, 3) - nearest).max() < 0.01
    assert not [finding for finding in pmg.diagnose(idata).findings if finding.severity == "error"]
