#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Starts that tell the components of a mixture apart."""

import numpy as np
import pymc as pm
import pytest

from chains import run
from mixtures import by_em, log_density, mixture_data, mixture_model
from scipy.special import logsumexp

import pymc_geodesic as pmg

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.potential import Potential
from pymc_geodesic.tuning.center import descend
from pymc_geodesic.tuning.starts import best_starts, default_start, is_default, jittered, scattered


class Search:
    """What a search for the mode of a model needs."""

    def __init__(self, model):
        self.model, point = model, model.initial_point()
        self.potential = Potential(model, model.value_vars, initial_point=point)
        self.gradient = HostGradient(self.potential)
        self.names = [variable.value.name for variable in self.potential.variables]
        self.start = self.gradient.to_points(*(point[name] for name in self.names))

    def best(self, seed, movable=None):
        return best_starts(
            self.gradient,
            self.start,
            movable=[True] * len(self.names) if movable is None else movable,
            rng=np.random.default_rng(seed),
        )[0]

    def values(self, point):
        """Values of the random variables."""
        arrays = dict(zip(self.names, self.gradient.to_values(*point), strict=True))
        outputs = self.model.replace_rvs_by_values([self.model[n] for n in ("w", "mu", "kappa")])
        return self.model.compile_fn(outputs, inputs=self.model.value_vars, point_fn=True)(arrays)


@pytest.fixture(scope="module")
def x():
    return mixture_data(2_000, 1)


@pytest.mark.parametrize("seed", range(3))
def test_the_search_tells_components_apart(x, seed):
    search = Search(mixture_model(x))
    rows = [np.arange(len(x))]
    point = descend(
        lambda point: search.gradient(point, rows),
        search.best(seed),
        project=search.gradient.project,
        most=200,
    ).point
    fitted = log_density(x, *by_em(x)).mean()
    assert log_density(x, *search.values(point)).mean() > fitted - 0.01


def test_starts_of_the_user_stay(x):
    search = Search(mixture_model(x))
    for ours, found in zip(search.start, search.best(1, movable=[False] * 3), strict=True):
        np.testing.assert_array_equal(ours, found)


def test_one_mode_keeps_its_start():
    y = np.random.default_rng(1).normal([2.0, -1.0], 1.0, (1_000, 2))
    with pm.Model() as model:
        mu = pm.Normal("mu", 0.0, 10.0, shape=2)
        sigma = pm.HalfNormal("sigma", 5.0)
        batch = pm.Minibatch(y, batch_size=100)
        pm.Normal("y", mu, sigma, observed=batch, total_size=1_000)
    search = Search(model)
    for seed in range(5):
        for ours, found in zip(search.start, search.best(seed), strict=True):
            np.testing.assert_array_equal(ours, found)


def test_a_spike_is_no_mode():
    """Without data the centered hierarchy has all its density where its scale vanishes."""
    y = np.random.default_rng(1).normal(np.repeat(np.arange(8.0), 20), 1.0)
    group = np.repeat(np.arange(8), 20)
    with pm.Model() as model:
        mu, tau = pm.Normal("mu", 0.0, 10.0), pm.HalfNormal("tau", 5.0)
        effect = pm.Normal("effect", mu, tau, shape=8)
        pm.Normal("y", effect[group], 1.0, observed=y)
    search = Search(model)
    index = search.names.index("tau_log__")
    for seed in range(5):
        end = descend(
            lambda point: search.gradient(point, []),
            search.best(seed),
            project=search.gradient.project,
            most=200,
        ).point
        assert np.exp(end[index]) > 1


def test_jitter_stays_on_the_manifolds_and_moves_what_it_may(x):
    search = Search(mixture_model(x))
    rng = np.random.default_rng(1)
    for function in (jittered, scattered):
        moved = function(search.gradient, search.start, movable=[True] * 3, rng=rng)
        for variable, point in zip(search.potential.variables, moved, strict=True):
            if not variable.is_flat:
                np.testing.assert_allclose(np.linalg.norm(point, axis=-1), 1)
        assert all(np.all(a != b) for a, b in zip(search.start, moved, strict=True))
        weights = moved[search.names.index(next(n for n in search.names if n.startswith("w")))]
        assert np.all(weights > 0)
        kept = function(search.gradient, search.start, movable=[False] * 3, rng=rng)
        for ours, found in zip(search.start, kept, strict=True):
            np.testing.assert_allclose(ours, found)


def test_whose_start_it_is(x):
    model = mixture_model(x, initval=np.eye(3)[[0, 1, 2, 0]])
    point = model.initial_point()
    [mu] = [name for name in point if name.startswith("mu")]
    start = default_start(model, list(point), point=point)
    assert set(start) == set(point) - {mu}
    assert is_default(start, point, ["kappa_log__", mu]) == [True, False]
    assert is_default(start, point | {"kappa_log__": np.zeros(4)}, ["kappa_log__"]) == [False]


@pytest.mark.slow
def test_chains_of_a_mixture_agree_up_to_labels():
    x, held_out = mixture_data(5_000, 1), mixture_data(5_000, 2)
    best = log_density(held_out, *by_em(x)).mean()
    model = mixture_model(x)
    search = Search(model)
    step = pmg.gSGNHT(model=model)
    weights = []
    for seed in (1, 2, 3):
        path = list(run(step, model.initial_point(), draws=200, discard=300, tune=300, seed=seed))
        outputs = model.replace_rvs_by_values([model[name] for name in ("w", "mu", "kappa")])
        values = model.compile_fn(outputs, inputs=model.value_vars, point_fn=True)
        draws = [values({name: point[name] for name in search.names}) for point, _ in path[::10]]
        densities = [log_density(held_out, *draw) for draw in draws]
        predictive = (logsumexp(densities, axis=0) - np.log(len(draws))).mean()
        assert predictive > best - 0.01
        weights.append(np.sort(np.mean([draw[0] for draw in draws], axis=0)))
    # Posterior standard deviations of the weights are below .007.
    np.testing.assert_allclose(weights, np.sort(by_em(x)[0])[None].repeat(3, axis=0), atol=0.025)


def test_a_mean_direction_opposite_to_the_start():
    """From there a circular regression turns to data by slopes that are far too large."""
    rng = np.random.default_rng(7)
    x = rng.standard_normal(5_000)
    headings = rng.vonmises(2.9 + 2 * np.arctan(0.4 * x), 3.0)
    with pm.Model() as model:
        xb, hb = pm.Minibatch(x, headings, batch_size=100)
        mean = pm.VonMises("mu", 0, 0.01) + 2 * pm.math.arctan(pm.Normal("slope") * xb)
        pm.VonMises("y", mean, pm.Gamma("kappa", 2, 0.5), observed=hb, total_size=len(x))
    idata = pmg.sample(100, tune=100, model=model, random_seed=1, progressbar=False)
    assert abs(float(idata.posterior["slope"].mean()) - 0.4) < 0.05
