#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Matrix Langevin: its constant against other formulas, its gradient and its draws."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest

from pytensor.compile.mode import Mode
from scipy.special import gammaln, ive, roots_jacobi

import pymc_geodesic as pmg

from pymc_geodesic.distributions.frames import log_stiefel_area
from pymc_geodesic.distributions.matrix_constant import log_mean_exponential

# Interpreted: compiling linear algebra takes Numba longer than all evaluations here.
INTERPRETED = Mode(linker="py", optimizer=None)


def with_singular_values(values, n, seed):
    rng, p = np.random.default_rng(seed), len(values)
    left, right = (np.linalg.qr(rng.normal(size=(k, p)))[0] for k in (n, p))
    return (left * values) @ right.T


def constant_and_gradient(shape):
    f = pt.tensor("f", shape=shape, dtype="float64")
    value = log_mean_exponential(f, n=shape[-2], p=shape[-1])
    return pytensor.function([f], [value, pytensor.grad(value.sum(), f)], mode=INTERPRETED)


def log_bessel_mean(n, kappa):
    """Log of 0F1(n / 2; kappa^2 / 4) by SciPy."""
    order, kappa = n / 2 - 1, np.maximum(kappa, 1e-8)
    # Underflow means an order far above kappa, where the function is one.
    scaled = np.maximum(ive(order, kappa), 1e-300)
    log_mean = np.log(scaled) + kappa + gammaln(order + 1) - order * np.log(kappa / 2)
    return np.where(scaled > 1e-300, log_mean, 0.0)


def log_muirhead(n, d1, d2):
    """Muirhead's series for two columns."""
    x, y, a = d1**2 / 4, d2**2 / 4, n / 2
    k = np.arange(60)
    terms = k * np.log(x * y) if x * y > 0 else np.where(k == 0, 0.0, -1e10)
    terms = terms - gammaln(k + 1)
    terms -= gammaln(a + 2 * k) - gammaln(a) + gammaln(a - 0.5 + k) - gammaln(a - 0.5)
    return np.logaddexp.reduce(terms + log_bessel_mean(n + 4 * k, 2 * np.sqrt(x + y)))


def log_three_columns(n, d, m=60):
    """Integrate the third column over the first two entries, and tau for the other two."""
    tau, own = roots_jacobi(m, (n - 1) / 2 - 2, (n - 1) / 2 - 2)
    node, weight = roots_jacobi(4 * m, (n - 4) / 2, 0)
    square, angle = np.meshgrid((node + 1) / 2, 2 * np.pi * np.arange(m) / m, indexing="ij")
    first, second = square * np.cos(angle) ** 2, square * np.sin(angle) ** 2
    length = d[0] ** 2 * (1 - first) + d[1] ** 2 * (1 - second)
    cross = 2 * d[0] * d[1] * np.sqrt(1 - square)
    root = np.sqrt(np.maximum(length[..., None] + cross[..., None] * tau, 0))
    values = log_bessel_mean(n - 1, root)
    values += log_bessel_mean(n - 2, d[2] * np.sqrt(1 - square))[..., None]
    weights = weight[:, None, None] / weight.sum() / m * own / own.sum()
    top = values.max()
    return top + np.log((np.exp(values - top) * weights).sum())


@pytest.mark.parametrize("kappa", [0.0, 0.1, 3.0, 200.0])
def test_one_column_is_von_mises_fisher(kappa):
    mu = np.array([0.0, 0.6, 0.8])
    x = np.random.default_rng(1).normal(size=(5, 3))
    x /= np.linalg.norm(x, axis=-1, keepdims=True)
    frames = pm.logp(pmg.MatrixLangevin.dist(kappa * mu[:, None]), x[..., None])
    vectors = pm.logp(pmg.VonMisesFisher.dist(mu, kappa), x)
    np.testing.assert_allclose(
        frames.eval(mode=INTERPRETED), vectors.eval(mode=INTERPRETED), rtol=1e-10
    )


