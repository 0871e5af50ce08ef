#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""One kernel of JAX for all numbers of transitions that tuning tries."""

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.kernel import interface
from pymc_geodesic.kernel.jax.function import MEMO
from pymc_geodesic.sampling import begin, run
from pymc_geodesic.sampling.calls import Calls


def sampler(**options):
    rng = np.random.default_rng(1)
    with pm.Model():
        axis = pmg.VonMisesFisher("axis", [1.0, 0.0, 0.0], 1.0)
        scale = pm.Normal("scale", 0.0, 1.0)
        # Rows around a mean, so that there is one mode.
        rows = rng.normal([1.0, 0.0, 0.0], size=(500, 3))
        batch = pm.Minibatch(rows, batch_size=20)
        pm.Normal("y", axis * scale, 1.0, observed=batch, total_size=500)
        return pmg.gSGNHT(**options).sampler


def drawn(made, n_draws, chain_method="sequential"):
    chains = [begin(made, random_seed=seed, tune=40, draws=10) for seed in (1, 2)]
    return run(made, chains, n_draws, chain_method=chain_method)


def test_room_is_as_large_as_arrays_allow():
    assert interface.padded_length([np.zeros((1, 20)), np.zeros((1, 100))]) == 50
    assert interface.padded_length([np.zeros((1, 20)), np.zeros((1, 300))]) == 20
    assert interface.padded_length([np.zeros((1, 3_000))]) == 10
    assert interface.padded_length([np.zeros((1, 10**6))]) == 1


def test_draws_do_not_depend_on_the_padding(monkeypatch):
    _, expected, statistics = drawn(sampler(), 50)
    # Shorter than some draws and longer than others; and not a divisor of all.
    monkeypatch.setattr(interface, "LENGTHS", (1, 4))
    chains, found, others = drawn(sampler(), 50)
    assert {4} < {4, *others["n_steps"].ravel()}
    assert chains[0].n_transitions == statistics["n_steps"][0].sum()
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=0, atol=1e-10)
    for name in ("kinetic_temperature", "configurational_temperature", "potential_estimate"):
        np.testing.assert_allclose(others[name], statistics[name], rtol=1e-8)
    np.testing.assert_array_equal(others["diverging"], statistics["diverging"])


@pytest.mark.parametrize("method", ["vectorized", "sequential"])
def test_tuning_and_draws_use_one_compiled_function(method, monkeypatch):
    # Another test may have compiled the same.
    monkeypatch.setattr(MEMO, "_kept", type(MEMO._kept)())
    made = sampler()
    _, _, statistics = drawn(made, 50, method)
    assert len(np.unique(statistics["n_steps"])) > 1
    # One without halves of batches, which measures, and one with them if the tuning phase chose so.
    assert len(made.calls._kernels) <= 2
    for kernel in made.calls._kernels.values():
        compiled, _ = kernel._compiled.function.ready()
        [function] = compiled.others.values()
        assert function._cache_size() == 1


def test_a_given_number_of_transitions_is_compiled_in():
    made = sampler(n_steps=3)
    assert made.calls._padded_length is None


def test_draws_are_the_same_with_a_step_size_for_each_transition(monkeypatch):
    _, expected, _ = drawn(sampler(), 30)
    monkeypatch.setattr(Calls, "_has_one_step_size", lambda self, chain: False)
    _, found, _ = drawn(sampler(), 30)
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=0, atol=1e-10)
