#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Batches are enlarged where noise would move the scale that many effects share."""

import logging
import pickle

from functools import partial

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.algorithms.demands import GradientNoise, RareEntries
from pymc_geodesic.algorithms.tuning_rules import balanced_rule
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.mass import JointMass
from pymc_geodesic.potential import Potential
from pymc_geodesic.sampling.advance import advance, begin
from pymc_geodesic.sampling.larger_batches import (
    is_noticeable,
    most_times,
    share_of_noise,
    times_as_many,
)
from pymc_geodesic.tuning.frame import entries_of_row
from pymc_geodesic.tuning.surroundings import Findings

N_GROUPS, PER_GROUP, BATCH_SIZE = 1_500, 6, 30
ENLARGED = "times the model's, to keep the noise small"


def intercepts():
    """Write effects of many groups with few yes-or-no rows, and small batches."""
    rng = np.random.default_rng(8)
    group = np.repeat(np.arange(N_GROUPS), PER_GROUP)
    logit = -0.4 + rng.standard_normal(N_GROUPS)
    y = (rng.uniform(size=len(group)) < 1 / (1 + np.exp(-logit[group]))).astype("int32")
    with pm.Model() as model:
        rows, batch = pm.Minibatch(group, y, batch_size=BATCH_SIZE)
        mu, tau = pm.Normal("mu"), pm.Exponential("tau", 1.0)
        effect = pm.Normal("effect", mu, tau, shape=N_GROUPS)
        pm.Bernoulli("y", logit_p=effect[rows], observed=batch, total_size=len(y))
    return model, group, y


def posterior_of_globals(group, y):
    """Mean and standard deviation of mu and tau by quadrature: groups differ by their sums only."""
    n_groups = np.bincount(np.bincount(group, y).astype(int), minlength=PER_GROUP + 1)
    mu, tau = np.meshgrid(np.linspace(-0.8, 0.0, 81), np.linspace(0.6, 1.4, 81))
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    p = 1 / (1 + np.exp(-(mu[..., None] + tau[..., None] * nodes)))
    log_density = -0.5 * mu**2 - tau
    for k, n in enumerate(n_groups):
        log_density += n * np.log((p**k * (1 - p) ** (PER_GROUP - k)) @ weights)
    weight = np.exp(log_density - log_density.max())
    weight /= weight.sum()
    found = {}
    for name, x in (("mu", mu), ("tau", tau)):
        mean = np.sum(weight * x)
        found[name] = mean, np.sqrt(np.sum(weight * (x - mean) ** 2))
    return found


def test_scales_of_small_groups_are_right(caplog):
    model, group, y = intercepts()
    with caplog.at_level(logging.INFO, logger="pymc"), caplog.at_level(logging.INFO):
        idata = pmg.sample(
            1_000, model=model, random_seed=2, progressbar=False, var_names=["mu", "tau"]
        )
    assert ENLARGED in caplog.text
    for name, (mean, sd) in posterior_of_globals(group, y).items():
        means = idata.posterior[name].values.mean(axis=1)
        error = means.std(ddof=1) / np.sqrt(len(means))
        assert abs(means.mean() - mean) < 0.15 * sd + 5 * error, name


def test_a_saved_chain_goes_on_with_its_batches():
    model, *_ = intercepts()
    sampler = pmg.SGNHT(model=model).sampler
    chain = begin(sampler, random_seed=1, tune=40, draws=5)
    whole, draws, _ = advance(sampler, chain, 45)
    assert whole.batches.times > 1
    assert chain.batches.times == 1, "the chain that is given stays as it is"
    parts = []
    for n in (1, 9, 35):
        chain, part, _ = advance(sampler, pickle.loads(pickle.dumps(chain)), n)
        parts.append(part)
    for name, whole in draws.items():
        np.testing.assert_array_equal(np.concatenate([part[name] for part in parts]), whole)


