#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The gradient of a converted model, averaged over all batches, against that of the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pymc as pm
import pytensor

from pytensor.compile.mode import Mode

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.potential.log_density import LogDensity, without_checks
from pymc_geodesic.potential.minibatch import find_batch_sources
from pymc_geodesic.potential.terms import total
from pymc_geodesic.step_methods.step import Step

__all__ = ["error_of_compiled", "largest_error"]

MODE = Mode(linker="py", optimizer="fast_compile")
# Far enough from the initial point that every term moves.
SPREAD = 0.1
# Rows of a comparison: without a compiler, some operations are loops over rows.
FEW = 100


def largest_error(model: pm.Model, batches: pm.Model, *, batch_size: int) -> float:
    """Return the largest difference of log densities or gradients, relative to the largest entry.

    The sum over each set of rows is estimated independently of the others, so that one set is
    divided into batches at a time while the others stay at their first batch.
    """
    sources = find_batch_sources(batches)
    rows = {source: source.placeholder(f"rows {i}", None) for i, source in enumerate(sources)}
    values = {x.name: x for x in batches.value_vars}
    values = [values[x.name] for x in model.value_vars]
    terms = LogDensity(batches, (), rows=rows).terms()
    estimate = _function(terms, values, list(rows.values()))
    exact = _function(model.logp(sum=False), model.value_vars, [])
    rng, first = np.random.default_rng(1), model.initial_point(random_seed=0)
    point = [_moved(first[x.name], rng) for x in model.value_vars]
    sizes = [source.n_rows for source in sources]
    fixed = [np.arange(min(batch_size, n)) for n in sizes]
    at_fixed = [np.asarray(x) for x in estimate(*point, *fixed)]
    mean = [(1 - len(sizes)) * x for x in at_fixed]
    for i, n in enumerate(sizes):
        order = rng.permutation(n)
        for part in np.array_split(order, -(-n // batch_size)):
            found = estimate(*point, *fixed[:i], part, *fixed[i + 1 :])
            share = len(part) / n
            mean = [a + share * np.asarray(b) for a, b in zip(mean, found, strict=True)]
    expected = [np.asarray(x) for x in exact(*point)]
    if not np.isfinite(expected[0]):
        return np.inf
    pairs = zip(mean, expected, strict=True)
    return max(_error(found, expected) for found, expected in pairs)


def error_of_compiled(step: Step) -> float:
    """Return the largest difference between what JAX computes in a run and what NumPy does.

    Both are compiled as a run compiles them. Workers of PyMC begin with NumPy's.
    """
    problem, rng = step.sampler.problem, np.random.default_rng(1)
    ways = [HostGradient(problem.potential, interprets=interprets) for interprets in (False, True)]
    point = [_moved(x, rng) for x in problem.position_of(problem.start)]
    found = [way(way.project(*point), [x[:FEW] for x in way.first_rows()]) for way in ways]
    if not np.isfinite(found[0].energy):
        return np.inf
    pairs = zip(*([one.energy, *one.gradient] for one in found), strict=True)
    return max(_error(*map(np.asarray, pair)) for pair in pairs)


def _function(terms: Sequence, values: Sequence, inputs: Sequence) -> Callable:
    density = total(without_checks(terms, impossible=True))
    gradients = pytensor.grad(density, values, disconnected_inputs="ignore")
    with pytensor.config.change_flags(cxx=""):
        return pytensor.function(
            [*values, *inputs], [density, *gradients], mode=MODE, on_unused_input="ignore"
        )


def _moved(value: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    value = np.asarray(value)
    if value.dtype.kind != "f":
        return value
    return (value + SPREAD * rng.standard_normal(value.shape)).astype(value.dtype)


def _error(found: np.ndarray, expected: np.ndarray) -> float:
    # Before PyMC has simplified a model, some gradient may be NaN at an edge; it is not compared.
    there = np.isfinite(expected)
    difference = np.abs(found[there] - expected[there]).max(initial=0)
    error = float(difference / max(1.0, np.abs(expected[there]).max(initial=0)))
    return error if np.isfinite(error) else np.inf
