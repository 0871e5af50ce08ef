#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Other modes of a posterior: which are found, and what they weigh."""

import numpy as np
import pymc as pm
import pytest

from pymc.initial_point import make_initial_point_fn
from scipy import stats
from scipy.integrate import quad

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.kernel.row_weights import RowWeights
from pymc_geodesic.mass.arrays import VariableMasses
from pymc_geodesic.potential import Potential
from pymc_geodesic.tuning.center import find_center
from pymc_geodesic.tuning.curvature import curvature_mass
from pymc_geodesic.tuning.many_descents import Frame, _Memory, descend_together
from pymc_geodesic.tuning.modes import N_DRAWN, find_modes

BATCH = 50


class Search:
    """A search that begins at the mode next to the model's own start, or where it is told."""

    def __init__(self, model, **start):
        point = model.initial_point() | {name: np.asarray(x) for name, x in start.items()}
        self.potential = Potential(model, model.value_vars, initial_point=point)
        self.gradient = HostGradient(self.potential)
        names = [variable.value.name for variable in self.potential.variables]
        begin = self.gradient.to_points(*(np.asarray(point[name], float) for name in names))
        rng = np.random.default_rng(0)
        rows = self.gradient.rows(rng, 10_000)

        def curvature(x):
            return curvature_mass(self.gradient, x, rows=rows, rng=rng)

        self.mode = find_center(self.gradient, begin, rows=rows, curvature=curvature)
        priors = dict.fromkeys(model.free_RVs, "prior")
        draw = make_initial_point_fn(model=model, overrides=priors, jitter_rvs=set())
        points = [draw(seed) for seed in range(N_DRAWN)]
        values = [[np.asarray(x[name], float) for name in names] for x in points]
        self.drawn = [self.gradient.to_points(*x) for x in values]

    def __call__(self, seed=1):
        """Return the weights, and the values of the first variable."""
        found = find_modes(
            self.gradient,
            self.mode.point,
            self.mode.mass,
            drawn=self.drawn,
            rng=np.random.default_rng(seed),
        )
        values = [self.gradient.to_values(*one.point)[0] for one in found.found]
        return [one.weight for one in found.found], values, found


def minibatch(y):
    return {"observed": pm.Minibatch(y, batch_size=BATCH), "total_size": len(y)}


def squared(prior_mean, n_rows=2_000):
    y = np.random.default_rng(1).normal(1.7, 1.0, n_rows)
    with pm.Model() as model:
        t = pm.Normal("t", prior_mean, 1.0)
        pm.Normal("y", t**2, 1.0, **minibatch(y))
    return model, y


@pytest.mark.parametrize("prior_mean", [0.0, 1.0])
@pytest.mark.parametrize("n_rows", [2_000, 50_000])
def test_two_roots_have_the_weights_of_their_priors(prior_mean, n_rows):
    model, y = squared(prior_mean, n_rows)
    weights, values, found = Search(model, t=1.0)()
    root = np.sqrt(y.mean())
    priors = stats.norm(prior_mean).pdf(root * np.array([1, -1]))
    np.testing.assert_allclose(weights, priors / priors.sum(), rtol=0.05)
    np.testing.assert_allclose(np.sort(values), [-root, root], rtol=0.02)
    assert float(values[found.own]) > 0


@pytest.mark.parametrize("kind", ["alike", "by weight"])
def test_the_weights_of_modes_are_those_of_all_rows(kind):
    """A sample of 10,000 rows misses some, and has others several times."""
    rng, n = np.random.default_rng(1), 9_000
    x, group = 0.01 * rng.standard_normal(n), np.arange(n) % 30
    y = 1.7 + 1.3 * x + rng.standard_normal(n)
    with pm.Model() as model:
        t = pm.Normal("t")
        xb, yb = pm.Minibatch(x, y, batch_size=BATCH)
        pm.Normal("y", t**2 + t * xb, 1.0, observed=yb, total_size=n)
    search = Search(model, t=1.0)
    by_weight = RowWeights.proportional_to(rng.lognormal(0.0, 1.0, n), group)
    search.gradient.weights = RowWeights.alike(group) if kind == "alike" else by_weight
    weights, values, _ = search()
    ts = np.linspace(1.2, 1.4, 4_001)
    log = [-0.5 * t**2 - 0.5 * np.sum((y - t**2 - t * x) ** 2) for t in np.append(ts, -ts)]
    of_sides = np.exp(np.reshape(log, (2, -1)) - np.max(log)).sum(axis=1)
    expected = of_sides / of_sides.sum()
    order = np.argsort([-float(t) for t in values])
    np.testing.assert_allclose(np.array(weights)[order], expected, rtol=0.05)


