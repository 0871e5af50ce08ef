#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Control variates: no bias, and no noise at the center."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

from small_batches import N_ROWS, directions, regression

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.potential import (
    ControlVariateEstimator,
    FisherNoise,
    KnownNoise,
    MinibatchEstimator,
    Potential,
)


def setting(build):
    model = build()
    potential = Potential(model, model.value_vars, initial_point=model.initial_point())
    rng = np.random.default_rng(2)
    host = HostGradient(potential)
    points = [
        list(host.project(*(rng.normal(size=shape) for shape in potential.manifold.shapes)))
        for _ in range(2)
    ]
    return potential, host, *points


def compiled(potential, estimator_class, noise=None, **options):
    rows = [pt.vector("rows", dtype="int64", shape=(None,)) for _ in potential.sources]
    noise = noise or KnownNoise(potential)
    estimator = estimator_class(
        potential,
        noise,
        manifold=potential.manifold,
        indices=rows,
        width=tuple(pt.zeros(()) for _ in potential.variables),
        memory=tuple(pt.as_tensor(array) for array in noise.initial()),
        **options,
    )
    points = [position.type() for position in potential.positions]
    estimate = estimator(tuple(points))
    outputs = [*estimate.gradient, *[v for v in estimate.variance if v is not None]]
    return pytensor.function([*points, *rows], outputs, mode="FAST_COMPILE")


@pytest.mark.parametrize("build", [regression, directions])
def test_mean_over_all_rows_is_the_whole_gradient(build):
    potential, host, point, center = setting(build)
    at_center = host.whole(center).gradient
    function = compiled(
        potential,
        ControlVariateEstimator,
        center=tuple(map(pt.as_tensor, center)),
        center_gradient=tuple(map(pt.as_tensor, at_center)),
    )
    single = [function(*point, [row]) for row in range(N_ROWS)]
    for i, exact in enumerate(host.whole(point).gradient):
        np.testing.assert_allclose(np.mean([s[i] for s in single], axis=0), exact, rtol=1e-9)


@pytest.mark.parametrize("build", [regression, directions])
def test_no_noise_at_the_center_and_little_near_it(build):
    potential, host, point, center = setting(build)
    near = list(host.project(*(c + 0.01 * x for c, x in zip(center, point, strict=True))))
    options = {
        "center": tuple(map(pt.as_tensor, center)),
        "center_gradient": tuple(map(pt.as_tensor, host.whole(center).gradient)),
    }
    controlled = compiled(potential, ControlVariateEstimator, **options)
    plain = compiled(potential, MinibatchEstimator)

    def spread(function, x):
        draws = [np.concatenate(function(*x, [row]), axis=None) for row in range(N_ROWS)]
        return np.var(draws, axis=0).sum()

    assert spread(controlled, center) < 1e-20 * spread(plain, center)
    assert spread(controlled, near) < 1e-2 * spread(plain, near)


def test_fisher_noise_is_that_of_the_change():
    potential, host, point, center = setting(regression)
    function = compiled(
        potential,
        ControlVariateEstimator,
        noise=FisherNoise(potential),
        center=tuple(map(pt.as_tensor, center)),
        center_gradient=tuple(map(pt.as_tensor, host.whole(center).gradient)),
    )
    rng = np.random.default_rng(3)
    batches = [function(*point, rng.integers(0, N_ROWS, 4)) for _ in range(4_000)]
    empirical = np.var([gradient for gradient, _ in batches], axis=0)
    estimated = np.mean([variance for _, variance in batches], axis=0)
    np.testing.assert_allclose(estimated, empirical, rtol=0.1)


def test_host_gradient_of_chunks_is_that_of_all_rows(monkeypatch):
    _, host, point, _ = setting(regression)
    whole = host(point, [np.arange(N_ROWS)])
    monkeypatch.setattr("pymc_geodesic.kernel.host_gradient.CHUNK", 7)
    chunked = host.whole(point)
    np.testing.assert_allclose(chunked.energy, whole.energy)
    np.testing.assert_allclose(chunked.gradient[0], whole.gradient[0])


@pytest.mark.parametrize("estimator_class", [MinibatchEstimator, ControlVariateEstimator])
def test_changes_of_the_energy_have_the_gradient_of_the_estimate(estimator_class):
    potential, host, end, start = setting(regression)
    given = {"center": start, "center_gradient": host.whole(start).gradient}
    options = {name: tuple(map(pt.as_tensor, arrays)) for name, arrays in given.items()}
    rows = [pt.vector("rows", dtype="int64", shape=(None,)) for _ in potential.sources]
    estimator = estimator_class(
        potential,
        KnownNoise(potential),
        manifold=potential.manifold,
        indices=rows,
        width=tuple(pt.zeros(()) for _ in potential.variables),
        memory=(),
        **(options if estimator_class is ControlVariateEstimator else {}),
    )
    points = tuple(position.type() for position in potential.positions)
    change = estimator.energy_change(tuple(map(pt.as_tensor, start)), points)
    slopes = [*pytensor.grad(change, list(points)), *estimator(points).gradient]
    function = pytensor.function([*points, *rows], [change, *slopes], mode="FAST_COMPILE")
    batch = np.array([3, 1, 4, 1])
    assert float(function(*start, batch)[0]) == pytest.approx(0.0, abs=1e-9)
    _, slope, estimate = function(*end, batch)
    np.testing.assert_allclose(slope, estimate, rtol=1e-9)
