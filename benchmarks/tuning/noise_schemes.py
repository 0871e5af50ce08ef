#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Schemes that transitions with noisy gradients may follow, on a Gaussian target, exactly.

With curvature one in the frame and gradient noise of covariance V, half a drift after its end a
transition of each scheme is the linear map

    v' = a v - k y + noise of covariance S,    y' = y + e v'

of velocity and position, with symmetric matrices a and k. Lyapunov's equation gives the stationary
covariance, and powers of the map give autocorrelation times. Nothing is simulated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from scipy.linalg import solve_discrete_lyapunov
from scipy.optimize import brentq

# Friction times step size at which nothing of a velocity is left.
MOST_DAMPING = 8.0

__all__ = ["SCHEMES", "Map", "Quality", "quality"]


class Map(NamedTuple):
    """Step size and the matrices a, k and S; whether draws are between transitions."""

    step_size: float
    damping: np.ndarray
    kick: np.ndarray
    noise: np.ndarray
    between: bool

    @property
    def matrix(self) -> np.ndarray:
        """The map of (y, v)."""
        e, d = self.step_size, len(self.damping)
        return np.block([[np.eye(d) - e * self.kick, e * self.damping], [-self.kick, self.damping]])

    @property
    def covariance(self) -> np.ndarray:
        """Stationary covariance of (y, v)."""
        e = self.step_size
        injected = np.kron([[e**2, e], [e, 1]], self.noise)
        return solve_discrete_lyapunov(self.matrix, injected)

    @property
    def is_stable(self) -> bool:
        """Whether the map has a stationary covariance."""
        return bool(np.max(np.abs(np.linalg.eigvals(self.matrix))) < 1 - 1e-7)

    @property
    def temperature(self) -> float:
        """Mean variance of the velocities."""
        d = len(self.damping)
        return float(np.trace(self.covariance[d:, d:])) / d


class Quality(NamedTuple):
    """Largest relative error of a variance, and transitions that an effective draw takes."""

    bias: float
    time: float


def quality(found: Map) -> Quality:
    """Measure a map: the worst direction for the bias, and means and squares for the time."""
    d = len(found.damping)
    # From the middle of a transition back to its beginning, where draws may be.
    shift = np.eye(2 * d)
    if found.between:
        shift[:d, d:] = -0.5 * found.step_size * np.eye(d)
    step = shift @ found.matrix @ np.linalg.inv(shift)
    covariance = shift @ found.covariance @ shift.T
    positions = covariance[:d, :d]
    values, vectors = np.linalg.eigh(positions)
    lagged, means, squares = covariance, np.ones(d), np.ones(d)
    for _ in range(20_000):
        lagged = step @ lagged
        rho = np.einsum("ij,ik,kj->j", vectors, lagged[:d, :d], vectors) / values
        means, squares = means + 2 * rho, squares + 2 * rho**2
        if np.max(np.abs(lagged[:d])) < 1e-4:
            break
    return Quality(float(np.max(np.abs(values - 1))), float(max(means.max(), squares.max())))


def _scalar_friction(xi: float, e: float, diffusion: float, variance: np.ndarray) -> Map:
    h, one = 0.5 * xi * e, np.eye(len(variance))
    noise = np.exp(-2 * h) * (2 * diffusion * e * one + e**2 * variance)
    return Map(e, np.exp(-2 * h) * one, e * np.exp(-h) * one, noise, between=True)


def shared(e: float, diffusion: float, variance: np.ndarray) -> Map:
    """One thermostat for all, as published; unstable if no friction gives temperature one."""
    return _at_temperature_one(lambda xi: _scalar_friction(xi, e, diffusion, variance), e)


def per_entry(e: float, diffusion: float, variance: np.ndarray) -> Map:
    """Friction for the noise of each entry, and a thermostat for what is left.

    Draws are where gradients are evaluated.
    """
    own = diffusion + 0.5 * e * np.diag(variance)
    square = np.minimum(
        np.cosh(0.5 * own * e) ** 2, 2 * np.sinh(own * e) / (e**2 * np.diag(variance))
    )
    injected = 2 * np.sinh(own * e) - square * e**2 * np.diag(variance)

    def at(xi: float) -> Map:
        half = np.exp(-0.5 * e * (xi + 0.5 * e * np.diag(variance)))
        scale = np.sqrt(square)
        noise = np.diag(injected) + e**2 * np.outer(scale, scale) * variance
        return Map(
            e, np.diag(half**2), e * np.diag(half * scale), np.outer(half, half) * noise, False
        )

    return _at_temperature_one(at, e)


def whole_covariance(e: float, diffusion: float, variance: np.ndarray) -> Map:
    """NOGIN: friction for the whole covariance, by an implicit midpoint; no thermostat."""
    one = np.eye(len(variance))
    kappa = np.tanh(0.5 * diffusion * e) * one + 0.25 * e**2 * variance
    damping = np.linalg.solve(one + kappa, one - kappa)
    return Map(e, damping, 0.5 * e * (one + damping), one - damping @ damping, between=True)


def covariance_controlled(e: float, diffusion: float, variance: np.ndarray) -> Map:
    """mCCAdL: exp(-e^2 V / 4) on both sides of the kick, and a thermostat for what is left."""
    values, vectors = np.linalg.eigh(variance)

    def at(xi: float) -> Map:
        half = (vectors * np.exp(-0.5 * e * (xi + 0.5 * e * values))) @ vectors.T
        noise = half @ (2 * diffusion * e * np.eye(len(half)) + e**2 * variance) @ half
        return Map(e, half @ half, e * half, noise, between=True)

    return _at_temperature_one(at, e)


def _at_temperature_one(at: Callable[[float], Map], step_size: float) -> Map:
    def excess(xi: float) -> float:
        return at(xi).temperature - 1

    # A long step with little friction is unstable; with more it is only cold.
    tried = np.geomspace(1e-2, MOST_DAMPING / step_size, 40)
    stable = [xi for xi in tried if at(xi).is_stable]
    if not stable or excess(stable[0]) < 0 or excess(stable[-1]) > 0:
        return at(0.0)
    return at(float(brentq(excess, stable[0], stable[-1], xtol=1e-6)))


SCHEMES: dict[str, Callable[[float, float, np.ndarray], Map]] = {
    "one thermostat": shared,
    "friction per entry": per_entry,
    "mCCAdL, whole covariance": covariance_controlled,
    "NOGIN, whole covariance": whole_covariance,
}
