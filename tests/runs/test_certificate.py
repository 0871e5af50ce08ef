#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Draws are certified where means and deviations are surely right, and accused where surely not."""

import logging

import arviz_base as az
import numpy as np
import pymc as pm
import pytest
import xarray as xr

import pymc_geodesic as pmg

from pymc_geodesic.kernel import all_rows
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.potential import Potential
from pymc_geodesic.refinement.importance import Judged
from pymc_geodesic.runs import certificate
from pymc_geodesic.runs.at_draws import PointMaps
from pymc_geodesic.runs.certificate import MEAN_WITHIN, SD_WITHIN, certified, judged
from pymc_geodesic.runs.gradients_at_draws import GradientsAt

COUNTS = np.array([40, 90, 200])
SHAPE, RATE = 2.0, 0.5


def rates():
    """Counts with gamma priors, whose posterior has exact draws."""
    with pm.Model() as model:
        rate = pm.Gamma("rate", SHAPE, RATE, shape=3)
        pm.Poisson("y", rate, observed=COUNTS)
    return model


@pytest.fixture(scope="module")
def evaluate():
    model = rates()
    start = model.initial_point(random_seed=0)
    potential = Potential(model, model.continuous_value_vars, initial_point=start)
    return GradientsAt(PointMaps(model, potential), HostGradient(potential), max_draws=100)


def drawn(change=lambda logs: logs, seed=1):
    """Exact draws with exact moments, which are then changed."""
    rng = np.random.default_rng(seed)
    logs = np.log(rng.gamma(SHAPE + COUNTS, 1 / (RATE + 1), (40, 1000, 3)))
    mean, sd = logs.mean(axis=(0, 1)), logs.std(axis=(0, 1))
    few = logs[:4]
    few = mean + sd * (few - few.mean(axis=(0, 1))) / few.std(axis=(0, 1))
    return az.from_dict({"posterior": {"rate": np.exp(change((few - mean) / sd) * sd + mean)}})


def verdict(idata, evaluate, **options):
    options = {"seconds": 0.5, "is_wrong": False} | options
    return certified(idata, evaluate, **options)


def test_chains_that_disagree_are_not_to_be_used(evaluate):
    """Weights around all draws together cannot tell."""
    found = verdict(drawn(), evaluate, disagree=True)
    assert found.sentence == "Do not use: the chains disagree."


def test_right_draws_are_certified(evaluate):
    found = verdict(drawn(), evaluate)
    assert found.verdict == "certified"
    assert found.sentence.startswith("Certified: means within 0.0")


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda z: z + np.array([0.0, 0.1, 0.0]), "mean"),
        (lambda z: z * [1.0, 1.0, 1.06], "standard deviation"),
        (lambda z: z @ (np.eye(3) + 0.07 * (np.ones((3, 3)) - np.eye(3))), "standard deviation"),
    ],
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_wrong_draws_are_not(evaluate, change, word, seed):
    """A mean, a deviation, and correlations, which no entry by itself shows."""
    found = verdict(drawn(change, seed), evaluate)
    assert found.verdict in ("do not use", "not certified")
    assert word in found.reason


def test_far_too_wide_draws_are_accused(evaluate):
    found = verdict(drawn(lambda z: z * 1.5), evaluate)
    assert found.verdict == "do not use"
    assert found.level == logging.WARNING
    assert "is wrong by" in found.reason


def test_without_a_certificate_gradients_have_the_word(evaluate):
    far = drawn(lambda z: z + 20.0)
    assert verdict(far, evaluate).verdict == "not certified"
    corrected = xr.DataTree.from_dict({"posterior": far["posterior"], "raw_posterior": None})
    assert verdict(corrected, evaluate).verdict == "corrected, not certified"
    assert verdict(far, evaluate, is_wrong=True).verdict == "do not use"
    found = verdict(corrected, evaluate, is_wrong=True)
    assert found.verdict == "do not use"
    assert found.reason.startswith("before they were corrected the draws did not follow")


def test_right_draws_of_a_wrong_run_are_certified(evaluate):
    assert verdict(drawn(), evaluate, is_wrong=True).verdict == "certified"


@pytest.mark.parametrize("too_wide", [6.0, 20.0])
def test_points_of_which_one_has_most_weight_are_few(evaluate, monkeypatch, too_wide):
    numbers, compute = [], all_rows.AllRows.__call__

    def counted(self, points):
        numbers.append(len(points))
        return compute(self, points)

    monkeypatch.setattr(all_rows.AllRows, "__call__", counted)
    # Whatever else the processor does, there is time for as many points as are ever wanted.
    assert verdict(drawn(), evaluate, seconds=100.0).verdict == "certified"
    assert sum(numbers) > 1_000
    numbers.clear()
    found = verdict(drawn(lambda z: too_wide * z), evaluate, seconds=100.0)
    assert found.verdict == "not certified"
    assert "k-hat" in found.reason
    assert sum(numbers) == 125


