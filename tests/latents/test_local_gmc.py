#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Variables local to the rows of a minibatch."""

import cloudpickle
import numpy as np
import pymc as pm
import pytest

from chains import assert_mean, chain_averages
from local_models import (
    ALPHA,
    COUNTS,
    GROUP_MEANS,
    N_ROWS,
    NOISE,
    PRIOR,
    SPREAD,
    draw_latents,
    local_gmc,
    location_posterior,
    proportions,
    random_effects,
)
from pytensor import function
from pytensor.tensor import constant

import pymc_geodesic as pmg

from pymc_geodesic.potential import Potential
from pymc_geodesic.sampling.statistics import averaged

OPTIONS = {"step_size": 0.02, "diffusion": 2.0}


def local_draws(step, n_batches=30):
    """Averages over the draws of each row, from batches that begin anew, and the point."""
    step.setup_chain(np.random.default_rng(1), 10, n_batches)
    point = step.model.initial_point()
    rows = [np.arange(N_ROWS)]
    for _ in range(20):
        draw_latents(step, point, rows, step.rng, tune=True)
    found = [draw_latents(step, point, rows, step.rng, tune=False) for _ in range(n_batches)]
    draws = np.concatenate([drawn.arrays[0] for drawn in found])
    return draws, averaged([drawn.statistics for drawn in found]), point


def test_rows_of_flat_variables_follow_their_conditional_law():
    with random_effects(batch_size=N_ROWS) as model:
        step = pmg.SGNHT(["location"], local=local_gmc("effect"), model=model, **OPTIONS)
    draws, statistics, point = local_draws(step)
    precision = SPREAD**-2 + NOISE**-2
    mean = (point["location"] * SPREAD**-2 + GROUP_MEANS * NOISE**-2) / precision
    standard = (draws - mean) * np.sqrt(precision)
    assert_mean(standard.mean(axis=0), 0.0)
    assert_mean((standard**2).mean(axis=0), 1.0)
    assert_mean((standard**4).mean(axis=0), 3.0)
    assert 0.65 < statistics["local_acceptance"] < 0.95


def test_rows_of_simplex_variables_follow_their_conditional_law():
    with proportions(batch_size=N_ROWS) as model:
        step = pmg.SGNHT(["unrelated"], local=local_gmc("theta"), model=model, **OPTIONS)
    draws, statistics, _ = local_draws(step)
    theta, shapes = draws**2, ALPHA + COUNTS
    mean = shapes / shapes.sum(axis=1, keepdims=True)
    variance = mean * (1 - mean) / (shapes.sum(axis=1, keepdims=True) + 1)
    for k in range(3):
        deviation = theta[:, :, k] - mean[:, k]
        assert_mean(deviation.mean(axis=0), 0.0)
        assert_mean((deviation**2 / variance[:, k]).mean(axis=0), 1.0)
    assert statistics["local_spread"] > 0.1


def test_gradient_is_that_of_the_scaled_marginal_likelihood():
    total_size = 1000
    model = random_effects(batch_size=N_ROWS, total_size=total_size)
    with model:
        options = OPTIONS | {"model": model, "trust_total_size": True}
        step = pmg.SGNHT(["location"], local=local_gmc("effect"), **options)
    potential = step.sampler.problem.potential
    position = tuple(x.type() for x in potential.positions)
    rows = [index.type() for index in potential.indices]
    gradient = function(
        [*position, *rows, *potential.latents],
        potential.gradient(position, rows, width=constant(0.0)),
    )
    draws, _, point = local_draws(step)
    at, every = point["location"], np.arange(N_ROWS)
    found = [gradient(at, every, batch)[0] for batch in draws.reshape(-1, 40, N_ROWS)]
    marginal = total_size / N_ROWS * (GROUP_MEANS - at).sum() / (SPREAD**2 + NOISE**2)
    assert_mean(np.array(found), -(marginal - at / PRIOR**2))


