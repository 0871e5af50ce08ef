#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Matrix Fisher: its constant, its draws, and quaternions."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest

from pytensor.compile.mode import Mode
from scipy.integrate import quad
from scipy.special import i0e

import pymc_geodesic as pmg

from pymc_geodesic.distributions.coordinates import davenport
from pymc_geodesic.distributions.frames import log_rotations_area
from pymc_geodesic.distributions.matrix_constant import (
    log_mean_exponential,
    log_mean_over_rotations,
)

INTERPRETED = Mode(linker="py", optimizer=None)
# JAX compiles the draws in seconds.
pytestmark = pytest.mark.filterwarnings("ignore:The RandomType SharedVariables:UserWarning")
STRENGTHS = [
    (0.0, 0.0, 0.0),
    (1.0, 0.5, -0.3),
    (4.0, 4.0, 4.0),
    (20.0, 5.0, -5.0),
    (90.0, 60.0, 8.0),
]


def with_singular_values(values, seed):
    """A matrix with these proper singular values: the last has the determinant's sign."""
    rng = np.random.default_rng(seed)
    turns = [np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(2)]
    left, right = (q * np.sign(np.linalg.det(q)) for q in turns)
    return (left * values) @ right.T


def constant_and_gradient():
    f = pt.tensor("f", shape=(3, 3), dtype="float64")
    value = log_mean_over_rotations(f)
    return pytensor.function([f], [value, pytensor.grad(value, f)], mode=INTERPRETED)


def log_lee(s):
    """The integral of Lee (2018), scaled."""

    def integrand(u):
        low, high = (s[0] - s[1]) * (1 - u) / 2, (s[0] + s[1]) * (1 + u) / 2
        return 0.5 * i0e(low) * i0e(high) * np.exp(low + high + s[2] * u - sum(s))

    return np.log(quad(integrand, -1, 1, epsabs=0, epsrel=1e-12, limit=500)[0]) + sum(s)


@pytest.mark.parametrize("values", STRENGTHS, ids=str)
def test_constant_against_lees_integral(values):
    found, _ = constant_and_gradient()(with_singular_values(values, seed=1))
    np.testing.assert_allclose(found, log_lee(values), rtol=1e-9, atol=1e-9)


def test_two_columns_determine_a_rotation():
    f = np.random.default_rng(2).normal(0, 3, (3, 2))
    frames = log_mean_exponential(pt.constant(f), n=3, p=2).eval(mode=INTERPRETED)
    rotations, _ = constant_and_gradient()(np.column_stack([f, np.zeros(3)]))
    np.testing.assert_allclose(rotations, frames, rtol=1e-9)


@pytest.mark.parametrize("values", STRENGTHS, ids=str)
def test_gradient(values):
    function, f = constant_and_gradient(), with_singular_values(values, seed=2)
    direction = np.random.default_rng(3).normal(size=(3, 3))
    ahead, behind = (function(f + h * direction)[0] for h in (1e-5, -1e-5))
    slope = (function(f)[1] * direction).sum()
    np.testing.assert_allclose(slope, (ahead - behind) / 2e-5, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("values", STRENGTHS, ids=str)
def test_draws_have_the_mean_that_the_constant_says(values):
    f = with_singular_values(values, seed=4)
    x = np.array(pm.draw(pmg.MatrixFisher.dist(f, size=4000), random_seed=2, mode="JAX"))
    assert pmg.SpecialOrthogonal().check(x) is None
    error = x.std(axis=0) / np.sqrt(len(x))
    assert np.all(np.abs(x.mean(axis=0) - constant_and_gradient()(f)[1]) < 4.5 * error)


def test_density_is_normalised():
    f = with_singular_values((3.0, 1.5, -1.0), seed=5)
    x = np.array(pm.draw(pmg.UniformRotation.dist(size=20_000), random_seed=1, mode="JAX"))
    logp = pm.logp(pmg.MatrixFisher.dist(f), x).eval(mode=INTERPRETED)
    ratio = np.exp(logp + log_rotations_area(3))
    assert abs(ratio.mean() - 1) < 4 * ratio.std() / np.sqrt(len(ratio))


def test_the_support_point_is_the_mode():
    f = with_singular_values((5.0, 2.0, -1.0), seed=6)
    left, _, right = np.linalg.svd(f)
    side = np.diag([1, 1, np.linalg.det(left @ right)])
    with pm.Model() as model:
        pmg.MatrixFisher("x", f)
    point = model.initial_point()["x_rotation__"]
    np.testing.assert_allclose(point, left @ side @ right, atol=1e-12)


def test_quaternions():
    q = np.random.default_rng(7).normal(size=(4, 5, 4))
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    x = pmg.quaternion_to_matrix(q)
    assert pmg.SpecialOrthogonal().check(x) is None
    np.testing.assert_allclose(pmg.quaternion_to_matrix(-q), x)
    np.testing.assert_allclose(pmg.quaternion_to_matrix(pt.constant(q)).eval(mode=INTERPRETED), x)
    again = pmg.matrix_to_quaternion(x)
    np.testing.assert_allclose(again, np.sign(q[..., :1]) * q, atol=1e-12)
    f = np.random.default_rng(8).normal(size=(3, 3))
    form = davenport(pt.constant(f)).eval(mode=INTERPRETED)
    expected = np.einsum("ij,abij->ab", f, x)
    np.testing.assert_allclose(np.einsum("abi,ij,abj->ab", q, form, q), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pmg.MatrixFisher.dist(np.eye(4)), r"shape \(3, 3\)"),
        (lambda: pmg.MatrixFisher.dist(np.full((3, 3), np.inf)), "finite entries"),
        (lambda: pmg.matrix_to_quaternion(np.eye(2)), r"shape \(3, 3\)"),
    ],
)
def test_what_cannot_be_done_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