def bent(n, scale, noise):
    """Effects whose product with a scale is known, and exact draws of a seed."""
    center = np.linspace(-2.0, 2.0, n)
    with pm.Model() as model:
        u = pm.Normal("u", 0.0, scale)
        pm.Normal("z", center * pm.math.exp(-u), noise * pm.math.exp(-u), shape=n)

    def draws(seed):
        rng = np.random.default_rng(seed)
        u = scale * rng.normal(size=(4, 1000))
        z = np.exp(-u)[..., None] * (center + noise * rng.normal(size=(4, 1000, n)))
        return az.from_dict({"posterior": {"u": u, "z": z}})

    return model, draws


@pytest.mark.parametrize(("n", "scale", "noise"), [(3, 0.4, 0.2), (8, 0.4, 0.1), (12, 0.5, 0.3)])
def test_right_draws_where_points_do_not_come_are_not_accused(monkeypatch, n, scale, noise):
    """Points miss the ends of a bend, and do not know it; draws do."""
    model, draws = bent(n, scale, noise)
    start = model.initial_point(random_seed=0)
    potential = Potential(model, model.continuous_value_vars, initial_point=start)
    evaluate = GradientsAt(PointMaps(model, potential), HostGradient(potential), max_draws=100)
    verdicts = set()
    for seed in range(6):
        monkeypatch.setattr(certificate, "SEED", seed)
        verdicts.add(verdict(draws(seed), evaluate, seconds=100.0).verdict)
    assert verdicts == {"not certified"}


@pytest.fixture(scope="module")
def many_rows():
    """A logistic regression of which all rows take too long, and its posterior's moments."""
    rng = np.random.default_rng(3)
    x = np.column_stack([np.ones(100_000), rng.normal(size=(100_000, 2))])
    y = (rng.random(len(x)) < 1 / (1 + np.exp(-x @ [-1.0, 0.5, -0.5]))).astype("int32")
    with pm.Model() as model:
        x_batch, y_batch = pm.Minibatch(x, y, batch_size=300)
        slope = pm.Normal("slope", shape=3)
        pm.Bernoulli("y", logit_p=x_batch @ slope, observed=y_batch, total_size=len(x))
    mean = np.zeros(3)
    for _ in range(8):
        p = 1 / (1 + np.exp(-x @ mean))
        precision = (x.T * (p * (1 - p))) @ x + np.eye(3)
        mean = mean - np.linalg.solve(precision, x.T @ (p - y) + mean)
    start = model.initial_point(random_seed=0)
    potential = Potential(model, model.continuous_value_vars, initial_point=start)
    evaluate = GradientsAt(PointMaps(model, potential), HostGradient(potential), max_draws=100)
    z = np.random.default_rng(4).normal(size=(4, 500, 3))
    z -= z.mean(axis=(0, 1))
    root = np.linalg.cholesky(np.linalg.inv(precision))
    z = z @ np.linalg.inv(np.linalg.cholesky(np.cov(z.reshape(-1, 3), rowvar=False))).T
    return evaluate, mean, root, z


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda z: z, "certified"),
        (lambda z: z + np.array([0.0, 0.0, 0.15]), "do not use"),
        (lambda z: z * [1.0, 0.9, 1.0], "do not use"),
    ],
)
def test_batches_certify_where_rows_are_many(many_rows, monkeypatch, change, expected):
    evaluate, mean, root, z = many_rows
    monkeypatch.setattr(certificate, "seconds_of_one", lambda *_: 10.0)
    monkeypatch.setattr(certificate, "N_POINTS", (400,))
    idata = az.from_dict({"posterior": {"slope": mean + change(z) @ root.T}})
    found = verdict(idata, evaluate, seconds=60.0)
    assert found.verdict == expected, found.reason
    assert expected != "certified" or found.reason.endswith("from batches of 9,000 rows")


def test_a_verdict_does_not_depend_on_a_third_of_the_time(many_rows, monkeypatch):
    evaluate, mean, root, z = many_rows
    said = set()
    for seconds in (0.9, 1.2):
        monkeypatch.setattr(certificate, "seconds_of_one", lambda *_: 10.0)
        monkeypatch.setattr(certificate, "second_time", lambda _, t=seconds: t)
        idata = az.from_dict({"posterior": {"slope": mean + z @ root.T}})
        said.add(verdict(idata, evaluate, seconds=400.0).sentence)
    assert len(said) == 1


