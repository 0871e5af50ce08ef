#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Laws that every manifold obeys. A new manifold is one line in MANIFOLDS."""

import re

from typing import NamedTuple, get_args

import jax
import numpy as np
import pytest

from half_line import HalfLine
from stiefel import Stiefel as PolarStiefel
from time_of_day import Clock

import pymc_geodesic as pmg

from pymc_geodesic.manifolds.base import MassKind
from pymc_geodesic.manifolds.fields import Visit
from pymc_geodesic.manifolds.stretched import Stretched

N = 4
FACTOR = np.array([[1, 0, 0.2, 0], [0, 0.5, 0, 0], [0, 0.1, 0.3, 0], [0, 0, 0, 0.8]])


class Case(NamedTuple):
    """A manifold, the shape of one point and its intrinsic dimension."""

    manifold: pmg.Manifold
    core: tuple[int, ...]
    dim: int


MANIFOLDS = {
    "Euclidean": Case(pmg.Euclidean(), (), 1),
    "Sphere": Case(pmg.Sphere(), (N,), N - 1),
    "ProjectiveSphere": Case(pmg.ProjectiveSphere(), (N,), N - 1),
    "Simplex": Case(pmg.Simplex(), (N,), N - 1),
    "HalfLine": Case(HalfLine(), (), 1),
    "Interval": Case(pmg.Box(-1, 2), (), 1),
    "Half-line": Case(pmg.Box(upper=0.5, lower=-np.inf), (), 1),
    "Ball": Case(pmg.Ball(), (N,), N),
    "Ball-line": Case(pmg.Ball(), (1,), 1),
    "Correlations": Case(pmg.CholeskyCorr(), (N, N), 6),
    "Covariances": Case(pmg.CholeskyCov(), (N, N + 1), 10),
    "Circle": Case(pmg.Circle(), (), 1),
    "Clock": Case(Clock(), (), 1),
    "Stiefel": Case(pmg.Stiefel(), (N, 2), 2 * N - 3),
    "Stiefel-sphere": Case(pmg.Stiefel(), (N, 1), N - 1),
    "Stiefel-square": Case(pmg.Stiefel(), (3, 3), 3),
    "Rotations": Case(pmg.SpecialOrthogonal(), (3, 3), 3),
    "Rotations-4": Case(pmg.SpecialOrthogonal(), (N, N), 6),
    "Stretched-sphere": Case(Stretched(pmg.Sphere(), FACTOR), (N,), N - 1),
    "Stretched-axes": Case(Stretched(pmg.ProjectiveSphere(), FACTOR), (N,), N - 1),
    "Stretched-frames": Case(Stretched(pmg.Stiefel(), FACTOR), (N, 2), 2 * N - 3),
    "PolarStiefel": Case(PolarStiefel(), (N, 2), 2 * N - 3),
}
TOLERANCE = {"float64": 1e-13, "float32": 5e-6}


@pytest.fixture(params=MANIFOLDS, ids=str)
def case(request):
    return MANIFOLDS[request.param]


@pytest.fixture(params=["float64", "float32"])
def dtype(request):
    return request.param


@pytest.fixture(params=[(), (2, 3)], ids=str)
def batch(request):
    return request.param


def close(actual, expected, dtype="float64"):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=TOLERANCE[dtype])


def normals(case, seed, batch=(3,), dtype="float64"):
    shape = (*batch, *case.core)
    return np.asarray(np.random.default_rng(seed).normal(size=shape).astype(dtype))


def start(case, batch=(3,), dtype="float64"):
    """A point and a tangent vector at it, as constants."""
    x = case.manifold.random_point(normals(case, 1, batch, dtype))
    x = np.asarray(x.astype(dtype))
    return x, case.manifold.to_tangent(x, normals(case, 4, batch, dtype))


def over_points(case, u):
    """Sum over the entries of every point, without asking the manifold."""
    return u.reshape(*u.shape[: u.ndim - len(case.core)], -1).sum(-1)


def time(value, dtype="float64"):
    return np.asarray(np.asarray(value, dtype=dtype))


