#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Rows that need other step sizes than most, above all those far out."""

import arviz as az
import numpy as np
import pymc as pm
import pytest

from chains import assert_mean
from local_models import NU, SCALE, draw_latents, local_gmc, random_effects, scale_mixture, students
from pytensor import function
from pytensor.compile.mode import Mode
from scipy import optimize, stats

import pymc_geodesic as pmg

from pymc_geodesic.latents.step_sizes import RowStepSizes
from pymc_geodesic.sampling.statistics import averaged

OUTLIERS = SCALE * np.array([10.0, -15.0, 20.0, 40.0])
Y = np.concatenate([OUTLIERS, students(196, seed=1)])
FAST = {"draws": 10, "tune": 20, "n_leapfrog": 5}
OPTIONS = {"step_size": 0.01, "diffusion": 2.0}


def step_of(**options):
    with scale_mixture(Y, batch_size=len(Y)):
        return pmg.SGNHT(["mu"], local=local_gmc("w", **(FAST | options)), **OPTIONS)


def batches(step, n_batches, n_tune=15):
    """Means of each row's draws in batches that start at the precisions of other rows."""
    rng, starts = np.random.default_rng(2), np.random.default_rng(3)
    point, rows = step.model.initial_point(), [np.arange(len(Y))]
    means, statistics = [], []
    step.setup_chain(rng, n_tune, n_batches)
    for i in range(n_tune + n_batches):
        point["w_log__"] = np.log(starts.gamma(NU / 2, 2 / NU, len(Y)))
        drawn = draw_latents(step, point, rows, rng, tune=i < n_tune)
        if i >= n_tune:
            means.append(np.exp(drawn.arrays[0]).mean(axis=0))
            statistics.append(drawn.statistics)
    return np.array(means), averaged(statistics)


def precisions():
    """Mean of each row's precision given its datum and mu = 0, which is a gamma distribution's."""
    return (NU + 1) / (NU + (Y / SCALE) ** 2)


def test_outlying_rows_follow_their_conditional_distribution():
    means, statistics = batches(step_of(), n_batches=300)
    relative = means / precisions()
    for i in range(len(OUTLIERS)):
        assert_mean(relative[:, i], 1.0)
    assert_mean(relative.mean(axis=1), 1.0)
    assert statistics["local_unmoved"] == 0
    assert 0.7 < statistics["local_acceptance"] < 0.9


def test_rows_that_never_move_are_counted():
    means, statistics = batches(step_of(step_size=1.2), n_batches=30)
    assert statistics["local_unmoved"] >= len(OUTLIERS) / len(Y)
    assert statistics["local_step_size"] == pytest.approx(1.2)
    # They stay at their start, which is that of other rows.
    assert means[:, 3].mean() > 20 * precisions()[3]


def test_one_row_out_of_bounds_leaves_the_others_alone():
    potential = step_of().sampler.problem.potential
    own = [variable.position.type() for variable in potential.local.variables]
    rows, [mu] = ([x.type() for x in xs] for xs in (potential.indices, potential.positions))
    energy, _ = potential.local.energy_and_gradient(own, (mu,), rows)
    evaluate = function([*own, mu, *rows], energy, mode=Mode(linker="py", optimizer=None))
    at, index = np.zeros(len(Y)), np.arange(len(Y))
    usual = evaluate(at, 0.0, index)
    at[7] = 1500.0
    with np.errstate(all="ignore"):
        found = evaluate(at, 0.0, index)
    assert not np.isfinite(found[7])
    np.testing.assert_array_equal(np.delete(found, 7), np.delete(usual, 7))


def test_diagnose_names_rows_that_never_move():
    found = {
        "step_size": np.full((2, 200), 0.01),
        "diverging": np.zeros((2, 200), bool),
        "local_acceptance": np.full((2, 200), 0.8),
        "local_unmoved": np.zeros((2, 200)),
    }
    draws = np.random.default_rng(1).normal(size=(2, 200))

    def names():
        return pmg.diagnose(az.from_dict({"posterior": {"x": draws}, "sample_stats": found})).names

    assert "local_rows_unmoved" not in names()
    found["local_unmoved"][0, ::2] = 0.005
    assert "local_rows_unmoved" in names()


def sizes(**options):
    defaults = {"adapts": True, "n_rows": 3, "tune": 8, "draws": 2, "fresh": True}
    return RowStepSizes(0.5, **(defaults | options))


