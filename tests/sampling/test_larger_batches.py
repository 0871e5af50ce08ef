#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Batches are enlarged where noise would move the scale that many effects share."""

import logging
import pickle

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.algorithms.tuning_rules import GradientNoise, balanced_rule
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.mass import JointMass
from pymc_geodesic.potential import Potential
from pymc_geodesic.sampling.advance import advance, begin
from pymc_geodesic.sampling.larger_batches import (
    is_felt,
    most_times,
    share_of_noise,
    times_as_many,
)
from pymc_geodesic.tuning.findings import Findings

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
    pytest.importorskip("jax")
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


@pytest.mark.parametrize("backend", ["jax", pytest.param("numba", marks=pytest.mark.slow)])
def test_a_saved_chain_goes_on_with_its_batches(backend):
    pytest.importorskip(backend)
    model, *_ = intercepts()
    sampler = pmg.SGNHT(model=model, backend=backend).sampler
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


def findings(mean):
    noise = GradientNoise(mean, mean, (np.full(N_GROUPS, mean), np.zeros(0)), total=mean)
    return Findings(
        JointMass(np.eye(1), shapes=[(1,)], dtype="float64"), noise, 1.0, 0.1, True, None
    )


def times(mean, *, now=1):
    gradient, point = gradient_and_point()
    return times_as_many(findings(mean), balanced_rule, gradient, point, now=now, accuracy=0.05)


def share(found):
    step_size, parameters = balanced_rule(found.demands(0.05))
    return share_of_noise(step_size, parameters["diffusion"], found.noise.mean)


def test_as_many_rows_as_make_the_noise_harmless():
    assert times(0.01) == 1
    factor = times(2.0)
    assert factor == 32
    assert not is_felt(share(findings(2.0).of_batches(factor)), n_entries=N_GROUPS)
    assert is_felt(2 * share(findings(2.0).of_batches(factor / 2)), n_entries=N_GROUPS)
    # Batches that have become large enough stay as they are.
    assert times(2.0, now=20) == 20
    # More than a quarter of all rows is not a batch.
    assert times(1e3) == N_GROUPS * PER_GROUP // 4 // BATCH_SIZE


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
    rng = np.random.default_rng(1)
    design = rng.standard_normal((4_000, 200))
    with pm.Model() as model:
        x, y = pm.Minibatch(design, rng.standard_normal(4_000), batch_size=100)
        beta = pm.Normal("beta", shape=200)
        pm.Normal("y", x @ beta, observed=y, total_size=4_000)
    assert most_times(gradient_of(model), [np.zeros(200)]) == 1
