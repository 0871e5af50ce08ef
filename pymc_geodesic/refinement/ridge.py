#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Ridge regression of many functions on the same features, each with its own penalty."""

from __future__ import annotations

import numpy as np

__all__ = ["Ridge"]

# Penalties relative to the mean square of the features' principal components, and none of them.
PENALTIES = 10.0 ** np.arange(-10, 4)
# A leverage of one has no error when left out.
LARGEST_LEVERAGE = 0.999


class Ridge:
    """Regression with an intercept, whose penalty is that of least error in draws left out.

    Parameters
    ----------
    features : ndarray, shape (draw, feature)
        The features.

    Attributes
    ----------
    coefficients : ndarray, shape (feature, function)
        After :meth:`fit`; zero for a function that they do not predict.
    """

    coefficients: np.ndarray

    def __init__(self, features: np.ndarray) -> None:
        self._scale = np.maximum(features.std(axis=0), np.finfo(float).tiny)
        centered = (features - features.mean(axis=0)) / self._scale
        self._u, self._d, self._vt = np.linalg.svd(centered, full_matrices=False)

    def fit(self, functions: np.ndarray) -> Ridge:
        """Find the coefficients of functions ``(draw, function)``, and return the regression."""
        n = len(functions)
        centered = functions - functions.mean(axis=0)
        projected = self._u.T @ centered
        best = np.sum(centered**2, axis=0) * (n / (n - 1)) ** 2
        weights = np.zeros_like(projected)
        size = np.mean(self._d**2) if self._d.size else 0.0
        for penalty in PENALTIES if size > 0 else ():
            shrunk = self._d**2 / (self._d**2 + penalty * size)
            leverage = np.minimum((self._u**2) @ shrunk + 1 / n, LARGEST_LEVERAGE)
            rest = centered - self._u @ (shrunk[:, None] * projected)
            error = np.sum((rest / (1 - leverage)[:, None]) ** 2, axis=0)
            is_better = error < best
            best = np.where(is_better, error, best)
            slopes = (self._d / (self._d**2 + penalty * size))[:, None] * projected
            weights = np.where(is_better, slopes, weights)
        self.coefficients = (self._vt.T @ weights) / self._scale[:, None]
        return self
