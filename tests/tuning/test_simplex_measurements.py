#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Measurements on the simplex against the exact posterior of counts, and rules for step sizes."""

import numpy as np
import pymc as pm
import pytest

from pymc_geodesic.algorithms.cir import cir_transition
from pymc_geodesic.algorithms.demands import Demands, GradientNoise
from pymc_geodesic.algorithms.simplex_chart import cir_rule, euler_rule
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
    """Whatever the start: the mean, the sum of the concentrations, and the prior's smallest."""
    rng = np.random.default_rng(1)
    for start in ([0.25, 0.25, 0.25, 0.25], [1e-9, 1e-9, 1e-9, 1 - 3e-9]):
        rows = gradient.rows(rng, 10_000)
        found = simplex.find_mean(gradient, [np.log(start)], rows=rows, rng=rng)
        np.testing.assert_allclose(np.exp(found.point[0]), SHAPES / SHAPES.sum(), rtol=1e-6)
        assert found.curvature == pytest.approx(SHAPES.sum(), rel=1e-3)
        assert found.smallest_shape == pytest.approx(ALPHA)


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
    np.testing.assert_allclose(plain.by_entry[0], exact, rtol=0.4)
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


def demands(noise=0.0, curvature=100.0, shape=np.inf):
    return Demands(GradientNoise(noise, noise), curvature, 0.05, shape)


@pytest.mark.parametrize("noise", [0.5, 20.0])
def test_cir_steps_keep_the_variance(noise):
    """A Gamma coordinate with noisy counts: too wide by a tenth at most, as the rule says."""
    rng = np.random.default_rng(4)
    step_size, _ = cir_rule(demands(noise))
    shape, sd = 400.0, np.sqrt(400.0 * noise)
    theta, squares = rng.gamma(shape, size=2000), []
    for t in range(int(8 / step_size)):
        noisy = np.maximum(shape + sd * rng.standard_normal(2000), 1.0)
        theta = cir_transition(rng, theta, noisy, step_size)
        if t * step_size > 2:
            squares.append(np.mean((theta - shape) ** 2))
    # Two thousand chains for several correlation times: a standard error below two per cent.
    assert np.mean(squares) / shape == pytest.approx(1 + noise * np.tanh(step_size / 2), abs=0.06)
    assert np.mean(squares) / shape < 1.16


def test_cir_steps_are_short_where_counts_may_change():
    assert cir_rule(demands(0.0))[0] == pytest.approx(0.2)


def test_euler_steps_keep_their_bounds():
    """A fixed share of the distance to the mean a step, less with noise and near faces."""
    for noise in (0.0, 3.0, 100.0):
        step_size, _ = euler_rule(demands(noise), total=10.0)
        assert step_size * 100 / (2 * 9) * (1 + noise) / 2 == pytest.approx(0.1)
    near, _ = euler_rule(demands(shape=0.5), total=10.0)
    assert 0.7 * (near * 100 / 18) ** 0.5 == pytest.approx(0.1)


def test_euler_steps_say_what_they_cannot_do():
    with pytest.warns(UserWarning, match=r"dynamics='euler'.*0\.4 of.*is 0\.1\..*'cir'"):
        euler_rule(demands(shape=0.1), total=10.0)
