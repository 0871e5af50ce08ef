#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Laws that every manifold obeys. A new manifold is one line in MANIFOLDS."""

import re

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

from pytensor.compile.mode import Mode

import pymc_geodesic as pmg

# Interpreted without rewrites: these graphs run once each.
INTERPRETED = Mode(linker="py", optimizer=None)
N = 4


def random_point(manifold, rng, shape):
    draws = rng.normal(size=shape)
    if not isinstance(manifold, pmg.Euclidean):
        draws /= np.linalg.norm(draws, axis=-1, keepdims=True)
    return draws


MANIFOLDS = {"Euclidean": pmg.Euclidean(), "Sphere": pmg.Sphere(), "Simplex": pmg.Simplex()}
DIMENSIONS = {"Euclidean": N, "Sphere": N - 1, "Simplex": N - 1}
TOLERANCE = {"float64": 1e-13, "float32": 5e-6}


@pytest.fixture(params=MANIFOLDS, ids=str)
def manifold(request):
    return MANIFOLDS[request.param]


@pytest.fixture(params=["float64", "float32"])
def dtype(request):
    return request.param


@pytest.fixture(params=[(N,), (3, N), (2, 3, N)], ids=str)
def shape(request):
    return request.param


def evaluate(outputs):
    return pytensor.function([], outputs, mode=INTERPRETED)()


def close(actual, expected, dtype="float64"):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=TOLERANCE[dtype])


def start(manifold, shape=(3, N), dtype="float64"):
    """A point and a tangent vector at it, as constants."""
    rng = np.random.default_rng(1)
    x = pt.constant(random_point(manifold, rng, shape).astype(dtype))
    u = pt.constant(rng.normal(size=shape).astype(dtype))
    return x, manifold.to_tangent(x, u)


def time(value, dtype="float64"):
    return pt.constant(np.asarray(value, dtype=dtype))


def test_dimension(manifold):
    assert manifold.dim(N) == DIMENSIONS[manifold.name]


def test_to_tangent_is_an_orthogonal_projection(manifold, shape, dtype):
    x, v = start(manifold, shape, dtype)
    u, w = (
        pt.constant(np.random.default_rng(seed).normal(size=shape).astype(dtype)) for seed in (2, 3)
    )
    project = manifold.to_tangent
    once, twice, left, right = evaluate(
        [v, project(x, v), (project(x, u) * w).sum(-1), (u * project(x, w)).sum(-1)]
    )
    assert once.shape == shape
    assert once.dtype == dtype
    close(twice, once, dtype)
    close(left, right, dtype)  # symmetric and idempotent: orthogonal


@pytest.mark.parametrize("name", ["Sphere", "Simplex"])
def test_tangent_vectors_are_orthogonal_to_the_point(name):
    x, v = start(MANIFOLDS[name])
    close(evaluate((x * v).sum(-1)), 0)


def test_tangent_space_has_the_dimension_of_the_manifold(manifold):
    x, _ = start(manifold, (N,))
    columns = manifold.to_tangent(pt.stack([x] * N), pt.eye(N))
    assert np.linalg.matrix_rank(evaluate(columns)) == manifold.dim(N)


def test_geodesic_stays_on_the_manifold_and_keeps_the_speed(manifold, shape, dtype):
    x, v = start(manifold, shape, dtype)
    y, w = manifold.geodesic(x, v, time(0.7, dtype))
    moved, nearest, velocity, tangent, before, after = evaluate(
        [
            y,
            manifold.project(y),
            w,
            manifold.to_tangent(y, w),
            manifold.squared_norm(v),
            manifold.squared_norm(w),
        ]
    )
    assert moved.shape == velocity.shape == shape
    assert before.shape == shape[:-1]
    assert moved.dtype == velocity.dtype == dtype
    close(moved, nearest, dtype)
    close(velocity, tangent, dtype)
    np.testing.assert_allclose(after, before, rtol=10 * TOLERANCE[dtype])


def test_geodesic_returns_when_the_velocity_is_turned(manifold, dtype):
    x, v = start(manifold, dtype=dtype)
    y, w = manifold.geodesic(x, v, time(0.7, dtype))
    back, turned = manifold.geodesic(y, -w, time(0.7, dtype))
    x, v, back, turned = evaluate([x, v, back, turned])
    close(back, x, dtype)
    close(turned, -v, dtype)


def test_geodesic_times_add_up(manifold):
    x, v = start(manifold)
    twice = manifold.geodesic(*manifold.geodesic(x, v, time(0.3)), time(0.9))
    once = manifold.geodesic(x, v, time(1.2))
    for actual, expected in zip(evaluate(list(twice)), evaluate(list(once)), strict=True):
        close(actual, expected)