def test_dimension(case):
    manifold, core = case.manifold, case.core
    assert manifold.ndim_core == len(core)
    assert manifold.dim(core) == case.dim
    assert manifold.dim_of((5, 2, *core)) == 10 * case.dim
    assert manifold.batch_shape((5, 2, *core)) == (5, 2)
    assert manifold.core_shape((5, 2, *core)) == core


def test_what_is_known_of_a_point_gets_the_axes_of_the_point(case):
    manifold, u = case.manifold, np.ones((2, 3, *case.core))
    np.testing.assert_array_equal(manifold.over_core(u), over_points(case, u))
    kept = manifold.over_core(u, keepdims=True)
    assert manifold.along_core(manifold.over_core(u)).shape == kept.shape
    assert np.broadcast_shapes(kept.shape, u.shape) == u.shape


def test_random_points_are_on_the_manifold_and_differ(case, batch, dtype):
    manifold = case.manifold
    x = manifold.random_point(normals(case, 1, batch, dtype))
    other = manifold.random_point(normals(case, 2, batch, dtype))
    x, nearest, other, value = [
        x,
        manifold.project(x),
        other,
        manifold.unembed(manifold.fold(x, x)[0]),
    ]
    assert x.shape == (*batch, *case.core)
    assert x.dtype == dtype
    close(x, nearest, dtype)
    assert manifold.check(value) is None
    assert np.all(over_points(case, np.abs(x - other)) > 1e-3)


def test_to_tangent_is_an_orthogonal_projection(case, batch, dtype):
    x, v = start(case, batch, dtype)
    u, w = (normals(case, seed, batch, dtype) for seed in (2, 3))
    project = case.manifold.to_tangent
    once, twice, left, right = [v, project(x, v), project(x, u) * w, u * project(x, w)]
    assert once.shape == (*batch, *case.core)
    assert once.dtype == dtype
    close(twice, once, dtype)
    # Symmetric and idempotent: orthogonal.
    close(over_points(case, left), over_points(case, right), dtype)


@pytest.mark.parametrize("name", ["Sphere", "ProjectiveSphere", "Simplex"])
def test_tangent_vectors_are_orthogonal_to_the_point(name):
    x, v = start(MANIFOLDS[name])
    close((x * v).sum(-1), 0)


def test_tangent_space_has_the_dimension_of_the_manifold(case):
    x, _ = start(case, ())
    size = int(np.prod(case.core))
    basis = np.asarray(np.eye(size).reshape(size, *case.core))
    columns = case.manifold.to_tangent(np.stack([x] * size), basis)
    # A projection has no other singular values than zero and one.
    assert np.linalg.matrix_rank(columns.reshape(size, size), tol=1e-12) == case.dim


def test_geodesic_stays_on_the_manifold_and_keeps_the_speed(case, batch, dtype):
    manifold, shape = case.manifold, (*batch, *case.core)
    x, v = start(case, batch, dtype)
    y, w = manifold.geodesic(x, v, time(0.7, dtype))
    moved, nearest, velocity, tangent, before, after = [
        y,
        manifold.project(y),
        w,
        manifold.to_tangent(y, w),
        manifold.squared_norm(v),
        manifold.squared_norm(w),
    ]
    assert moved.shape == velocity.shape == shape
    assert before.shape == batch
    assert moved.dtype == velocity.dtype == dtype
    close(moved, nearest, dtype)
    close(velocity, tangent, dtype)
    np.testing.assert_allclose(after, before, rtol=10 * TOLERANCE[dtype])


def test_geodesic_returns_when_the_velocity_is_turned(case, dtype):
    manifold = case.manifold
    x, v = start(case, dtype=dtype)
    y, w = manifold.geodesic(x, v, time(0.7, dtype))
    back, turned = manifold.geodesic(y, -w, time(0.7, dtype))
    x, v, back, turned = [x, v, back, turned]
    close(back, x, dtype)
    close(turned, -v, dtype)


def test_geodesic_times_add_up(case):
    manifold = case.manifold
    x, v = start(case)
    twice = manifold.geodesic(*manifold.geodesic(x, v, time(0.3)), time(0.9))
    once = manifold.geodesic(x, v, time(1.2))
    for actual, expected in zip(twice, once, strict=True):
        close(actual, expected)