def test_batches_that_are_too_noisy_certify_nothing(many_rows, monkeypatch):
    evaluate, mean, root, z = many_rows
    monkeypatch.setattr(certificate, "seconds_of_one", lambda *_: 10.0)
    monkeypatch.setattr(certificate, "N_POINTS", (400,))
    monkeypatch.setattr(all_rows, "N_ROWS", 1)
    idata = az.from_dict({"posterior": {"slope": mean + z @ root.T}})
    found = verdict(idata, evaluate, seconds=60.0)
    assert found.verdict == "not certified"
    assert "too noisy" in found.reason


def test_too_little_time(evaluate):
    found = verdict(drawn(), evaluate, seconds=1e-6)
    assert found.verdict == "not certified"
    assert "for each point" in found.reason


@pytest.mark.parametrize(
    ("mean", "error", "expected"),
    [
        (0.0, 0.01, "certified"),
        (MEAN_WITHIN, 0.0, None),
        (0.0, MEAN_WITHIN / 2, None),
        (0.3, 0.01, "do not use"),
        (0.3, 0.1, None),
    ],
)
def test_what_is_sure(mean, error, expected):
    one, small = np.ones(3), np.full(3, SD_WITHIN / 10)
    first = np.eye(3)[0]
    found = Judged(0.1, mean * first, error * first, one, small)
    assert judged(found, ["a"])[0] == expected


@pytest.mark.parametrize("variance", [-0.2, 0.05])
def test_a_variance_that_is_hardly_known_is_no_fault(variance):
    zero, error = np.zeros(3), np.full(3, 0.2)
    verdict, said = judged(Judged(0.1, zero, error, np.full(3, variance), error), ["a"])
    assert verdict is None
    assert said.endswith("(their error is larger than the standard deviation)")


@pytest.mark.parametrize(
    ("k_hat", "reason"), [(11.3, "k-hat 11, from 0.7 on"), (np.nan, "one point has all of the")]
)
def test_weights_that_say_nothing(k_hat, reason):
    unknown = np.full(3, np.nan)
    verdict, said = judged(Judged(k_hat, unknown, unknown, unknown, unknown), ["a"])
    assert verdict is None
    assert said.startswith("importance weights around the draws say nothing here")
    assert reason in said


def test_a_run_has_its_verdict(caplog, capsys):
    caplog.set_level(logging.INFO, logger="pymc")
    data = np.random.default_rng(1).normal(2.0, 1.0, 2_000)
    with pm.Model() as model:
        mu, s = pm.Normal("mu", 0, 10), pm.HalfNormal("s", 5)
        batch = pm.Minibatch(data, batch_size=100)
        pm.Normal("y", mu, s, observed=batch, total_size=len(data))
    idata = pmg.sample(300, tune=500, model=model, random_seed=1, progressbar=False)
    assert idata["posterior"].attrs["verdict"] == "certified"
    assert any(x.startswith("Certified: means within") for x in caplog.messages)
    found = pmg.diagnose(idata, model=model)
    assert found.certificate.startswith("Certified: means within")
    assert "At the end of the run: Certified" in capsys.readouterr().out
    # Of draws that are corrected anew, too.
    assert pmg.refine(idata, model)["posterior"].attrs["verdict"] == "certified"


def test_curved_variables_are_not_certified():
    with pm.Model() as model:
        mu = pmg.SphericalUniform("mu", shape=3)
        pmg.VonMisesFisher("x", mu=mu, kappa=5.0, observed=np.tile(np.eye(3)[:2], (50, 1)))
    start = model.initial_point(random_seed=0)
    potential = Potential(model, model.continuous_value_vars, initial_point=start)
    evaluate = GradientsAt(PointMaps(model, potential), HostGradient(potential), max_draws=10)
    x = np.random.default_rng(1).normal(size=(2, 50, 3))
    idata = az.from_dict({"posterior": {"mu": x / np.linalg.norm(x, axis=-1, keepdims=True)}})
    found = verdict(idata, evaluate)
    assert found == certificate.Certificate(
        "not certified", "importance weights are for variables on flat space"
    )


@pytest.mark.parametrize(("d", "n_draws"), [(60, 500), (30, 60)])
def test_correlations_that_are_not_corrected_are_no_fault(d, n_draws):
    """Of many coordinates, or of few draws, a frame is that of single entries."""
    cov = np.full((d, d), -0.7 / (d - 1))
    np.fill_diagonal(cov, 1.0)
    with pm.Model() as model:
        pm.MvNormal("x", np.zeros(d), cov=cov)
    start = model.initial_point(random_seed=0)
    potential = Potential(model, model.continuous_value_vars, initial_point=start)
    evaluate = GradientsAt(PointMaps(model, potential), HostGradient(potential), max_draws=10)
    x = np.random.default_rng(1).multivariate_normal(np.zeros(d), cov, (4, n_draws))
    x = (x - x.mean(axis=(0, 1))) / x.std(axis=(0, 1))
    found = verdict(az.from_dict({"posterior": {"x": x}}), evaluate, seconds=60.0)
    assert found.verdict == "certified"
