#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What is said of a finished run: gradients of all rows condemn it, or clear it."""

import logging
import re

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.runs import gradients_at_draws
from pymc_geodesic.runs.refined import of_raw_draws
from pymc_geodesic.runs.verdict import checked_with_rows

N = 2_000


def regression():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(N, 2))
    y = x @ [1.0, -1.0] + rng.normal(size=N)
    precision = x.T @ x + np.eye(2)
    with pm.Model() as model:
        x_batch, y_batch = pm.Minibatch(x, y, batch_size=50)
        beta = pm.Normal("beta", shape=2)
        pm.Normal("y", x_batch @ beta, 1.0, observed=y_batch, total_size=N)
    return model, np.linalg.solve(precision, x.T @ y), np.linalg.inv(precision)


@pytest.fixture(scope="module")
def case():
    model, mean, covariance = regression()
    with model:
        sampler = pmg.SGNHT().sampler
    draws = np.random.default_rng(2).multivariate_normal(mean, covariance, (4, 250))
    return model, sampler, draws, mean


def said_of(case, draws, *, n_diverging=0, temperature=1.0, names=("beta",), seconds=60.0):
    import arviz_base as az

    model, sampler, *_ = case
    shape = draws.shape[:2]
    diverging = np.zeros(shape[0] * shape[1], bool)
    diverging[:n_diverging] = True
    heat = temperature * np.random.default_rng(3).chisquare(2, shape) / 2
    stats = {
        "diverging": diverging.reshape(shape),
        "kinetic_temperature": heat,
        "thermostat": heat,
    }
    idata = az.from_dict({"posterior": dict.fromkeys(names, draws), "sample_stats": stats})
    return checked_with_rows(idata, sampler, [], model=model, seconds=seconds).warnings


def said(case, draws, **options):
    return [(warning.level, warning.message) for warning in said_of(case, draws, **options)]


def test_nothing_is_said_of_draws_of_the_posterior(case):
    assert said(case, case[2]) == []


def test_draws_that_are_too_wide_are_condemned_though_nothing_diverged(case):
    _, _, draws, mean = case
    [(level, text)] = said(case, mean + (draws - mean) * [1.0, 1.5])
    assert level == "error"
    assert text.startswith("These draws do not follow the posterior: by the gradients of all rows")
    assert "`beta[1]` is too wide" in text


def test_draws_that_are_a_fifth_too_wide_in_a_direction_are_condemned(case):
    """All draws show how wide they are, and gradients at some how wide they should be."""
    _, _, draws, mean = case
    axes = np.linalg.eigh(np.cov((draws - mean).reshape(-1, 2).T))[1]
    wide = mean + (draws - mean) @ axes @ np.diag([1.0, 1.24]) @ axes.T
    [(level, text)] = said(case, wide)
    assert level == "error"
    assert "a direction, mostly of `beta`, is too wide" in text


def test_divergences_condemn_draws_unless_all_rows_clear_them(case, monkeypatch):
    _, _, draws, mean = case
    [(level, text)] = said(case, draws, n_diverging=3)
    assert level == "warn"
    assert text.startswith("3 of 1000 draws after tuning diverged. The gradients of all rows at ")
    [(level, text)] = said(case, mean + (draws - mean) * [1.0, 1.18], n_diverging=3)
    assert level == "error"
    assert "3 of 1000 draws after tuning diverged" in text
    monkeypatch.setattr(gradients_at_draws, "NEVER_TOO_MUCH", 0.0)
    [(level, text)] = said(case, draws, n_diverging=3, seconds=1e-9)
    assert level == "error"
    assert "was not checked with the gradients of all rows, because one of them takes" in text


def test_noise_that_was_misstated_condemns_draws_unless_all_rows_clear_them(case):
    [(level, text)] = said(case, case[2], temperature=1.3)
    assert level == "warn"
    assert text.startswith("The noise of gradients was mis-stated")
    _, _, draws, mean = case
    [(level, text)] = said(case, mean + 1.2 * (draws - mean), temperature=1.3)
    assert level == "error"


def test_draws_that_are_not_kept_are_not_cleared(case):
    [(level, text)] = said(case, case[2], n_diverging=1, names=("other",))
    assert level == "error"
    assert "because the draws of `beta` are not kept" in text


