#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Which draws correct the mass in the tuning phase, and how draws are spaced after a correction."""

from dataclasses import replace

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.sampling.advance import advance, begin
from pymc_geodesic.sampling.applied_findings import pace
from pymc_geodesic.sampling.chain import Settings
from pymc_geodesic.schedules import ConstantSchedule
from pymc_geodesic.tuning.self_tuner import SelfTuner

N, N_GROUPS, TUNE = 2_000, 120, 100


def model_of(*, grouped):
    """Write a regression, or a hierarchy around whose mode the posterior is not Gaussian."""
    rng = np.random.default_rng(5)
    group, x = rng.integers(0, N_GROUPS, N), rng.standard_normal(N)
    y = 0.5 * rng.standard_normal(N_GROUPS)[group] + x + rng.standard_normal(N)
    with pm.Model() as model:
        rows, xb, yb = pm.Minibatch(group, x, y, batch_size=100)
        mean = pm.Normal("slope") * xb
        if grouped:
            mean = mean + pm.Normal("effect", 0.0, pm.HalfNormal("tau"), shape=N_GROUPS)[rows]
        pm.Normal("y", mean, 1.0, observed=yb, total_size=N)
    return model


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"diffusion": 4.0}, 0.05),
        ({"friction": 0.5}, 0.2),
        ({"thermal_mass": 30.0}, 0.2),
        ({}, 0.2),
    ],
)
def test_friction_beyond_one_slows_the_way(parameters, expected):
    settings = Settings(ConstantSchedule(0.2), parameters, 10, None, "float64")
    assert pace(settings) == pytest.approx(expected)


def tuned(model):
    """Make a chain that has ended its tuning phase, and its sampler."""
    sampler = pmg.SGNHT(model=model).sampler
    chain = begin(sampler, random_seed=1, tune=TUNE, draws=2)
    return sampler, advance(sampler, chain, TUNE)[0]


@pytest.mark.parametrize(("grouped", "numbers"), [(False, [20, 25]), (True, [10, 25])])
def test_draws_on_the_way_from_an_approximation_do_not_correct(monkeypatch, grouped, numbers):
    seen, refine = [], SelfTuner.refine

    def refined(self, found, draws, rng):
        seen.append(len(draws))
        return refine(self, found, draws, rng)

    monkeypatch.setattr(SelfTuner, "refine", refined)
    tuned(model_of(grouped=grouped))
    assert seen[:2] == numbers


def test_longer_steps_after_a_correction_need_fewer_transitions():
    sampler, chain = tuned(model_of(grouped=True))
    found, before = chain.tuning.found, chain.settings
    # Draws whose correlation is a little less than 1 / e are as far apart as they should be.
    decay = np.exp(-1.25)
    rng, frame = np.random.default_rng(2), np.empty((400, N_GROUPS + 2))
    frame[0] = rng.standard_normal(N_GROUPS + 2)
    for t in range(1, len(frame)):
        noise = rng.standard_normal(N_GROUPS + 2)
        frame[t] = decay * frame[t - 1] + np.sqrt(1 - decay**2) * noise
    draws = [found.mass.rate(parts) for parts in map(arrays_of(found.mass), frame)]
    slow = replace(before, n_steps=200, schedule=ConstantSchedule(0.1))
    for step_size, n_steps in ((0.1, 200), (0.2, 100), (0.4, 50)):
        chain.settings = replace(slow, schedule=ConstantSchedule(step_size))
        sampler.tuning.applied.space([chain], found, [draws], made_with=slow)
        assert chain.settings.n_steps == n_steps


def arrays_of(mass):
    """Cut vectors into the variables of a mass."""
    ends = np.cumsum([int(np.prod(shape)) for shape in mass.shapes])
    return lambda vector: [
        part.reshape(shape)
        for part, shape in zip(np.split(vector, ends[:-1]), mass.shapes, strict=True)
    ]