def test_which_trajectories_adapt():
    def adapting(in_tuning_phase, **options):
        return np.flatnonzero(sizes(**options).gains(in_tuning_phase)).tolist()

    assert adapting(True) == adapting(False) == [0, 1, 2, 3]
    assert adapting(True, tune=0) == [0, 1]
    assert adapting(False, tune=0) == []
    assert adapting(True, fresh=False) == list(range(10))
    assert adapting(False, fresh=False) == []
    assert adapting(True, adapts=False) == []


def test_what_step_sizes_learn():
    ends = np.log([0.1, 1.0, 10.0])
    fresh, same, fixed = sizes(), sizes(fresh=False), sizes(adapts=False)
    for each in (fresh, same, fixed):
        each.learn(ends, tune=False)
        np.testing.assert_array_equal(each.log_start, np.log(0.5))
        each.learn(ends, tune=True)
    np.testing.assert_allclose(fresh.log_start, 0.0, atol=1e-15)
    np.testing.assert_array_equal(same.log_start, ends)
    np.testing.assert_array_equal(fixed.log_start, np.log(0.5))
    assert np.all(same.gains(True)[0] < sizes().gains(True)[0])
    same.reset()
    np.testing.assert_array_equal(same.log_start, np.log(0.5))


def step_on_batches():
    with random_effects(batch_size=20):
        return pmg.gSGNHT(["location"], local=local_gmc("effect", draws=3, tune=4), **OPTIONS)


def step_on_all_rows():
    with random_effects():
        local = local_gmc("effect", draws=1, tune=0)
        return pmg.GMCWithinGibbs(["location"], local=local, n_leapfrog=3)


def step_with_topics():
    counts = np.random.default_rng(1).integers(0, 3, (30, 6))
    with pm.Model():
        topics = pmg.SymmetricDirichlet("topics", 0.5, shape=(2, 6))
        batch = pm.Minibatch(pmg.BagOfWords(counts), batch_size=10)
        pmg.LatentDirichletAllocation("w", topics, 0.5, observed=batch, total_size=30)
        return pmg.SGRLD(step_size=0.01)


@pytest.mark.parametrize("make", [step_on_batches, step_on_all_rows, step_with_topics])
def test_a_new_step_goes_on_where_another_stopped(make):
    step, other = make(), make()
    step.setup_chain(np.random.default_rng(3), 3, 20)
    other.setup_chain(np.random.default_rng(8), 3, 20)
    point = step.model.initial_point()
    for _ in range(2):
        point, _ = step.step(point)
    other.sampling_state, again = step.sampling_state, point
    for _ in range(3):
        point, [found] = step.step(point)
        again, [found_again] = other.step(again)
    for name, value in point.items():
        np.testing.assert_array_equal(value, again[name])
    assert found["potential_estimate"] == found_again["potential_estimate"]


def maximum_likelihood(y):
    """Mean, log scale and log degrees of freedom of a t distribution, and their standard errors."""

    def energy(x):
        return -stats.t.logpdf(y, np.exp(x[2]), x[0], np.exp(x[1])).sum()

    start = [0.0, np.log(SCALE), np.log(NU)]
    best = optimize.minimize(energy, start, method="Nelder-Mead", options={"xatol": 1e-6}).x
    h = 1e-3 * np.eye(3)
    hessian = [
        [
            sum(s * t * energy(best + s * h[i] + t * h[j]) for s in (1, -1) for t in (1, -1)) / 4e-6
            for j in range(3)
        ]
        for i in range(3)
    ]
    return best, np.sqrt(np.diag(np.linalg.inv(hessian)))


@pytest.mark.slow
def test_posterior_of_a_t_distribution_as_a_scale_mixture():
    """Against the t distribution itself: chains that start at the truth stay there."""
    y = students(100_000, seed=4)
    with scale_mixture(y, batch_size=200, known_scale=False):
        step = pmg.gSGNHT(
            ["mu", "sigma", "nu"],
            local=local_gmc("w", **FAST),
            step_size=1e-4,
            diffusion=50.0,
            thermostat="per_variable",
            n_steps=10,
        )
        ours = pm.sample(
            1000,
            tune=200,
            chains=2,
            cores=1,
            step=step,
            random_seed=6,
            progressbar=False,
            compute_convergence_checks=False,
        )
    best, errors = maximum_likelihood(y)
    for name, center, sd in zip(("sigma", "nu"), best[1:], errors[1:], strict=True):
        draws = np.log(ours.posterior[name].values)
        allowed = 5 * float(az.mcse(draws, method="mean")) + 0.3 * sd
        assert abs(draws.mean() - center) < allowed < 3 * sd
    assert ours.sample_stats["local_unmoved"].values.mean() < 1e-5