def test_both_branches_of_a_product_weigh_the_same():
    y = np.random.default_rng(1).normal(1.0, 1.0, 2_000)
    with pm.Model() as model:
        a, b = pm.Normal("a"), pm.Normal("b")
        pm.Normal("y", a * b, 1.0, **minibatch(y))
    weights, values, _ = Search(model, a=1.0, b=1.0)()
    np.testing.assert_allclose(weights, [0.5, 0.5], atol=1e-3)
    assert np.prod(values) < 0


SPIKE, SLAB = 0.01, 2.0


def spike_and_slab(z, n_rows):
    """A coefficient whose estimate is ``z`` standard errors, and its exact probability of a spike.

    The mass of the spike's mode is that of the posterior below the lowest point between both.
    """
    rng = np.random.default_rng(2)
    x, noise = rng.normal(size=(2, n_rows))
    x *= np.sqrt(n_rows) / np.linalg.norm(x)
    noise -= x * (x @ noise) / n_rows
    error = n_rows**-0.5
    y = x * z * error + noise
    with pm.Model() as model:
        parts = [pm.Normal.dist(0.0, SPIKE), pm.Normal.dist(0.0, SLAB)]
        beta = pm.Mixture("beta", [0.5, 0.5], parts)
        rows, values = pm.Minibatch(x, y, batch_size=BATCH)
        pm.Normal("y", beta * rows, 1.0, observed=values, total_size=n_rows)

    def density(b):
        prior = stats.norm.pdf(b, 0, SPIKE) + stats.norm.pdf(b, 0, SLAB)
        return prior * stats.norm.pdf(b, z * error, error)

    grid = np.linspace(0, z * error, 2_000)
    lowest = grid[np.argmin(density(grid))]
    low = quad(density, -10 * error, lowest, points=[0.0], limit=500)[0]
    return model, low / (low + quad(density, lowest, 10 * z * error, limit=500)[0])


@pytest.mark.parametrize(("z", "n_rows"), [(3.0, 1_000), (3.3, 1_000), (2.5, 100), (3.0, 100)])
def test_a_narrow_spike_and_a_wide_slab_are_both_found(z, n_rows):
    model, share = spike_and_slab(z, n_rows)
    for start in (0.0, z * n_rows**-0.5):
        weights, values, _ = Search(model, beta=start)()
        spike = int(np.argmin(np.abs(values)))
        assert len(weights) == 2
        # The slab is not Gaussian next to the spike.
        assert weights[spike] == pytest.approx(share, abs=0.06)


def test_near_components_of_known_weights_have_a_minor_mode():
    rng = np.random.default_rng(3)
    y = rng.normal(np.where(rng.random(60) < 0.7, 0.0, 1.2), 1.0)
    with pm.Model() as model:
        mu = pm.Normal("mu", 1.0, 3.0, shape=2)
        pm.NormalMixture("y", [0.7, 0.3], mu, 1.0, **minibatch(y))
    weights, values, _ = Search(model, mu=[0.0, 1.0])()
    grid = np.linspace(-5, 5, 401)
    first, second = np.meshgrid(grid, grid, indexing="ij")
    log_density = -((first - 1) ** 2 + (second - 1) ** 2) / 18
    for one in y:
        parts = 0.7 * np.exp(-((one - first) ** 2) / 2), 0.3 * np.exp(-((one - second) ** 2) / 2)
        log_density += np.log(sum(parts))
    density = np.exp(log_density - log_density.max())
    share = density[first > second].sum() / density.sum()
    assert len(weights) == 2
    ordered = [w for w, mu in zip(weights, values, strict=True) if mu[0] > mu[1]]
    assert ordered[0] == pytest.approx(share, abs=0.15)


def test_a_direction_seen_twice_has_two_modes():
    y = np.random.default_rng(4).vonmises(1.0, 2.0, 500)
    with pm.Model() as model:
        mu = pm.VonMises("mu", 0.0, 0.3)
        pm.VonMises("y", 2 * mu, 2.0, **minibatch(y))
    weights, values, _ = Search(model)()
    assert np.cos(values[0] - values[1]) == pytest.approx(-1.0, abs=1e-3)
    priors = np.exp(0.3 * np.cos(values))
    np.testing.assert_allclose(weights, priors / priors.sum(), rtol=0.05)


def labelled(n_rows=1_000):
    rng = np.random.default_rng(5)
    y = rng.normal(np.where(rng.random(n_rows) < 0.4, -2.0, 2.0), 1.0)
    with pm.Model() as model:
        mu = pm.Normal("mu", 0.0, 3.0, shape=2)
        w = pm.Dirichlet("w", np.ones(2))
        pm.NormalMixture("y", w, mu, 1.0, **minibatch(y))
    return Search(model, mu=[-1.0, 1.0])


