#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Frames with a scale for each column and each rotation move as the laws of dynamics ask."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

from pytensor.compile.mode import Mode

import pymc_geodesic as pmg

from pymc_geodesic.manifolds.scaled_stiefel import ScaledStiefel

INTERPRETED = Mode(linker="py", optimizer=None)
SHAPES = [(3, 2), (7, 3), (9, 4), (6, 5)]


@pytest.fixture(params=SHAPES, ids=str)
def manifold(request):
    n, p = request.param
    rng = np.random.default_rng(p)
    rotations = rng.uniform(0.2, 1, (p, p))
    made = ScaledStiefel(rng.uniform(0.05, 1, p), rotations + rotations.T)
    made.frames = (n, p)
    return made


def evaluate(outputs):
    return pytensor.function([], outputs, mode=INTERPRETED)()


def start(manifold, batch=()):
    """A point and a tangent vector at it."""
    shape = manifold.embedded_shape((*batch, *manifold.frames))
    noise = np.random.default_rng(1).normal(size=(2, *shape))
    x = manifold.random_point(pt.constant(noise[0]))
    return evaluate([x, manifold.to_tangent(x, pt.constant(noise[1]))])


def moved(manifold, x, v, t):
    return evaluate(list(manifold.geodesic(pt.constant(x), pt.constant(v), pt.constant(t))))


def value(manifold, x):
    return evaluate([manifold.unembed(pt.constant(x))])[0]


def test_geodesics_stay_on_the_manifold_and_are_reversible(manifold):
    x, v = start(manifold, (4,))
    y, w = moved(manifold, x, v, 0.7)
    frames = value(manifold, y)
    inner = frames.swapaxes(-1, -2) @ frames
    np.testing.assert_allclose(
        inner, np.broadcast_to(np.eye(inner.shape[-1]), inner.shape), atol=1e-12
    )
    speeds = [(u**2).sum(axis=(-1, -2)) for u in (v, w)]
    np.testing.assert_allclose(*speeds, rtol=1e-12)
    [tangent] = evaluate([manifold.to_tangent(pt.constant(y), pt.constant(w))])
    np.testing.assert_allclose(tangent, w, atol=1e-11)
    back, reverse = moved(manifold, y, -w, 0.7)
    np.testing.assert_allclose(back, x, atol=1e-10)
    np.testing.assert_allclose(reverse, -v, atol=1e-10)
    alone, _ = moved(manifold, x[2], v[2], 0.7)
    np.testing.assert_allclose(alone, y[2], atol=1e-12)


def test_the_tangent_space_has_the_dimension_of_the_manifold(manifold):
    x, _ = start(manifold)
    basis = np.eye(x.size).reshape(-1, *x.shape)
    points = pt.constant(np.broadcast_to(x, basis.shape))
    [columns] = evaluate([manifold.to_tangent(points, pt.constant(basis))])
    columns = columns.reshape(x.size, x.size)
    np.testing.assert_allclose(columns, columns.T, atol=1e-12)
    np.testing.assert_allclose(columns @ columns, columns, atol=1e-12)
    n, p = manifold.frames
    assert np.trace(columns) == pytest.approx(pmg.Stiefel().dim((n, p)))
    assert manifold.dim(x.shape) == pmg.Stiefel().dim((n, p))


def test_gradients_are_those_along_the_path(manifold):
    """The chain rule through values and through projections agrees with the path itself."""
    x, v = start(manifold)
    h, slope = 1e-5, np.random.default_rng(3).normal(size=manifold.frames)

    def energy(point):
        return np.sum(slope * point) + np.sum(slope * point) ** 2

    ahead, behind = (energy(value(manifold, moved(manifold, x, v, t)[0])) for t in (h, -h))
    point = pt.tensor("point", shape=x.shape, dtype="float64")
    for frame in (manifold.unembed(point), manifold.unembed(manifold.project(point))):
        linear = (slope * frame).sum()
        gradient = pt.grad(linear + linear**2, point)
        found = pytensor.function([point], gradient, mode=INTERPRETED)(x)
        assert np.sum(found * v) == pytest.approx((ahead - behind) / (2 * h), rel=1e-7)


def test_the_representative_near_a_reference_means_the_same_frame(manifold):
    x, v = start(manifold)
    v = 0.02 * v / np.abs(v).max()
    y, _ = moved(manifold, x, v, 1.0)
    near = manifold.nearest(pt.constant(y), pt.constant(x))
    near, again = evaluate([near, manifold.project(near)])
    np.testing.assert_allclose(value(manifold, again), value(manifold, y), atol=1e-6)
    # It shows the velocity to first order: rotations as angles, the rest as a displacement.
    np.testing.assert_allclose(near - x, v, atol=0.005 * np.abs(x).max())


@pytest.mark.parametrize("angle", [0.5, 2.0, 3.1])
def test_large_rotations_are_shown_as_angles(manifold, angle):
    """Columns that have exchanged places or signs are not far outside of their space."""
    x, _ = start(manifold)
    p = manifold.frames[1]
    turn = np.eye(p)
    turn[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    frame = value(manifold, x) @ turn
    y = manifold.embed(pt.constant(frame))
    near = manifold.nearest(y, pt.constant(x))
    near, again = evaluate([near, manifold.project(near)])
    np.testing.assert_allclose(value(manifold, again), frame, atol=1e-12)
    moves = near - x
    found = moves[-manifold.n_extra :].flat[0] * manifold.rotations[0, 1]
    assert found == pytest.approx(-angle, rel=1e-3)
    assert np.abs(moves[: -manifold.n_extra] * manifold.columns).max() < 0.03


def test_energy_is_conserved_to_second_order():
    """Leapfrog with the force of the same coordinates: errors fall as the square of the step."""
    manifold = ScaledStiefel(
        np.array([0.3, 1.0, 0.7]), np.array([[1, 0.4, 2], [0.4, 1, 1], [2, 1, 1]])
    )
    manifold.frames = (5, 3)
    start_x, start_v = start(manifold)
    slope = np.random.default_rng(3).normal(size=manifold.frames)
    x, v = (pt.tensor(name, shape=start_x.shape, dtype="float64") for name in "xv")
    h = pt.scalar("h")

    def energy(point):
        frame = manifold.unembed(point)
        return (slope * frame).sum() + (slope * frame**2).sum()

    def kicked(point, velocity):
        return velocity - 0.5 * h * manifold.to_tangent(point, pt.grad(energy(point), point))

    position, velocity = manifold.geodesic(x, kicked(x, v), h)
    outputs = [position, kicked(position, velocity)]
    total = energy(x) + 0.5 * (v**2).sum()
    leapfrog = pytensor.function([x, v, h], outputs, mode=INTERPRETED)
    hamiltonian = pytensor.function([x, v], total, mode=INTERPRETED)
    errors = []
    for n_steps in (20, 40, 80):
        state = [start_x, start_v]
        for _ in range(n_steps):
            state = leapfrog(*state, 1.0 / n_steps)
        errors.append(abs(hamiltonian(*state) - hamiltonian(start_x, start_v)))
    order = np.polyfit(np.log([1 / 20, 1 / 40, 1 / 80]), np.log(errors), 1)[0]
    assert 1.8 < order < 2.2