@pytest.mark.parametrize("n", [3, 4, 10, 50])
def test_two_columns_against_muirheads_series(n):
    function = constant_and_gradient((n, 2))
    for values in ((0.0, 0.0), (1.0, 0.6), (3.0, 3.0), (12.0, 0.0), (20.0, 11.0)):
        found, _ = function(with_singular_values(values, n, seed=n))
        np.testing.assert_allclose(found, log_muirhead(n, *values), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize(("n", "tolerance"), [(4, 0.04), (8, 0.008), (15, 0.0018), (30, 5e-4)])
def test_three_columns_against_integration(n, tolerance):
    function, rng = constant_and_gradient((n, 3)), np.random.default_rng(n)
    for number in range(8):
        values = np.sort(n * np.exp(rng.uniform(-3, 1, 3)))[::-1]
        if number % 3 == 0:
            values[2] = 0
        if number % 4 == 0:
            values[1] = values[0]
        found, _ = function(with_singular_values(values, n, seed=number))
        np.testing.assert_allclose(found, log_three_columns(n, values), atol=tolerance)


def test_the_saddlepoint_is_exact_at_both_ends():
    function = constant_and_gradient((6, 4))
    assert abs(function(np.zeros((6, 4)))[0]) < 1e-12
    d = 1e5 * np.array([4.0, 3.0, 2.0, 1.5])
    pairs = sum(np.log(d[i] + d[j]) for i in range(4) for j in range(i))
    # Laplace's method: six turns, and four vectors of length two.
    log_haar = log_stiefel_area(6, 4) - 3 * np.log(2)
    expected = d.sum() - np.log(d).sum() - pairs / 2 + 7 * np.log(2 * np.pi) - log_haar
    found, _ = function(with_singular_values(d, 6, seed=1))
    assert found == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(
    "values", [(5.0,), (5.0, 3.0), (4.0, 4.0), (5.0, 4.0, 4.0), (3.0, 1.0, 0.0)]
)
def test_gradient(values):
    p, rng = len(values), np.random.default_rng(3)
    function, f = constant_and_gradient((5, p)), with_singular_values(values, 5, seed=2)
    direction = rng.normal(size=f.shape)
    ahead, behind = (function(f + h * direction)[0] for h in (1e-5, -1e-5))
    np.testing.assert_allclose(
        (function(f)[1] * direction).sum(), (ahead - behind) / 2e-5, rtol=1e-6, atol=1e-7
    )


def test_density_is_normalised():
    """The mean over uniform frames of the density times the area is one."""
    f = with_singular_values((3.0, 1.5), 4, seed=5)
    x = pm.draw(pmg.UniformStiefel.dist(4, 2, size=5_000), random_seed=1, mode=INTERPRETED)
    logp = pm.logp(pmg.MatrixLangevin.dist(f), x).eval(mode=INTERPRETED)
    ratio = np.exp(logp + log_stiefel_area(4, 2))
    assert abs(ratio.mean() - 1) < 4 * ratio.std() / np.sqrt(len(ratio))


@pytest.mark.parametrize(
    ("n", "values"),
    [(3, (0.0,)), (3, (4.0, 1.5)), (10, (30.0, 30.0)), (6, (2.0, 0.0)), (5, (8.0, 8.0, 3.0))],
)
def test_draws_have_the_mean_that_the_constant_says(n, values):
    f = with_singular_values(values, n, seed=4)
    x = pm.draw(pmg.MatrixLangevin.dist(f, size=1_000), random_seed=2, mode=INTERPRETED)
    assert pmg.Stiefel().check(x) is None
    error = x.std(axis=0) / np.sqrt(len(x))
    mean = constant_and_gradient(f.shape)(f)[1]
    assert np.all(np.abs(x.mean(axis=0) - mean) < 4.5 * error)


def test_batches_are_independent_frames():
    f = np.stack([with_singular_values((d, 1.0), 4, seed=1) for d in (0.0, 2.0, 40.0)])
    x = pm.draw(pmg.MatrixLangevin.dist(f, size=(2, 3)), random_seed=1, mode=INTERPRETED)
    assert x.shape == (2, 3, 4, 2)
    together = pm.logp(pmg.MatrixLangevin.dist(f), x).eval(mode=INTERPRETED)
    alone = pm.logp(pmg.MatrixLangevin.dist(f[1]), x[:, 1]).eval(mode=INTERPRETED)
    np.testing.assert_allclose(together[:, 1], alone, rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pmg.MatrixLangevin.dist(np.ones(3)), "matrix of known shape"),
        (lambda: pmg.MatrixLangevin.dist(pt.matrix("f")), "matrix of known shape"),
        (lambda: pmg.MatrixLangevin.dist(np.eye(3)), "two components"),
        (lambda: pmg.MatrixLangevin.dist(np.full((3, 2), np.nan)), "finite entries"),
        (lambda: pmg.MatrixLangevin.dist(np.ones((3, 2)), shape=(4, 2)), r"shape \(3, 2\)"),
    ],
)
def test_what_cannot_be_done_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_observed_frames_are_checked():
    with pm.Model(), pytest.raises(ValueError, match="inner products off"):
        pmg.MatrixLangevin("x", np.ones((3, 2)), observed=np.ones((3, 2)))
    with pm.Model(), pytest.raises(ValueError, match=r"expected matrices of shape \(3, 2\)"):
        pmg.MatrixLangevin("x", np.ones((3, 2)), observed=np.eye(4)[:, :2])


def test_many_columns_can_be_sampled_but_not_drawn():
    x = pmg.MatrixLangevin.dist(np.eye(8)[:, :5])
    assert np.isfinite(pm.logp(x, np.eye(8)[:, :5]).eval(mode=INTERPRETED))
    with pytest.raises(AssertionError, match="at most 4 columns"):
        pm.draw(x, mode=INTERPRETED)