def test_geodesic_leaves_with_its_velocity(case):
    manifold = case.manifold
    x, v = start(case)
    h = 1e-6
    ahead, behind = (manifold.geodesic(x, v, time(t))[0] for t in (h, -h))
    np.testing.assert_allclose(((ahead - behind) / (2 * h)), v, atol=1e-9)


def test_points_without_speed_stay_without_nan(case, dtype):
    manifold = case.manifold
    x, v = start(case, dtype=dtype)
    rest = v.copy()
    rest[0] = 0.0

    def total(rest):
        y, w = manifold.geodesic(x, rest, time(0.7, dtype))
        return (y * y[::-1]).sum() + w.sum()

    with jax.enable_x64(True):
        slope = jax.grad(total)(rest)
    y, w = manifold.geodesic(x, rest, time(0.7, dtype))
    np.testing.assert_array_equal(y[0], x[0])
    np.testing.assert_allclose(w[0], rest[0], atol=1e-30)
    assert np.isfinite(slope).all()


def test_tiny_speeds_are_followed(case):
    manifold = case.manifold
    x, v = start(case)
    y, w = manifold.geodesic(x, v * 1e-200, time(0.7))
    close(y, x)
    np.testing.assert_allclose(w, v * 1e-200, rtol=1e-12)


def test_project_is_idempotent_and_near(case, dtype):
    manifold = case.manifold
    x, v = start(case, dtype=dtype)
    once = manifold.project(x + np.asarray(1e-3, dtype) * v)
    once, twice, x = [once, manifold.project(once), x]
    close(twice, once, dtype)
    np.testing.assert_allclose(once, x, atol=0.01)


def test_leading_axes_are_independent_points(case):
    manifold = case.manifold
    x, v = start(case, (2, 3))
    y, w = manifold.geodesic(x, v, time(0.7))
    alone = manifold.geodesic(x[1, 2], v[1, 2], time(0.7))
    close(y[1, 2], alone[0])
    close(w[1, 2], alone[1])


def test_embed_undoes_unembed_after_fold(case):
    manifold = case.manifold
    x, v = start(case)
    folded, carried = manifold.fold(x, v)
    value = manifold.unembed(x)
    again, folded, value, value_of_folded, tangent, carried = [
        manifold.embed(manifold.unembed(folded)),
        folded,
        value,
        manifold.unembed(folded),
        manifold.to_tangent(folded, carried),
        carried,
    ]
    close(again, folded)
    close(value_of_folded, value)
    close(tangent, carried)
    assert manifold.check(value) is None


def test_fold_is_an_isometry_that_commutes_with_geodesics(case):
    manifold = case.manifold
    x, v = start(case)
    y, w = manifold.geodesic(x, v, time(0.7))
    folded_after = manifold.unembed(manifold.fold(y, w)[0])
    folded_before = manifold.unembed(manifold.geodesic(*manifold.fold(x, v), time(0.7))[0])
    before, after, squares, kept = [
        folded_before,
        folded_after,
        manifold.squared_norm(v),
        manifold.squared_norm(manifold.fold(x, v)[1]),
    ]
    close(before, after)
    close(kept, squares)


def test_representatives_of_a_point_are_aligned_by_an_isometry(case):
    manifold = case.manifold
    x, v = start(case)
    y, w = manifold.fold(x, v)
    aligned, v, kept = [manifold.align(w, y, x), v, manifold.align(v, x, x)]
    if manifold.covering is not manifold:
        close(aligned, v)
    close(kept, v)


def test_soften_stays_on_the_manifold_and_vanishes_with_the_width(case):
    manifold = case.manifold
    x, _ = start(case)
    soft = manifold.soften(x, time(0.1))
    soft, nearest, sharp, folded = [
        soft,
        manifold.project(soft),
        manifold.fold(manifold.soften(x, time(0.0)), x)[0],
        manifold.fold(x, x)[0],
    ]
    close(soft, nearest)
    close(sharp, folded)


