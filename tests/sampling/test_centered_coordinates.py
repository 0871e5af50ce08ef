#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Products with an unknown scale move in coordinates of their own, and draws are PyMC's values."""

import logging
import pickle

import arviz as az
import cloudpickle
import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.sampling.advance import advance, begin
from pymc_geodesic.sampling.tuning_stages import STIFFER

N_GROUPS, PER_GROUP = 12, 400
MOVES = "It moves the products and returns `z`"


def effects(seed=5):
    """Simulate effects of large groups, and write them without centring."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(N_GROUPS), PER_GROUP)
    y = 0.7 * rng.standard_normal(N_GROUPS)[group] + rng.standard_normal(len(group))
    with pm.Model() as model:
        g, outcome = pm.Minibatch(group, y, batch_size=60)
        tau, z = pm.HalfNormal("tau"), pm.Normal("z", shape=N_GROUPS)
        pm.Normal("y", (tau * z)[g], 1.0, observed=outcome, total_size=len(y))
    return model, y.reshape(N_GROUPS, PER_GROUP).mean(axis=1)


def exact_moments(means):
    """Mean and deviation of tau and of z, by quadrature over tau."""
    tau = np.linspace(0.2, 2.5, 2_000)
    precision = 1 + PER_GROUP * tau[:, None] ** 2
    width = tau[:, None] ** 2 + 1 / PER_GROUP
    log_density = -0.5 * tau**2 - 0.5 * np.sum(means**2 / width + np.log(width), axis=1)
    weight = np.exp(log_density - log_density.max())
    weight /= weight.sum()
    center = tau[:, None] * PER_GROUP * means / precision
    mean = weight @ np.column_stack([tau, center])
    square = weight @ np.column_stack([tau**2, center**2 + 1 / precision])
    return mean, np.sqrt(square - mean**2)


@pytest.fixture(scope="module")
def sampled():
    model, means = effects()
    idata = pmg.sample(model=model, random_seed=1, progressbar=False)
    return idata, means


def test_draws_have_the_exact_moments(sampled):
    idata, means = sampled
    mean, sd = exact_moments(means)
    draws = np.concatenate(
        [idata.posterior["tau"].values[..., None], idata.posterior["z"]], axis=-1
    )
    for i, (m, s) in enumerate(zip(mean, sd, strict=True)):
        one = draws[..., i]
        ess = min(float(az.ess(one)), float(az.ess(one**2)))
        assert ess > 400
        # Beside the error of the draws, that of a step size whose tolerated error is a tenth.
        assert abs(one.mean() - m) / s < 5 / np.sqrt(ess) + 0.03
        assert abs(one.std() / s - 1) < 5 / np.sqrt(2 * ess) + 0.03
        assert float(az.rhat(one)) < 1.01


def test_the_run_says_that_it_moves_products(caplog):
    model, _ = effects()
    with caplog.at_level(logging.INFO, logger="pymc"), model:
        pmg.SGNHT()
    assert sum(MOVES in record.message for record in caplog.records) == 1


def test_given_dynamics_keep_the_coordinates_of_the_model(caplog):
    model, _ = effects()
    with caplog.at_level(logging.INFO, logger="pymc"), model:
        step = pmg.SGNHT(step_size=0.01, diffusion=1.0)
    assert not any(v.coordinate for v in step.sampler.problem.variables)
    assert not any(MOVES in record.message for record in caplog.records)


def process(n_groups=0):
    """Write a process by features, with effects of groups beside it."""
    rng = np.random.default_rng(4)
    x, group = rng.uniform(-1, 1, 3_000), rng.integers(0, max(n_groups, 1), 3_000)
    y = np.sin(5 * x) + rng.standard_normal(len(x))
    frequency = np.pi * np.arange(1, 11) / 3
    features = np.sin(frequency * (x[:, None] + 1.5))
    with pm.Model() as model:
        rows, g, outcome = pm.Minibatch(features, group, y, batch_size=60)
        length, z = pm.InverseGamma("length", 4.0, 1.5), pm.Normal("z", shape=10)
        mean = rows @ (pm.math.exp(-0.25 * (length * frequency) ** 2) * z)
        if n_groups:
            mean += (pm.HalfNormal("tau") * pm.Normal("of_group", shape=n_groups))[g]
        pm.Normal("y", mean, 1.0, observed=outcome, total_size=len(y))
    return model


@pytest.mark.parametrize(
    ("model", "options", "moved"),
    [
        ({}, {}, {"z"}),
        # Noise that changes with scales that differ needs halves of batches: fresh ones, and of at
        # most a hundred entries.
        ({}, {"steps_per_batch": 5}, set()),
        ({"n_groups": 120}, {}, set()),
    ],
)
def test_scales_that_differ_from_entry_to_entry_need_halves(model, options, moved):
    with process(**model):
        problem = pmg.SGNHT(**options).sampler.problem
    assert {v.name for v in problem.potential.variables if v.coordinate is not None} == moved
    assert problem.is_nonsmooth == bool(moved)


@pytest.mark.parametrize("shape", [(12,), (120,), (120, 2), (10, 12)])
def test_scales_that_entries_share_need_none(shape):
    """One scale, or one of each column, as with `z * tau` for intercepts and slopes."""
    rng, n_groups = np.random.default_rng(6), shape[0]
    group = np.repeat(np.arange(n_groups), 6_000 // n_groups)
    x = rng.standard_normal((len(group), *shape[1:]))
    of_group = rng.standard_normal(shape)[group] * x
    y = of_group.reshape(len(x), -1).sum(axis=1) + rng.standard_normal(len(x))
    with pm.Model() as model:
        effect = pm.HalfNormal("tau", shape=shape[1:]) * pm.Normal("z", shape=shape)
        mean = effect[group] * x
        pm.Normal("y", mean.sum(axis=1) if shape[1:] else mean, 1.0, observed=y)
    with pmg.minibatch(model, batch_size=60):
        problem = pmg.SGNHT().sampler.problem
    assert any(v.coordinate for v in problem.variables)
    assert not problem.is_nonsmooth


@pytest.mark.parametrize("batch_size", [20, 60])
def test_correlated_effects_move_as_products_with_their_factor(batch_size):
    """With fewer rows in a batch than groups, rows are chosen before the product, twice."""
    rng, n = np.random.default_rng(9), 12_000
    group, x = rng.integers(0, 30, n), rng.standard_normal(n)
    effects = rng.standard_normal((30, 2)) * [0.8, 0.5]
    y = effects[group, 0] + effects[group, 1] * x + rng.standard_normal(n)
    with pm.Model() as model:
        chol, *_ = pm.LKJCholeskyCov("chol", n=2, eta=2.0, sd_dist=pm.HalfNormal.dist(1.0))
        of_group = pm.Normal("z", shape=(30, 2)) @ chol.T
        pm.Normal("y", of_group[group, 0] + of_group[group, 1] * x, 1.0, observed=y)
    with pmg.minibatch(model, batch_size=batch_size):
        problem = pmg.SGNHT().sampler.problem
    assert [v.name for v in problem.variables if v.coordinate is not None] == ["z"]


def test_values_and_positions_are_inverse_to_each_other():
    model, _ = effects()
    with model:
        problem = pmg.SGNHT(n_steps=3).sampler.problem
    assert any(v.coordinate for v in problem.variables)
    rng = np.random.default_rng(1)
    position = [rng.standard_normal(np.shape(problem.start[name])) for name in problem.names]
    inside = dict(zip(problem.names, position, strict=True))
    # A copy in another process has the same coordinates.
    for one in (problem, pickle.loads(cloudpickle.dumps(problem))):
        values = one.named(position)
        np.testing.assert_allclose(one.position_of(values)[1], position[1], rtol=1e-10)
        assert values["tau_log__"] == inside["tau_log__"]
        # Large groups center almost wholly: z is the product divided by its scale.
        product = inside["z"] / np.exp(inside["tau_log__"])
        np.testing.assert_allclose(values["z"], product, rtol=0.05)
        assert np.max(np.abs(values["z"] / inside["z"] - 1)) > 0.05


def test_chains_that_run_off_begin_again_near_the_center():
    model, _ = effects()
    with model:
        sampler = pmg.SGNHT(n_steps=3).sampler
    chain = begin(sampler, random_seed=1, tune=200, draws=10)
    sampler.adapt([chain])
    found, step_size = chain.tuning.found, chain.settings.step_size
    center = [x.copy() for x in found.center.point]
    far = tuple(x + np.asarray(1e3, x.dtype) for x in chain.state.position)
    chain.state = chain.state._replace(
        position=far, velocity=tuple(np.full_like(v, np.nan) for v in chain.state.velocity)
    )
    chain.tuning.window, chain.n_drawn = [list(far)] * 40, 40
    sampler.adapt([chain])
    moved = found.mass.whiten([x - c for x, c in zip(chain.state.position, center, strict=True)])
    assert np.max(np.abs(moved)) < 6
    assert chain.tuning.found.curvature == pytest.approx(STIFFER * found.curvature)
    assert chain.settings.step_size < 0.5 * step_size
    chain, *_ = advance(sampler, chain, 100)
    assert all(np.all(np.isfinite(x)) for x in chain.state.velocity)


def test_a_subsample_of_many_rows_does_not_look_like_running_off():
    rng, n = np.random.default_rng(0), 1_000_000
    y = 0.3 + rng.standard_normal(n)
    with pm.Model():
        batch = pm.Minibatch(y, batch_size=100)
        pm.Normal("y", pm.Normal("mu"), 1.0, observed=batch, total_size=n)
        sampler = pmg.SGNHT().sampler
    chain = begin(sampler, random_seed=1, tune=100, draws=10)
    sampler.adapt([chain])
    [center], tuner = chain.tuning.found.center.point, sampler.tuning._tuner
    # The posterior's deviation is a thousandth, and 10,000 rows have a mean ten of them away.
    near = [[center + 1e-3 * rng.standard_normal()] for _ in range(100)]
    far = [*near[:-1], [center + 0.02]]
    for seed in range(5):
        own = np.random.default_rng(seed)
        assert not tuner.have_run_off(chain.tuning.found, near, own)
        assert tuner.have_run_off(chain.tuning.found, far, own)


def test_a_factor_without_an_effect_is_sampled_standardised(caplog):
    rng = np.random.default_rng(8)
    group = np.repeat(np.arange(N_GROUPS), PER_GROUP)
    y = rng.standard_normal(len(group))
    with pm.Model() as model:
        effect = pm.Normal("effect", 0.0, pm.HalfNormal("tau"), shape=N_GROUPS)
        pm.Normal("y", effect[group], 1.0, observed=y)
    with caplog.at_level(logging.INFO, logger="pymc"):
        idata = pmg.sample(model=model, random_seed=1, progressbar=False)
    assert any("It moves standardised entries" in record.message for record in caplog.records)
    means = y.reshape(N_GROUPS, PER_GROUP).mean(axis=1)
    log_tau = np.linspace(-16.0, 0.0, 4_000)
    tau = np.exp(log_tau)[:, None]
    width = tau**2 + 1 / PER_GROUP
    log_density = log_tau - 0.5 * tau[:, 0] ** 2
    log_density -= 0.5 * np.sum(means**2 / width + np.log(width), axis=1)
    weight = np.exp(log_density - log_density.max())
    weight /= weight.sum()
    draws = np.log(idata.posterior["tau"])
    for p in (0.05, 0.25, 0.5, 0.9):
        quantile = log_tau[np.searchsorted(np.cumsum(weight), p)]
        below = (draws < quantile).astype(float)
        error = np.sqrt(p * (1 - p) / float(az.ess(below.values)))
        assert abs(float(below.mean()) - p) < 4 * error + 0.01
    precision = PER_GROUP + 1 / tau**2
    center = PER_GROUP * means / precision
    mean = weight @ center
    sd = np.sqrt(weight @ (center**2 + 1 / precision) - mean**2)
    effects = idata.posterior["effect"].values
    assert np.max(np.abs(effects.mean(axis=(0, 1)) - mean) / sd) < 0.15
    assert np.max(np.abs(effects.std(axis=(0, 1)) / sd - 1)) < 0.15
