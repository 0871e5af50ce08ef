#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A step size that is given means the same as one that is reported, and the rest is tuned."""

import logging
import re

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.algorithms.demands import Demands, GradientNoise
from pymc_geodesic.algorithms.tuning_rules import at_step, friction_rule, thermostat_rule
from pymc_geodesic.monte_carlo import mean_and_mcse
from pymc_geodesic.run_record import RunRecord
from pymc_geodesic.runs.positions import shorter

N, BATCH, SCALES = 5_000, 100, np.array([1.0, 1e3, 1e-2, 30.0])


@pytest.fixture(scope="module")
def regression():
    """Columns of very different sizes; mean and deviations of the posterior."""
    rng = np.random.default_rng(1)
    design = rng.normal(size=(N, 4)) * SCALES
    outcome = design @ (np.array([0.5, -1.0, 0.3, 0.0]) / SCALES) + rng.normal(size=N)
    with pm.Model() as model:
        x, y = pm.Minibatch(design, outcome, batch_size=BATCH)
        beta = pm.Normal("beta", 0, 10 / SCALES)
        pm.Normal("y", x @ beta, 1.0, observed=y, total_size=N)
    covariance = np.linalg.inv(design.T @ design + np.diag(SCALES**2 / 100))
    return model, covariance @ design.T @ outcome, np.sqrt(np.diag(covariance))


def sampled(model, method, *, draws=500, **options):
    idata = pmg.sample(
        draws,
        model=model,
        step=lambda: method(**options),
        random_seed=1,
        progressbar=False,
        refine=False,
    )
    assert not idata.sample_stats["diverging"].any()
    return idata


def step_of(idata):
    [step_size] = np.unique(idata.sample_stats["step_size"])
    return float(step_size)


def n_steps_of(idata):
    return int(idata.sample_stats["n_steps"].max())


@pytest.mark.parametrize("method", [pmg.SGNHT, pmg.gSGNHT, pmg.SGHMC], ids=lambda m: m.__name__)
def test_the_reported_step_size_repeats_the_run(regression, method):
    model, mean, sd = regression
    found = sampled(model, method)
    again = sampled(model, method, step_size=step_of(found))
    assert step_of(again) == step_of(found)
    assert 0.5 < n_steps_of(again) / n_steps_of(found) < 2
    for idata in (found, again):
        scores = (idata.posterior["beta"].values - mean) / sd
        for entry in np.moveaxis(scores, -1, 0):
            average, error = mean_and_mcse(entry)
            assert abs(average) < 0.05 + 5 * error
        np.testing.assert_allclose(scores.std(axis=(0, 1)), 1.0, atol=0.15)


def test_half_the_step_size_has_half_the_bias(regression):
    """Without control variates and a known noise friction leaves a bias, which it is tuned to."""
    model, _, sd = regression
    options = {"variance_reduction": None, "accuracy": 0.2, "n_steps": 50, "draws": 1_000}
    found = sampled(model, pmg.SGHMC, **options)
    half = sampled(model, pmg.SGHMC, step_size=step_of(found) / 2, **options)
    excess = [
        float(np.mean(idata.posterior["beta"].values.var(axis=(0, 1)) / sd**2)) - 1
        for idata in (found, half)
    ]
    assert excess[0] > 0.2
    assert excess[1] / excess[0] == pytest.approx(0.5, abs=0.15)


def test_what_is_left_out_is_tuned(regression):
    model, *_ = regression
    with model:
        written = pmg.SGHMC(step_size=1e-3, friction=10.0).sampler
        alone = pmg.SGHMC(step_size=0.3).sampler
        massive = pmg.SGHMC(step_size=0.3, mass=SCALES**2).sampler
    assert written.tuning is None
    assert written.settings.mass is None
    assert written.settings.n_steps == 1
    for sampler in (alone, massive):
        assert sampler.tuning.options.tunes_itself
        assert sampler.tuning.options.chooses_n_steps
        assert sampler.tuning.options.reduction == "auto"
    assert alone.tuning.options.mass is None
    np.testing.assert_array_equal(
        massive.tuning.options.mass.arrays[0], massive.settings.mass.arrays[0]
    )