def test_draws_survive_a_check_that_fails(case, monkeypatch):
    def fails(*arguments):
        raise MemoryError("Unable to allocate 30 GiB.")

    monkeypatch.setattr(gradients_at_draws, "gradients_of_all_rows", fails)
    [(level, text)] = said(case, case[2])
    assert level == "warn"
    assert text.endswith("because that failed: Unable to allocate 30 GiB.")


def test_a_run_that_is_heated_by_noise_says_so(caplog):
    """Its velocities know, too, but from the average of both directions; it is corrected."""
    model, *_ = regression()
    with model:
        step = pmg.SGHMC(step_size=0.003, friction=30.0, n_steps=20)
    with caplog.at_level(logging.INFO, logger="pymc"):
        idata = pmg.sample(300, tune=300, step=step, model=model, random_seed=1, progressbar=False)
    assert idata["posterior"].attrs["verdict"] == "certified"
    # What is returned is right, and nothing that is said of it alarms.
    [told] = [x for x in caplog.records if "The correction was needed: before it" in x.message]
    assert told.levelno == logging.INFO
    assert "by the gradients of all rows at" in told.message
    assert "follow the posterior" not in caplog.text


def test_what_was_wrong_with_corrected_draws_is_a_warning_unless_they_are_certified(case):
    _, _, draws, mean = case
    wrong = said_of(case, mean + 1.2 * (draws - mean), temperature=1.3)
    [of_draws] = of_raw_draws(wrong, is_certified=False)
    assert of_draws.level == "warn"
    assert of_draws.message.startswith("Before they were corrected, these draws did not follow")
    assert of_draws.message.endswith("Whether they do now is not certain.")
    [told] = of_raw_draws(wrong, is_certified=True)
    assert told.level == "info"
    assert "Decrease" not in told.message
    [noise] = of_raw_draws(said_of(case, draws, temperature=1.3), is_certified=True)
    assert (noise.level, noise.message[:9]) == ("info", "The noise")


def curved(n, p):
    """A posterior of unequal widths on a sphere or a Stiefel manifold, and draws of it."""
    f = np.eye(n)[:, :p] * 20.0
    f[0] += 5.0
    kind = {1: "mean", 2: "frame"}[p]
    with pm.Model() as model:
        if p == 1:
            pmg.VonMisesFisher(kind, mu=f[:, 0] / np.linalg.norm(f), kappa=np.linalg.norm(f))
        else:
            pmg.MatrixLangevin(kind, F=f)
    draws = pm.draw(model[kind], 4 * 800, random_seed=1)
    return model, kind, draws.reshape(4, 800, *draws.shape[1:])


@pytest.mark.parametrize(("n", "p"), [(3, 1), (10, 1), (4, 2)])
def test_right_draws_on_curved_spaces_are_right(n, p):
    model, name, draws = curved(n, p)
    with model:
        sampler = pmg.gSGNHT().sampler
    assert said((model, sampler), draws, names=(name,)) == []
    # They are cleared, too.
    [(level, _)] = said((model, sampler), draws, names=(name,), n_diverging=1)
    assert level == "warn"


@pytest.mark.parametrize("widths", [(1.26, 0.75), (1.26**2, 1.0)])
def test_a_direction_of_a_point_that_is_too_wide_is_said(widths):
    """As a scalar thermostat leaves a point of a sphere: the temperature of its velocity is one."""
    model, name, draws = curved(3, 1)
    with model:
        sampler = pmg.gSGNHT().sampler
    mean = draws.mean(axis=(0, 1)) / np.linalg.norm(draws.mean(axis=(0, 1)))
    axes = np.linalg.svd(np.eye(3) - np.outer(mean, mean))[0][:, :2]
    along = draws @ axes * np.sqrt(widths)
    draws = along @ axes.T + np.sqrt(1 - (along**2).sum(axis=-1, keepdims=True)) * mean
    [(level, text)] = said((model, sampler), draws, names=(name,))
    assert level == "error"
    # With gradients at many draws the entries tell it by themselves.
    assert re.search(
        "(a direction, mostly of )?`mean`,? is too (wide|narrow): the temperature of", text
    )
