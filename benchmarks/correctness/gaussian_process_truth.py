#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Moments of a Gaussian process by features, without sampling, for ``models.py``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pymc as pm

from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorConstant
from scipy import stats
from scipy.special import softmax

__all__ = ["feature_moments"]

# Points along the logarithms of scale, length and sigma, and how far they reach in posterior
# deviations. The density is smooth, so that a sum over them is exact to rounding.
N_POINTS, REACH, ROUNDS = (31, 31, 25), 6.0, 6
# Where the first, wide grid lies.
CENTER, HALF = np.log([1.5, 0.4, 1.0]), np.array([1.5, 1.0, 0.05])


def feature_moments(
    model: Callable[[bool], pm.Model], places: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    r"""Means and deviations of scale, length, sigma and the function at some places.

    y ~ N(X w, sigma^2), w_j ~ N(0, s_j^2) with s_j^2 = scale^2 sqrt(2 pi) length exp(-(length
    omega_j)^2 / 2). Given the three parameters w is Gaussian; these are integrated on a grid of
    their logarithms.

    Parameters
    ----------
    model : callable
        Writes the model with all rows for False.
    places : ndarray, shape (place, feature)
        Features at the places where the function is wanted.
    """
    features, y = _data(model(False))
    products, right, square = features.T @ features, features.T @ y, y @ y
    n, n_features = features.shape
    frequency = np.pi * np.arange(1, n_features + 1) / 3.0
    center, half = CENTER, HALF
    for _ in range(ROUNDS):
        axes = [
            np.linspace(c - h, c + h, k) for c, h, k in zip(center, half, N_POINTS, strict=True)
        ]
        logs = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
        scale, length, sigma = np.exp(logs.T)
        spectrum = np.sqrt(2 * np.pi) * length[:, None]
        spectrum = spectrum * np.exp(-0.5 * (length[:, None] * frequency) ** 2)
        s = scale[:, None] * np.sqrt(spectrum) / sigma[:, None]
        inner = np.eye(n_features) + s[:, :, None] * products * s[:, None, :]
        means = s * np.linalg.solve(inner, (s * right)[..., None])[..., 0]
        log_density = -n * np.log(sigma) - 0.5 * np.linalg.slogdet(inner)[1]
        log_density -= 0.5 * (square - means @ right) / sigma**2
        log_density += stats.halfnorm.logpdf(scale, scale=2.0) + np.log(scale)
        log_density += stats.invgamma.logpdf(length, 4.0, scale=1.0) + np.log(length)
        log_density += stats.halfnorm.logpdf(sigma, scale=2.0) + np.log(sigma)
        weight = softmax(log_density)
        center = weight @ logs
        step = 2 * half / (np.array(N_POINTS) - 1)
        half = REACH * np.sqrt(weight @ (logs - center) ** 2 + step**2)
    loaded = places * s[:, None, :] * sigma[:, None, None]
    variances = np.einsum("gpf,gpf->gp", loaded, np.linalg.solve(inner, loaded.mT).mT)
    values = np.column_stack([np.exp(logs), means @ places.T])
    mean = weight @ values
    variance = weight @ (values - mean) ** 2
    variance[3:] += weight @ variances
    return mean, np.sqrt(variance)


def _data(model: pm.Model) -> tuple[np.ndarray, np.ndarray]:
    """Read the features and the outcomes from a model."""
    y = model.rvs_to_values[model["y"]].data
    constants = [x.data for x in ancestors([model["y"]]) if isinstance(x, TensorConstant)]
    [features] = [x for x in constants if x.ndim == 2 and len(x) == len(y)]
    return features, y
