#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Moments of ordinary models that are known without sampling, for ``models.py``."""

from __future__ import annotations

import numpy as np

from scipy.special import softmax

# Points along tau and sigma, and how far they reach from the best in posterior deviations. The
# density is smooth, so that a sum over them is exact to rounding.
N_POINTS, REACH = 41, 7.0


def ridge_moments(
    design: np.ndarray, y: np.ndarray, *, scales: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray]:
    """Means and deviations of beta, tau and sigma, one after the other.

    y ~ N(X beta, sigma^2), beta ~ N(0, tau^2), with half-normal tau and sigma of these ``scales``.
    Given tau and sigma beta is Gaussian, independent along the eigenvectors of X'X; these two are
    integrated on a grid of their logarithms.
    """
    curvature, vectors = np.linalg.eigh(design.T @ design)
    along = vectors.T @ (design.T @ y)
    n, p = design.shape

    def log_density(tau, sigma):
        width = sigma**2 + tau**2 * curvature
        fit = np.sum(tau**2 * along**2 / width, axis=-1, keepdims=True)
        value = -(n - p) * np.log(sigma) - 0.5 * np.sum(np.log(width), axis=-1, keepdims=True)
        value -= 0.5 * (y @ y - fit) / sigma**2
        return value - 0.5 * ((tau / scales[0]) ** 2 + (sigma / scales[1]) ** 2)

    spread = (y - design @ (vectors @ (along / curvature))).std()
    # First widely, then around what was found.
    center, half = np.log([np.sqrt(np.mean((along / curvature) ** 2)), spread]), np.ones(2)
    for _ in range(4):
        grid = np.meshgrid(*np.linspace(center - half, center + half, N_POINTS).T)
        tau, sigma = (np.exp(axis).reshape(-1, 1) for axis in grid)
        # The density of the logarithms, which are what is spaced evenly.
        weight = softmax(log_density(tau, sigma) + np.log(tau * sigma), axis=0)
        logs = np.log(np.hstack([tau, sigma]))
        center = np.sum(weight * logs, axis=0)
        step = 2 * half / (N_POINTS - 1)
        half = REACH * np.sqrt(np.sum(weight * (logs - center) ** 2, axis=0) + step**2)
    width = sigma**2 + tau**2 * curvature
    means, variances = tau**2 * along / width, sigma**2 * tau**2 / width
    mean = np.sum(weight * means, axis=0)
    covariance = (weight * (means - mean)).T @ (means - mean)
    covariance += np.diag(np.sum(weight * variances, axis=0))
    variance = np.einsum("ij,jk,ik->i", vectors, covariance, vectors)
    two = np.hstack([tau, sigma])
    of_two = np.sum(weight * two, axis=0)
    deviations = np.sqrt(np.sum(weight * (two - of_two) ** 2, axis=0))
    return np.append(vectors @ mean, of_two), np.append(np.sqrt(variance), deviations)
