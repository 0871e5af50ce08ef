#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The noise of gradients is found also where a few rows outweigh all others."""

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.algorithms.demands import GradientNoise
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.manifolds import Euclidean, Product
from pymc_geodesic.mass.arrays import VariableMasses
from pymc_geodesic.monte_carlo import mcse
from pymc_geodesic.potential import Potential
from pymc_geodesic.tuning import measure_noise
from pymc_geodesic.tuning.noise import N_BATCHES
from pymc_geodesic.tuning.outweighing import LARGEST_ERROR, N_LARGE, relative_error
from pymc_geodesic.tuning.rare_entries import PairsOfBatches
from pymc_geodesic.tuning.surroundings import Findings

N_ROWS, BATCH_SIZE, N_POINTS = 5_000, 10, 32
UNIT = VariableMasses([np.ones(())], dense=[False], shapes=[()], dtype="float64")
# Of the point from the center.
DISTANCE = 2.0


class Counted:
    """A gradient that counts its batches."""

    def __init__(self, x):
        outcome = np.random.default_rng(3).standard_normal(N_ROWS)
        with pm.Model() as model:
            batch, y = pm.Minibatch(x, outcome, batch_size=BATCH_SIZE)
            slope = pm.Normal("slope")
            pm.Normal("y", slope * batch, 1.0, observed=y, total_size=N_ROWS)
        potential = Potential(model, model.value_vars, initial_point=model.initial_point())
        self.gradient, self.n_batches = HostGradient(potential), 0
        many = self.gradient.many

        def counted(points, rows):
            self.n_batches += len(points)
            return many(points, rows)

        self.gradient.many = counted
        n, residual = N_ROWS, outcome - DISTANCE * x
        self.plain = n**2 * np.var(x * residual) / BATCH_SIZE
        self.controlled = n**2 * np.var(DISTANCE * x**2) / BATCH_SIZE

    def noise(self, seed, *, center):
        points = [[np.array(DISTANCE)]] * N_POINTS
        rng = np.random.default_rng(seed)
        return measure_noise(self.gradient, points, mass=UNIT, center=center, rng=rng)


@pytest.fixture(scope="module")
def even():
    return Counted(np.random.default_rng(1).standard_normal(N_ROWS))


@pytest.fixture(scope="module")
def outweighed():
    """Five rows, which one batch in a hundred holds, cause nearly all of the noise."""
    x = np.random.default_rng(1).standard_normal(N_ROWS)
    x[:5] = [40.0, -40.0, 50.0, -50.0, 60.0]
    return Counted(x)


def test_ordinary_rows_need_the_fewest_batches(even):
    even.n_batches = 0
    plain, controlled = even.noise(1, center=None)
    assert controlled is None
    assert even.n_batches == N_BATCHES + N_LARGE * N_POINTS
    # Three times the error of 192 squares of a Gaussian.
    assert plain.mean == pytest.approx(even.plain, rel=3 * np.sqrt(2 / N_BATCHES))


def test_more_batches_find_rows_of_great_weight(outweighed):
    seeds = range(8)
    found = [outweighed.noise(seed, center=[np.array(0.0)]) for seed in seeds]
    for exact, ours in (
        (outweighed.plain, [plain.mean for plain, _ in found]),
        (outweighed.controlled, [controlled.mean for _, controlled in found]),
    ):
        ratios = np.array(ours) / exact
        assert np.all(np.abs(ratios - 1) < 4 * LARGEST_ERROR)
        assert abs(ratios.mean() - 1) < 4 * ratios.std(ddof=1) / np.sqrt(len(ratios))
        assert np.sqrt(np.mean((ratios - 1) ** 2)) < 1.5 * LARGEST_ERROR
    # A fixed number of batches misses it by half and more.
    assert outweighed.n_batches > 8 * len(seeds) * 2 * N_BATCHES


