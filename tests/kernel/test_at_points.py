#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Energies and gradients at several points at once are those at one point after another."""

import gc
import weakref

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.linalg.solvers.core import SolveBase

import pymc_geodesic as pmg

from pymc_geodesic.kernel import at_points, host_gradient, interpreted_once
from pymc_geodesic.kernel.gathered import Gathered
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.kernel.interpreted import for_many, interpreted
from pymc_geodesic.kernel.memo import Memo
from pymc_geodesic.potential import Potential

RNG = np.random.default_rng(0)
ROWS = RNG.standard_normal((400, 3))


def flat():
    """A regression with groups, a kink, and a variable without data."""
    group = RNG.integers(0, 5, 400)
    with pm.Model() as model:
        columns = ROWS[:, 0], ROWS[:, 1]
        gb, xb, yb, zb = pm.Minibatch(group, ROWS, *columns, batch_size=20)
        slope, spread = pm.Normal("slope", shape=3), pm.HalfNormal("spread")
        offset = pm.Normal("offset", shape=5)
        pm.Normal("free", shape=(2, 2))
        pm.Normal("y", (xb * slope).sum(axis=1), spread, observed=yb, total_size=400)
        pm.Laplace("z", offset[gb], spread, observed=zb, total_size=400)
    return model


def curved():
    """Directions, whose constant is written inside another operation."""
    data = ROWS / np.linalg.norm(ROWS, axis=1, keepdims=True)
    with pm.Model() as model:
        mu = pmg.VonMisesFisher("mu", mu=[0, 0, 1], kappa=1.0)
        kappa = pm.HalfNormal("kappa", 50.0)
        batch = pm.Minibatch(data, batch_size=20)
        pmg.VonMisesFisher("x", mu=mu, kappa=kappa, observed=batch, total_size=400)
    return model


def without_data():
    """A density alone."""
    with pm.Model() as model:
        pm.Dirichlet("p", np.ones(4))
    return model


def host(model):
    point = model.initial_point()
    potential = Potential(model, model.continuous_value_vars, initial_point=point)
    gradient = HostGradient(potential)
    values = [point[variable.value.name] for variable in potential.variables]
    return gradient, gradient.to_points(*values)


@pytest.mark.parametrize("build", [flat, curved, without_data])
def test_several_points_at_once(build, monkeypatch):
    model = build()
    gradient, start = host(model)
    monkeypatch.setattr(at_points, "MOST_NUMBERS", 1)
    alone, _ = host(model)
    rng = np.random.default_rng(1)
    points = [[x + 0.1 * rng.standard_normal(x.shape) for x in start] for _ in range(7)]
    # Rows of two lengths, and some that follow each other, which are not copied.
    rows = [gradient.rows(rng, 30 + (i > 3)) for i in range(7)]
    rows[-1] = [np.arange(5, 36) for _ in rows[-1]]
    for found, asked, some in zip(gradient.many(points, rows), points, rows, strict=True):
        expected = alone(asked, some)
        np.testing.assert_allclose(found.energy, expected.energy, rtol=1e-12)
        for name in ("gradient", "pulled_back"):
            for a, b in zip(getattr(found, name), getattr(expected, name), strict=True):
                assert a.shape == b.shape
                np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)
    whole, expected = gradient.whole(points[0]), alone.whole(points[0])
    np.testing.assert_allclose(whole.energy, expected.energy, rtol=1e-12)


def test_rows_that_follow_each_other_are_not_copied():
    gradient, _ = host(curved())
    [taken] = gradient._evaluate._gathered
    held = taken.data.data if hasattr(taken.data, "data") else taken.data.get_value(borrow=True)
    assert np.shares_memory(taken.rows([np.arange(10, 20)]), held)
    assert not np.shares_memory(taken.rows([np.arange(10, 20)[::-1]]), held)


def test_all_rows_are_evaluated_once_per_point(monkeypatch):
    gradient, point = host(flat())
    passes, add_up = [], gradient._sum

    def counted(*arguments):
        passes.append(arguments)
        return add_up(*arguments)

    monkeypatch.setattr(gradient, "_sum", counted)
    first = gradient.whole(point)
    point[0][:] += 1.0
    moved = gradient.whole(point)
    again = gradient.whole([x.copy() for x in point])
    assert len(passes) == 2
    assert moved.energy == again.energy != first.energy
    assert gradient.seconds_per_pass > 0


def test_a_pass_is_timed_where_the_clock_of_the_process_advances_in_steps(monkeypatch):
    """As it does under a limit of its time, such as batch systems set."""
    gradient, point = host(flat())
    monkeypatch.setattr(host_gradient, "process_time", lambda: 1.0)
    gradient.whole(point)
    assert gradient.seconds_per_pass > 0


