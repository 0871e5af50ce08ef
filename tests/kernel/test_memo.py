#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A model with other data of the same form uses the function that was compiled for the first."""

import gc
import weakref

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.kernel.jax import function, graphs, traced
from pymc_geodesic.kernel.jax.function import MEMO, JAXFunction
from pymc_geodesic.kernel.jax.graphs import Memo, structure_of
from pymc_geodesic.sampling import begin, run


def sampler(seed, n_rows=300, scale=1.0, **options):
    rng = np.random.default_rng(seed)
    with pm.Model():
        slope = pm.Normal("slope", 0.0, scale, shape=3)
        x, y = pm.Minibatch(rng.normal(size=(n_rows, 3)), rng.normal(size=n_rows), batch_size=20)
        pm.Normal("y", x @ slope, 1.0, observed=y, total_size=n_rows)
        return pmg.SGNHT(**options).sampler


def drawn(made):
    chains = [begin(made, random_seed=seed, tune=20, draws=5) for seed in (1, 2)]
    return run(made, chains, 25, chain_method="vectorized")[1]["slope"]


@pytest.fixture
def makes(monkeypatch):
    """Count what is compiled, beginning with nothing."""
    made, written = [], function.written
    for module in (function, graphs):
        monkeypatch.setattr(module, "written", lambda *graph: made.append(1) or written(*graph))
    for memo in (MEMO, graphs.WRITTEN):
        monkeypatch.setattr(memo, "_kept", type(memo._kept)())
    # Nothing is found on disk either.
    monkeypatch.setattr(traced, "_folder", lambda: None)
    return made


def test_other_data_compile_nothing_and_have_draws_of_their_own(makes):
    first, n_made = drawn(sampler(1)), len(makes)
    second = drawn(sampler(2))
    # Gradient and terms of rows, by which the step tunes itself; gradient and energy of a kernel.
    assert len(makes) == n_made == 4
    assert np.abs(first.mean((0, 1)) - second.mean((0, 1))).max() > 0.02
    # The same as if they had been compiled for.
    MEMO._kept.clear()
    np.testing.assert_array_equal(drawn(sampler(2)), second)


def groups(seed):
    """Few groups, whose effects the data determine better than multiples of their scale."""
    rng, n = np.random.default_rng(seed), 2_000
    group = rng.integers(0, 20, n)
    rows = group, rng.normal(rng.normal(1.0, 0.5, 20)[group], 1.0)
    with pm.Model():
        of_row, y = pm.Minibatch(*rows, batch_size=100)
        scale, effect = pm.HalfNormal("scale"), pm.Normal("effect", shape=20)
        pm.Normal("y", scale * effect[of_row], 1.0, observed=y, total_size=n)
        return pmg.SGNHT().sampler


def direction(seed):
    """A unit vector whose posterior is ten times wider along one direction than along another."""
    rng, n = np.random.default_rng(seed), 4_000
    rows = rng.normal(size=(n, 4)) * [3.0, 0.05, 1.0, 0.3]
    with pm.Model():
        x, y = pm.Minibatch(rows, rng.normal(rows.sum(axis=1)), batch_size=100)
        vector = pmg.VonMisesFisher("vector", mu=np.ones(4) / 2, kappa=1.0)
        pm.Normal("y", 2 * x @ vector, 1.0, observed=y, total_size=n)
        return pmg.gSGNHT().sampler


@pytest.mark.parametrize("make", [groups, direction])
def test_coordinates_measured_with_other_data_compile_nothing(make, makes, caplog):
    caplog.set_level("INFO", logger="pymc")

    def first_draws(sampler):
        chains = [begin(sampler, random_seed=seed, tune=20, draws=5) for seed in (1, 2)]
        return run(sampler, chains, 25, chain_method="vectorized")[1]

    first, n_made = first_draws(make(1)), len(makes)
    second = first_draws(make(2))
    assert len(makes) == n_made
    assert sum("It moves" in record.message for record in caplog.records) == 2
    # The same as if they had been compiled for.
    MEMO._kept.clear()
    again = first_draws(make(2))
    for name, draws in second.items():
        np.testing.assert_array_equal(draws, again[name])
        assert not np.array_equal(draws, first[name])


def test_another_number_of_rows_has_the_same_graph(makes):
    """XLA compiles for other shapes, but PyTensor does not write the graph again."""
    drawn(sampler(1))
    found = drawn(sampler(1, n_rows=417))
    assert len(makes) == 4
    MEMO._kept.clear()
    np.testing.assert_array_equal(drawn(sampler(1, n_rows=417)), found)


def test_another_model_is_compiled(makes):
    drawn(sampler(1))
    drawn(sampler(1, scale=2.0))
    # The likelihood of each row is the same.
    assert len(makes) == 7


def test_data_of_a_model_that_is_gone_are_freed(makes):
    made = sampler(1)
    drawn(made)
    [kernel] = made.calls._kernels.values()
    data = [weakref.ref(x.container) for x in kernel._compiled.function.ready()[1]]
    del made, kernel
    gc.collect()
    assert data
    assert not [ref for ref in data if ref() is not None]


def test_structures_tell_graphs_apart():
    x, y = pt.vector("x"), pt.vector("y")
    one, other = (pytensor.shared(np.arange(3.0) + i) for i in range(2))
    key = structure_of([x, y], [x * one + y]).key
    assert structure_of([y, x], [y * other + x]).key == key
    assert hash(structure_of([y, x], [y * other + x]).key) == hash(key)
    for inputs, output in (
        ([y, x], x * one + y),
        ([x, y], x * one - y),
        ([x, y], x * one + one),
        ([x, y], x * np.arange(3.0) + y),
    ):
        assert structure_of(inputs, [output]).key != key
    constants = [structure_of([x], [x * c]).key for c in (1.0, 2.0, 1.0, np.nan, np.nan)]
    assert len(set(constants)) == 3


def test_data_keep_their_order():
    x = pt.scalar("x")

    def function(a, b):
        # Rewriting may change the order in which data are used.
        first, second = pytensor.shared(np.float64(a)), pytensor.shared(np.float64(b))
        return JAXFunction([x], [x * second - first, first / x])

    for a, b in ((3.0, 5.0), (7.0, 11.0)):
        np.testing.assert_allclose(function(a, b)(np.float64(2.0)), [2 * b - a, a / 2])


def test_the_memo_keeps_what_was_used_last():
    memo = Memo[int](32)
    for i in range(40):
        memo.put(i, i)
        assert memo.get(0) == 0
    assert memo.get(39) == 39
    assert memo.get(3) is None


def test_a_kernel_outlives_another_of_its_kind():
    def sampler():
        with pm.Model():
            mean = pm.Normal("mean", shape=3)
            rows = pm.Minibatch(np.ones((100, 3)), batch_size=10)
            pm.Normal("y", mean, 1.0, observed=rows, total_size=100)
            return pmg.SGHMC(step_size=0.01, friction=5.0, n_steps=3).sampler

    def drawn(sampler, n_chains):
        chains = [begin(sampler, random_seed=i, tune=0, draws=9) for i in range(n_chains)]
        return run(sampler, chains, 2, chain_method="vectorized")[1]["mean"]

    first, second = sampler(), sampler()
    drawn(first, 2), drawn(second, 2)
    del second
    gc.collect()
    # JAX traces anew for another number of chains.
    assert drawn(first, 3).shape == (3, 2, 3)