def test_small_groups_among_large_ones_are_right(caplog):
    """A batch of 100 uniform rows holds .2 of a small group: chains with such batches run off."""
    rng = np.random.default_rng(3)
    sizes = np.repeat([100, 400, 2_000, 12_000, 35_500], 4)
    group = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    y = rng.standard_normal(len(sizes))[group] + rng.standard_normal(len(group))
    with pm.Model() as model:
        rows, batch = pm.Minibatch(group.astype("int32"), y, batch_size=100)
        effect = pm.Normal("effect", shape=len(sizes))
        pm.Normal("y", effect[rows], 1.0, observed=batch, total_size=len(y))
    with caplog.at_level(logging.INFO, logger="pymc"), caplog.at_level(logging.INFO):
        idata = pmg.sample(500, model=model, random_seed=1, progressbar=False)
    assert "rows by their weight" in caplog.text
    draws = idata.posterior["effect"].values
    mean, sd = np.bincount(group, y) / (1 + sizes), (1 + sizes) ** -0.5
    error = draws.mean(axis=1).std(axis=0, ddof=1) / 2
    assert np.all(np.abs(draws.mean(axis=(0, 1)) - mean) < 0.15 * sd + 5 * error)
    assert np.all(np.abs(draws.std(axis=(0, 1)) / sd - 1) < 0.15)


def findings(mean, rare=None, *, n_rows=0.01, of_scale=0.0):
    if rare is not None:
        rare = RareEntries(np.array([n_rows, 2.0]), np.array([rare, 1e6]))
    by_entry = (np.full(N_GROUPS, mean), np.array(of_scale), np.zeros(0))
    noise = GradientNoise(mean, mean, by_entry, total=mean, rare=rare)
    mass = JointMass(np.eye(1), shapes=[(1,)], dtype="float64")
    return Findings(mass, noise, 1.0, 0.1, True, None)


def times(*args, **options):
    gradient, point = options.pop("of", gradient_and_point)()
    now = options.pop("now", 1)
    found = findings(*args, **options)
    return times_as_many(found, balanced_rule, gradient, point, now=now, accuracy=0.05)


def share(found):
    step_size, parameters = balanced_rule(found.demands(0.05))
    return share_of_noise(step_size, parameters["diffusion"], found.noise.mean)


def test_as_many_rows_as_make_the_noise_harmless():
    assert times(0.01) == 1
    factor = times(2.0)
    assert factor == 32
    assert not is_noticeable(share(findings(2.0).of_batches(factor)), n_entries=N_GROUPS)
    assert is_noticeable(2 * share(findings(2.0).of_batches(factor / 2)), n_entries=N_GROUPS)
    # Batches that have become large enough stay as they are.
    assert times(2.0, now=20) == 20
    # More than a quarter of all rows is not a batch.
    assert times(1e3) == N_GROUPS * PER_GROUP // 4 // BATCH_SIZE


def test_as_many_rows_as_make_transitions_cheap():
    few = partial(times, of=few_groups)
    assert few(0.01, 1.5) == 1
    assert few(0.01, 2.5) == 4
    assert few(0.01, 1e3) == 8
    # Rows are most of the cost by then.
    assert few(0.01, 1e3, now=2) == 2
    # A batch of twice as many rows is enough to hold one of the entry.
    assert few(0.01, 1e3, n_rows=0.6) == 2
    # Entries take longer than rows if they are many, and more rows cost little.
    assert times(0.01) == 1
    assert times(0.01, 1.5) == 8
    assert times(0.01, 1e3, now=2) == 16


def few_groups():
    group = np.repeat(np.arange(10), 900)
    with pm.Model() as model:
        rows, y = pm.Minibatch(group, np.zeros(len(group)), batch_size=BATCH_SIZE)
        effect = pm.Normal("effect", shape=10)
        pm.Normal("y", effect[rows], observed=y, total_size=len(group))
    return gradient_of(model), [np.zeros(10)]