@pytest.mark.parametrize(
    ("method", "options"),
    [
        (pmg.SGNHT, {"diffusion": 1.0}),
        (pmg.gSGNHT, {"diffusion": 1.0}),
        (pmg.SGGMC, {"friction": 1.0}),
        (pmg.SGNPHMC, {"thermal_mass": 1.0}),
        (pmg.SGLD, {"n_steps": 2, "variance_reduction": None}),
        (pmg.SGHMC, {"mass": pmg.MonteCarloEM(update_every=20)}),
        (pmg.SGNHT, {"thermostat": "matrix"}),
        (pmg.SGHMC, {"friction": [1.0, 2.0, 3.0, 4.0]}),
    ],
    ids=str,
)
def test_with_all_of_its_parameters_a_step_tunes_nothing(regression, method, options):
    model, *_ = regression
    step = method(step_size=1e-3, model=model, **options)
    assert step.sampler.tuning is None
    step.setup_chain(np.random.default_rng(1), 0, 1)
    _, [stats] = step.step(model.initial_point())
    assert stats["step_size"] == 1e-3


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        (pmg.SGNHT, {"diffusion": 1.0, "accuracy": 0.01}, "got 0.01 with `step_size` and `diffu"),
        (pmg.SGHMC, {"friction": 1.0, "center": {"beta": np.zeros(4)}}, "`center` expected `var"),
        (pmg.SGHMC, {"friction": 1.0, "variance_reduction": "auto"}, "expected None or 'control"),
        (pmg.SGLD, {"accuracy": 0.01}, "got 0.01 with `step_size`. Leave"),
        (pmg.SGNHT, {"thermostat": "matrix", "accuracy": 0.1}, "phase cannot tune"),
    ],
    ids=str,
)
def test_keywords_without_effect_are_refused(regression, method, options, message):
    model, *_ = regression
    with pytest.raises(ValueError, match=message):
        method(step_size=1e-3, model=model, **options)


def test_posterior_scales_need_a_tuning_phase(regression):
    model, *_ = regression
    with pytest.raises(ValueError, match=r"`step_size` of `SGNHT` expected a tuning phase"):
        pmg.sample(
            10,
            tune=0,
            model=model,
            step=lambda: pmg.SGNHT(step_size=0.3),
            progressbar=False,
        )


def test_a_step_that_is_too_long_is_reported(regression, caplog):
    model, *_ = regression
    with caplog.at_level(logging.INFO, logger="pymc"):
        for step_size in (0.2, 1.2):
            pmg.sample(
                20,
                model=model,
                step=lambda h=step_size: pmg.SGNHT(step_size=h),
                random_seed=1,
                progressbar=False,
            )
    short, long = (r.message for r in caplog.records if "tuned itself" in r.message)
    assert "step size 0.2 posterior scales, as given" in short
    assert "The given step size is longer" not in short
    assert "The given step size is longer than 0." in long


def test_a_schedule_is_scaled_too(regression):
    model, mean, sd = regression
    schedule = pmg.PolynomialSchedule(0.4, 1_000, 0.3)
    idata = pmg.sample(
        500,
        model=model,
        step=lambda: pmg.SGNHT(step_size=schedule, n_steps=3),
        random_seed=1,
        progressbar=False,
    )
    sizes = idata.sample_stats["step_size"].values[0]
    expected = schedule(3 * np.arange(1_001, 1_501) - 1)
    np.testing.assert_allclose(sizes, expected)
    scores = (idata.posterior["beta"].values - mean) / sd
    np.testing.assert_allclose(scores.std(axis=(0, 1)), 1.0, atol=0.2)


@pytest.mark.parametrize("rule", [friction_rule, thermostat_rule])
def test_friction_does_not_shrink_with_the_step(rule):
    demands = Demands(GradientNoise(5.0, 8.0), 1.0, 0.05)
    own, parameters = rule(demands)
    assert at_step(demands, rule=rule, step_size=own) == (own, parameters)
    assert at_step(demands, rule=rule, step_size=own / 2) == (own / 2, parameters)
    _, larger = at_step(demands, rule=rule, step_size=2 * own)
    assert all(larger[name] >= value for name, value in parameters.items())


