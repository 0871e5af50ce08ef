#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Functions of the parameters of groups: computed per group, with the same values and gradients."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest

from pytensor.graph.traversal import apply_ancestors
from pytensor.scalar import Exp, Log

import pymc_geodesic as pmg

from pymc_geodesic.distributions.bessel import RowwiseGraph, vmf_log_normalizer
from pymc_geodesic.distributions.bingham_constant import bingham_log_normalizer
from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential import terms as potential_terms
from pymc_geodesic.potential.per_group import per_group

GROUPS, ROWS = 3, 12
K = pt.tensor("k", shape=(GROUPS,))
OTHER = pt.tensor("other", shape=(2,))
M = pt.tensor("m", shape=(GROUPS, 2))
A = pt.tensor("a", shape=(GROUPS, 2, 2))
Y = pt.tensor("y", shape=(None,))
S = pt.tensor("s", dtype="int64", shape=(None,))
T = pt.tensor("t", dtype="int64", shape=(GROUPS,))
INPUTS = [K, OTHER, M, A, Y, S, T]

LIFTED = {
    "a number": lambda: pt.log(K[S]),
    "twice": lambda: pt.log(K[S]) * Y + pt.gammaln(K[S]),
    "of two parameters": lambda: pt.gammaln(K[S] + 2 * M[S, :][:, 0] ** 2) * Y,
    "of a common number too": lambda: pt.gammaln(K[S] * OTHER[0]) - Y,
    "of two sets of groups": lambda: pt.log(K[S]) + Y * pt.log(OTHER[S % 2]),
    "of groups of groups": lambda: pt.log(pt.log1p(K[T])[S]) * Y,
    "of a vector": lambda: pt.log(pt.exp(M[S]).sum(axis=-1)) * Y,
    "of the last axis": lambda: (pt.log(K[S])[:, None] + M[S]).sum(axis=-1) * Y,
    "its own gradient": lambda: vmf_log_normalizer(3, K[S]) * Y,
    "of matrices": lambda: bingham_log_normalizer(A[S]) * Y,
    "of a gradient": lambda: pytensor.grad((vmf_log_normalizer(3, K[S]) * Y).sum(), K),
    "of the transpose": lambda: (pt.log1p(M[S] ** 2).T * Y).sum(),
}


def values(dtype="float64", n_groups=GROUPS):
    rng = np.random.default_rng(1)
    shapes = [(n_groups,), (2,), (n_groups, 2), (n_groups, 2, 2), (ROWS,)]
    drawn = [rng.uniform(0.5, 2.0, shape).astype(dtype) for shape in shapes]
    drawn[3] = drawn[3] + drawn[3].mT
    return [*drawn, rng.integers(0, n_groups, ROWS), rng.permutation(n_groups)]


def rewritten(output, rows=ROWS):
    sized = {S: pt.tensor("s", dtype="int64", shape=(rows,)), Y: pt.tensor("y", shape=(rows,))}
    return per_group([output], batches=sized)[0]


def costly(output):
    """Static lengths of the results of expensive functions."""
    return {
        node.outputs[0].type.shape[0]
        for node in apply_ancestors([output])
        if isinstance(getattr(node.op, "scalar_op", None), Log) or isinstance(node.op, RowwiseGraph)
        if node.outputs[0].ndim
    }


