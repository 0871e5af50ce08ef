#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Energies and gradients on the host, for some rows and for all."""

import gc
import weakref

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.kernel import evaluated, host_gradient, interpreted
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.kernel.jax import function
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


def matrix():
    """Rows of a multivariate normal, for which PyTensor solves equations one by one."""
    with pm.Model() as model:
        chol, _, _ = pm.LKJCholeskyCov("chol", n=3, eta=2.0, sd_dist=pm.HalfNormal.dist(1.0))
        batch = pm.Minibatch(ROWS, batch_size=20)
        pm.MvNormal("x", np.zeros(3), chol=chol, observed=batch, total_size=400)
    return model


def without_data():
    """A density alone."""
    with pm.Model() as model:
        pm.Beta("p", 2.0, 3.0, shape=4)
    return model


def host(model):
    point = model.initial_point()
    potential = Potential(model, model.continuous_value_vars, initial_point=point)
    gradient = HostGradient(potential)
    values = [point[variable.value.name] for variable in potential.variables]
    return gradient, gradient.to_points(*values)


@pytest.mark.parametrize("build", [flat, matrix, without_data])
def test_energies_and_gradients_are_those_of_the_model(build, monkeypatch):
    monkeypatch.setattr(host_gradient, "CHUNK", 150)
    model = build()
    gradient, start = host(model)
    whole = pmg.full_data(model) if gradient.n_rows else model
    names = [variable.value.name for variable in gradient.potential.variables]
    rvs = {value.name: whole.values_to_rvs[value] for value in whole.value_vars}
    logp = whole.compile_logp(mode="FAST_COMPILE")
    dlogp = whole.compile_dlogp([rvs[name] for name in names], mode="FAST_COMPILE")
    rng = np.random.default_rng(1)
    for _ in range(3):
        point = [x + 0.1 * rng.standard_normal(x.shape) for x in start]
        values = gradient.to_values(*point)
        named = dict(zip(names, values, strict=True))
        found = gradient.whole(point)
        np.testing.assert_allclose(found.energy, -logp(named), rtol=1e-9)
        flat_gradient = np.concatenate([np.ravel(x) for x in found.gradient])
        np.testing.assert_allclose(flat_gradient, -dlogp(named), rtol=1e-7, atol=1e-7)


def test_rows_of_batches_average_to_all():
    gradient, point = host(flat())
    batches = [[np.arange(i, i + 20)] * len(gradient.n_rows) for i in range(0, 400, 20)]
    found = gradient.many([point] * len(batches), batches)
    expected = gradient.whole(point)
    np.testing.assert_allclose(np.mean([x.energy for x in found]), expected.energy, rtol=1e-12)
    for i, x in enumerate(expected.pulled_back):
        mean = np.mean([one.pulled_back[i] for one in found], axis=0)
        np.testing.assert_allclose(mean, x, rtol=1e-9, atol=1e-9)


def test_evaluations_of_one_call_are_those_of_many():
    gradient, point = host(flat())
    rng, n_sources = np.random.default_rng(4), len(gradient.n_rows)
    points = [[x + 0.1 * rng.standard_normal(x.shape) for x in point] for _ in range(40)]
    batches = [[rng.integers(0, 400, 20 if i < 37 else 30)] * n_sources for i in range(40)]
    for i, found in enumerate(gradient.many(points, batches)):
        alone = gradient(points[i], batches[i])
        assert found.energy == alone.energy
        for x, y in zip(found.gradient, alone.gradient, strict=True):
            np.testing.assert_array_equal(x, y)


def test_few_numbers_of_rows_are_compiled_for(monkeypatch):
    """Files have an own number of rows each."""
    gradient, point = host(flat())
    batches = [[np.arange(n)] * len(gradient.n_rows) for n in (20, 21, 22, 23)]
    expected = gradient.many([point] * 4, batches)
    monkeypatch.setattr(evaluated, "MOST_SHAPES", 2)
    other = HostGradient(gradient.potential)
    found = other.many([point] * 4, batches)
    assert len(other._evaluate.compiled._by_shapes) == 2
    for here, there in zip(found, expected, strict=True):
        np.testing.assert_allclose(here.energy, there.energy, rtol=1e-12)
        for x, y in zip(here.gradient, there.gradient, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9)


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


class Slow:
    """A function whose first call takes ten seconds, and any other one."""

    def __init__(self, function):
        self.function, self.is_compiled, self.time = function, False, 0.0

    def is_made_for(self, *arguments):
        return self.is_compiled

    def __call__(self, *arguments):
        self.time += 1.0 if self.is_compiled else 10.0
        self.is_compiled = True
        return self.function(*arguments)


def test_a_pass_is_timed_without_compiling(monkeypatch):
    gradient, point = host(flat())
    gradient._evaluate.compiled = slow = Slow(gradient._evaluate.compiled)
    for module in (evaluated, host_gradient):
        monkeypatch.setattr(module, "clock", lambda: np.full(3, slow.time))
    monkeypatch.setattr(host_gradient, "CHUNK", 150)
    gradient.whole(point)
    # Two chunks of the same length, and the last.
    assert gradient.seconds_per_pass == 2.0


def test_a_pass_is_timed_where_the_clock_of_the_process_advances_in_steps(monkeypatch):
    """As it does under a limit of its time, such as batch systems set."""
    gradient, point = host(flat())
    monkeypatch.setattr(interpreted, "process_time", lambda: 1.0)
    gradient.whole(point)
    assert gradient.seconds_per_pass > 0


def test_threads_that_wait_take_no_longer_than_the_time_that_passes(monkeypatch):
    gradient, point = host(flat())
    times = iter(range(10_000))
    monkeypatch.setattr(interpreted, "process_time", lambda: 1e3 * next(times))
    gradient.whole(point)
    assert gradient.seconds_per_pass < 100


def test_other_data_write_nothing(monkeypatch):
    """The function of a model of the same form is used, with its own data."""
    made, write = [], function.written
    monkeypatch.setattr(function, "written", lambda *graph: made.append(1) or write(*graph))
    monkeypatch.setattr(function.MEMO, "_kept", type(function.MEMO._kept)())
    found = []
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        with pm.Model() as model:
            slope = pm.Normal("slope", shape=3)
            x, y = pm.Minibatch(rng.normal(size=(300, 3)), rng.normal(size=300), batch_size=20)
            pm.Normal("y", x @ slope, 1.0, observed=y, total_size=300)
        gradient, point = host(model)
        found.append(gradient.whole(point).energy)
        assert len(made) == 1
    assert abs(found[0] - found[1]) > 0.1


def test_data_that_are_no_longer_used_leave_the_memory():
    gradient, point = host(flat())
    gradient.whole(point)
    _, shared = gradient._evaluate.compiled.ready()
    data = [weakref.ref(x) for x in shared]
    del gradient, shared
    gc.collect()
    assert data
    assert not any(ref() is not None for ref in data)


def test_clipped_numbers_have_the_energy_of_the_limit():
    rng = np.random.default_rng(0)
    with pm.Model() as model:
        mu = pm.Normal("mu")
        y = pm.Minibatch(rng.normal(size=300), batch_size=20)
        pm.Normal("y", pt.clip(mu, -1.0, 2.0), 1.0, observed=y, total_size=300)
    gradient, _ = host(model)
    energies = [gradient.whole([np.array(x)]).energy - x**2 / 2 for x in (2.0, 3.0)]
    assert energies[0] == pytest.approx(energies[1])
