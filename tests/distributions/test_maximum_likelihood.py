#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Fits maximise the likelihood of their own densities."""

import numpy as np
import pymc as pm
import pytest

from spheres import ROTATION

import pymc_geodesic as pmg


def draws(variable, seed=1):
    return pm.draw(variable, random_seed=seed, mode="FAST_COMPILE")


def log_likelihood(distribution, X, **parameters):
    variable = distribution.dist(**parameters)
    return pm.logp(variable, X).eval(mode="FAST_COMPILE").mean()


@pytest.mark.parametrize("n", [2, 10, 50])
@pytest.mark.parametrize("kappa", [0.5, 1e4])
def test_von_mises_fisher(n, kappa):
    mu = np.arange(1.0, n + 1) / np.linalg.norm(np.arange(1.0, n + 1))
    X = draws(pmg.VonMisesFisher.dist(mu, kappa, size=4000))
    fit = pmg.fit_von_mises_fisher(X)
    best = log_likelihood(pmg.VonMisesFisher, X, **fit._asdict())
    for factor in (0.98, 1.02):
        other = log_likelihood(pmg.VonMisesFisher, X, mu=fit.mu, kappa=factor * fit.kappa)
        assert other < best
    # Twice the gain over the truth is chi square with n degrees of freedom.
    gain = best - log_likelihood(pmg.VonMisesFisher, X, mu=mu, kappa=kappa)
    assert 0 <= 2 * len(X) * gain < n + 5 * np.sqrt(2 * n)


@pytest.mark.parametrize("n", [2, 10])
@pytest.mark.parametrize("kappa", [-500.0, -8.0, 8.0, 500.0])
def test_watson_is_at_the_maximum(n, kappa):
    mu = np.arange(1.0, n + 1) / np.linalg.norm(np.arange(1.0, n + 1))
    X = draws(pmg.Watson.dist(mu, kappa, size=3000))
    fit = pmg.fit_watson(X)
    assert fit.kappa == pytest.approx(kappa, rel=0.12 if n > 2 or kappa > 0 else 0.2) or n == 2
    best = log_likelihood(pmg.Watson, X, **fit._asdict())
    for factor in (0.98, 1.02):
        assert log_likelihood(pmg.Watson, X, mu=fit.mu, kappa=factor * fit.kappa) < best
    assert log_likelihood(pmg.Watson, X, mu=mu, kappa=kappa) <= best
    assert abs(fit.mu @ mu) > 0.99 or n == 2


@pytest.mark.parametrize("n", [2, 10, 30])
@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_bingham_has_the_second_moments_of_the_data(n, scale):
    frame = np.linalg.qr(np.random.default_rng(n).normal(size=(n, n)))[0]
    A = (frame * np.linspace(-scale, 0, n)) @ frame.T
    X = draws(pmg.Bingham.dist(A, size=3000 if n < 30 else 500))
    fit = pmg.fit_bingham(X)
    assert np.linalg.eigvalsh(fit.A)[-1] == pytest.approx(0, abs=1e-9 * scale)
    best = log_likelihood(pmg.Bingham, X, A=fit.A)
    assert best >= log_likelihood(pmg.Bingham, X, A=A)
    rng = np.random.default_rng(1)
    for _ in range(3):
        change = rng.normal(size=(n, n))
        change = 0.05 * scale * (change + change.T) / n
        assert log_likelihood(pmg.Bingham, X, A=fit.A + change) < best


@pytest.mark.parametrize(("kappa", "beta"), [(5.0, 1.0), (100.0, 40.0), (1e4, 1e3), (4.0, 6.0)])
def test_kent_is_at_the_maximum(kappa, beta):
    X = draws(pmg.Kent.dist(ROTATION, kappa, beta, size=3000))
    fit = pmg.fit_kent(X)
    np.testing.assert_allclose(fit.frame.T @ fit.frame, np.eye(3), atol=1e-10)
    best = log_likelihood(pmg.Kent, X, **fit._asdict())
    assert best >= log_likelihood(pmg.Kent, X, frame=ROTATION, kappa=kappa, beta=beta) - 1e-9
    for k, b in ((1.02, 1.0), (0.98, 1.0), (1.0, 1.05), (1.0, 0.95)):
        other = log_likelihood(pmg.Kent, X, frame=fit.frame, kappa=k * fit.kappa, beta=b * fit.beta)
        assert other < best
    # Twice the gain over the truth is chi square with five degrees of freedom.
    gain = best - log_likelihood(pmg.Kent, X, frame=ROTATION, kappa=kappa, beta=beta)
    assert 2 * len(X) * gain < 30


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pmg.fit_von_mises_fisher(np.ones((3, 2))), "got norms"),
        (lambda: pmg.fit_von_mises_fisher([[1.0, 0.0], [-1.0, 0.0]]), "fit_watson"),
        (lambda: pmg.fit_watson(np.eye(3)[:2]), "lie in a subspace"),
        (lambda: pmg.fit_kent(np.eye(4)), "length three"),
        (lambda: pmg.fit_bingham([1.0, 0.0]), "one per row"),
    ],
)
def test_bad_data(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_angles_return():
    angles = np.random.default_rng(1).uniform(-np.pi, np.pi, (5, 2))
    np.testing.assert_allclose(pmg.vectors_to_angles(pmg.angles_to_vectors(angles)), angles)
    assert pmg.vectors_to_angles([-1.0, -0.0], degrees=True) == 180
    with pytest.raises(ValueError, match="with a direction"):
        pmg.vectors_to_angles([0.0, 0.0])
    with pytest.raises(ValueError, match="two entries"):
        pmg.vectors_to_angles([1.0, 0.0, 0.0])


def test_angles_in_degrees():
    expected = pmg.angles_to_vectors([0.5, np.pi])
    for degrees in ({"unit": "degrees"}, {"degrees": True}):
        x = pmg.angles_to_vectors(np.rad2deg([0.5, np.pi]), **degrees)
        np.testing.assert_allclose(x, expected, atol=1e-15)
        np.testing.assert_allclose(pmg.vectors_to_angles(x, **degrees), np.rad2deg([0.5, np.pi]))
    with pytest.raises(ValueError, match="`angles` expected angles in radians from -2 pi to 2 pi"):
        pmg.angles_to_vectors([90.0])


def test_a_kent_distribution_needs_rows_in_two_directions():
    rows = np.random.default_rng(1).normal([3.0, 0.0, 0.0], 0.3, (3, 3))
    with pytest.raises(ValueError, match=r"`X` expected 5 rows or more, .* got 3"):
        pmg.fit_kent(rows / np.linalg.norm(rows, axis=1, keepdims=True))
    angles = np.linspace(0.1, 0.9, 9)
    with pytest.raises(ValueError, match="`X` expected rows that scatter in two directions"):
        pmg.fit_kent(np.column_stack([pmg.angles_to_vectors(angles), 0 * angles]))
