#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Halves of a batch: the same gradient, and a difference with the covariance of its noise."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest

from small_batches import N_ROWS, directions, regression

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.potential import (
    ControlVariateEstimator,
    KnownNoise,
    MinibatchEstimator,
    Potential,
)
from pymc_geodesic.potential.estimator import HalvedEstimator, has_halves

# An odd number of rows is divided unequally.
CASES = [
    (regression, False, 6),
    (regression, True, 6),
    (directions, False, 6),
    # Halves of unlike size are the harder case.
    pytest.param(directions, True, 6, marks=pytest.mark.slow),
    (directions, True, 5),
]


def potential_of(model):
    return Potential(model, model.value_vars, initial_point=model.initial_point())


def compiled(potential, host, *, controlled, size):
    """Functions of a point and rows: the gradient of a batch, and that of its halves with theirs.

    Both are of the tangent space.
    """
    rng = np.random.default_rng(2)
    point, center = (
        list(host.project(*(rng.normal(size=shape) for shape in potential.manifold.shapes)))
        for _ in range(2)
    )
    rows = [pt.vector("rows", dtype="int64", shape=(size,)) for _ in potential.sources]
    options = {}
    if controlled:
        given = {"center": center, "center_gradient": host.whole(center).gradient}
        options = {name: tuple(map(pt.as_tensor, arrays)) for name, arrays in given.items()}
    whole = (ControlVariateEstimator if controlled else MinibatchEstimator)(
        potential,
        KnownNoise(potential),
        manifold=potential.manifold,
        indices=rows,
        width=tuple(pt.zeros(()) for _ in potential.variables),
        memory=(),
        **options,
    )
    at = tuple(map(pt.as_tensor, point))
    halved = HalvedEstimator(whole)
    estimate = halved(at)
    tangent = lambda vectors: list(potential.manifold.to_tangent(at, vectors))  # noqa: E731
    whole_gradient = pytensor.function(rows, tangent(whole(at).gradient), mode="FAST_COMPILE")
    [_, in_embedding] = halved.evaluation
    outputs = [*tangent(estimate.gradient), *estimate.difference, *in_embedding]
    return whole_gradient, pytensor.function(rows, outputs, mode="FAST_COMPILE")


@pytest.mark.parametrize(("build", "controlled", "size"), CASES)
def test_the_mean_of_the_halves_is_the_gradient_of_the_batch(build, controlled, size):
    potential = potential_of(build(size))
    whole, halved = compiled(potential, HostGradient(potential), controlled=controlled, size=size)
    rng = np.random.default_rng(3)
    for _ in range(5):
        rows = rng.integers(0, N_ROWS, size)
        n = len(potential.variables)
        for expected, found in zip(whole(rows), halved(rows)[:n], strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("build", "controlled", "size"), CASES)
def test_differences_have_the_covariance_of_the_noise(build, controlled, size):
    potential = potential_of(build(size))
    whole, halved = compiled(potential, HostGradient(potential), controlled=controlled, size=size)
    n, rng = len(potential.variables), np.random.default_rng(4)
    # The covariance of a mean of rows is that of single rows over their number.
    rows = [np.concatenate(whole([row] * size), axis=None) for row in range(N_ROWS)]
    exact = np.cov(np.array(rows).T, bias=True) / size
    batches = [halved(rng.integers(0, N_ROWS, size)) for _ in range(5_000)]
    d = np.array([np.concatenate(batch[n : 2 * n], axis=None) for batch in batches])
    products = d[:, :, None] * d[:, None, :]
    error = products.std(axis=0) / np.sqrt(len(d))
    assert np.all(np.abs(products.mean(axis=0) - exact) < 4.5 * error + 1e-9)
    g = np.array([np.concatenate(batch[:n], axis=None) for batch in batches])
    mixed = (g - g.mean(axis=0))[:, :, None] * d[:, None, :]
    assert np.all(np.abs(mixed.mean(axis=0)) < 4.5 * mixed.std(axis=0) / np.sqrt(len(d)) + 1e-9)


def two_sources(first, second):
    with pm.Model() as model:
        x = pm.Normal("x")
        for name, size in (("y", first), ("z", second)):
            rows = pm.Minibatch(np.arange(20.0), batch_size=size)
            pm.Normal(name, x, observed=rows, total_size=20)
    return model


def test_batches_with_replacement_have_halves_if_all_are_divided_in_one_ratio():
    assert has_halves(potential_of(regression(6)), replacement=True)
    assert has_halves(potential_of(regression(5)), replacement=True)
    assert not has_halves(potential_of(regression(6)), replacement=False)
    assert not has_halves(potential_of(regression(1)), replacement=True)
    assert has_halves(potential_of(two_sources(4, 6)), replacement=True)
    assert has_halves(potential_of(two_sources(5, 5)), replacement=True)
    assert not has_halves(potential_of(two_sources(5, 6)), replacement=True)
    model = regression(6)
    whole = Potential(model, model.value_vars, initial_point=model.initial_point(), full_data=True)
    assert not has_halves(whole, replacement=True)
