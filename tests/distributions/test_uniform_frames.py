#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Uniform frames and rotations: areas, draws, checks, and the transforms for NUTS."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

from pytensor.compile.mode import Mode
from scipy.linalg import expm
from scipy.stats import kstest

import pymc_geodesic as pmg

from pymc_geodesic.distributions.frames import log_rotations_area, log_stiefel_area
from pymc_geodesic.distributions.transforms import frame, rotation, unit_vector

# Interpreted: compiling linear algebra takes Numba longer than all draws here.
INTERPRETED = Mode(linker="py", optimizer=None)
# JAX compiles the draws in seconds.
pytestmark = pytest.mark.filterwarnings("ignore:The RandomType SharedVariables:UserWarning")


def tangent_basis(x):
    """An orthonormal basis of the tangent space at x, one matrix per entry."""
    n, p = x.shape
    u = np.eye(n * p).reshape(-1, n, p)
    inner = x.T @ u
    projected = (u - x @ (inner + inner.swapaxes(-1, -2)) / 2).reshape(n * p, -1)
    left, sizes, _ = np.linalg.svd(projected.T)
    return left[:, sizes > 0.5].T.reshape(-1, n, p)


def test_area_of_spheres():
    for n, area in {2: 2 * np.pi, 3: 4 * np.pi, 4: 2 * np.pi**2}.items():
        assert np.exp(log_stiefel_area(n, 1)) == pytest.approx(area, rel=1e-12)


def test_area_of_rotations_by_angles():
    """In angles a ball of radius pi with a known density holds all rotations."""
    h = 1e-6

    def gram(w):
        def turned(w):
            x, y, z = w
            return expm(np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]))

        slopes = [((turned(w + h * e) - turned(w - h * e)) / (2 * h)).ravel() for e in np.eye(3)]
        return np.sqrt(np.linalg.det(np.array(slopes) @ np.array(slopes).T))

    nodes, weights = np.polynomial.legendre.leggauss(12)
    radii = np.pi * (nodes + 1) / 2
    values = [4 * np.pi * r**2 * gram(r * np.array([0.48, 0.6, 0.64])) for r in radii]
    area = np.pi / 2 * weights @ values
    assert np.exp(log_rotations_area(3)) == pytest.approx(area, rel=1e-6)


@pytest.mark.parametrize(("n", "p"), [(3, 2), (5, 2), (4, 3)])
def test_the_jacobian_of_the_transform(n, p):
    r"""The volume of Y goes with the product of R_ii^(n - i) in R and surface measure."""
    rng = np.random.default_rng(n)
    ratios = []
    for _ in range(3):
        x = np.linalg.qr(rng.normal(size=(n, p)))[0]
        r = np.triu(rng.normal(size=(p, p)), 1) + np.diag(rng.uniform(0.5, 2, p))
        units = [np.outer(np.eye(p)[i], np.eye(p)[j]) for i in range(p) for j in range(i, p)]
        slopes = [b @ r for b in tangent_basis(x)] + [x @ u for u in units]
        volume = abs(np.linalg.det(np.array(slopes).reshape(n * p, -1)))
        ratios.append(volume / np.prod(np.diag(r) ** (n - 1.0 - np.arange(p))))
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-10)


def test_one_column_is_transformed_as_a_unit_vector():
    y = np.random.default_rng(1).normal(size=(4, 5))
    for method in ("backward", "log_jac_det"):
        column = getattr(frame, method)(pt.constant(y[..., None])).eval(mode=INTERPRETED)
        vector = getattr(unit_vector, method)(pt.constant(y)).eval(mode=INTERPRETED)
        np.testing.assert_allclose(column.reshape(vector.shape), vector, rtol=1e-12)


@pytest.mark.parametrize("transform", [frame, rotation])
def test_the_transform_keeps_points(transform):
    y = np.random.default_rng(2).normal(size=(6, 3, 3))
    x = transform.backward(pt.constant(y)).eval(mode=INTERPRETED)
    np.testing.assert_allclose(x.mT @ x, np.broadcast_to(np.eye(3), x.shape), atol=1e-10)
    again = transform.backward(transform.forward(pt.constant(x))).eval(mode=INTERPRETED)
    np.testing.assert_allclose(again, x, atol=1e-12)
    if transform is rotation:
        np.testing.assert_allclose(np.linalg.det(x), 1, rtol=1e-10)