def test_rows_that_take_long_do_not_become_more():
    model = regression(n_entries=3_000)
    gradient, point = gradient_of(model), [np.zeros(3_000)]
    assert entries_of_row(gradient, point) == 1_500
    found = findings(0.01, 1e3)
    assert times_as_many(found, balanced_rule, gradient, point, now=1, accuracy=0.05) == 1


def test_steps_and_friction_allow_for_the_noise_of_rare_rows():
    """Kicks that are harmless, and a tenth of the heat."""
    step_size, parameters = balanced_rule(findings(0.01, 30.0).demands(0.05))
    assert step_size**2 * 30.0 < 0.5
    assert np.isclose(share_of_noise(step_size, parameters["diffusion"], 30.0), 0.1)
    ordinary = balanced_rule(findings(0.01, 30.0, n_rows=1.5).demands(0.05))
    assert ordinary == balanced_rule(findings(0.01).demands(0.05))


def test_steps_and_friction_allow_for_the_noisiest_entry():
    """A scale that a thousand effects share is a hundred times noisier than each of them."""
    step_size, parameters = balanced_rule(findings(0.5, of_scale=50.0).demands(0.05))
    assert np.isclose(share_of_noise(step_size, parameters["diffusion"], 50.0), 0.25)
    ordinary = balanced_rule(findings(0.5, of_scale=1.0).demands(0.05))
    assert ordinary == balanced_rule(findings(0.5).demands(0.05))


@pytest.mark.parametrize("step_size", [0.1, 0.2, 0.4])
def test_why_the_noise_of_rare_rows_is_limited(step_size):
    """Second moments of transitions with a kick of x / a in one batch of 1 / a."""
    assert abs(variance(step_size, 1.0) - 1) < 0.13
    assert variance(step_size, 3.0) > 100


def variance(step_size, squared):
    """Stationary variance of x for a noise of ``squared / step_size**2``; infinite if it grows."""
    noise = squared / step_size**2
    friction = 1 + 0.5 * step_size * noise
    damping = np.exp(-friction * step_size)
    drift = np.array([[1, 0.5 * step_size], [0, 1]])
    injected = np.diag([0.0, (1 - damping**2) / friction])
    moments, added = np.zeros((4, 4)), np.zeros((2, 2))
    for probability, force in ((1 - 1 / noise, 0.0), (1 / noise, noise)):
        kick = np.array([[1, 0], [-0.5 * step_size * force, 1]])
        before, after = kick @ drift, drift @ kick
        whole = after @ np.diag([1, damping]) @ before
        moments += probability * np.kron(whole, whole)
        added += probability * after @ injected @ after.T
    if np.abs(np.linalg.eigvals(moments)).max() >= 1:
        return np.inf
    return np.linalg.solve(np.eye(4) - moments, added.ravel())[0]


def gradient_and_point():
    model, *_ = intercepts()
    gradient = gradient_of(model)
    return gradient, [np.asarray(x) for x in gradient.to_points(*model.initial_point().values())]


def gradient_of(model):
    return HostGradient(Potential(model, model.value_vars, initial_point=model.initial_point()))


def test_rows_that_concern_few_entries_may_be_many():
    gradient, point = gradient_and_point()
    # Two rows for each of 1,502 entries would be more than a quarter of all rows, 2,250.
    assert most_times(gradient, point) == 75


def test_rows_that_concern_all_entries_may_not():
    assert most_times(gradient_of(regression(n_entries=200)), [np.zeros(200)]) == 1


def regression(*, n_entries, n_rows=4_000):
    rng = np.random.default_rng(1)
    design = rng.standard_normal((n_rows, n_entries))
    with pm.Model() as model:
        x, y = pm.Minibatch(design, rng.standard_normal(n_rows), batch_size=100)
        beta = pm.Normal("beta", shape=n_entries)
        pm.Normal("y", x @ beta, observed=y, total_size=n_rows)
    return model