def test_other_data_make_nothing(monkeypatch):
    """Functions of a model of the same form are used, with its own data."""
    made = []
    write = interpreted_once.rewrite_in_place
    monkeypatch.setattr(
        interpreted_once, "rewrite_in_place", lambda *x, **how: made.append(1) or write(*x, **how)
    )
    monkeypatch.setattr(interpreted_once, "MEMO", Memo(200))
    found = []
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        with pm.Model() as model:
            slope = pm.Normal("slope", shape=3)
            x, y = pm.Minibatch(rng.normal(size=(300, 3)), rng.normal(size=300), batch_size=20)
            pm.Normal("y", x @ slope, 1.0, observed=y, total_size=300)
        gradient, point = host(model)
        found.append((gradient.whole(point).energy, len(made)))
    (first, n_first), (second, n_second) = found
    assert n_first > 0
    assert n_second == n_first
    assert abs(first - second) > 0.1


def test_rows_of_a_search_are_taken_from_the_data_once(monkeypatch):
    gradient, point = host(flat())
    taken, take = [], Gathered.rows
    monkeypatch.setattr(Gathered, "rows", lambda one, rows: taken.append(1) or take(one, rows))
    rows = [gradient.rows(RNG, 100) for _ in range(2)]
    moved = [x + 0.1 for x in point]
    first = gradient.many([point, moved], rows)
    n_taken = len(taken)
    again = gradient.many([moved, point], rows)
    assert n_taken == len(taken) == len(gradient._evaluate._gathered)
    # Equal rows that are other arrays are taken anew.
    copied = [[np.array(x) for x in some] for some in rows]
    anew = gradient.many([moved, point], copied)
    assert len(taken) == 2 * n_taken
    assert [one.energy for one in anew] == [one.energy for one in again]
    assert first[0].energy != again[0].energy


def test_inputs_that_are_only_returned_are_copied():
    x, y = pt.vector("x"), pt.scalar("y")
    arrays = [np.arange(3.0), np.float64(2.0)]
    found = interpreted_once.Interpreted([x, y], [y, x])(*arrays)
    np.testing.assert_array_equal(found[1], arrays[0])
    assert found[1] is not arrays[0]
    assert isinstance(found[0], np.ndarray)
    assert found[0] == 2.0
    with pytest.raises(TypeError, match="dimensions"):
        interpreted_once.Interpreted([x], [x])(np.zeros((2, 2)))


def test_data_that_are_no_longer_used_leave_the_memory():
    gradient, point = host(flat())
    data = [weakref.ref(one.data) for one in gradient._evaluate._gathered]
    gradient.whole(point)
    del gradient
    gc.collect()
    assert data
    assert not any(ref() is not None for ref in data)


def test_clipped_numbers_are_interpreted():
    rng = np.random.default_rng(0)
    with pm.Model() as model:
        mu = pm.Normal("mu")
        y = pm.Minibatch(rng.normal(size=300), batch_size=20)
        pm.Normal("y", pt.clip(mu, -1.0, 2.0), 1.0, observed=y, total_size=300)
    gradient, _ = host(model)
    assert gradient._evaluate._most > 1
    energies = [gradient.whole([np.array(x)]).energy - x**2 / 2 for x in (2.0, 3.0)]
    assert energies[0] == pytest.approx(energies[1])


def test_equations_of_a_matrix_are_solved_for_all_rows_at_once():
    chol, rows = pt.dmatrix("chol", shape=(3, 3)), pt.dmatrix("rows", shape=(None, 3))
    density = pm.logp(pm.MvNormal.dist(np.zeros(3), chol=pt.tril(chol)), rows)
    outputs = [density, pt.grad(density.sum(), chol)]
    several = interpreted(*for_many([chol, rows], outputs, varying=[chol, rows]))
    rng = np.random.default_rng(1)
    chols = np.tril(rng.uniform(0.5, 2, (4, 3, 3)))
    values = rng.standard_normal((4, 50, 3))
    solves = [
        node.op.core_op
        for node in several.maker.fgraph.apply_nodes
        if isinstance(node.op, Blockwise) and isinstance(node.op.core_op, SolveBase)
    ]
    assert solves
    assert all(op.b_ndim == 2 for op in solves)
    one = interpreted([chol, rows], outputs)
    expected = zip(*(one(*point) for point in zip(chols, values, strict=True)), strict=True)
    for found, by_point in zip(several(chols, values), expected, strict=True):
        np.testing.assert_allclose(found, np.stack(by_point), rtol=1e-10, atol=1e-12)
