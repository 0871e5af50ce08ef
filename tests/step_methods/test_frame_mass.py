#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A frame's mass changes the way to the target, never the target, and is found by tuning."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest

from chains import add_gradient_noise, run
from exact_moments import assert_moments, assert_moments_by_gmc, stochastic_step
from pytensor.compile.mode import Mode

import pymc_geodesic as pmg

from pymc_geodesic.diagnostics import align_frames
from pymc_geodesic.distributions.matrix_constant import log_mean_exponential
from pymc_geodesic.manifolds.scaled_stiefel import ScaledStiefel

INTERPRETED = Mode(linker="py", optimizer=None)
# One column has ten times the concentration of the other.
FRAME = np.array([[40.0, 0.6], [-2.0, 4.0], [1.0, -0.4], [0.2, 1.2], [0.0, 0.4]])
WIDTHS = np.array([0.3, 1.0])
# Noise of equal size in all directions of the coordinates is independent between the entries of X,
# with the variances 1 / WIDTHS^2, if the width of the rotation is this.
TURN = np.sum(1 / WIDTHS**2) ** -0.5
MASS = pmg.FrameMass(WIDTHS, [[1, TURN], [TURN, 1]])


def exact_moments():
    """Mean of tr(F'X) and its square, from the constant's slope along F."""
    scale = pt.scalar("scale", dtype="float64")
    log_mean = log_mean_exponential(scale * pt.constant(FRAME), n=5, p=2)
    slope = pytensor.function([scale], pytensor.grad(log_mean, scale), mode=INTERPRETED)
    h = 1e-4
    return {"mean": slope(1.0), "square": (slope(1 + h) - slope(1 - h)) / (2 * h) + slope(1) ** 2}


STATISTICS = {
    "mean": lambda point: (point["x_frame__"] * FRAME).sum(axis=(-1, -2)),
    "square": lambda point: (point["x_frame__"] * FRAME).sum(axis=(-1, -2)) ** 2,
}


def model_of(n_points, variance=0.0):
    """Points with gradient noise of a variance for all entries or for each column."""
    with pm.Model() as model:
        x = pmg.MatrixLangevin("x", np.tile(FRAME, (n_points, 1, 1)))
        if np.any(variance):
            noise = np.random.default_rng(1).normal(size=(200, *x.type.shape))
            noise -= noise.mean(axis=0)
            add_gradient_noise("noise", x, noise * np.sqrt(variance) / noise.std(axis=0))
    return model


SLOW = pytest.mark.slow
EXACT = pytest.param(False, id="exact", marks=SLOW)


@pytest.mark.parametrize("noisy", [EXACT, pytest.param(True, id="noisy")])
@pytest.mark.parametrize("method", [pmg.SGGMC, pmg.gSGNHT])
def test_moments(method, noisy):
    """With gradient noise known to SGGMC, and unknown to gSGNHT, whose thermostat is a number."""
    step_size = 0.03
    variance = 0.1 / step_size**2 if noisy else 0.0
    model = model_of(64, variance if method is pmg.SGGMC else variance / WIDTHS**2)
    step = stochastic_step(
        method, model, step_size=step_size, variance=variance, mass={"x": MASS}, n_steps=50
    )
    assert_moments(step, STATISTICS, exact_moments(), draws=200)


def test_moments_by_gmc():
    options = {"draws": 40, "n_runs": 16, "mass": {"x": MASS}, "step_size": 0.15}
    assert_moments_by_gmc(model_of(4), STATISTICS, exact_moments(), **options)


def test_uniform_frames_by_gmc():
    """Any scales leave the uniform distribution of a frame in its place."""
    rotations = np.array([[1, 0.2, 0.7], [0.2, 1, 1], [0.7, 1, 1]])
    with pm.Model() as model:
        pmg.UniformStiefel("x", 5, 3, shape=(4, 5, 3))
    statistics = {
        "mean": lambda point: point["x_frame__"][:, 0, 0],
        "square": lambda point: point["x_frame__"][:, -1, 0] ** 2,
        "fourth": lambda point: point["x_frame__"][:, 0, -1] ** 4,
    }
    expected = {"mean": 0.0, "square": 1 / 5, "fourth": 3 / 35}
    mass = {"x": pmg.FrameMass([1.0, 0.3, 0.6], rotations)}
    options = {"draws": 40, "n_runs": 16, "mass": mass, "step_size": 1.0}
    assert_moments_by_gmc(model, statistics, expected, **options)


def test_frames_stay_frames():
    with pm.Model() as model:
        pmg.MatrixLangevin("x", FRAME)
    step = pmg.SGGMC(model=model, step_size=0.03, friction=0.5, mass={"x": MASS}, n_steps=1000)
    for point, _ in run(step, model.initial_point(), draws=10):
        x = point["x_frame__"]
        assert np.abs(x.T @ x - np.eye(2)).max() < 1e-12