def test_blockwise_gibbs_finds_the_posterior():
    with random_effects() as model:
        step = pmg.GMCWithinGibbs(
            ["location"],
            local=local_gmc("effect", draws=None, tune=0),
            n_leapfrog=5,
            model=model,
        )
        idata = pm.sample(
            2000, tune=300, chains=2, cores=1, step=step, random_seed=1, progressbar=False
        )
    mean, sd = location_posterior()
    averages = idata.posterior["location"].values.reshape(-1, 200)
    assert_mean(averages.mean(axis=1), mean)
    assert_mean(((averages - mean) ** 2).mean(axis=1), sd**2)
    assert idata.posterior["effect"].shape == (2, 2000, N_ROWS)
    assert 0.7 < idata.sample_stats["local_acceptance"].values.mean() < 0.9
    assert idata.sample_stats["local_unmoved"].values.max() == 0


def test_an_average_of_energies_warns():
    with random_effects(), pytest.warns(UserWarning, match="29 per cent too small") as found:
        pmg.GMCWithinGibbs(["location"], local=local_gmc("effect", draws=2))
    assert found[0].filename == __file__


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gSGNHT", "SGHMC", "SGGMC", "SGLD"])
def test_every_step_moves_the_global_variable(name):
    """About right; ``test_local_posteriors.py`` knows the width for one of them."""
    options = {
        "SGHMC": {"friction": 40.0, "gradient_noise": None},
        "SGGMC": {"friction": 40.0, "gradient_noise": None},
        "SGLD": {"step_size": 1e-4},
    }.get(name, {"diffusion": 10.0})
    options = {"step_size": 0.004, "n_steps": 10} | options
    with random_effects(batch_size=100) as model:
        local = local_gmc("effect", draws=5, tune=5, n_leapfrog=3)
        step = getattr(pmg, name)(["location"], local=local, model=model, **options)
        idata = pm.sample(
            4000, tune=500, chains=2, cores=1, step=step, random_seed=2, progressbar=False
        )
    mean, sd = location_posterior()
    averages = idata.posterior["location"].values.reshape(-1, 400)
    assert_mean(averages.mean(axis=1), mean)
    spread = ((averages - mean) ** 2).mean() / sd**2
    # Batches of a half of the rows leave noise that only the thermostats take out.
    assert 0.9 < spread < (1.1 if "NHT" in name else 1.5)


def test_draws_are_reproducible_and_resumable():
    with random_effects(batch_size=20) as model:
        local = local_gmc("effect", draws=3, tune=2)
        step = pmg.gSGNHT(["location"], local=local, model=model, steps_per_batch=2, **OPTIONS)
    point = step.model.initial_point()
    step.setup_chain(np.random.default_rng(3), 5, 20)
    for _ in range(4):
        point, _ = step.step(point)
    state = step.sampling_state
    ahead = [step.step(point) for _ in range(2)][-1]
    step.sampling_state = state
    again = [step.step(point) for _ in range(2)][-1]
    for name, value in ahead[0].items():
        np.testing.assert_array_equal(value, again[0][name])
    assert ahead[1][0]["local_step_size"] == again[1][0]["local_step_size"]


def test_a_worker_draws_the_same():
    with random_effects(batch_size=20) as model:
        local = local_gmc("effect", draws=3, tune=2)
        step = pmg.gSGNHT(["location"], local=local, model=model, **OPTIONS)
    copy = cloudpickle.loads(cloudpickle.dumps(step))
    points = []
    for each in (step, copy):
        each.setup_chain(np.random.default_rng(4), 5, 5)
        point = each.model.initial_point()
        for _ in range(3):
            point, _ = each.step(point)
        points.append(point)
    for name, value in points[0].items():
        np.testing.assert_array_equal(value, points[1][name])