def test_advice_can_be_followed():
    def advice(step="SGNHT", **settings):
        return shorter(0.32, 0.16, RunRecord(step, settings, {}))

    assert advice(step_size=0.32) == "Decrease `step_size` from 0.32 to 0.16"
    assert "pass `step_size=0.16` instead of the 0.32 that was found; everything" in advice()
    assert "and leave out `diffusion`" in advice(diffusion=2.0)
    assert re.search(r"step_size=0.16.*found$", advice("GMC"))


def test_following_the_advice_improves_the_run(regression):
    """A step so long that no friction balances the noise of its gradients."""
    model, _, sd = regression
    options = {"variance_reduction": None, "n_steps": 30}

    def excess(idata):
        return float(np.mean(idata.posterior["beta"].values.var(axis=(0, 1)) / sd**2)) - 1

    found = sampled(model, pmg.SGHMC, **options)
    given = 4 * step_of(found)
    before = sampled(model, pmg.SGHMC, step_size=given, **options)
    advice = " ".join(finding.advice for finding in pmg.diagnose(before).findings)
    now, then = map(float, re.search(r"`step_size` from ([\d.]+) to ([\d.]*\d)", advice).groups())
    assert now == pytest.approx(given, rel=0.1)
    assert "Increase `friction`" not in advice
    assert excess(before) > 0.3
    assert excess(sampled(model, pmg.SGHMC, step_size=then, **options)) < 0.7 * excess(before)


def spaced(model, method, **options):
    with model:
        step = method(n_steps="auto", **options)
        return pmg.sample(400, tune=400, step=step, chains=2, random_seed=1, progressbar=False)


@pytest.mark.parametrize(
    ("method", "options", "time"),
    [
        # Correlations of the position fall as exp(-t / friction) with large friction.
        (pmg.SGHMC, {"step_size": 0.1, "friction": 10.0}, 100),
        (pmg.SGGMC, {"step_size": 0.2, "friction": 2.0}, 10),
        (pmg.SGHMC, {"step_size": 0.2, "friction": [2.0, 2.0, 2.0]}, 10),
    ],
    ids=str,
)
def test_transitions_per_draw_follow_from_the_correlation(method, options, time):
    with pm.Model() as model:
        pm.Normal("x", shape=3)
    idata = spaced(model, method, **options)
    [step_size], [n_steps] = (
        np.unique(idata.sample_stats[name]) for name in ("step_size", "n_steps")
    )
    assert step_size == options["step_size"]
    assert 0.5 * time < n_steps < 2 * time
    scores = idata.posterior["x"].values
    lagged = (scores[:, 1:] * scores[:, :-1]).mean() / (scores**2).mean()
    # The level is 1 / e for the slowest entries; numbers are rounded, and 2,400 draws are few.
    assert 0.1 < lagged < 0.55


def test_transitions_per_draw_of_local_variables_are_whole_batches():
    y = np.random.default_rng(1).standard_t(4, 300)
    with pm.Model():
        batch = pm.Minibatch(y, batch_size=20)
        sigma = pm.HalfNormal("sigma", 2.0)
        w = pm.Gamma("w", 2.0, 2.0, shape=20)
        pm.Normal("y", 0.0, sigma / w**0.5, observed=batch, total_size=300)
        local = pmg.LocalGMC([w], draws=2, tune=2)
        options = {"local": local, "step_size": 1e-3, "diffusion": 10.0, "steps_per_batch": 3}
        step = pmg.SGNHT([sigma], n_steps="auto", **options)
        idata = pmg.sample(20, tune=40, step=step, chains=1, random_seed=1, progressbar=False)
    assert not (idata.sample_stats["n_steps"] % 3).any()
    assert (idata.sample_stats["n_steps"] > 1).all()


def test_transitions_per_draw_need_a_tuning_phase(regression):
    model, *_ = regression
    step = pmg.SGHMC(step_size=1e-3, friction=1.0, n_steps="auto", model=model)
    with pytest.raises(ValueError, match=r"expected a tuning phase, .* got `tune=0`"):
        pmg.sample(10, tune=0, step=step, model=model, progressbar=False)
