#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Constants, errors and extremes of the distributions of axes."""

import mpmath as mp
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest

from spheres import ROTATION, circle_points

import pymc_geodesic as pmg

from pymc_geodesic.distributions.bingham_constant import bingham_log_normalizer
from pymc_geodesic.distributions.watson import watson_log_normalizer

DIMENSIONS = [2, 3, 4, 10, 50]


def watson_reference(n, kappa):
    """Log normaliser by Kummer's function, of positive argument only."""
    with mp.workdps(40):
        half, kappa = mp.mpf(n) / 2, mp.mpf(kappa)
        m = (
            mp.log(mp.hyp1f1(0.5, half, kappa))
            if kappa > 0
            else kappa + mp.log(mp.hyp1f1(half - mp.mpf(1) / 2, half, -kappa))
        )
        return float(mp.loggamma(half) - mp.log(2) - half * mp.log(mp.pi) - m)


@pytest.mark.parametrize("n", [*DIMENSIONS, 1000])
def test_the_watson_normaliser(n):
    kappa = np.array([-1e6, -1e4, -100, -10, -1, -0.01, 0, 0.01, 1, 10, n / 2, 50, 700, 1e4, 1e6])
    expected = np.array([watson_reference(n, k) for k in kappa])
    found = watson_log_normalizer(n, kappa).eval(mode="FAST_COMPILE")
    np.testing.assert_array_less(np.abs(found - expected), 1e-12 * np.maximum(1, np.abs(expected)))


def complex_bingham(pairs):
    """Log normaliser where every eigenvalue -theta occurs twice: a sum of residues."""
    with mp.workdps(500):
        theta = [mp.mpf(float(x)) for x in pairs]
        total = sum(
            mp.exp(-own) / mp.fprod(other - own for j, other in enumerate(theta) if j != i)
            for i, own in enumerate(theta)
        )
        return float(-mp.log(2 * mp.pi ** len(theta) * total))


@pytest.mark.parametrize("n", [4, 10, 50, 100])
@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0, 100.0, 1e4, 1e6])
def test_the_bingham_normaliser_of_pairs(n, scale):
    rng = np.random.default_rng(1)
    for theta in (rng.uniform(size=n // 2), rng.exponential(size=n // 2) ** 3):
        theta = scale * (theta - theta.min())
        found = bingham_log_normalizer(np.diag(-np.repeat(theta, 2))).eval(mode="FAST_COMPILE")
        expected = complex_bingham(theta)
        assert abs(found - expected) < 1e-11 * max(1, abs(expected))


@pytest.mark.parametrize("n", DIMENSIONS)
def test_the_bingham_normaliser_of_watson(n):
    """Multiplicities of one and n - 1, which the pairs above do not have."""
    kappa = np.array([-1e4, -30.0, -1.0, 0.0, 1.0, 30.0, 1e4])
    A = np.zeros((len(kappa), n, n))
    A[:, 0, 0] = kappa
    found = bingham_log_normalizer(A + 5 * np.eye(n)).eval(mode="FAST_COMPILE") + 5
    expected = np.array([watson_reference(n, k) for k in kappa])
    np.testing.assert_array_less(np.abs(found - expected), 1e-11 * np.maximum(1, np.abs(expected)))


@pytest.mark.parametrize("n", DIMENSIONS)
def test_the_gradient_of_the_bingham_normaliser(n):
    """Also with equal eigenvalues: second moments, which add up to one."""
    rng = np.random.default_rng(n)
    frame = np.linalg.qr(rng.normal(size=(n, n)))[0]
    values = np.round(rng.normal(0, 3, n))
    A = pt.matrix("A", shape=(n, n))
    gradient = pytensor.function([A], -pt.grad(bingham_log_normalizer(A), A), mode="FAST_COMPILE")
    second = gradient((frame * values) @ frame.T)
    assert np.trace(second) == pytest.approx(1, abs=1e-10)
    draws = pm.draw(
        pmg.Bingham.dist((frame * values) @ frame.T, size=1000), random_seed=1, mode="FAST_COMPILE"
    )
    squares = (draws @ frame) ** 2
    error = squares.std(0) / np.sqrt(len(draws))
    np.testing.assert_array_less(
        np.abs(squares.mean(0) - np.diag(frame.T @ second @ frame)), 4.5 * error
    )


@pytest.mark.parametrize("n", DIMENSIONS)
def test_draws_of_watson_and_bingham_in_many_dimensions(n):
    mu = np.arange(1.0, n + 1) / np.linalg.norm(np.arange(1.0, n + 1))
    kappa, size = np.array([-1e4, -5.0, 0.5, 50.0, 1e4]), 2000 if n < 50 else 400
    k = pt.vector("k")
    mean = -pt.grad(watson_log_normalizer(n, k).sum(), k)
    expected = mean.eval({k: kappa}, mode="FAST_COMPILE")
    for variable in (
        pmg.Watson.dist(mu, kappa, size=(size, 5)),
        pmg.Bingham.dist(kappa[:, None, None] * np.outer(mu, mu), size=(size, 5)),
    ):
        x = pm.draw(variable, random_seed=2, mode="FAST_COMPILE")
        squares = (x @ mu) ** 2
        error = squares.std(0) / np.sqrt(size)
        np.testing.assert_array_less(np.abs(squares.mean(0) - expected), 4.5 * error)
        # Signs are random.
        assert np.all(np.abs((x @ mu).mean(0)) < 4.5 * np.sqrt(expected / size))


@pytest.mark.parametrize("cov", [np.eye(2), np.array([[2.0, 1.5], [1.5, 1.3]])])
def test_densities_on_the_circle_are_normalised(cov):
    x, weight = circle_points(4000)
    for variable in (
        pmg.AngularCentralGaussian.dist(cov),
        pmg.Bingham.dist(5 * cov),
        pmg.Watson.dist([0.6, 0.8], 3.0),
    ):
        total = np.exp(pm.logp(variable, x).eval(mode="FAST_COMPILE")).sum() * weight
        assert total == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pmg.Watson.dist([1.0, 1.0], 1.0), "`mu`, got norms"),
        (lambda: pmg.Watson.dist([1.0, 0.0], np.inf), "finite concentrations of either sign"),
        (lambda: pmg.Bingham.dist(np.ones(3)), "square matrices"),
        (lambda: pmg.Bingham.dist(np.ones((3, 2))), r"square matrices.*\(3, 2\)"),
        (lambda: pmg.Bingham.dist([[1.0, 2.0], [0.0, 1.0]]), "differs from its transpose by 2"),
        (lambda: pmg.Bingham.dist(np.full((2, 2), np.nan)), "finite symmetric"),
        (lambda: pmg.Bingham.dist(np.eye(101)), "at most 100 rows"),
        (lambda: pmg.AngularCentralGaussian.dist(-np.eye(2)), "smallest eigenvalue of -1"),
    ],
)
def test_bad_parameters(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_symbolic_parameters_are_checked():
    mu, cov = pt.vector("mu", shape=(3,)), pt.matrix("cov", shape=(3, 3))
    for variable, given in (
        (pmg.Watson.dist(mu, 1.0), {mu: np.ones(3)}),
        (pmg.AngularCentralGaussian.dist(cov), {cov: np.diag([1.0, -1.0, 1.0])}),
    ):
        with pytest.raises(pm.logprob.utils.ParameterValueError):
            pm.logp(variable, ROTATION).eval(given, mode="FAST_COMPILE")