def test_geodesic_leaves_with_its_velocity(manifold):
    x, v = start(manifold)
    h = 1e-6
    ahead, behind = (manifold.geodesic(x, v, time(t))[0] for t in (h, -h))
    np.testing.assert_allclose(evaluate((ahead - behind) / (2 * h)), evaluate(v), atol=1e-9)


def test_points_without_speed_stay_without_nan(manifold, dtype):
    x, v = start(manifold, dtype=dtype)
    rest = pt.set_subtensor(v[0], 0.0)
    y, w = manifold.geodesic(x, rest, time(0.7, dtype))
    slope = pt.grad((y * y[::-1]).sum() + w.sum(), rest)
    x, rest, y, w, slope = evaluate([x, rest, y, w, slope])
    np.testing.assert_array_equal(y[0], x[0])
    np.testing.assert_allclose(w[0], rest[0], atol=1e-30)
    assert np.isfinite(slope).all()


def test_tiny_speeds_are_followed(manifold):
    x, v = start(manifold)
    y, w = evaluate(list(manifold.geodesic(x, v * 1e-200, time(0.7))))
    close(y, evaluate(x))
    np.testing.assert_allclose(w, evaluate(v) * 1e-200, rtol=1e-12)


def test_project_is_idempotent_and_near(manifold, dtype):
    x, v = start(manifold, dtype=dtype)
    once = manifold.project(x + np.asarray(1e-3, dtype) * v)
    once, twice, x = evaluate([once, manifold.project(once), x])
    close(twice, once, dtype)
    np.testing.assert_allclose(once, x, atol=0.01)


def test_leading_axes_are_independent_points(manifold):
    x, v = start(manifold, (2, 3, N))
    y, w = evaluate(list(manifold.geodesic(x, v, time(0.7))))
    alone = evaluate(list(manifold.geodesic(x[1, 2], v[1, 2], time(0.7))))
    close(y[1, 2], alone[0])
    close(w[1, 2], alone[1])


def test_embed_undoes_unembed_after_fold(manifold):
    x, v = start(manifold)
    folded, carried = manifold.fold(x, v)
    value = manifold.unembed(x)
    again, folded, value, value_of_folded, tangent, carried = evaluate(
        [
            manifold.embed(manifold.unembed(folded)),
            folded,
            value,
            manifold.unembed(folded),
            manifold.to_tangent(folded, carried),
            carried,
        ]
    )
    close(again, folded)
    close(value_of_folded, value)
    close(tangent, carried)
    assert manifold.check(value) is None


def test_fold_is_an_isometry_that_commutes_with_geodesics(manifold):
    x, v = start(manifold)
    y, w = manifold.geodesic(x, v, time(0.7))
    folded_after = manifold.unembed(manifold.fold(y, w)[0])
    folded_before = manifold.unembed(manifold.geodesic(*manifold.fold(x, v), time(0.7))[0])
    before, after, squares, kept = evaluate(
        [
            folded_before,
            folded_after,
            manifold.squared_norm(v),
            manifold.squared_norm(manifold.fold(x, v)[1]),
        ]
    )
    close(before, after)
    close(kept, squares)


def test_soften_stays_on_the_manifold_and_vanishes_with_the_width(manifold):
    x, _ = start(manifold)
    soft = manifold.soften(x, time(0.1))
    soft, nearest, sharp, folded = evaluate(
        [soft, manifold.project(soft), manifold.soften(x, time(0.0)), manifold.fold(x, x)[0]]
    )
    close(soft, nearest)
    close(sharp, folded)


def test_envelope_bounds_the_variance(manifold):
    variance = np.random.default_rng(1).uniform(size=(3, N))
    envelope = evaluate(manifold.envelope(pt.constant(variance)))
    assert np.all(np.broadcast_to(envelope, variance.shape) >= variance)
    x, v = start(manifold)
    close(*evaluate([manifold.to_tangent(x, envelope * v), envelope * v]))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("Sphere", [1.0, 1.0], "unit vectors.*norms in"),
        ("Simplex", [0.5, 0.6], "sum to 1.*sums in"),
        ("Simplex", [1.5, -0.5], "non-negative.*-0.5"),
    ],
)
def test_check_says_what_is_wrong(name, value, message):
    assert re.search(message, MANIFOLDS[name].check(np.array(value)))


def test_repr_names_the_manifold(manifold):
    assert repr(manifold) == f"{manifold.name}()"