def test_batches_that_meet_all_rows_are_enough(outweighed):
    outweighed.gradient.batch_sizes, before = [N_ROWS // 40], outweighed.gradient.batch_sizes
    outweighed.n_batches = 0
    plain, _ = outweighed.noise(1, center=None)
    outweighed.gradient.batch_sizes = before
    assert outweighed.n_batches == N_BATCHES
    assert not plain.is_outweighed


def test_the_error_is_that_of_the_sum():
    rng = np.random.default_rng(4)
    sizes, sums, errors = rng.exponential(1.0, 20), [], []
    for _ in range(300):
        samples = [
            [[scale * row, np.zeros(2)] for row in rng.standard_t(9, (12, 3))] for scale in sizes
        ]
        gradients = np.array([[row for row, _ in at_point] for at_point in samples])
        deviations = gradients - gradients.mean(axis=1, keepdims=True)
        sums.append(np.sum(deviations**2))
        errors.append(relative_error(samples))
    exact = np.std(sums, ddof=1) / np.mean(sums)
    # The spread of 300 sums is known to four per cent.
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(exact, rel=0.17)


def test_without_noise_there_is_no_error():
    assert relative_error([[[np.ones(2), np.zeros(0)]] * 3] * 2) == 0
    assert relative_error([[[np.full(2, np.nan), np.zeros(0)]] * 3] * 2) == 0


@pytest.mark.parametrize("seed", range(4))
def test_noise_of_entries_whose_rows_batches_missed(seed):
    """Ten groups of four rows among 40,000, of which batches of 50 hold one in all."""
    rng, n_small, n_rows = np.random.default_rng(4), 10, 40_000
    group = np.append(np.repeat(np.arange(n_small), 4), np.full(n_rows - 4 * n_small, n_small))
    with pm.Model() as model:
        rows, y = pm.Minibatch(group, rng.standard_normal(n_rows), batch_size=50)
        effect = pm.Normal("effect", shape=n_small + 1)
        pm.Normal("y", effect[rows], 1.0, observed=y, total_size=n_rows)
    potential = Potential(model, model.value_vars, initial_point=model.initial_point())
    at = np.full(n_small + 1, 0.5)
    at[-1] /= 100
    mass = VariableMasses([np.ones(())], dense=[False], shapes=[at.shape], dtype="float64")
    _, found = measure_noise(
        HostGradient(potential),
        [[at]] * N_POINTS,
        mass=mass,
        center=[np.zeros_like(at)],
        rng=np.random.default_rng(seed),
    )
    exact = n_rows * 4 * 0.5**2 / 50
    ratios = found.by_entry[0][:n_small] / exact
    # Large batches hold each group's rows 26 times in all, so that a third of it would be three
    # standard deviations too few; ordinary ones hold those of most groups at most once.
    assert np.all(ratios > 1 / 3)
    assert np.all(ratios < 7)
    assert found.largest >= found.by_entry[0].max()
    assert found.total == pytest.approx(found.by_entry[0].sum())


def test_entries_that_few_batches_concern():
    """Of pairs of batches of 50 so many agree as hold no row of the same group."""
    rng, n_rows, sizes = np.random.default_rng(5), 20_000, np.array([8, 80, 800, 19_112])
    group, manifold = np.repeat(np.arange(4), sizes), Product([Euclidean()], shapes=[(4,)])
    pairs, of_row = PairsOfBatches(manifold), rng.choice([-1.0, 1.0], n_rows)
    of_row *= rng.uniform(0.9, 1.1, n_rows)
    for _ in range(2_000):
        batches = rng.integers(0, n_rows, (2, 50))
        pairs.add([[n_rows / 50 * np.bincount(group[b], of_row[b], 4)] for b in batches])
    points = [[x] for x in 0.1 * rng.standard_normal((5_000, 4))]
    assert [x.tolist() for x in pairs.are_rare()] == [[True, True, False, False]]
    rare = pairs.rare(points, of_large=[], weight=0.0)
    expected = 50 * sizes[:2] / n_rows
    # Four standard errors of the share of pairs, and of the number of batches that hold a row.
    assert rare.n_rows == pytest.approx(expected, rel=0.3)
    assert rare.variance == pytest.approx(1 / expected, rel=0.3)
    assert rare.largest == rare.variance[0]
    near = pairs.rare([[x / 10] for [x] in points], of_large=[], weight=0.0)
    assert near.variance == pytest.approx(2 * n_rows * sizes[:2] / 50 * 1e-4, rel=0.7)
    larger = rare.times(1 / 8)
    assert larger.n_rows == pytest.approx(8 * rare.n_rows)
    assert larger.largest == pytest.approx(rare.variance[0] / 8)


def test_the_largest_noise_of_thousands_of_rare_entries_is_not_the_largest_estimate():
    """Of few batches each estimate is far off, and the largest of 3,000 farthest."""
    rng, n = np.random.default_rng(6), 3_000
    manifold = Product([Euclidean()], shapes=[(n,)])
    n_rows, pairs, squares = rng.uniform(0.1, 0.9, n), PairsOfBatches(manifold), np.zeros(n)
    width = 0.3
    for _ in range(32):
        batches = [[width * np.sqrt(rng.poisson(n_rows)) * rng.standard_normal(n)] for _ in "ab"]
        squares += 0.5 * (batches[0][0] - batches[1][0]) ** 2 / 32
        pairs.add(batches)
    points = [[x] for x in rng.standard_normal((500, n))]
    rare = pairs.rare(points, of_large=[], weight=0.0)
    largest = 0.9 * width**2
    assert squares.max() > 2 * largest
    # Entries with as many rows up to a half are averaged, so that the very largest come out lower.
    assert 0.75 * largest < rare.largest < 1.25 * largest


def test_outweighed_noise_asks_for_more_accuracy():
    noise = GradientNoise(1.0, 1.0)
    found = Findings(UNIT, noise, 1.0, np.nan, False, None)
    assert found.demands(0.04).accuracy == 0.04
    outweighed = found._replace(noise=noise._replace(is_outweighed=True))
    assert outweighed.demands(0.04).accuracy == pytest.approx(0.01)
    assert noise._replace(is_outweighed=True).times(2.0) == GradientNoise(
        2.0, 2.0, is_outweighed=True
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_a_regression_on_a_log_normal_variable(seed):
    rng = np.random.default_rng(5)
    n = 50_000
    x = np.column_stack([np.ones(n), rng.lognormal(0.0, 2.0, n)])
    outcome = x @ [1.0, 0.01] + rng.standard_normal(n)
    with pm.Model():
        batch, y = pm.Minibatch(x, outcome, batch_size=200)
        beta = pm.Normal("beta", 0.0, 10.0, shape=2)
        pm.Normal("y", batch @ beta, 1.0, observed=y, total_size=n)
        idata = pmg.sample(random_seed=seed, progressbar=False)
    covariance = np.linalg.inv(x.T @ x + np.eye(2) / 100)
    mean, sd = covariance @ x.T @ outcome, np.sqrt(np.diag(covariance))
    draws = idata.posterior["beta"].values
    shift = (draws.mean((0, 1)) - mean) / sd
    for entry in range(2):
        own = draws[..., entry : entry + 1]
        error = mcse(own[..., 0]) / sd[entry]
        assert abs(shift[entry]) < 0.05 + 4 * error
        ratio = own.std() / sd[entry]
        error = mcse((own[..., 0] - own.mean()) ** 2) / (2 * sd[entry] ** 2)
        # Half of what `accuracy` allows.
        assert abs(ratio - 1) < 0.025 + 4 * error
