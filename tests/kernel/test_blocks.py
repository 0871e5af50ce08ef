#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Many scalar variables: carried in one array, with the draws that they have apart."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.kernel import blocks
from pymc_geodesic.kernel.blocks import Blocks
from pymc_geodesic.kernel.interface import leaves_of
from pymc_geodesic.kernel.jax.function import JAXFunction
from pymc_geodesic.kernel.jax.written import MANY, Barrier

MU = np.array([0.0, 0.6, 0.8])


def model_of(n, *, minibatch):
    """Scalars in two runs, with a vector and a direction between them."""
    rng = np.random.default_rng(1)
    design, outcome = rng.normal(size=(200, n)), rng.normal(size=200)
    with pm.Model() as model:
        scalars = [pm.Normal(f"a{i}", 0, 1) for i in range(n - 2)]
        vector = pm.Normal("b", 0, 1, shape=3)
        direction = pmg.VonMisesFisher("u", MU, 3.0)
        scalars += [pm.HalfNormal("s", 1), pm.Normal("c", 0, 1)]
        x, y = pm.Data("X", design), outcome
        if minibatch:
            x, y = pm.Minibatch(design, outcome, batch_size=20)
        mean = sum(a * x[:, i] for i, a in enumerate(scalars)) + (vector * direction).sum()
        pm.Normal("y", mean, 1.0, observed=y, **({"total_size": 200} if minibatch else {}))
    return model


MASS = {"a0": 2.0, "a3": 0.5, "s": 3.0, "b": np.array([1.0, 2.0, 3.0])}
STEPS = {
    "gSGNHT": lambda **k: pmg.gSGNHT(step_size=0.01, diffusion=1.0, variance_reduction=None, **k),
    "SGGMC with a mass": lambda **k: pmg.SGGMC(step_size=0.01, friction=1.0, mass=MASS, **k),
    "control variates": lambda **k: pmg.gSGNHT(
        step_size=0.01, diffusion=1.0, variance_reduction="control_variates", **k
    ),
    "a thermostat for each": lambda **k: pmg.gSGNHT(
        step_size=0.01, diffusion=1.0, thermostat="per_variable", variance_reduction=None, **k
    ),
    "Fisher noise": lambda **k: pmg.SGGMC(
        step_size=0.01, friction=1.0, gradient_noise="fisher", **k
    ),
    "GMC": lambda **k: pmg.GMC(step_size=0.01, **k),
    "GMC with a mass": lambda **k: pmg.GMC(step_size=0.01, mass=MASS, **k),
}


def draws_of(make, model):
    step = make(model=model, rng=1)
    step.setup_chain(np.random.default_rng(2), 0, 4)
    point = model.initial_point()
    for _ in range(4):
        point, [stats] = step.step(point)
    return point, stats


@pytest.mark.parametrize("name", STEPS)
def test_draws_are_those_of_scalars_apart(monkeypatch, name):
    model = model_of(8, minibatch="GMC" not in name)
    with model:
        joined, joined_stats = draws_of(STEPS[name], model)
        monkeypatch.setattr(blocks, "FEWEST", 1000)
        apart, apart_stats = draws_of(STEPS[name], model)
    for key, value in apart.items():
        np.testing.assert_allclose(joined[key], value, rtol=1e-9, atol=1e-12, err_msg=key)
        assert np.shape(joined[key]) == np.shape(value)
    temperatures = [key for key in apart_stats if key.startswith("kinetic_temperature")]
    assert temperatures
    for key in temperatures:
        np.testing.assert_allclose(joined_stats[key], apart_stats[key], rtol=1e-9, err_msg=key)


def kernel_of(step):
    sampler = step.sampler
    return sampler._kernel if isinstance(step, pmg.GMC) else sampler.calls.kernel_of(step.chain)


@pytest.mark.parametrize("name", ["gSGNHT", "GMC"])
def test_kernels_do_not_grow_with_the_number_of_scalars(name):
    """What a kernel is given, and so what its loop carries, is the same for twice the scalars."""
    counts = []
    for n in (10, 20):
        model = model_of(n, minibatch=name != "GMC")
        with model:
            step = STEPS[name](model=model, rng=1)
            kernel = kernel_of(step)
        counts.append(len(leaves_of(kernel._compiled.function._form)))
    assert counts[0] == counts[1]


def test_blocks_join_and_split():
    parts = Blocks((3, 1))
    arrays = [np.asarray(float(i)) for i in range(3)] + [np.arange(4.0)]
    joined = parts.join_arrays(arrays)
    assert [x.shape for x in joined] == [(3, 1), (4,)]
    for a, b in zip(parts.split_arrays(joined), arrays, strict=True):
        assert isinstance(a, np.ndarray)
        np.testing.assert_array_equal(a, b)
    noise = [np.full(5, float(i)) for i in range(3)] + [np.zeros((5, 4)), np.zeros(5)]
    assert [x.shape for x in parts.join_arrays(noise)] == [(5, 3, 1), (5, 4), (5,)]
    assert parts.join_arrays([]) == parts.split_arrays([]) == []


@pytest.mark.parametrize("n", [MANY - 1, MANY + 1])
def test_values_with_many_users_are_computed_once(n):
    x, y = pt.vector("x", shape=(5,)), [pt.vector(f"y{i}", shape=(5,)) for i in range(n)]
    shared = pt.exp(x) + 1
    output = pt.stack([pt.sin(shared * other).sum() for other in y])
    function = JAXFunction([x, *y], [output])
    nodes = function.graph.apply_nodes
    has_barrier = any(isinstance(node.op, Barrier) for node in nodes)
    assert has_barrier == (n >= MANY)
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=5), rng.normal(size=(n, 5))
    np.testing.assert_allclose(
        function(a, *b)[0], np.sin((np.exp(a) + 1) * b).sum(axis=1), rtol=1e-13
    )
