#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Coordinates of the simplex: their maps, drifts, noises and proposal densities.

The reference is written from the metric alone, with matrices and numerical derivatives, in the K or
K - 1 free entries of the coordinates.
"""

import numpy as np
import pytest

from scipy.stats import multivariate_normal

from pymc_geodesic.algorithms.simplex_coordinates import COORDINATES

K, TOTAL_SHAPE, STEP_SIZE = 4, 2.7, 0.03
ALPHA = np.array([0.4, 1.3, 2.0, 3.1])
CASES = [(name, metric) for name in COORDINATES for metric in ("fisher", "identity")]
TO_TOTAL = "the total of reduced coordinates is one"


def chart_of(name, metric="fisher"):
    return COORDINATES[name](shape=TOTAL_SHAPE, metric=metric)


def free(name, theta):
    return theta if name.startswith("expanded") else theta[..., :-1]


def complete(name, x):
    if name == "reduced_mean":
        return np.append(x, 1 - x.sum())
    return np.append(x, 0.0) if name == "reduced_natural" else x


def probabilities(name, x):
    theta = complete(name, x)
    weights = np.exp(theta) if name.endswith("natural") else np.abs(theta)
    return weights / weights.sum()


def log_density_of_pi(pi):
    """Dirichlet, and a term that is neither linear in log(pi) nor symmetric."""
    return (ALPHA - 1) @ np.log(pi) + np.sin(3 * pi[0]) + 2 * pi[1] * pi[3]


def log_gradient_of_pi(pi):
    extra = np.array([3 * np.cos(3 * pi[0]), 2 * pi[3], 0, 2 * pi[1]])
    return ALPHA - 1 + pi * extra


def log_density(name, x):
    """Density of the free entries: that of the probabilities, the total's, the Jacobian's."""
    pi = probabilities(name, x)
    value = log_density_of_pi(pi)
    if name == "expanded_mean":
        return value + (TOTAL_SHAPE - K) * np.log(x.sum()) - x.sum()
    if name == "expanded_natural":
        total = np.exp(x).sum()
        return value + (TOTAL_SHAPE - K) * np.log(total) - total + x.sum()
    return value + (np.log(pi).sum() if name == "reduced_natural" else 0.0)


def inverse_metric(name, metric, x):
    """Table 1 of the paper without its 1 / n."""
    if metric == "identity":
        return np.eye(len(x))
    pi = probabilities(name, x)
    first = pi[:-1]
    return {
        "expanded_mean": lambda: np.diag(x),
        "expanded_natural": lambda: np.diag(np.exp(-x)),
        "reduced_mean": lambda: np.diag(first) - np.outer(first, first),
        "reduced_natural": lambda: np.diag(1 / first) + 1 / pi[-1],
    }[name]()


def derivative(function, x, h=1e-5):
    steps = h * np.eye(len(x))
    return np.array([(function(x + e) - function(x - e)) / (2 * h) for e in steps])


def functions_of(chart):
    def evaluate(theta, g=ALPHA, z=ALPHA, to=None):
        to = theta if to is None else to
        mean, scale = chart.move(theta, g, STEP_SIZE)
        log_pi, log_total = chart.to_log(theta)
        return {
            "mean": mean,
            "noise": chart.noise(theta, scale, z),
            "proposal": chart.log_proposal(to, mean, scale),
            "density": chart.log_density(theta, 0.0),
            "log_pi": log_pi,
            "log_total": log_total,
            "back": chart.from_log(log_pi, log_total),
            "folded": chart.fold(to),
            "inside": chart.contains(to),
        }

    return evaluate


def points(name, n=3, seed=1):
    """Points of the free coordinates."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        pi = rng.dirichlet(np.full(K, 3.0))
        total = rng.gamma(TOTAL_SHAPE)
        yield {
            "expanded_mean": total * pi,
            "expanded_natural": np.log(total * pi),
            "reduced_mean": pi[:-1],
            "reduced_natural": np.log(pi[:-1] / pi[-1]),
        }[name]