@pytest.mark.parametrize(
    ("variable", "area"),
    [
        (lambda **k: pmg.UniformStiefel.dist(4, 2, **k), log_stiefel_area(4, 2)),
        (lambda **k: pmg.UniformRotation.dist(**k), log_rotations_area(3)),
        (lambda **k: pmg.UniformRotation.dist(4, **k), log_rotations_area(4)),
    ],
)
def test_draws_are_on_the_manifold_and_have_the_density(variable, area):
    draws = np.array(pm.draw(variable(size=(2, 5)), random_seed=1, mode="JAX"))
    logp = pm.logp(variable(size=(2, 5)), draws).eval(mode=INTERPRETED)
    np.testing.assert_allclose(logp, np.full((2, 5), -area), rtol=1e-12)
    assert pmg.manifold_of(variable()).check(draws) is None
    assert np.all(np.isneginf(pm.logp(variable(size=(2, 5)), 1.1 * draws).eval(mode=INTERPRETED)))


def test_reflections_are_no_rotations():
    x = np.diag([1.0, 1.0, -1.0])
    assert np.isneginf(pm.logp(pmg.UniformRotation.dist(), x).eval(mode=INTERPRETED))
    with pytest.raises(ValueError, match="reflections"), pm.Model():
        pmg.UniformRotation("x", observed=x)


def test_draws_are_uniform():
    draws = np.array(pm.draw(pmg.UniformRotation.dist(size=2000), random_seed=3, mode="JAX"))
    # The angle of a uniform rotation has the distribution function (a - sin a) / pi.
    angle = np.arccos(np.clip((np.trace(draws, axis1=1, axis2=2) - 1) / 2, -1, 1))
    assert kstest(angle, lambda a: (a - np.sin(a)) / np.pi).pvalue > 1e-3
    draws = np.array(pm.draw(pmg.UniformStiefel.dist(3, 2, size=2000), random_seed=3, mode="JAX"))
    assert kstest(draws[:, 1, 1], "uniform", (-1, 2)).pvalue > 1e-3


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: pmg.UniformStiefel.dist(3, 3), ValueError, "two components.*UniformRotation"),
        (lambda: pmg.UniformStiefel.dist(2, 3), ValueError, "1 <= p < n"),
        (lambda: pmg.UniformStiefel.dist(3.0, 2), TypeError, "whole numbers"),
        (lambda: pmg.UniformStiefel.dist(3, 2, shape=(2, 3)), ValueError, r"shape \(3, 2\)"),
        (lambda: pmg.UniformRotation.dist(1), ValueError, "2 or more"),
        (lambda: pmg.UniformRotation.dist(3, shape=(3,)), ValueError, r"shape \(3, 3\)"),
    ],
)
def test_what_cannot_be_done_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.slow
def test_nuts_samples_through_the_transforms():
    with pm.Model():
        x = pmg.UniformStiefel("x", 3, 2)
        r = pmg.UniformRotation("r")
        pm.Potential("twist", 3.0 * x[0, 0] + 1.5 * x[1, 1] + 0.5 * x[2, 0] + 2.0 * r[0, 0])
        idata = pm.sample(2000, tune=1000, chains=2, cores=1, random_seed=1, progressbar=False)
    mean = idata.posterior["x"].mean(("chain", "draw")).values
    # From two million importance draws.
    expected = [[0.6847, 0], [0, 0.4931], [0.1145, 0]]
    np.testing.assert_allclose(mean, expected, atol=0.04)
    assert np.all(np.linalg.det(idata.posterior["r"].values) > 0)


def test_dimensions_are_named():
    coords = {"measurement": list("abcde"), "component": [0, 1], "group": range(3)}
    dims = ("measurement", "component")
    with pm.Model(coords=coords):
        assert pmg.UniformStiefel("x", 5, 2, dims=dims).type.shape == (5, 2)
        assert pmg.UniformStiefel("y", 5, 2, dims=("group", *dims)).ndim == 3
        with pytest.raises(
            ValueError, match=r"expected matrices of shape \(5, 3\).*got shape \(5, 2\)"
        ):
            pmg.UniformStiefel("z", 5, 3, dims=dims)
