#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Noise that tuning has measured too low is seen by the temperature of velocities."""

from types import SimpleNamespace

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.algorithms.demands import Demands, GradientNoise
from pymc_geodesic.algorithms.tuning_rules import friction_noise, friction_rule
from pymc_geodesic.sampling.balance import heated
from pymc_geodesic.tuning.self_tuner import SelfTuner
from pymc_geodesic.tuning.surroundings import Findings
from pymc_geodesic.tuning.velocity_moments import VelocityMoments


@pytest.mark.parametrize("noise", [3.0, 300.0])
def test_the_rule_and_the_temperature_agree(noise):
    step_size, parameters = friction_rule(Demands(GradientNoise(noise, noise), 1.0, 0.05))
    h = 0.5 * step_size * parameters["friction"]
    temperature = 1 + step_size**2 * noise / (4 * np.tanh(h))
    assert friction_noise(temperature, step_size=step_size, **parameters) == pytest.approx(noise)


def regression():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((20_000, 5))
    y = x @ np.ones(5) + rng.standard_normal(20_000)
    with pm.Model() as model:
        xb, yb = pm.Minibatch(x, y, batch_size=50)
        pm.Normal("y", xb @ pm.Normal("slope", shape=5), 1.0, observed=yb, total_size=len(y))
    return model, x


def sampled(model, **options):
    step = pmg.SGGMC(model=model, **options)
    return pmg.sample(
        500, tune=400, chains=4, step=step, model=model, random_seed=1, progressbar=False
    )


def step_size(idata):
    return float(idata.sample_stats["step_size"][0, -1])


@pytest.fixture
def measured_low(monkeypatch):
    """Return a function that makes measurements find a share of the noise."""

    def share(share_found):
        measure = SelfTuner._measure

        def less(self, *arguments, **options):
            found = measure(self, *arguments, **options)
            mean, largest, *entries = found.noise
            noise = GradientNoise(share_found * mean, share_found * largest, *entries)
            return found._replace(noise=noise)

        monkeypatch.setattr(SelfTuner, "_measure", less)

    return share


def test_friction_is_chosen_for_what_heats(measured_low):
    model, x = regression()
    right = step_size(sampled(model, variance_reduction=None))
    measured_low(0.1)
    idata = sampled(model, variance_reduction=None)
    # Steps are inversely proportional to the square root of the noise; uncorrected, 3.2.
    assert step_size(idata) == pytest.approx(right, rel=0.25)
    temperature = float(idata.sample_stats["kinetic_temperature"].mean())
    assert temperature < 1.12
    ratio = idata.posterior["slope"].std(("chain", "draw")).values * np.sqrt((x**2).sum(axis=0))
    assert np.all(ratio < 1.2)


def corrected(temperature, *, ratio, is_optional=True, n_draws=1_000):
    """Correct noise of 30, along some direction 90, which step size and friction fit."""
    noise = GradientNoise(30.0, 90.0)
    step_size, parameters = friction_rule(Demands(noise, 1.0, 0.05))
    squares = [np.full(5, n_draws * temperature)]
    moments = VelocityMoments(n_draws, squares, np.zeros(0), [])
    settings = SimpleNamespace(step_size=step_size, parameters=parameters)
    chain = SimpleNamespace(tuning=SimpleNamespace(moments=moments), settings=settings)
    found = Findings(None, noise, 1.0, ratio, controlled=not np.isnan(ratio), center=None)
    manifold = SimpleNamespace(dim=5)
    return found, heated(
        [chain], manifold, found, heating_noise=friction_noise, is_optional=is_optional
    )


def test_noise_of_control_variates_is_corrected_while_they_pay():
    # A third of the tolerated tenth is what the mean noise causes.
    _, new = corrected(1 + 0.1, ratio=0.1)
    assert new.controlled
    np.testing.assert_allclose(new.noise[:2], [90.0, 270.0])


@pytest.mark.parametrize("is_optional", [True, False])
def test_control_variates_that_do_not_pay_are_given_up_unless_asked_for(is_optional):
    _, new = corrected(1 + 0.2, ratio=0.1, is_optional=is_optional)
    assert new.controlled != is_optional
    np.testing.assert_allclose(new.noise[0], 300.0 if is_optional else 180.0)


@pytest.mark.parametrize(("temperature", "n_draws"), [(1.035, 1_000), (1.1, 10), (0.9, 1_000)])
def test_chance_corrects_nothing(temperature, n_draws):
    found, new = corrected(temperature, ratio=np.nan, n_draws=n_draws)
    assert new is found