@pytest.mark.parametrize(("seed", "n_rows"), [(0, 1_000), (1, 1_000), (2, 30_000)])
def test_other_labels_are_the_same_mode(seed, n_rows):
    weights, _, found = labelled(n_rows)(seed)
    assert weights == [1.0]
    assert found.n_copies > 0


def test_other_signs_of_vectors_are_the_same_mode():
    y = np.random.default_rng(7).normal(size=(1_000, 3))
    y = y * 0.5 + np.random.default_rng(8).normal(size=(1_000, 1)) * [1.0, 2.0, -1.0]
    with pm.Model() as model:
        w = pm.Normal("w", shape=3)
        cov = w[:, None] * w[None] + 0.25 * np.eye(3)
        pm.MvNormal("y", np.zeros(3), cov=cov, **minibatch(y))
    weights, _, found = Search(model, w=[1.0, 1.0, -1.0])()
    assert weights == [1.0]
    assert found.n_copies > 0


def logistic():
    rng = np.random.default_rng(9)
    x = rng.normal(size=(3_000, 8)) * 10.0 ** rng.integers(-2, 3, 8)
    y = (rng.random(len(x)) < 0.1).astype("int32")
    with pm.Model() as model:
        beta = pm.Normal("beta", 0.0, 5.0, shape=8)
        rows, values = pm.Minibatch(x, y, batch_size=BATCH)
        pm.Bernoulli("y", logit_p=rows @ beta, observed=values, total_size=len(x))
    return Search(model)


def robust():
    y = np.random.default_rng(10).standard_t(3, 500)
    with pm.Model() as model:
        mu, sigma = pm.Normal("mu", 0.0, 10.0), pm.HalfNormal("sigma", 5.0)
        nu = pm.Gamma("nu", 2.0, 0.1)
        pm.StudentT("y", nu=nu, mu=mu, sigma=sigma, **minibatch(y))
    return Search(model)


def hierarchy():
    rng = np.random.default_rng(11)
    group = np.repeat(np.arange(20), 30)
    y = rng.normal(size=20)[group] + rng.normal(size=len(group))
    with pm.Model() as model:
        mu, tau = pm.Normal("mu", 0.0, 5.0), pm.HalfNormal("tau", 2.0)
        z = pm.Normal("z", shape=20)
        rows, values = pm.Minibatch(group, y, batch_size=BATCH)
        pm.Normal("y", mu + tau * z[rows], 1.0, observed=values, total_size=len(y))
    return Search(model)


def direction():
    y = np.random.default_rng(12).vonmises(3.0, 4.0, 500)
    with pm.Model() as model:
        mu, kappa = pm.VonMises("mu", 0.0, 0.1), pm.HalfNormal("kappa", 10.0)
        pm.VonMises("y", mu, kappa, **minibatch(y))
    return Search(model, mu=3.0)


@pytest.mark.parametrize("make", [logistic, robust, hierarchy, direction])
def test_one_mode_is_one(make):
    search = make()
    for seed in range(10):
        weights, _, _ = search(seed)
        assert len(weights) <= 1


def test_descents_come_to_the_lowest_point_together():
    search = logistic()
    rows = [np.arange(3_000)]
    frame = Frame(search.gradient, search.mode.mass, rows=rows)
    starts = np.random.default_rng(1).normal(size=(7, 8)) * 1e-3
    ends = descend_together(frame, starts, most=200)
    assert ends.has_ended.all()
    np.testing.assert_allclose(ends.energies, ends.energies.min(), atol=1e-3)
    lowest = frame.energies(frame.vectors([search.mode.point]))
    assert ends.energies.min() < lowest + 1e-3


def test_changes_whose_squares_vanish_are_not_remembered():
    memory, slope = _Memory((2, 3)), np.ones((2, 3))
    changes = np.array([[1e-170, 0.0, 0.0], [2.0, 0.0, 0.0]])
    memory.add(np.arange(2), np.array([[1.0, 0.0, 0.0]] * 2), changes)
    np.testing.assert_allclose(memory.direction(slope), [[-1, -1, -1], [-0.5, -0.5, -0.5]])


def test_descents_without_a_finite_start_stay():
    y = np.random.default_rng(1).normal(size=200)
    with pm.Model() as model:
        x = pm.Normal("x")
        pm.Normal("y", pm.math.exp(x), 1.0, **minibatch(y))
    search = Search(model)
    mass = VariableMasses([np.ones(())], dense=[False], shapes=[()], dtype="float64")
    frame = Frame(search.gradient, mass, rows=[np.arange(200)])
    ends = descend_together(frame, np.array([[1_000.0], [0.0]]), most=50)
    assert not np.isfinite(ends.energies[0])
    assert ends.has_ended.tolist() == [False, True]
