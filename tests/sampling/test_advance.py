#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A chain is a value: it goes on from any draw, in another process too, to the last bit."""

import pickle
import subprocess
import sys

from pathlib import Path

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.sampling import advance, begin

REGRESSION = Path(__file__).parents[1] / "regression"
sys.path.insert(0, str(REGRESSION))

from cases import CASES, DRAWS, TUNE, sampler_of  # noqa: E402

# In the tuning phase, at its end, and after it.
STOPPED_AT = (0, 7, TUNE, TUNE + 9)
# Compiling takes long: these are run each time, the others on request.
FAST = {"vector-SGNHT-tuned", "stream-SGLD", "sphere-GMC"}
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in CASES if name not in FAST]

CONTINUE = """
import pickle, sys, warnings
warnings.simplefilter("ignore")
sys.path[:0] = [{tests!r}, {regression!r}]
from test_advance import DRAWS, TUNE, sampler_of
from pymc_geodesic.sampling import advance
sampler, found = sampler_of({name!r}), []
for chain in pickle.load(open({saved!r}, "rb")):
    chain = pickle.loads(chain)
    _, draws, statistics = advance(sampler, chain, TUNE + DRAWS - chain.n_drawn)
    found.append((draws, statistics))
pickle.dump(found, open({found!r}, "wb"))
"""


def assert_same(found, expected):
    """Draws and statistics of the end of a chain are those of the whole."""
    (draws, statistics), (all_draws, all_statistics) = found, expected
    n = len(statistics)
    for name, values in all_draws.items():
        np.testing.assert_array_equal(draws[name], values[-n:])
    for one, other in zip(statistics, all_statistics[-n:], strict=True):
        assert one.keys() == other.keys()
        for key in one.keys() - {"warning"}:
            np.testing.assert_array_equal(one[key], other[key])


@pytest.mark.parametrize("name", [*sorted(FAST), *SLOW])
@pytest.mark.filterwarnings("ignore")
def test_a_pickled_chain_goes_on_in_another_process(name, tmp_path):
    sampler = sampler_of(name)
    chain = begin(sampler, random_seed=7, tune=TUNE, draws=DRAWS)
    _, *whole = advance(sampler, chain, TUNE + DRAWS)
    saved = []
    for stop in STOPPED_AT:
        chain, *_ = advance(sampler, chain, stop - chain.n_drawn)
        saved.append(pickle.dumps(chain))
    (tmp_path / "saved").write_bytes(pickle.dumps(saved))
    program = CONTINUE.format(
        tests=str(Path(__file__).parent),
        regression=str(REGRESSION),
        name=name,
        saved=str(tmp_path / "saved"),
        found=str(tmp_path / "found"),
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)
    for found in pickle.loads((tmp_path / "found").read_bytes()):
        assert_same(found, whole)


def small_sampler():
    with pm.Model():
        pm.Normal("x", shape=2)
        return pmg.SGNHT(step_size=0.1, diffusion=0.1).sampler


def test_the_chain_that_is_given_stays_as_it_is():
    sampler = small_sampler()
    chain = begin(sampler, random_seed=1, tune=4, draws=4)
    before = pickle.dumps(chain)
    first = advance(sampler, chain, 6)
    assert pickle.dumps(chain) == before
    assert_same(advance(sampler, chain, 6)[1:], first[1:])
    assert (chain.n_drawn, first[0].n_drawn) == (0, 6)


def test_draws_in_parts_are_those_at_once():
    sampler = small_sampler()
    chain = begin(sampler, random_seed=1, tune=5, draws=5)
    _, *whole = advance(sampler, chain, 10)
    for n in (3, 2, 4, 1):
        chain, *part = advance(sampler, chain, n)
    assert_same(part, whole)


def test_chains_of_one_sampler_do_not_know_of_each_other():
    sampler = small_sampler()
    chains = [begin(sampler, random_seed=seed, tune=3, draws=5) for seed in (1, 2)]
    alone = [advance(sampler, chain, 8)[1:] for chain in chains]
    in_turn = [[], []]
    for _ in range(8):
        for i in (0, 1):
            chains[i], draws, statistics = advance(sampler, chains[i], 1)
            in_turn[i].append((draws, statistics))
    for parts, whole in zip(in_turn, alone, strict=True):
        draws = {"x": np.concatenate([part[0]["x"] for part in parts])}
        assert_same((draws, [part[1][0] for part in parts]), whole)


def test_draws_are_those_of_pymc():
    """`pm.sample` uses the same function, one draw per call."""
    with pm.Model() as model:
        pm.Normal("x", shape=2)
        step = pmg.SGNHT(step_size=0.1, diffusion=0.1)
    step.setup_chain(np.random.default_rng(1), 4, 4)
    point, path = model.initial_point(), []
    for i in range(8):
        if i == 4:
            step.stop_tuning()
        point, _ = step.step(point)
        path.append(point["x"])
    chain = begin(step.sampler, random_seed=1, tune=4, draws=4)
    _, draws, _ = advance(step.sampler, chain, 8)
    np.testing.assert_array_equal(draws["x"], path)