@pytest.mark.parametrize("name", COORDINATES)
def test_round_trips(name):
    evaluate = functions_of(chart_of(name))
    for x in points(name):
        values = evaluate(complete(name, x))
        np.testing.assert_allclose(values["back"], complete(name, x), rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(np.exp(values["log_pi"]), probabilities(name, x), rtol=1e-12)
        if name.startswith("reduced"):
            assert values["log_total"] == 0, TO_TOTAL


@pytest.mark.parametrize(("name", "metric"), CASES)
def test_drift_against_numerical_derivatives(name, metric):
    """Half of the inverse metric times the gradient, plus the inverse metric's divergence."""
    evaluate = functions_of(chart_of(name, metric))
    for x in points(name):
        moved = evaluate(complete(name, x), log_gradient_of_pi(probabilities(name, x)))["mean"]
        gradient = derivative(lambda y: log_density(name, y), x)
        by_entry = derivative(lambda y: inverse_metric(name, metric, y), x)
        divergence = np.einsum("kjk->j", by_entry)
        drift = 0.5 * (inverse_metric(name, metric, x) @ gradient + divergence)
        found = (free(name, moved) - x) / STEP_SIZE
        np.testing.assert_allclose(found, drift, rtol=1e-6, atol=1e-6)
        theta = complete(name, x)
        if name == "reduced_mean":
            assert moved.sum() == pytest.approx(1, abs=1e-12)
        if name == "reduced_natural":
            assert moved[-1] == theta[-1] == 0


@pytest.mark.parametrize(("name", "metric"), CASES)
def test_covariance_of_the_noise(name, metric):
    evaluate = functions_of(chart_of(name, metric))
    for x in points(name):
        theta = complete(name, x)
        by_normal = np.array([free(name, evaluate(theta, z=z)["noise"]) for z in np.eye(K)])
        expected = STEP_SIZE * inverse_metric(name, metric, x)
        np.testing.assert_allclose(by_normal.T @ by_normal, expected, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize(("name", "metric"), CASES)
def test_log_density_and_proposal(name, metric):
    """Up to one constant for all points; the folded normal sums over all reflections."""
    evaluate = functions_of(chart_of(name, metric))
    densities, proposals = [], []
    for x, to in zip(points(name, 4), points(name, 4, seed=2), strict=True):
        g = log_gradient_of_pi(probabilities(name, x))
        values = evaluate(complete(name, x), g, to=complete(name, to))
        expected = log_density(name, x) - log_density_of_pi(probabilities(name, x))
        densities.append(values["density"] - expected)
        mean = free(name, values["mean"])
        covariance = STEP_SIZE * inverse_metric(name, metric, x)
        signs = [np.ones(len(x))]
        if name == "expanded_mean":
            signs = 2 * np.array(list(np.ndindex(*[2] * K))) - 1
        logs = [multivariate_normal(mean, covariance).logpdf(sign * to) for sign in signs]
        proposals.append(values["proposal"] - np.logaddexp.reduce(logs))
    np.testing.assert_allclose(densities, densities[0], atol=1e-10)
    np.testing.assert_allclose(proposals, proposals[0], rtol=1e-10)


def test_reflection():
    """A negative entry is reflected; the smallest entry is never zero, which would absorb."""
    outside = np.array([0.5, -0.2, 0.7, 0.0])
    mean = functions_of(chart_of("expanded_mean"))(ALPHA, to=outside)
    np.testing.assert_allclose(mean["folded"], np.abs(outside), atol=1e-280)
    assert (mean["folded"] > 0).all()
    reduced = functions_of(chart_of("reduced_mean"))(ALPHA / ALPHA.sum(), to=outside)
    np.testing.assert_allclose(reduced["folded"], np.abs(outside) / 1.4, atol=1e-280)
    assert not reduced["inside"]
