#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Draws that one call of a kernel makes are those of a call for each."""

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.kernel import interface
from pymc_geodesic.sampling import begin, run
from pymc_geodesic.sampling.inputs import Randomness
from pymc_geodesic.tuning.spacing import NUMBERS_OF_STEPS

TUNE, DRAWS = 60, 70
STEPS = {
    "tuned": {},
    "decreasing steps, batches shared": {
        "step_size": pmg.PolynomialSchedule(1e-2, 100, 0.6),
        "diffusion": 1.0,
        "n_steps": 3,
        "steps_per_batch": 2,
    },
}


def sampler(**options):
    rng = np.random.default_rng(1)
    with pm.Model():
        axis = pmg.VonMisesFisher("axis", [1.0, 0.0, 0.0], 1.0)
        scale = pm.Normal("scale", 0.0, 1.0)
        batch = pm.Minibatch(rng.normal(size=(500, 3)), batch_size=20)
        pm.Normal("y", axis * scale, 1.0, observed=batch, total_size=500)
        return pmg.gSGNHT(**options).sampler


def drawn(made, *segments):
    """Draw in segments; return the chains and all draws and statistics, without warnings."""
    chains = [begin(made, random_seed=seed, tune=TUNE, draws=DRAWS) for seed in (1, 2)]
    parts = []
    for n_draws in segments:
        chains, draws, statistics = run(made, chains, n_draws, chain_method="vectorized")
        parts.append(draws | {k: v for k, v in statistics.items() if k != "warning"})
    return chains, {name: np.concatenate([x[name] for x in parts], axis=1) for name in parts[0]}


@pytest.mark.parametrize("options", STEPS.values(), ids=STEPS)
@pytest.mark.filterwarnings("ignore")
def test_draws_do_not_depend_on_how_many_a_call_makes(options, monkeypatch):
    made = sampler(**options)
    chains, found = drawn(made, TUNE + DRAWS)
    others, expected = drawn(made, *[1] * 5, 50, 20, TUNE + DRAWS - 75)
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values)
    assert [x.n_transitions for x in chains] == [x.n_transitions for x in others]
    assert [x.rng.random() for x in chains] == [x.rng.random() for x in others]
    # Compiled without the loop over draws it may round differently.
    monkeypatch.setattr(interface, "MOST_TURNS", 1)
    _, expected = drawn(sampler(**options), TUNE + DRAWS)
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-6, atol=1e-8)


def test_draws_do_not_depend_on_how_many_calls_make_one(monkeypatch):
    # Padding for two transitions, so that a draw takes several calls.
    monkeypatch.setattr(interface, "LENGTHS", (1, 2))
    monkeypatch.setattr(interface, "MOST_TURNS", 3)
    made = sampler()
    assert made.calls.parts(20)[0] == slice(0, 2)
    chains = [begin(made, random_seed=seed, tune=30, draws=20) for seed in (1, 2)]
    _, found, _ = run(made, chains, 50, chain_method="vectorized")
    _, expected, statistics = run(made, chains, 50, chain_method="sequential")
    assert statistics["n_steps"].max() > 6
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-6, atol=1e-8)


def test_calls_of_a_draw_are_equally_long(monkeypatch):
    made = sampler()
    for size in interface.LENGTHS:
        monkeypatch.setattr(made.calls, "_padded_length", size)
        for length in NUMBERS_OF_STEPS.tolist():
            parts = made.calls.parts(length)
            [each] = {len(range(length)[part]) for part in parts}
            assert each <= size
            assert each * len(parts) == length


def test_large_draws_are_made_one_by_one():
    made = sampler(step_size=0.01, diffusion=1.0, n_steps=2)
    chain = begin(made, random_seed=1, tune=0, draws=DRAWS)
    rows = [np.zeros((2, 10**6), "int64")]
    randomness = Randomness([np.zeros((2, 3))], rows, np.zeros(2, bool))
    inputs = made.calls.inputs(chain, [], step_sizes=np.zeros(2), randomness=randomness)
    assert interface.chunk_length_for(inputs) == 1
    assert 1 < made.draws_at_once(chain) <= interface.MOST_TURNS
