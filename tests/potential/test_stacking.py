#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Operations that a graph has for each entry of an array: written once, with the same values."""

from __future__ import annotations

import jax
import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

from pytensor.graph.traversal import apply_ancestors

import pymc_geodesic as pmg

from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.kernel.jax.function import JAXFunction
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential import potential as module
from pymc_geodesic.potential.stacking import FEWEST

N = 12
X = pt.matrix("X", shape=(5, N))
B = pt.matrix("B", shape=(N, 2))
C = pt.vector("c", shape=(5,))
RUN = range(N)
ORDER = [int(i) for i in np.random.default_rng(0).permutation(N)]


def regression(order):
    """Linear predictor of scalars on columns, and its gradients."""
    residual = C - sum(B[i, 1] * X[:, i] for i in order)
    return residual, [(residual * X[:, i]).sum() for i in order]


GRAPHS = {
    "a regression": lambda: pt.stack(regression(RUN)[1]),
    "in another order": lambda: pt.stack(regression(ORDER)[1]),
    "of some entries": lambda: pt.stack(regression(range(2, 10))[1]),
    "of every other entry": lambda: pt.stack([pt.exp(B[i, 0]) for i in range(0, N, 2)]),
    "with another operation between": lambda: pt.stack(
        [*(pt.exp(B[i, 0]) for i in range(6)), C[1], *(pt.exp(B[i, 0]) for i in range(6, N))]
    ),
    "with constants that differ": lambda: pt.stack(
        [-((B[i, 0] - i) ** 2) / (2 + i) + 3 * B[i, 0] for i in RUN]
    ),
    "from the end": lambda: pt.stack([pt.sin(B[-i - 1, 1]) for i in RUN]),
    "rows": lambda: sum((B[i] * np.arange(1.0, 3.0)).sum() * X[:, i] for i in RUN),
    "maxima": lambda: pt.stack([pt.max(X[:, i] * C) for i in RUN]),
    "whole numbers": lambda: pt.stack([pt.sign(B[i, 0]).astype("int32") for i in RUN]).sum(),
    "a sum of whole numbers": lambda: pt.add(*[pt.sign(B[i, 0]).astype("int8") for i in RUN]),
    "short floats": lambda: pt.add(*[pt.exp(B[i, 0]).astype("float32") for i in RUN]),
    "repeated": lambda: pt.add(*[pt.exp(B[i % 7, 0]) * C[i % 3] for i in RUN]),
    "entries that are used otherwise": lambda: pt.stack(regression(RUN)[1]) * regression(RUN)[1][3],
    "broadcast": lambda: pt.add(*[pt.exp(B[i : i + 1, 0]) for i in RUN], C),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_values_are_the_same(name):
    output = GRAPHS[name]()
    rng = np.random.default_rng(1)
    values = [rng.normal(size=x.type.shape) for x in (X, B, C)]
    [found] = JAXFunction([X, B, C], [output])(*values)
    [expected] = Interpreted([X, B, C], [output])(*values)
    assert found.dtype == expected.dtype
    rtol = 1e-12 if found.dtype == np.float64 else 1e-6
    np.testing.assert_allclose(np.asarray(found), expected, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("n", [FEWEST - 1, FEWEST])
def test_few_operations_stay_apart(n):
    x = pt.vector("x", shape=(n,))
    output = pt.stack([pt.exp(x[i]) for i in range(n)])
    function = JAXFunction([x], [output])
    assert (n_operations(function.graph) < n) == (n == FEWEST)


def n_operations(graph) -> int:
    """Operations of a graph and of those inside its loops and functions."""
    inner = [getattr(node.op, "fgraph", None) for node in graph.apply_nodes]
    inside = sum(n_operations(fgraph) for fgraph in inner if hasattr(fgraph, "apply_nodes"))
    return len(graph.apply_nodes) + inside


def regression_on_scalars(n):
    rng = np.random.default_rng(1)
    design = rng.normal(size=(200, n))
    with pm.Model() as model:
        x, y = pm.Minibatch(design, rng.normal(size=200), batch_size=20)
        scalars = [pm.Normal(f"b{i}", 0, 1 + i) for i in range(n)]
        mean = sum(b * x[:, i] for i, b in enumerate(scalars))
        pm.Normal("y", mean, 1.0, observed=y, total_size=200)
    return model


def n_equations(jaxpr):
    """Operations of a function of JAX, and of all functions in it."""
    parts = [x for equation in jaxpr.eqns for x in jax.tree.leaves([*equation.params.values()])]
    inner = [getattr(x, "jaxpr", x) for x in parts]
    return len(jaxpr.eqns) + sum(n_equations(x) for x in inner if hasattr(x, "eqns"))


@pytest.mark.parametrize("reduction", [None, "control_variates"])
def test_kernels_have_as_many_operations_for_twice_the_scalars(reduction):
    counts = []
    for n in (8, 16):
        step = pmg.SGNHT(
            model=regression_on_scalars(n),
            step_size=0.01,
            diffusion=1.0,
            variance_reduction=reduction,
            n_steps=5,
        )
        calls, chain = step.sampler.calls, step.chain
        kernel = calls.kernel_of(chain)
        leaves = kernel.leaves(calls.example(chain, slice(None)))
        _, shared = kernel.function.ready()
        data = [x.get_value() for x in shared]
        made = jax.make_jaxpr(kernel.function.of_leaves)(*leaves, *data)
        counts.append(n_equations(made.jaxpr))
    assert counts[0] == counts[1]


def potential_of(n):
    model = regression_on_scalars(n)
    return Potential(model, model.value_vars, initial_point=model.initial_point())


def test_a_log_density_has_as_many_operations_for_twice_the_scalars():
    counts = [len(list(apply_ancestors(potential_of(n)._smooth_terms))) for n in (8, 16)]
    assert counts[0] == counts[1]


def test_terms_of_few_scalars_stay_apart():
    assert len(potential_of(FEWEST - 1)._smooth_terms) == FEWEST
    # One for the priors, one for the likelihood.
    assert len(potential_of(FEWEST)._smooth_terms) == 2


def test_a_log_density_has_the_same_values(monkeypatch):
    def of(potential):
        rng = np.random.default_rng(2)
        positions, rows = potential.positions, [index.type() for index in potential.indices]
        outputs = [
            potential.energy(positions, rows),
            *potential.gradient(positions, rows, width=0.0),
            *(x for row in potential.scores(positions, rows, width=0.0) for x in row),
        ]
        return Interpreted([*positions, *rows], outputs)(
            *(rng.normal(size=shape) for shape in potential.manifold.shapes),
            *(rng.integers(0, 200, 20) for _ in rows),
        )

    found = of(potential_of(7))
    monkeypatch.setattr(module, "with_stacked_scalars", lambda terms, *_: list(terms))
    for here, there in zip(found, of(potential_of(7)), strict=True):
        np.testing.assert_allclose(here, there, rtol=1e-10, atol=1e-10)
