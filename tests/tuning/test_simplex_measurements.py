#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Measurements on the simplex against the exact posterior of counts, and rules for step sizes."""

import numpy as np
import pymc as pm
import pytest

from pymc_geodesic.algorithms.demands import Demands, GradientNoise
from pymc_geodesic.algorithms.poisson_gamma import step_rule
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.manifolds import LogSimplex, Simplex
from pymc_geodesic.potential import Potential
from pymc_geodesic.tuning import simplex

COUNTS = np.array([600, 300, 100, 0])
N_ROWS, BATCH_SIZE, ALPHA = int(COUNTS.sum()), 50, 0.5
SHAPES = COUNTS + ALPHA


def gradient_of(dtype="float64"):
    rows = np.repeat(np.eye(4, dtype="int32"), COUNTS, axis=0)
    with pm.Model() as model:
        p = pm.Dirichlet("p", np.full(4, ALPHA))
        batch = pm.Minibatch(rows, batch_size=BATCH_SIZE)
        pm.Multinomial("x", 1, p, observed=batch, total_size=N_ROWS)
    coordinates = {Simplex: LogSimplex()}
    potential = Potential(
        model,
        model.value_vars,
        initial_point=model.initial_point(),
        coordinates=coordinates,
    )
    return HostGradient(potential)


@pytest.fixture(scope="module")
def gradient():
    return gradient_of()


def test_the_mean_of_counts(gradient):
    """Whatever the start: the mean and the sum of the concentrations."""
    rng = np.random.default_rng(1)
    for start in ([0.25, 0.25, 0.25, 0.25], [1e-9, 1e-9, 1e-9, 1 - 3e-9]):
        rows = gradient.rows(rng, 10_000)
        point, curvature = simplex.find_mean(gradient, [np.log(start)], rows=rows, rng=rng)
        np.testing.assert_allclose(np.exp(point[0]), SHAPES / SHAPES.sum(), rtol=1e-6)
        assert curvature == pytest.approx(SHAPES.sum(), rel=1e-3)


def test_noise_in_units_of_the_posterior(gradient):
    """A batch of n rows estimates the counts N p with variance N^2 p (1 - p) / n."""
    rng = np.random.default_rng(2)
    p = SHAPES / SHAPES.sum()
    plain, controlled = simplex.measure_noise(
        gradient, [[np.log(p)]] * 8, curvature=SHAPES.sum(), center=[np.log(p)], rng=rng
    )
    shares = COUNTS / N_ROWS
    exact = N_ROWS**2 / BATCH_SIZE * shares * (1 - shares) / SHAPES
    # A variance from 192 batches is right to a tenth.
    assert plain.largest == pytest.approx(exact.max(), rel=0.4)
    assert plain.mean == pytest.approx(exact.sum() / 3, rel=0.4)
    # The gradient of counts in log probabilities does not depend on them.
    assert controlled.largest < 1e-12


def test_draws_around_the_mean():
    rng = np.random.default_rng(3)
    mean = np.array([0.6, 0.3, 0.1, 1e-5])
    drawn = np.exp([simplex.near([np.log(mean)], 1000.0, rng)[0] for _ in range(2000)])
    error = np.sqrt(mean * (1 - mean) / 1000 / 2000)
    assert np.all(np.abs(drawn.mean(axis=0) - mean / mean.sum()) < 5 * error)


def test_starts_that_nobody_gave_differ():
    start = [np.log(np.full((3, 4), 0.25)), np.log([0.5, 0.5])]
    movable, kept = simplex.scattered(start, [True, False], np.random.default_rng(1))
    assert len(np.unique(movable)) == 12
    np.testing.assert_allclose(np.exp(movable).sum(axis=-1), 1)
    assert kept is start[1]


def test_noise_of_labels_near_zero():
    """There plain gradients have none, and differences from a center that is inside have some."""
    rng = np.random.default_rng(6)
    y = np.repeat([-3.0, 3.0], [180, 20]) + rng.standard_normal(200)
    with pm.Model() as model:
        p = pm.Dirichlet("p", np.full(3, 0.3))
        batch = pm.Minibatch(y, batch_size=20)
        pm.NormalMixture(
            "y", p, np.array([-3.0, 3.0, 4.0]), np.ones(3), observed=batch, total_size=200
        )
    potential = Potential(
        model,
        model.value_vars,
        initial_point=model.initial_point(),
        coordinates={Simplex: LogSimplex()},
    )
    inside, corner = np.log([0.9, 0.05, 0.05]), np.log([0.9, 0.1, 1e-6])
    plain, controlled = simplex.measure_noise(
        HostGradient(potential), [[corner]], curvature=200.0, center=[inside], rng=rng
    )
    assert controlled.largest > 2 * plain.largest


@pytest.mark.parametrize("noise", [0.0, 0.05, 20.0])
def test_steps_keep_the_variance(noise):
    """The share that a transition forgets, and the excess of the variance: at most a tenth."""
    step_size, _ = step_rule(Demands(GradientNoise(noise, noise), 100.0, 0.05))
    h = np.log1p(100.0 * step_size / 2)
    assert noise * np.tanh(h / 2) <= 0.1 + 1e-12
    assert h == pytest.approx(0.2 if noise < 1 else 2 * np.arctanh(0.1 / noise))
