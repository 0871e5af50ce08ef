#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Chains that are moved together make the draws that they would make alone."""

import sys

from pathlib import Path

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.kernel import compiled
from pymc_geodesic.sampling import ChainFailure, advance, begin, run

sys.path.insert(0, str(Path(__file__).parents[1] / "regression"))

from cases import CASES, sampler_of

# Operations on several chains at once round differently.
TOLERANCE = 1e-8
TUNE, DRAWS = 20, 10
# A sphere, a simplex and flat variables that tune themselves, with control variates; exact draws.
# Others are run on request.
FAST = {"mixed-gSGNHT-tuned", "sphere-GMC"}
NAMES = [
    name if name in FAST else pytest.param(name, marks=pytest.mark.slow)
    for name in CASES
    # Rows of a stream are read for one chain after another.
    if not name.startswith("stream")
]


def begin_all(sampler, n=3, tune=TUNE):
    return [begin(sampler, random_seed=seed, tune=tune, draws=DRAWS) for seed in range(n)]


def assert_close(found, expected, tolerance=TOLERANCE):
    for name, values in expected.items():
        scale = max(1.0, np.abs(values).max())
        np.testing.assert_allclose(found[name], values, rtol=0, atol=tolerance * scale)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore")
def test_vectorized_draws_are_those_of_chains_in_turn(name):
    sampler = sampler_of(name)
    tuned, *_ = run(sampler, begin_all(sampler), TUNE + 1, chain_method="vectorized")
    _, together, statistics = run(sampler, tuned, DRAWS, chain_method="vectorized")
    _, in_turn, others = run(sampler, tuned, DRAWS, chain_method="sequential")
    assert_close(together, in_turn)
    assert_close(statistics, {k: v for k, v in others.items() if v.dtype.kind in "fi"}, 1e-6)
    # And of a chain by itself, which `pm.sample` moves.
    _, alone, _ = advance(sampler, tuned[1], DRAWS)
    for name, values in alone.items():
        np.testing.assert_array_equal(in_turn[name][1], values)


@pytest.fixture(scope="module")
def small():
    with pm.Model():
        pm.Normal("x", shape=2)
        pm.Normal("z")
        return pmg.SGNHT(step_size=0.1, diffusion=0.1).sampler


@pytest.mark.parametrize("method", ["vectorized", "sequential"])
def test_segments_make_the_draws_of_a_whole(small, method):
    chains = begin_all(small)
    _, whole, _ = run(small, chains, 12, chain_method=method)
    parts = []
    for n in (5, 6, 1):
        chains, draws, _ = run(small, chains, n, chain_method=method)
        parts.append(draws)
    for name, values in whole.items():
        joined = np.concatenate([part[name] for part in parts], axis=1)
        np.testing.assert_array_equal(joined, values)


def test_the_chains_that_are_given_stay_as_they_are(small):
    chains = begin_all(small)
    first = run(small, chains, 5, chain_method="vectorized")
    again = run(small, chains, 5, chain_method="vectorized")
    assert [chain.n_drawn for chain in chains] == [0, 0, 0]
    np.testing.assert_array_equal(first[1]["x"], again[1]["x"])


def test_blocks_do_not_change_draws(small, monkeypatch):
    chains = begin_all(small, n=5)
    _, whole, _ = run(small, chains, 6, chain_method="vectorized")
    # The last block is not full.
    monkeypatch.setattr(compiled, "_block_size", lambda calls, turns: 2)
    _, blocks, _ = run(small, chains, 6, chain_method="vectorized")
    assert_close(blocks, whole)


def test_blocks_are_as_few_as_have_room():
    calls = [[np.zeros(compiled.MOST_BYTES // 8 // 4)]] * 10
    chunk = compiled.Chunk(1, (), ())
    assert compiled._block_size(calls, chunk) == 4
    assert compiled._block_size(calls[:4], chunk) == 4
    assert compiled._block_size([[np.zeros(compiled.MOST_BYTES // 4)]] * 3, chunk) == 1


def test_thinned_draws_are_some_of_all_and_lose_no_divergence(small):
    chains = begin_all(small, tune=0)
    _, whole, all_statistics = run(small, chains, 12)
    _, thinned, statistics = run(small, chains, 12, thin=3, names=["z"])
    assert set(thinned) == {"z"}
    np.testing.assert_array_equal(thinned["z"], whole["z"][:, 2::3])
    parts = all_statistics["diverging"].reshape(3, 4, 3)
    np.testing.assert_array_equal(statistics["diverging"], parts.any(axis=2))


@pytest.mark.parametrize("method", ["vectorized", "sequential"])
def test_a_chain_that_fails_names_itself(small, method):
    chains = begin_all(small)
    chains[2].batches = None
    with pytest.raises(ChainFailure, match="Chain 2 failed") as caught:
        run(small, chains, 3, chain_method=method)
    assert isinstance(caught.value.__cause__, AttributeError)


def test_chains_are_tuned_together():
    rng = np.random.default_rng(1)
    with pm.Model():
        mean = pm.Normal("mean", 0.0, 10.0, shape=3)
        batch = pm.Minibatch(rng.normal(size=(2_000, 3)), batch_size=50)
        pm.Normal("y", mean, 1.0, observed=batch, total_size=2_000)
        sampler = pmg.SGNHT().sampler
    chains, draws, _statistics = run(sampler, begin_all(sampler, 4, 200), 201)
    first = chains[0]
    for chain in chains:
        assert chain.settings.step_size == first.settings.step_size
        assert chain.settings.n_steps == first.settings.n_steps
        np.testing.assert_array_equal(*(c.mass.arrays[0] for c in (chain, first)))
    # They start where the posterior is, each elsewhere.
    assert len(np.unique(draws["mean"][:, 0, 0])) == 4
    assert np.abs(draws["mean"][:, 0] - draws["mean"].mean((0, 1))).max() < 6 / np.sqrt(2_000)