def test_prior_of_local_variables_counts_for_all_rows():
    # Another variable with more rows must not change what a row of this one stands for.
    with pm.Model() as model:
        rows = pm.Minibatch(GROUP_MEANS, batch_size=20)
        spread = pm.HalfNormal("spread", 2.0)
        effect = pm.Normal("effect", 0.0, spread, shape=20)
        pm.Normal("y", effect, 0.5, observed=rows, total_size=N_ROWS)
        pm.Normal(
            "z", 0.0, 1.0, observed=pm.Minibatch(np.zeros(5000), batch_size=5), total_size=5000
        )
        step = pmg.SGNHT(["spread"], local=local_gmc("effect"), model=model, **OPTIONS)
    potential = step.sampler.problem.potential
    position = tuple(x.type() for x in potential.positions)
    rows = [index.type() for index in potential.indices]
    gradient = function(
        [*position, *rows, *potential.latents],
        potential.gradient(position, rows, width=constant(0.0)),
        on_unused_input="ignore",
    )
    effects = np.random.default_rng(1).normal(size=(3, 20))
    indices = [np.arange(source.batch_size) for source in potential.sources]
    # In s, the logarithm of the spread; the last two terms are the prior's and the Jacobian's.
    s = 0.3
    scaled = N_ROWS * (np.mean(effects**2) * np.exp(-2 * s) - 1)
    expected = -(scaled - np.exp(2 * s) / 4 + 1)
    np.testing.assert_allclose(gradient(s, *indices, effects)[0], expected)


def test_default_number_of_transitions_is_that_of_a_batch():
    with random_effects(batch_size=20) as model:
        local = local_gmc("effect", draws=3, tune=2)
        step = pmg.SGNHT(["location"], local=local, model=model, steps_per_batch=4, **OPTIONS)
    assert step.chain.settings.n_steps == 4
    averages, stats = chain_averages(
        step, step.model.initial_point(), {"x": lambda point: point["location"]}, draws=3
    )
    assert np.isfinite(averages["x"])
    assert stats["local_acceptance"] > 0.5


def test_local_and_global_must_differ():
    with random_effects(batch_size=20), pytest.raises(ValueError, match="different variables"):
        pmg.SGNHT(["location", "effect"], local=local_gmc("effect"), **OPTIONS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"step_size": None}, "step_size"),
        ({"gradient_noise": "fisher"}, "fisher"),
        ({"variance_reduction": "control_variates"}, "control_variates"),
        ({"steps_per_batch": 3, "n_steps": 4}, "multiple"),
    ],
)
def test_options_that_do_not_fit(options, message):
    with random_effects(batch_size=20), pytest.raises(ValueError, match=message):
        pmg.SGNHT(["location"], local=local_gmc("effect"), **(OPTIONS | options))


def test_shared_variables_are_not_local():
    with pm.Model():
        rows = pm.Minibatch(GROUP_MEANS, batch_size=20)
        shared = pm.Normal("shared", shape=3)
        location = pm.Normal("location")
        pm.Normal("y", location + shared.sum(), 1.0, observed=rows, total_size=N_ROWS)
        with pytest.raises(ValueError, match="first axis"):
            pmg.SGNHT([location], local=local_gmc("shared"), **OPTIONS)


def test_local_variables_need_data():
    with pm.Model():
        location = pm.Normal("location")
        pm.Normal("effect", location, shape=20)
        pm.Normal("y", location, 1.0, observed=GROUP_MEANS)
        with pytest.raises(ValueError, match="depends on it"):
            pmg.SGNHT([location], local=local_gmc("effect"), **OPTIONS)


def test_exact_samplers_ask_for_blockwise_gibbs():
    with random_effects(), pytest.raises(ValueError, match="GMCWithinGibbs"):
        pmg.GMC(["location"], local=local_gmc("effect"))
    with random_effects(batch_size=20), pytest.raises(ValueError, match="all rows"):
        pmg.GMCWithinGibbs(["location"], local=local_gmc("effect", draws=1))


@pytest.mark.parametrize("options", [{"draws": 0}, {"target_accept": 1.0}, {"step_size": -1.0}])
def test_bad_options(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        local_gmc("effect", **options)


def test_potential_without_local_variables_is_unchanged():
    with random_effects() as model:
        potential = Potential(model, model.value_vars, initial_point=model.initial_point())
    assert potential.latents == ()
    assert potential.local is None
