#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Steps without a step size: what they find, what they leave alone, what they refuse."""

import logging

from dataclasses import replace

import cloudpickle
import numpy as np
import pymc as pm
import pytest

from chains import add_gradient_noise, assert_mean, assert_widths, batch_averages, batch_mean, run
from normal_regression import draws_of, normal_model
from scipy.special import ive

import pymc_geodesic as pmg


def test_thermostat_is_where_it_was_predicted():
    model, *_ = normal_model()
    step = pmg.SGNHT(model=model)
    stats = [s for _, s in run(step, model.initial_point(), draws=2_000, tune=400)][400:]
    temperatures = np.array([s["kinetic_temperature"] for s in stats]).reshape(40, -1).mean(axis=1)
    assert_mean(temperatures, 1.0)
    # That of the positions is not one by construction; steps of half a scale cool by 0.06.
    mean, error = batch_mean([s["configurational_temperature"] for s in stats])
    assert error < 0.03
    assert abs(mean - 1) < 0.1 + 5 * error
    noise = step.chain.tuning.found.noise.mean
    predicted = step.chain.settings.parameters["diffusion"] + 0.5 * stats[0]["step_size"] * noise
    frictions = np.array([s["thermostat"] for s in stats]).reshape(40, -1).mean(axis=1)
    error = frictions.std(ddof=1) / np.sqrt(len(frictions))
    assert abs(frictions.mean() - predicted) < 0.1 * predicted + 4 * error


@pytest.mark.parametrize("draws", [300, pytest.param(2_000, marks=pytest.mark.slow)])
def test_mixed_manifolds_tune_themselves(draws):
    rng = np.random.default_rng(1)
    # Columns that do not know of each other say in one run how wide the draws are.
    kappa, n, n_columns = 10.0, 5_000, 20
    angles = rng.vonmises(0.5, kappa, size=(n, n_columns))
    data = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    with pm.Model() as model:
        mu = pmg.VonMisesFisher("mu", mu=[1.0, 0.0], kappa=0.0, shape=(n_columns, 2))
        concentration = pm.HalfNormal("kappa", 50.0, shape=n_columns)
        batch = pm.Minibatch(data, batch_size=100)
        pmg.VonMisesFisher("x", mu=mu, kappa=concentration, observed=batch, total_size=n)
    step = pmg.gSGNHT(model=model)
    path = draws_of(step, model, tune=300, draws=draws)
    total = data.sum(axis=0)
    length = np.linalg.norm(total, axis=1)
    # Given kappa the angle is von Mises with concentration kappa times the resultant's length.
    direction = path[step.vars[0].name]
    across = np.stack([-total[:, 1], total[:, 0]], axis=-1) / length[:, None]
    angle = np.arcsin((direction * across).sum(axis=-1))
    of_angles = (angle * np.sqrt(length * np.exp(path["kappa_log__"])))[None]
    assert_mean(batch_averages(of_angles), 0.0)
    # Flat prior near the mode: log kappa is about normal around the maximum of the likelihood.
    grid = np.linspace(9, 11, 2_001)
    fit = grid[np.argmin(np.abs((ive(1, grid) / ive(0, grid))[:, None] - length / n), axis=0)]
    found = path["kappa_log__"] - np.log(fit)
    # Its information is kappa^2 (1 - A^2 - A / kappa) = 0.53; the prior moves it by 0.02 sd.
    bessel = ive(1, fit) / ive(0, fit)
    of_kappas = (found * fit * np.sqrt(n * (1 - bessel**2 - bessel / fit)))[None]
    assert abs(of_kappas.mean()) < 0.1
    if draws > 1_000:
        assert_widths(of_angles)
        assert_widths(of_kappas)


def test_control_variates_switch_themselves_off_where_they_do_not_pay():
    rows = np.random.default_rng(1).normal(size=2_000)
    with pm.Model() as model:
        x = pm.Normal("x")
        # Of mean zero: the posterior is the prior. The gradient 5 cos(5 x) is largest at the mode
        # and of either sign away from it, so that taking the mode's away makes it noisier.
        add_gradient_noise("noise", pm.math.sin(5 * x), rows - rows.mean())
    step = pmg.SGNHT(model=model)
    stats = [s for _, s in run(step, model.initial_point(), draws=60, tune=50)]
    assert not step.chain.tuning.controlled
    assert stats[-1]["gradient_variance_ratio"] > 0.5
    forced = pmg.SGNHT(variance_reduction="control_variates", model=model)
    list(run(forced, model.initial_point(), draws=60, tune=50))
    assert forced.chain.tuning.controlled


def test_given_step_size_is_not_second_guessed():
    model, *_ = normal_model()
    paths = []
    for options in ({}, {"variance_reduction": None}):
        step = pmg.SGNHT(step_size=1e-3, diffusion=10.0, model=model, **options)
        draws = [(p["beta"], s["step_size"]) for p, s in run(step, model.initial_point(), draws=20)]
        paths.append(np.array([beta for beta, _ in draws]))
        assert {size for _, size in draws} == {1e-3}
        assert step.chain.settings.n_steps == 1
    np.testing.assert_array_equal(*paths)


def test_control_variates_with_a_given_step_size_and_center():
    model, mean, _ = normal_model()
    step = pmg.SGHMC(
        step_size=1e-3,
        friction=100.0,
        variance_reduction="control_variates",
        center={"beta": mean},
        n_steps=5,
        model=model,
    )
    stats = [s for _, s in run(step, model.initial_point(), draws=20)]
    np.testing.assert_allclose(step.chain.tuning.center.point[0], mean)
    assert stats[-1]["gradient_variance_ratio"] < 0.01