def components(rows, batch_size=None, *, n=8):
    """Principal components of rows with variances 9, 6.25 and 4 along three axes, 0.01 across."""
    rng = np.random.default_rng(1)
    scales = np.array([3.0, 2.5, 2.0])
    axes = np.linalg.qr(rng.normal(size=(n, 3)))[0]
    x = (rng.normal(size=(rows, 3)) * scales) @ axes.T + 0.1 * rng.normal(size=(rows, n))
    start = np.linalg.svd(x, full_matrices=False)[2][:3].T
    with pm.Model() as model:
        frame = pmg.UniformStiefel("frame", n, 3, initval=start)
        data, total = x, None
        if batch_size:
            data, total = pm.Minibatch(x, batch_size=batch_size), rows
        weights = 1 / 0.01 - 1 / (scales**2 + 0.01)

        def logp(row, frame):
            return 0.5 * ((row @ frame) ** 2 @ weights - (row**2).sum(-1) / 0.01)

        pm.CustomDist(
            "x", frame, logp=logp, signature="(n,p)->(n)", observed=data, total_size=total
        )
    return model, start


@pytest.mark.parametrize("method", [pmg.SGGMC, pytest.param(pmg.gSGNHT, marks=SLOW)])
def test_tuning_finds_the_mass(method):
    model, start = components(500, 50)
    with model:
        step = method()
        [manifold] = step.sampler.problem.manifold.factors
        assert isinstance(manifold, ScaledStiefel)
        idata = pm.sample(
            400, tune=300, chains=2, cores=1, step=step, random_seed=1, progressbar=False
        )
    assert idata.sample_stats["n_steps"].max() <= 100
    assert not idata.sample_stats["diverging"].any()
    x = align_frames(idata.posterior["frame"].values, start)
    exact, _ = components(500)
    with exact:
        gmc = pmg.GMC(n_leapfrog=10, mass={"frame": pmg.FrameMass.from_draws(x)})
        truth = pm.sample(
            400, tune=200, chains=2, cores=1, step=gmc, random_seed=2, progressbar=False
        )
    y = align_frames(truth.posterior["frame"].values, start)
    inner, other = start.T @ x, start.T @ y
    ratios = [inner[..., i, j].std() / other[..., i, j].std() for i, j in [(0, 1), (0, 2), (1, 2)]]
    np.testing.assert_allclose(ratios, 1, atol=0.2)


def test_a_round_posterior_keeps_its_coordinates():
    with pm.Model() as model:
        pmg.MatrixLangevin("x", 100 * np.eye(4)[:, :2])
    step = pmg.SGGMC(model=model)
    assert isinstance(step.sampler.problem.manifold.factors[0], pmg.Stiefel)


def test_draws_show_the_widths():
    rng = np.random.default_rng(1)
    turns = 0.1 * rng.normal(size=(4, 500, 1, 1)) * np.array([[0, 1], [-1, 0]])
    out = np.concatenate([np.zeros((4, 500, 2, 2)), rng.normal(size=(4, 500, 6, 2))], axis=-2)
    x = np.eye(8)[:, :2] @ (np.eye(2) + turns) + out * np.array([0.01, 0.002])
    mass = pmg.FrameMass.from_draws(np.linalg.qr(x)[0] * -1)
    np.testing.assert_allclose(mass.columns, [0.1, 0.02], rtol=0.1)
    assert mass.rotations[0, 1] == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pmg.FrameMass([1.0], [[1.0]]), "two or more columns"),
        (lambda: pmg.FrameMass([1.0, 1.0], np.ones(3)), "square matrix"),
        (lambda: pmg.FrameMass([1.0, 1.0], [[1.0, 0.5], [0.1, 1.0]]), "symmetric"),
        (lambda: pmg.FrameMass([1.0, -1.0], np.ones((2, 2))), "positive widths"),
    ],
)
def test_what_are_no_widths_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_other_variables_are_refused():
    with pm.Model() as model:
        pm.Normal("y", shape=(3, 2))
        pmg.UniformRotation("r")
        pmg.UniformStiefel("x", 4, 3)
    for given, message in (
        (MASS, "dict by variable name"),
        ({"y": MASS}, "a frame"),
        ({"r": MASS}, "a frame"),
        ({"x": MASS}, "2 columns"),
    ):
        with pytest.raises(ValueError, match=message):
            pmg.SGGMC(model=model, mass=given, step_size=0.1, friction=1.0)


def test_noise_is_known_in_units_of_the_frame():
    with pm.Model() as model:
        pmg.UniformStiefel("x", 4, 2)
    options = {"step_size": 0.1, "friction": 1.0, "mass": {"x": MASS}}
    with pytest.raises(ValueError, match="one number"):
        pmg.SGGMC(model=model, gradient_noise=np.ones((4, 2)), **options)
