#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Self-tuning recognises noise that changes from place to place, and then samples it right."""

import logging

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.algorithms.demands import GradientNoise
from pymc_geodesic.algorithms.tuning_rules import faster_rule
from pymc_geodesic.mass import JointMass
from pymc_geodesic.sampling.balance import judged
from pymc_geodesic.tuning.surroundings import Findings

N_GROUPS, N_ROWS, N_DRAWS = 8, 400, 1_500
HALVES = "friction by the halves of each batch"


def groups(*, size=50, centered=False):
    """Write effects of groups as multiples of their scale: the posterior is a curved ridge."""
    rng = np.random.default_rng(3)
    group = np.repeat(np.arange(N_GROUPS), N_ROWS // N_GROUPS)
    y = rng.normal(0.4 + 0.7 * rng.standard_normal(N_GROUPS)[group], 0.8)
    with pm.Model() as model:
        rows, batch = pm.Minibatch(group, y, batch_size=size)
        mu, tau, sigma = pm.Normal("mu"), pm.Gamma("tau", 4, 4), pm.Gamma("sigma", 4, 4)
        if centered:
            effect = pm.Normal("effect", mu, tau, shape=N_GROUPS)[rows]
        else:
            effect = mu + tau * pm.Normal("z", shape=N_GROUPS)[rows]
        pm.Normal("y", effect, sigma, observed=batch, total_size=N_ROWS)
    return model, group, y


def posterior_of_scales(group, y):
    """Means and standard deviations of mu, tau and sigma by quadrature: effects are normal."""
    counts = np.bincount(group)
    means = np.bincount(group, y) / counts
    within = np.sum((y - means[group]) ** 2)
    mu, tau, sigma = np.meshgrid(
        np.linspace(-3, 3, 121), np.linspace(0.02, 3, 150), np.linspace(0.6, 1.1, 81), indexing="ij"
    )
    variance = tau[..., None] ** 2 + sigma[..., None] ** 2 / counts
    log_density = -0.5 * np.sum(np.log(variance) + (means - mu[..., None]) ** 2 / variance, axis=-1)
    log_density += -(len(y) - N_GROUPS) * np.log(sigma) - 0.5 * within / sigma**2
    log_density += -0.5 * mu**2 + 3 * np.log(tau) - 4 * tau + 3 * np.log(sigma) - 4 * sigma
    weight = np.exp(log_density - log_density.max())
    weight /= weight.sum()
    found = {}
    for name, x in (("mu", mu), ("tau", tau), ("sigma", sigma)):
        mean = np.sum(weight * x)
        found[name] = mean, np.sqrt(np.sum(weight * (x - mean) ** 2))
    return found


@pytest.fixture
def keeps_coordinates(monkeypatch):
    """Leave products of effects and their scale as they are written: a curved ridge."""
    monkeypatch.setattr("pymc_geodesic.tuning.centering.LEAST", 2.0)


def sampled(model, caplog, *, draws=N_DRAWS, tune=600, **options):
    step = pmg.SGNHT(model=model, **options)
    with caplog.at_level(logging.INFO, logger="pymc"), caplog.at_level(logging.INFO):
        caplog.clear()
        idata = pmg.sample(
            draws, tune=tune, step=step, model=model, random_seed=4, progressbar=False
        )
    return idata, caplog.text


@pytest.mark.usefixtures("keeps_coordinates")
def test_group_effects_not_centered_are_as_wide_as_they_should_be(caplog):
    model, group, y = groups()
    idata, said = sampled(model, caplog)
    assert HALVES in said
    for name, (mean, sd) in posterior_of_scales(group, y).items():
        draws = idata.posterior[name].values
        # Chains are independent: their means and variances give the errors.
        means, variances = draws.mean(axis=1), ((draws - mean) ** 2).mean(axis=1)
        error, error_of_variance = (x.std(ddof=1) / np.sqrt(len(x)) for x in (means, variances))
        assert abs(means.mean() - mean) < 0.1 * sd + 5 * error, name
        # A friction for every entry gives .61, .56 and 1.0.
        assert abs(variances.mean() / sd**2 - 1) < 0.08 + 5 * error_of_variance / sd**2, name


def test_even_noise_needs_no_halves(caplog):
    model, *_ = groups(centered=True)
    _, said = sampled(model, caplog, draws=20, tune=200)
    assert "tuned itself" in said
    assert HALVES not in said
    assert "changes from place to place" not in said


@pytest.mark.usefixtures("keeps_coordinates")
@pytest.mark.parametrize(
    "options",
    [
        {"steps_per_batch": 5},
        pytest.param({"replacement": False}, marks=pytest.mark.slow),
    ],
)
def test_batches_without_halves_are_warned_about(caplog, options):
    model, *_ = groups()
    _, said = sampled(model, caplog, draws=20, tune=200, **options)
    assert HALVES not in said
    assert "changes from place to place" in said


@pytest.mark.parametrize(
    ("is_gaussian", "uneven", "can_halve", "halved", "warned"),
    [
        (False, 1.5, True, True, False),
        (False, 1.5, False, False, True),
        # Uneven noise does a Gaussian posterior no harm to first order.
        (True, 1.5, True, False, False),
        # Noise that is uneven because of control variates alone does no harm.
        (False, 0.4, True, False, False),
    ],
)
def test_halves_are_for_uneven_posteriors(is_gaussian, uneven, can_halve, halved, warned):
    noise = GradientNoise(8.0, 100.0, unbalanced=100.0, uneven=uneven, total=80.0)
    found = Findings(
        JointMass(np.eye(10), shapes=[(10,)], dtype="float64"),
        noise,
        curvature=10.0,
        variance_ratio=0.7,
        controlled=False,
        center=None,
        is_gaussian=is_gaussian,
    )
    chosen = judged(found, faster_rule, accuracy=0.05, can_halve=can_halve)
    assert chosen.halved == halved
    assert bool(chosen.unbalanced) == warned
    assert chosen.controlled == halved
    assert chosen.noise.total == pytest.approx(56.0 if halved else 80.0)


def test_chains_with_halves_do_not_depend_on_the_method():
    model, *_ = groups()
    keywords = {"tune": 200, "random_seed": 1, "progressbar": False, "model": model, "chains": 2}
    whole = pmg.sample(60, **keywords)
    again = pmg.sample(60, **keywords, chain_method="sequential")
    np.testing.assert_allclose(
        whole.posterior["z"].values, again.posterior["z"].values, rtol=1e-6, atol=1e-8
    )
