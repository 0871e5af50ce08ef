#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Distributions of angles: densities, constants, draws, gradients and bad input."""

import mpmath as mp
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest

from scipy import stats

import pymc_geodesic as pmg

from pymc_geodesic.distributions.bivariate_von_mises import sine_model_log_normalizer

COPIED_RNG = "ignore:The RandomType SharedVariables:UserWarning"
ANGLES = np.linspace(-np.pi, np.pi, 720, endpoint=False)
MU = 2.9
CASES = {
    "WrappedNormal": (pmg.WrappedNormal, {"sigma": 0.7}),
    "WrappedNormal-wide": (pmg.WrappedNormal, {"sigma": 1.4}),
    "WrappedCauchy": (pmg.WrappedCauchy, {"rho": 0.6}),
    "Cardioid": (pmg.Cardioid, {"rho": 0.4}),
}


@pytest.fixture(params=CASES, ids=str)
def case(request):
    return CASES[request.param]


def logp(distribution, value, **parameters):
    return pm.logp(distribution.dist(**parameters), value).eval(mode="FAST_COMPILE")


@pytest.mark.filterwarnings(COPIED_RNG)
@pytest.mark.parametrize("mode", ["NUMBA", "JAX"])
def test_draws_have_the_moments_of_the_density(case, mode):
    distribution, parameters = case
    density = np.exp(logp(distribution, ANGLES, mu=MU, **parameters))
    assert density.mean() * 2 * np.pi == pytest.approx(1, abs=1e-12)
    n = 20_000
    draws = pm.draw(distribution.dist(MU, **parameters, size=n), random_seed=1, mode=mode)
    assert np.abs(draws).max() <= np.pi
    for function in (np.cos, np.sin):
        for k in (1, 2, 3):
            found = function(k * draws)
            expected = (density * function(k * ANGLES)).mean() * 2 * np.pi
            assert abs(found.mean() - expected) < 4.5 * found.std() / np.sqrt(n)


@pytest.mark.parametrize("sigma", [1e-4, 0.1, 0.9999, 1.0, 1.5, 3.0, 20.0])
def test_wrapped_normal_by_the_theta_function(sigma):
    x = np.array([0.0, 1e-4, 0.3, 2.0, 3.1])
    x = x[x < 30 * sigma]
    found = logp(pmg.WrappedNormal, x, mu=0.0, sigma=sigma)
    with mp.workdps(400):
        nome = mp.exp(-(mp.mpf(sigma) ** 2) / 2)
        expected = [
            float(mp.log(mp.jtheta(3, mp.mpf(a) / 2, nome) / (2 * mp.pi)))
            if sigma > 0.05
            else stats.norm(0, sigma).logpdf(a)
            for a in x
        ]
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def test_wrapped_cauchy_against_scipy():
    for rho in (0.0, 0.3, 0.99):
        expected = np.full(ANGLES.shape, -np.log(2 * np.pi))
        if rho:
            expected = stats.wrapcauchy(rho).logpdf(np.mod(ANGLES, 2 * np.pi))
        found = logp(pmg.WrappedCauchy, ANGLES, mu=0.0, rho=rho)
        np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_differences(name):
    distribution, parameters = CASES[name]
    inputs = [pt.scalar(x) for x in ("value", "mu", "other")]
    graph = pm.logp(distribution.dist(*inputs[1:]), inputs[0])
    [graph] = pmg.potential.log_density.without_checks([graph], impossible=False)
    both = pytensor.function(inputs, [graph, *pytensor.grad(graph, inputs)], mode="FAST_COMPILE")
    point, step = np.array([-2.8, MU, *parameters.values()]), 1e-6
    for i, gradient in enumerate(both(*point)[1:]):
        change = step * np.eye(3)[i]
        difference = (both(*(point + change))[0] - both(*(point - change))[0]) / (2 * step)
        assert gradient == pytest.approx(difference, rel=1e-6, abs=1e-8)


def sine_series(kappa_1, kappa_2, lam):
    with mp.workdps(40):
        total, ratio = mp.mpf(0), mp.mpf(lam) ** 2 / (4 * mp.mpf(kappa_1) * kappa_2)
        for m in range(5000):
            term = mp.binomial(2 * m, m) * ratio**m
            term *= mp.besseli(m, kappa_1) * mp.besseli(m, kappa_2)
            total += term
            if term < total * mp.mpf(10) ** -25:
                return float(-mp.log(4 * mp.pi**2 * total))
    raise AssertionError("The series has not converged.")


@pytest.mark.parametrize("kappa", [(0.01, 0.1), (3.0, 1.0), (1.0, 40.0), (200.0, 100.0)])
def test_the_sine_model_by_its_series(kappa):
    lam = np.sqrt(np.prod(kappa)) * np.array([0.0, -0.3, 0.9, 1.0, 1.2, -3.0])
    expected = [sine_series(*kappa, x) for x in lam]
    found = sine_model_log_normalizer(*kappa, lam).eval(mode="FAST_COMPILE")
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_the_sine_model_of_large_parameters():
    """By Laplace's method, whose error falls as 1 / kappa."""
    kappa = np.array([1e3, 1e4])
    log_c = sine_model_log_normalizer(kappa, 2 * kappa, kappa).eval(mode="FAST_COMPILE")
    main = np.log(2 * np.pi) + 3 * kappa - 0.5 * np.log(2 * kappa**2 - kappa**2)
    gap = (-log_c - main) * kappa
    assert abs(gap[0]) < 5
    np.testing.assert_allclose(gap[0], gap[1], rtol=2e-2)


