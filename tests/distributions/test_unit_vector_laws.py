#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Constants, errors and extremes of the distributions of directions."""

import mpmath as mp
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest

from scipy import stats
from spheres import ROTATION, circle_points

import pymc_geodesic as pmg

from pymc_geodesic.distributions.kent_constant import kent_log_normalizer


def kent_series(kappa, beta):
    """Log normaliser by Kent's series in Bessel functions."""
    with mp.workdps(40):
        half, total = mp.mpf(kappa) / 2, mp.mpf(0)
        for j in range(10_000):
            term = mp.gamma(j + mp.mpf(1) / 2) / mp.gamma(j + 1) * mp.mpf(beta) ** (2 * j)
            term *= half ** (-2 * j - mp.mpf(1) / 2) * mp.besseli(2 * j + mp.mpf(1) / 2, kappa)
            total += term
            if term < total * mp.mpf(10) ** -25:
                return float(-mp.log(2 * mp.pi * total))
    raise AssertionError("The series has not converged.")


@pytest.mark.parametrize("kappa", [0.01, 1.0, 30.0, 300.0])
def test_the_kent_normaliser_by_its_series(kappa):
    beta = kappa * np.array([0.0, 0.1, 0.45, 0.5, 0.6, 2.0])
    expected = np.array([kent_series(kappa, b) for b in beta])
    found = kent_log_normalizer(kappa, beta).eval(mode="FAST_COMPILE")
    np.testing.assert_allclose(found, expected, rtol=1e-11)


@pytest.mark.parametrize("share", [0.1, 0.4, 1.0])
def test_the_kent_normaliser_of_large_parameters(share):
    """By Laplace's method, whose error falls as 1 / kappa."""
    kappa = np.array([1e4, 1e5])
    beta = share * kappa
    log_c = kent_log_normalizer(kappa, beta).eval(mode="FAST_COMPILE")
    if share < 0.5:
        main = np.log(2 * np.pi) + kappa - 0.5 * np.log(kappa**2 - 4 * beta**2)
    else:
        # Two modes, at the cosine kappa / (2 beta).
        main = np.log(4 * np.pi) + beta + kappa**2 / (4 * beta)
        main -= 0.5 * np.log(2 * (4 * beta**2 - kappa**2))
    gap = (-log_c - main) * kappa
    # Of the next term, which is the same for both.
    np.testing.assert_allclose(gap[0], gap[1], rtol=2e-2)
    assert abs(gap[0]) < 10


def test_the_kent_normaliser_without_concentration():
    """Without kappa it is a Bingham distribution."""
    beta = np.array([0.0, 0.5, 20.0, 1e4])
    A = beta[:, None, None] * np.diag([0.0, 1.0, -1.0])
    expected = pmg.distributions.bingham_constant.bingham_log_normalizer(A)
    found = kent_log_normalizer(0.0, beta)
    np.testing.assert_allclose(
        *(x.eval(mode="FAST_COMPILE") for x in (found, expected)), rtol=1e-11
    )


def test_draws_of_kent_where_it_is_narrow():
    kappa, beta = np.array([1e4, 1e4, 50.0]), np.array([100.0, 1e4, 40.0])
    x = pm.draw(
        pmg.Kent.dist(ROTATION, kappa, beta, size=(4000, 3)), random_seed=1, mode="FAST_COMPILE"
    )
    y = x @ ROTATION
    np.testing.assert_allclose((x**2).sum(-1), 1, rtol=1e-12)
    k, b = pt.vector("k"), pt.vector("b")
    log_c = kent_log_normalizer(k, b).sum()
    means = pytensor.function([k, b], pt.grad(-log_c, [k, b]), mode="FAST_COMPILE")(kappa, beta)
    # One minus the cosine keeps its digits.
    for found, expected in (
        (1 - y[..., 0], 1 - means[0]),
        (y[..., 1] ** 2 - y[..., 2] ** 2, means[1]),
    ):
        error = found.std(0) / np.sqrt(len(x))
        np.testing.assert_array_less(np.abs(found.mean(0) - expected), 4.5 * error + 1e-10)


@pytest.mark.parametrize("n", [2, 3, 10, 50])
def test_power_spherical_in_many_dimensions(n):
    mu, kappa = np.eye(n)[1], np.array([0.0, 2.0, 1e4])
    x = pm.draw(
        pmg.PowerSpherical.dist(mu, kappa, size=(3000, 3)), random_seed=n, mode="FAST_COMPILE"
    )
    half = 0.5 * (n - 1)
    for i, k in enumerate(kappa):
        height = 0.5 * (1 - x[:, i] @ mu)
        assert stats.kstest(height, stats.beta(half, half + k).cdf).pvalue > 1e-4


