#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Directions and axes whose density depends on one cosine: exact moments by quadrature.

The cosine t of n-dimensional unit vectors with the density f(t) has the density
f(cos a) sin(a)^(n - 2) in its angle a.
"""

from typing import NamedTuple

import numpy as np
import pymc as pm
import pytest

from exact_moments import assert_moments, assert_moments_by_gmc, direction, stochastic_step

import pymc_geodesic as pmg

N_POINTS = 100
ANGLES = np.linspace(0, np.pi, 20_001)
LENGTHS = np.linspace(1e-6, 40, 4_001)


class Target(NamedTuple):
    """What makes the variable, the log density of a cosine, and its largest curvature."""

    make: object
    log_density: object
    curvature: object
    strengths: tuple[float, float]


def projected_normal(t, n, c):
    """Log of the integral over the length r of the normal vector, for a mean of length c."""
    log_length = (n - 1) * np.log(LENGTHS) - 0.5 * LENGTHS**2
    exponents = log_length + c * np.outer(t, LENGTHS)
    largest = exponents.max(axis=1, keepdims=True)
    return largest[:, 0] + np.log(np.exp(exponents - largest).sum(axis=1))


TARGETS = {
    "PowerSpherical": Target(
        lambda mu, kappa: pmg.PowerSpherical("x", mu, kappa),
        lambda t, n, kappa: kappa * np.log1p(t),
        # On the circle nothing keeps chains from the antipode, where the gradient has a pole.
        lambda n, kappa: 8 * kappa if n == 2 else kappa / 2,
        (1.0, 50.0),
    ),
    "SphericalCauchy": Target(
        lambda mu, rho: pmg.SphericalCauchy("x", mu, rho),
        lambda t, n, rho: -(n - 1) * np.log(1 + rho**2 - 2 * rho * t),
        lambda n, rho: 2 * (n - 1) * rho / (1 - rho) ** 2,
        (0.2, 0.7),
    ),
    "ProjectedNormal": Target(
        lambda mu, c: pmg.ProjectedNormal("x", c * mu, np.eye(mu.shape[-1])),
        projected_normal,
        lambda n, c: c**2 + c * np.sqrt(n),
        (0.5, 5.0),
    ),
    "AngularCentralGaussian": Target(
        lambda mu, s: pmg.AngularCentralGaussian(
            "x", np.eye(mu.shape[-1]) + (s - 1) * mu[:, :, None] * mu[:, None, :]
        ),
        lambda t, n, s: -n / 2 * np.log(1 - t**2 * (1 - 1 / s)),
        lambda n, s: n * (s - 1),
        (2.0, 10.0),
    ),
}
EVERY = [(name, n, which) for name in TARGETS for n in (2, 3, 10, 50) for which in (0, 1)]
FAST = {("PowerSpherical", 3, 1), ("AngularCentralGaussian", 3, 1)}
GRID = [
    pytest.param(*case, marks=() if case in FAST else pytest.mark.slow, id=str(case))
    for case in EVERY
]


def target(name, n, which, n_points):
    """A model of so many points, its statistics and their exact means, and a rate of motion."""
    found, mu = TARGETS[name], direction(n)
    strength = found.strengths[which]
    with pm.Model() as model:
        found.make(np.tile(mu, (n_points, 1)), strength)
    # The ends have no mass, or that of their finite density.
    inner = ANGLES[1:-1]
    cosines = np.cos(inner)
    logs = found.log_density(cosines, n, strength) + (n - 2) * np.log(np.sin(inner))
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    [value] = model.value_vars
    statistics = {"square": lambda point: (point[value.name] @ mu) ** 2}
    expected = {"square": weights @ cosines**2}
    if name != "AngularCentralGaussian":
        statistics["mean"] = lambda point: point[value.name] @ mu
        expected["mean"] = weights @ cosines
    return model, statistics, expected, np.sqrt(found.curvature(n, strength) + n / 3)


@pytest.mark.parametrize("method", [pmg.SGGMC, pmg.gSGNHT])
@pytest.mark.parametrize(("name", "n", "which"), GRID)
def test_exact_moments(name, n, which, method):
    model, *exact, rate = target(name, n, which, N_POINTS)
    step = stochastic_step(method, model, step_size=0.15 / rate, n_steps=40)
    assert_moments(step, *exact, draws=120, discard=30)


@pytest.mark.parametrize(("name", "n", "which"), GRID)
def test_exact_moments_by_gmc(name, n, which):
    model, *exact, rate = target(name, n, which, 4)
    assert_moments_by_gmc(model, *exact, step_size=0.5 / rate)