def test_each_chain_tunes_for_itself_and_alike():
    model, *_ = normal_model()
    step = pmg.SGNHT(model=model)
    first, second, third = (
        draws_of(step, model, tune=60, draws=10, seed=seed)["beta"] for seed in (1, 2, 1)
    )
    np.testing.assert_array_equal(first, third)
    assert not np.array_equal(first, second)


def test_findings_resume():
    model, *_ = normal_model()
    step, other = (pmg.SGNHT(model=model) for _ in range(2))
    *_, (point, _) = run(step, model.initial_point(), draws=60, tune=50)
    other.sampling_state = step.sampling_state
    (ahead, _), (resumed, _) = step.step(point), other.step(point)
    np.testing.assert_array_equal(ahead["beta"], resumed["beta"])


@pytest.mark.parametrize("cores", [1, 2])
def test_log_lines_say_what_goes_on_and_what_was_found(caplog, cores):
    """All of them come from this process, which shows the progress bar, and none is a warning."""
    model, *_ = normal_model()
    options = {"chains": 2, "cores": cores, "mp_ctx": "forkserver", "random_seed": 1}
    with caplog.at_level(logging.INFO, logger="pymc"), model:
        step = pmg.SGNHT()
        assert [r.message for r in caplog.records] == ["Compiling SGNHT ..."]
        pm.sample(
            draws=20,
            tune=40,
            step=step,
            progressbar=False,
            compute_convergence_checks=False,
            **options,
        )
    messages = [record.message for record in caplog.records]
    assert sum("searches for the mode in each chain" in line for line in messages) == 1
    lines = [record for record in caplog.records if "tuned itself" in record.message]
    assert len(lines) == 2
    for line in lines:
        assert line.levelno == logging.INFO
        assert "step size" in line.message
        assert "control variates" in line.message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"accuracy": 0.0}, "`accuracy` expected a number between"),
        ({"accuracy": 1.0}, "`accuracy` expected a number between"),
        ({"variance_reduction": "svrg"}, "`variance_reduction` expected None, 'auto'"),
        ({"center": {}}, "`center` expected values for"),
        ({"center": {"beta": np.zeros(5)}}, r"a value of shape \(3,\) for `beta`, .* \(5,\)"),
    ],
)
def test_bad_arguments(options, message):
    model, *_ = normal_model()
    with pytest.raises(ValueError, match=message):
        pmg.SGNHT(model=model, **options)


def test_infinite_gradient_at_the_center():
    data = np.abs(np.random.default_rng(1).normal(size=100))
    with pm.Model() as model:
        x = pm.Normal("x")
        batch = pm.Minibatch(data, batch_size=10)
        pm.Normal("y", pm.math.sqrt(x), 1.0, observed=batch, total_size=100)
    step = pmg.SGLD(
        step_size=1e-4,
        variance_reduction="control_variates",
        n_steps=1,
        center={"x": 0.0},
        initial_point={"x": np.array(1.0)},
        model=model,
    )
    message = r"finite gradient of the log density at `center`, got .* for `x`\. Pass another"
    with pytest.raises(pm.exceptions.SamplingError, match=message):
        list(run(step, {"x": np.array(1.0)}, draws=1))


def test_infinite_gradient_names_the_column():
    """An exponential of a coefficient and a raw column overflows."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(2_000, 2)) * [1.0, 1e4]
    with pm.Model() as model:
        batch, y = pm.Minibatch(x, rng.poisson(1e6, 2_000).astype("int32"), batch_size=100)
        beta = pm.Normal("beta", shape=2)
        pm.Poisson("y", pm.math.exp(batch @ beta), observed=y, total_size=2_000)
    step = pmg.SGNHT(model=model)
    found = r"not finite for `beta`\. .* as large as [34][.\d]*e\+04, in column 1 of argument 1 of"
    with pytest.raises(pm.exceptions.SamplingError, match=found + ".*Standardise the columns"):
        step.sampler.tuning._tuner.center_at([np.array([0.0, 1.0])])


@pytest.mark.parametrize("options", [{}, {"gradient_noise": "fisher"}], ids=["plain", "fisher"])
def test_a_pickled_step_tunes_itself_alike(options):
    model, *_ = normal_model()
    step = pmg.SGHMC(model=model, **options)
    # A worker that does not share memory gets a copy, and compiles what tuning asks for there.
    copy = cloudpickle.loads(cloudpickle.dumps(step))
    first, second = (draws_of(each, model, tune=40, draws=10)["beta"] for each in (step, copy))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("tune", [0, 1, 2, 7, 25])
def test_short_tuning_phases(tune):
    model, *_ = normal_model()
    step = pmg.SGNHT(model=model)
    path = draws_of(step, model, tune=tune, draws=5)["beta"]
    assert np.all(np.isfinite(path))


def test_control_variates_need_all_variables_in_one_step():
    data = np.random.default_rng(1).normal(size=1_000)
    with pm.Model() as model:
        x = pm.Normal("x")
        y = pm.Normal("y")
        batch = pm.Minibatch(data, batch_size=10)
        pm.Normal("z", x + y, observed=batch, total_size=1_000)
    with pytest.raises(ValueError, match="expected one step for all variables"):
        pmg.SGNHT(["x"], variance_reduction="control_variates", model=model)
    assert pmg.SGNHT(["x"], model=model).sampler.tuning.options.reduction is None


def test_chains_leave_what_is_set_on_a_step_that_does_not_tune_itself():
    model, *_ = normal_model()
    step = pmg.SGNHT(step_size=1e-3, diffusion=10.0, model=model)
    schedule = pmg.ConstantSchedule(5e-4)
    step.sampler.settings = replace(step.sampler.settings, schedule=schedule)
    [(_, stats)] = run(step, model.initial_point(), draws=1)
    assert stats["step_size"] == 5e-4
