#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Frames of effects with few rows each: enough rows, exact curvatures, ridges between factors."""

import numpy as np
import pymc as pm
import pytest

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.kernel.row_weights import RowWeights
from pymc_geodesic.mass.arrays import VariableMasses, joined
from pymc_geodesic.potential import Potential
from pymc_geodesic.tuning.approximation import approximate
from pymc_geodesic.tuning.frame import averaged_frame
from pymc_geodesic.tuning.levels import rows_for_levels, share_evenly
from pymc_geodesic.tuning.noise import measure_noise
from pymc_geodesic.tuning.scales import first_scales
from pymc_geodesic.tuning.secants import (
    AveragedCurvature,
    low_rank_mass,
    with_curvature_of_entries,
)

N, N_A, N_B = 40_000, 1_500, 40
SIGMA, OF_A, OF_B = 1.0, 0.5, 0.7


def gradient_of(model):
    return HostGradient(Potential(model, model.value_vars, initial_point=model.initial_point()))


def crossed(n_a=N_A):
    """Effects of two crossed factors of a numeric outcome, whose scales are known."""
    rng = np.random.default_rng(1)
    u, i = rng.integers(0, n_a, N), rng.integers(0, N_B, N)
    y = OF_A * rng.standard_normal(n_a)[u] + OF_B * rng.standard_normal(N_B)[i]
    y = y + SIGMA * rng.standard_normal(N)
    with pm.Model() as model:
        ub, ib, yb = pm.Minibatch(u, i, y, batch_size=500)
        mu = pm.Normal("mu", 0, 10)
        a, b = pm.Normal("a", 0, OF_A, shape=n_a), pm.Normal("b", 0, OF_B, shape=N_B)
        pm.Normal("y", mu + a[ub] + b[ib], SIGMA, observed=yb, total_size=N)
    return model, u, i


@pytest.fixture(scope="module")
def setting():
    model, u, i = crossed()
    gradient = gradient_of(model)
    start = [np.zeros(shape) for shape in gradient.manifold.shapes]
    return gradient, start, u, i


def exact(u, i):
    """Precision of mu, a and b."""
    rows = np.arange(N)
    design = np.zeros((N, 1 + N_A + N_B), dtype="float32")
    design[:, 0] = design[rows, 1 + u] = design[rows, 1 + N_A + i] = 1
    prior = [10.0**-2, *[OF_A**-2] * N_A, *[OF_B**-2] * N_B]
    return (design.T @ design).astype(float) / SIGMA**2 + np.diag(prior)


def ones(shapes, scale=0.05):
    masses = [np.full(shape, scale**-2.0) for shape in shapes]
    return VariableMasses(masses, dense=[False] * len(masses), shapes=shapes, dtype="float64")


def test_as_many_rows_are_evaluated_as_tell_something_of_each_level(setting):
    gradient, *_ = setting
    assert rows_for_levels(gradient, 10_000) == 16 * N_A
    assert rows_for_levels(gradient, 10_000, of_each=64) == 64 * N_A
    assert rows_for_levels(gradient, 10**6) == 10**6
    few, *_ = crossed(n_a=100)
    assert rows_for_levels(gradient_of(few), 10_000) == 10_000


def test_batches_hold_as_many_rows_of_a_group_as_expected():
    model, u, _ = crossed()
    gradient = gradient_of(model)
    share_evenly(gradient)
    # A row of each of 1,500 groups in batches of 500.
    assert gradient.times == 3
    assert gradient.weights.factors == []
    expected, rng = np.bincount(u) * (N_A / N), np.random.default_rng(10)
    counts = [np.bincount(u[gradient.rows(rng)[0]], minlength=N_A) for _ in range(400)]
    # Each half of a batch has one more or less.
    assert np.abs(counts - expected).max() < 2
    np.testing.assert_allclose(np.mean(counts, axis=0), expected, atol=5 * np.sqrt(0.5 / 400))


def test_parts_of_a_sample_hold_rows_of_all_groups():
    """Searches of modes, and comparisons of theirs, take parts of it."""
    model, _, i = crossed()
    gradient = gradient_of(model)
    gradient.weights = RowWeights.alike(i.astype("int32"))
    [rows] = gradient.rows(np.random.default_rng(12), 10_000)
    for part in np.split(rows, 10):
        assert np.bincount(i[part], minlength=N_B).min() > 5


def test_noise_is_not_measured_with_more_rows_than_serve(monkeypatch):
    monkeypatch.setattr("pymc_geodesic.tuning.levels.MOST_LEVELS", 900)
    gradient = gradient_of(crossed()[0])
    share_evenly(gradient)
    assert gradient.times == 2


def test_rows_whose_terms_are_not_known_are_not_shared_evenly():
    """A few of them may outweigh all others, which weights would have told."""
    rng = np.random.default_rng(1)
    with pm.Model() as model:
        group, y = pm.Minibatch(np.arange(N) % 9, rng.standard_normal(N), batch_size=50)
        a = pm.Normal("a", shape=9)

        def logp(value, mean):
            return (-0.5 * (value - mean) ** 2).sum()

        pm.CustomDist("y", a[group], logp=logp, observed=y, total_size=N)
    gradient = gradient_of(model)
    share_evenly(gradient)
    assert gradient.weights is None