@pytest.mark.parametrize("n", [3, 10, 50])
def test_the_tail_of_the_spherical_cauchy(n):
    """The stereographic projection of the sphere has a multivariate t distribution."""
    rho, mu = np.array([0.0, 0.5, 0.999]), np.eye(n)[0]
    x = pm.draw(
        pmg.SphericalCauchy.dist(mu, rho, size=(3000, 3)), random_seed=n, mode="FAST_COMPILE"
    )
    for i, r in enumerate(rho):
        tangent = x[:, i, 1:] / (1 + x[:, i, :1])
        squares = (tangent**2).sum(-1) * ((1 + r) / (1 - r)) ** 2
        # (n - 1) F / (n - 1) with n - 1 and n - 1 degrees of freedom.
        assert stats.kstest(squares, stats.f(n - 1, n - 1).cdf).pvalue > 1e-4


def test_densities_on_the_circle_are_normalised():
    x, weight = circle_points(4000)
    for variable in (
        pmg.PowerSpherical.dist([0.6, 0.8], 7.0),
        pmg.SphericalCauchy.dist([0.6, 0.8], 0.9),
        pmg.ProjectedNormal.dist([2.0, -1.0], [[1.0, 0.9], [0.9, 1.3]]),
    ):
        total = np.exp(pm.logp(variable, x).eval(mode="FAST_COMPILE")).sum() * weight
        assert total == pytest.approx(1, abs=1e-10)


def test_the_spherical_cauchy_on_the_circle_is_wrapped():
    angles = np.linspace(-3, 3, 20)
    x = np.stack([np.cos(angles), np.sin(angles)], -1)
    found = pm.logp(pmg.SphericalCauchy.dist([1.0, 0.0], 0.7), x).eval(mode="FAST_COMPILE")
    expected = stats.wrapcauchy(0.7).logpdf(np.mod(angles, 2 * np.pi))
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("alpha", [-1000.0, -20.0, -1.0, 0.0, 1.0, 20.0, 1000.0])
@pytest.mark.parametrize("n", [2, 3, 10, 50])
def test_the_radial_integral_of_the_projected_normal(n, alpha):
    """By parabolic cylinder functions: Gamma(n) exp(alpha^2 / 4) D_{-n}(-alpha)."""
    with mp.workdps(60):
        a = mp.mpf(alpha)
        # |D| underflows the working precision without the large exponent of mpmath.
        expected = float(mp.loggamma(n) + a**2 / 4 + mp.log(mp.pcfd(-n, -a)))
    mu = np.zeros(n)
    mu[0] = alpha
    x = np.eye(n)[0]
    found = pm.logp(pmg.ProjectedNormal.dist(mu, np.eye(n)), x).eval(mode="FAST_COMPILE")
    found = found + 0.5 * alpha**2 + 0.5 * n * np.log(2 * np.pi)
    assert found == pytest.approx(expected, abs=1e-10 * max(1, alpha**2))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pmg.PowerSpherical.dist([1.0, 0.0], -1.0), "0 or more in `kappa`"),
        (lambda: pmg.SphericalCauchy.dist([1.0, 0.0], 1.0), "from 0 to below 1 in `rho`"),
        (lambda: pmg.SphericalCauchy.dist([1.0, 1.0], 0.5), "got norms"),
        (lambda: pmg.Kent.dist(np.eye(4), 1.0, 0.0), "three rows and columns"),
        (lambda: pmg.Kent.dist(2 * np.eye(3), 1.0, 0.0), "orthonormal columns"),
        (lambda: pmg.Kent.dist(np.eye(3), 1.0, -1.0), "0 or more in `beta`"),
        (lambda: pmg.ProjectedNormal.dist([1.0, 0.0], np.eye(3)), "equal length"),
        (lambda: pmg.ProjectedNormal.dist([1.0, np.nan], np.eye(2)), "finite means"),
        (lambda: pmg.ProjectedNormal.dist([1.0, 0.0], np.zeros((2, 2))), "positive definite"),
    ],
)
def test_bad_parameters(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_symbolic_parameters_are_checked():
    frame, rho = pt.matrix("frame", shape=(3, 3)), pt.scalar("rho")
    for variable, given in (
        (pmg.Kent.dist(frame, 1.0, 0.2), {frame: np.ones((3, 3))}),
        (pmg.SphericalCauchy.dist(np.eye(3)[0], rho), {rho: 1.5}),
    ):
        with pytest.raises(pm.logprob.utils.ParameterValueError):
            pm.logp(variable, ROTATION).eval(given, mode="FAST_COMPILE")


def test_kent_of_any_concentration_has_a_density():
    """Above 1e16 a cosine is one but for rounding, and so many digits are lost."""
    for kappa, error in ((1e8, 1e-6), (1e17, 64.0)):
        found = pm.logp(pmg.Kent.dist(np.eye(3), kappa, 0.1), np.eye(3)[0]).eval()
        assert abs(found - np.log(kappa / (2 * np.pi))) < error