@pytest.mark.parametrize(
    "name", ["Sphere", "ProjectiveSphere", "Stiefel", "Stiefel-sphere", "Rotations", "Rotations-4"]
)
def test_the_laplacian_is_the_sum_of_the_accelerations_of_geodesics(name):
    """Over an orthonormal basis of the tangent space, by differences of velocities."""
    manifold, core, dim = MANIFOLDS[name]
    x = manifold.project(np.asarray(np.random.default_rng(1).normal(size=core)))
    size, h = int(np.prod(core)), 1e-4
    units = np.asarray(np.eye(size).reshape(size, *core))
    at = np.broadcast_to(x, (size, *core))
    projector = manifold.to_tangent(at, units).reshape(size, size)
    values, vectors = np.linalg.eigh(projector)
    basis = vectors[:, values > 0.5].T.reshape(dim, *core)
    at = np.broadcast_to(x, (dim, *core))
    ahead, behind = (manifold.geodesic(at, np.asarray(basis), np.asarray(t))[1] for t in (h, -h))
    accelerations, laplacian = [(ahead - behind) / (2 * h), manifold.laplacian(x)]
    np.testing.assert_allclose(laplacian, accelerations.sum(axis=0), atol=1e-6)


@pytest.mark.parametrize("known", ["every entry", "the last axis", "a number"])
def test_envelope_bounds_the_variance(case, known):
    manifold, shape = case.manifold, (3, *case.core)
    kept = {"every entry": shape, "the last axis": shape[-1:], "a number": ()}[known]
    variance = np.random.default_rng(1).uniform(size=kept)
    envelope = manifold.envelope(np.asarray(variance))
    assert np.all(np.broadcast_to(envelope, shape) >= np.broadcast_to(variance, shape))
    x, v = start(case)
    close(*[manifold.to_tangent(x, envelope * v), envelope * v])


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("Sphere", [1.0, 1.0], "unit vectors.*norms in"),
        ("Simplex", [0.5, 0.6], "sum to 1.*sums in"),
        ("Simplex", [1.5, -0.5], "non-negative.*-0.5"),
        ("Circle", [1.5, -4.5], "angles from -pi to pi.*4.5"),
        ("Interval", [1.5, 2.5], "from -1.0 to 2.0, got some in .1.5, 2.5"),
        ("Ball", [1.5, 0.5, 0.0, 0.0], "length 1 at most.*1.58114"),
    ],
)
def test_check_says_what_is_wrong(name, value, message):
    assert re.search(message, MANIFOLDS[name].manifold.check(np.array(value)))


def test_repr_names_the_manifold(case):
    assert re.fullmatch(rf"{type(case.manifold).__name__}\(.*\)", repr(case.manifold))


@pytest.mark.parametrize("kind", get_args(MassKind))
def test_a_mass_that_is_taken_keeps_velocities_tangent(case, kind):
    kinds, manifold = get_args(MassKind), case.manifold
    if kinds.index(kind) > kinds.index(manifold.mass):
        return
    x, v = start(case)
    rng, shape = np.random.default_rng(5), (3, *case.core)
    scales = {
        "number": lambda: 2.5,
        "diagonal": lambda: rng.uniform(1, 2, shape),
        "matrix": lambda: rng.normal(size=(3, 3)),
    }[kind]()
    rate = np.dot(np.asarray(scales), v) if kind == "matrix" else scales * v
    rate, tangent = [rate, manifold.to_tangent(x, rate)]
    close(tangent, rate)


def test_times_may_differ_between_points(case):
    manifold = case.manifold
    x, v = start(case)
    times = np.array([0.3, 0.7, 1.1])
    own = manifold.along_core(times)
    together = manifold.geodesic(x, v, np.asarray(own))
    for i, t in enumerate(times):
        for actual, expected in zip(together, manifold.geodesic(x[i], v[i], time(t)), strict=True):
            close(actual[i], expected)


def test_only_compact_manifolds_hold_points_for_ever(case):
    manifold = case.manifold
    x, v = start(case)
    gone = manifold.geodesic(x, v, time(1e3))[0]
    assert (np.abs(gone).max() < 25) == manifold.is_compact


def test_the_field_has_the_moments_that_it_asks_for(case):
    manifold, shape = case.manifold, (3, *case.core)
    x, v = start(case)
    moments = manifold.field_moments(x)
    assert [moment.shape for moment in moments] == manifold.field_shapes(shape)
    found = manifold.field_work(Visit(x, x, v), manifold.field_moments(x), dim=3.0 * case.dim)
    assert all(np.ndim(part) == 0 for part in [part for part in found])