def test_the_noise_of_effects_is_that_of_uneven_numbers():
    """Rows of an effect differ in nothing but the effects of the other factor."""
    model, u, i = crossed()
    gradient, rng = gradient_of(model), np.random.default_rng(11)
    shapes = gradient.manifold.shapes
    widths = np.split(1 / np.sqrt(np.diag(exact(u, i))), [1, 1 + N_A])
    widths = [np.reshape(width, shape) for width, shape in zip(widths, shapes, strict=True)]
    masses = [width**-2.0 for width in widths]
    mass = VariableMasses(masses, dense=[False] * 3, shapes=shapes, dtype="float64")
    points = [[x * rng.standard_normal(x.shape) for x in widths] for _ in range(8)]

    def noise_of_a(size):
        center = [np.zeros(shape) for shape in shapes]
        _, noise = measure_noise(gradient, points, mass=mass, center=center, rng=rng)
        return size * float(np.mean(noise.by_entry[1]))

    uneven = noise_of_a(1)
    share_evenly(gradient)
    # Half of the noise with a row of each group, one of two for each half of a batch.
    assert noise_of_a(gradient.times) < 0.6 * uneven
    gradient.times *= 4
    assert noise_of_a(gradient.times) < 0.25 * uneven


def test_the_curvature_of_each_effect_is_measured_as_it_is(setting):
    gradient, start, u, i = setting
    mass = ones(gradient.manifold.shapes)
    found = with_curvature_of_entries(gradient, start, mass, np.random.default_rng(2))
    units = [np.ones(shape) for shape in gradient.manifold.shapes]
    np.testing.assert_allclose(joined(found.rate(units)) ** -2, np.diag(exact(u, i)), rtol=1e-6)


def test_entries_that_rows_have_in_common_keep_their_scales():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((N, 1)) + 0.1 * rng.standard_normal((N, 30))
    with pm.Model() as model:
        xb, yb = pm.Minibatch(x, rng.standard_normal(N), batch_size=500)
        beta = pm.Normal("beta", 0, 1, shape=30)
        pm.Normal("y", xb @ beta, 1, observed=yb, total_size=N)
    gradient, mass = gradient_of(model), ones([(30,)])
    found = with_curvature_of_entries(gradient, [np.zeros(30)], mass, np.random.default_rng(4))
    scales = found.rate([np.ones(30)])[0]
    # What random signs measure differs from sign to sign by more than it is.
    assert np.mean(scales == 0.05) > 0.8


def test_the_frame_of_crossed_factors_has_their_ridges_and_nothing_else(setting):
    gradient, start, u, i = setting
    rng = np.random.default_rng(5)
    first = first_scales(gradient, start, rng=rng)
    found = approximate(gradient, start, mass=first, is_near=True, rng=rng)
    frame = averaged_frame(gradient, found, "low_rank", None, rng)
    precision = exact(u, i)
    # The precision in the frame: its extremes are what limits steps, and what is slow.
    shapes, rates = gradient.manifold.shapes, []
    for unit in np.eye(len(precision)):
        parts = np.split(unit, np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1])
        velocity = [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
        rates.append(joined(frame.mass.rate(velocity)))
    values = np.linalg.eigvalsh(np.array(rates) @ precision @ np.array(rates).T)
    # With a subsample of ten thousand rows they are .63 and 2.0, without curvatures of entries .61
    # and 2.1; with 7,000 levels .02 and 13.
    assert values[0] > 0.72
    assert values[-1] < 1.4


def neck(n_groups=14):
    """Effects that few rows tell, whose scale may be small."""
    rng = np.random.default_rng(6)
    group = rng.integers(0, n_groups, 600)
    y = 0.1 * rng.standard_normal(n_groups)[group] + rng.standard_normal(600)
    with pm.Model() as model:
        gb, yb = pm.Minibatch(group, y, batch_size=100)
        tau = pm.HalfNormal("tau", 1)
        a = pm.Normal("a", 0, tau, shape=n_groups)
        pm.Normal("y", a[gb], 1, observed=yb, total_size=600)
    return model


@pytest.mark.parametrize("seed", [7, 8, 9])
def test_soft_directions_are_as_wide_as_their_curvature_at_that_width_tells(seed):
    gradient, rng = gradient_of(neck()), np.random.default_rng(seed)
    center = [np.array(np.log(0.1)), 0.1 * np.random.default_rng(1).standard_normal(14)]
    mass = ones(gradient.manifold.shapes, scale=0.1)
    found = low_rank_mass(AveragedCurvature(gradient, center, mass=mass, rng=rng), mass)
    after = AveragedCurvature(gradient, center, mass=found, rng=np.random.default_rng(seed + 10))
    soft = found.directions[:, found.curvatures < 1].T
    assert len(soft)
    # The curvature around the center is up to thirty times too small.
    for direction in soft:
        assert 0.1 < direction @ after(direction) < 4.0