@pytest.mark.filterwarnings(COPIED_RNG)
@pytest.mark.parametrize("lam", [1.5, -6.0])
@pytest.mark.parametrize("mode", ["NUMBA", "JAX"])
def test_draws_of_two_angles(lam, mode):
    mu, kappa, n = np.array([2.5, -1.0]), np.array([2.0, 4.0]), 20_000
    grid = np.stack(np.meshgrid(ANGLES[::4], ANGLES[::4], indexing="ij"), -1).reshape(-1, 2)
    weight = np.exp(logp(pmg.BivariateVonMises, grid, mu=mu, kappa=kappa, lam=lam))
    assert weight.mean() * 4 * np.pi**2 == pytest.approx(1, abs=1e-10)
    variable = pmg.BivariateVonMises.dist(mu, kappa, lam, size=n)
    draws = pm.draw(variable, random_seed=1, mode=mode)

    def moments(x):
        a, b = x[:, 0], x[:, 1]
        parts = [np.cos(a), np.sin(a), np.cos(b), np.sin(b), np.cos(a - b), np.sin(a + b)]
        return np.stack([*parts, np.cos(2 * a), np.sin(2 * b)], -1)

    expected = (weight[:, None] * moments(grid)).mean(0) * 4 * np.pi**2
    found = moments(draws)
    error = found.std(0) / np.sqrt(n)
    np.testing.assert_array_less(np.abs(found.mean(0) - expected), 4.5 * error)


def test_parameters_have_leading_axes():
    one = pmg.BivariateVonMises.dist([0.0, 1.0], [1.0, 2.0], [0.5, -3.0])
    assert pm.draw(one, random_seed=1, mode="FAST_COMPILE").shape == (2, 2)
    many = pmg.WrappedNormal.dist([0.0, 1.0], 0.5, size=(3, 2))
    assert pm.draw(many, random_seed=1, mode="FAST_COMPILE").shape == (3, 2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pmg.WrappedNormal.dist(0.0, 0.0), "positive scales"),
        (lambda: pmg.WrappedCauchy.dist(0.0, 1.0), "from 0 to below 1"),
        (lambda: pmg.Cardioid.dist(0.0, 0.6), "from 0 to 1/2"),
        (lambda: pmg.BivariateVonMises.dist([0.0], [1.0, 1.0], 1.0), "two entries.*`mu`"),
        (lambda: pmg.BivariateVonMises.dist([0.0, 0.0], [1.0, -1.0], 1.0), "0 or more"),
    ],
)
def test_bad_parameters(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_bad_data(case):
    distribution, parameters = case
    with pm.Model(), pytest.raises(ValueError, match=r"angles from -pi to pi in `observed`.*wrap"):
        distribution("x", 0.0, **parameters, observed=[10.0, 350.0])


def test_other_angles_are_impossible(case):
    distribution, parameters = case
    value = pt.scalar("value")
    density = pm.logp(distribution.dist(0.0, **parameters), value)
    assert np.isneginf(density.eval({value: 3.2}, mode="FAST_COMPILE"))


def test_two_free_angles_have_a_log_density_for_nuts():
    parameters = ([3.0, -3.0], [3.0, 5.0], 2.5)
    with pm.Model() as model:
        pmg.BivariateVonMises("x", *parameters, shape=(3, 2))
    x = np.array([[3.3, -2.0], [0.0, 1.0], [-3.0, 2.0]])
    found = model.compile_logp()({"x_circular__": x})
    wrapped = np.angle(np.exp(1j * x))
    expected = pm.logp(pmg.BivariateVonMises.dist(*parameters), wrapped).sum().eval()
    assert found == pytest.approx(expected)
    assert isinstance(pmg.manifold_of(model["x"]), pmg.Circle)


@pytest.mark.parametrize(
    "make",
    [
        lambda mu: pmg.WrappedNormal.dist(mu, 1.0),
        lambda mu: pmg.WrappedCauchy.dist(mu, 0.5),
        lambda mu: pmg.Cardioid.dist(mu, 0.2),
        lambda mu: pmg.BivariateVonMises.dist([0.0, mu], [1.0, 1.0], 0.5),
    ],
)
def test_means_in_degrees_are_refused(make):
    make(2 * np.pi)
    with pytest.raises(ValueError, match=r"angles from -2 pi to 2 pi in `mu`.*`np.deg2rad`"):
        make(180.0)


def test_two_angles_of_any_concentration_have_a_density():
    """Above 1e16 a cosine is one but for rounding, and so many digits are lost."""
    for kappa, error in ((1e8, 1e-6), (1e17, 64.0)):
        found = pm.logp(
            pmg.BivariateVonMises.dist([0.0, 0.0], [kappa, kappa], 0.1), np.zeros(2)
        ).eval()
        assert abs(found - np.log(kappa / (2 * np.pi))) < error