@pytest.mark.parametrize("name", LIFTED)
def test_values_and_gradients_are_the_same(name):
    old = LIFTED[name]()
    new = rewritten(old)
    wrt = [K, OTHER, M, A]
    graphs = [
        [x, *pytensor.grad(pt.sum(x**2), wrt, disconnected_inputs="ignore")] for x in (old, new)
    ]
    function = pytensor.function(
        INPUTS, [*graphs[0], *graphs[1]], mode="FAST_COMPILE", on_unused_input="ignore"
    )
    found = function(*values())
    for here, there in zip(found[: len(wrt) + 1], found[len(wrt) + 1 :], strict=True):
        np.testing.assert_allclose(there, here, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", [name for name in LIFTED if name != "of the transpose"])
def test_expensive_functions_are_computed_per_group(name):
    old = LIFTED[name]()
    assert costly(rewritten(old)) <= {GROUPS, 2}
    assert old.type == rewritten(old).type or old.type.is_super(rewritten(old).type)


@pytest.mark.parametrize(
    ("rows", "expected"), [(2 * GROUPS - 1, {None}), (2 * GROUPS, {GROUPS}), (None, {None})]
)
def test_only_where_groups_are_few(rows, expected):
    assert costly(rewritten(pt.log(K[S]) * Y, rows)) == expected


def test_other_rows_stay():
    for old in (pt.log(Y), pt.log(K[S] * Y), pt.log(K[: S[0]]), K[S] * 2 + Y):
        new = rewritten(old)
        assert pytensor.graph.basic.equal_computations([old], [new])


def test_sums_of_exponentials_do_not_overflow():
    large = 1_000.0
    output = rewritten(pt.log(pt.exp(K[S]) + pt.exp(Y)))
    assert any(isinstance(getattr(n.op, "scalar_op", None), Exp) for n in apply_ancestors([output]))
    found = output.eval({K: np.full(GROUPS, large), S: np.zeros(2, int), Y: np.zeros(2)})
    np.testing.assert_allclose(found, large)


def test_single_precision():
    k = pt.tensor("k", dtype="float32", shape=(GROUPS,))
    old = vmf_log_normalizer(3, k[S])
    new = rewritten(old)
    assert new.dtype == "float32"
    point = values("float32")
    given = {k: point[0], S: point[5]}
    np.testing.assert_allclose(new.eval(given), old.eval(given), rtol=1e-6)


def winds():
    rng = np.random.default_rng(1)
    n = 200
    season = rng.integers(0, 4, n)
    angle = rng.vonmises(0, 2.0, n)
    with pm.Model() as model:
        s, d, count = pm.Minibatch(
            season,
            np.c_[np.cos(angle), np.sin(angle)],
            rng.poisson(3, n).astype("int32"),
            batch_size=40,
        )
        mu = pmg.SphericalUniform("mu", shape=2)
        kappa = pm.Gamma("kappa", 2, 0.5, shape=4)
        alpha = pm.Gamma("alpha", 2, 0.5, shape=4)
        pmg.VonMisesFisher("d", mu=mu, kappa=kappa[s], observed=d, total_size=n)
        pm.NegativeBinomial("n", mu=3.0, alpha=alpha[s], observed=count, total_size=n)
    return model


def test_potential_of_a_model(monkeypatch):
    model = winds()
    start = model.initial_point()

    def potential():
        return Potential(model, model.value_vars, initial_point=start)

    def of(potential):
        rng = np.random.default_rng(2)
        rows = [index.type() for index in potential.indices]
        outputs = [
            potential.energy(potential.positions, rows),
            *potential.gradient(potential.positions, rows, width=0.0),
            *(x for row in potential.scores(potential.positions, rows, width=0.0) for x in row),
        ]
        inputs = [*potential.positions, *rows]
        point = [rng.uniform(0.5, 1.5, shape) for shape in potential.manifold.shapes]
        function = Interpreted(inputs, outputs)
        return function(*point, *(rng.integers(0, 200, 40) for _ in rows)), outputs[0]

    found, energy = of(potential())
    monkeypatch.setattr(potential_terms, "per_group", lambda terms, batches: terms)
    expected, _ = of(potential())
    for here, there in zip(found, expected, strict=True):
        np.testing.assert_allclose(here, there, rtol=1e-9, atol=1e-9)
    nodes = [node for node in apply_ancestors([energy]) if isinstance(node.op, RowwiseGraph)]
    assert [node.inputs[1].type.shape for node in nodes] == [(4,)]
