#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Ridge regression of many functions on the same features, each with its own penalty."""

from __future__ import annotations

import numpy as np

__all__ = ["Ridge"]

# Penalties relative to the mean square of the features' principal components, and none of them.
PENALTIES = 10.0 ** np.arange(-9, 4, 2)
# A leverage of one has no error when left out.
LARGEST_LEVERAGE = 0.999
# Functions up to which each has a penalty of its own; so many others share one.
MOST_SEPARATE = 100
# Features from which on their products are decomposed: faster, and less exact. Eigenvalues that are
# rounding errors.
MANY, NO_WIDTH = 250, 1e-12
TINY = np.finfo(float).tiny


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
        self._features = (features - features.mean(axis=0)) / self._scale
        self._u, self._d = _left(self._features)
        self._size = max(float(np.mean(self._d**2)) if self._d.size else 0.0, TINY)

    def fit(self, functions: np.ndarray) -> Ridge:
        """Find the coefficients of functions ``(draw, function)``, and return the regression."""
        centered = functions - functions.mean(axis=0)
        some = centered[:, :: -(-centered.shape[1] // MOST_SEPARATE) or 1]
        errors = np.stack([self._left_out(some, penalty) for penalty in (np.inf, *PENALTIES)])
        penalties = np.array([np.inf, *PENALTIES])
        if some.shape[1] == centered.shape[1]:
            chosen = penalties[errors.argmin(axis=0)]
        else:
            relative = errors / np.maximum(errors[0], np.finfo(float).tiny)
            chosen = np.full(centered.shape[1], penalties[relative.mean(axis=1).argmin()])
        # On the principal components, whose squares are d^2: those of next to none are left out.
        square = self._d[:, None] ** 2
        weights = self._u.T @ centered / np.maximum(square + chosen * self._size, TINY)
        self.coefficients = self._features.T @ (self._u @ weights) / self._scale[:, None]
        return self

    def _left_out(self, centered: np.ndarray, penalty: float) -> np.ndarray:
        """Return the sum of squares of what is predicted wrongly where a draw is left out."""
        n = len(centered)
        if self._size == TINY or penalty == np.inf:
            return np.sum(centered**2, axis=0) * (n / (n - 1)) ** 2
        shrunk = self._d**2 / (self._d**2 + penalty * self._size)
        leverage = np.minimum((self._u**2) @ shrunk + 1 / n, LARGEST_LEVERAGE)
        rest = centered - self._u @ (shrunk[:, None] * (self._u.T @ centered))
        return np.sum((rest / (1 - leverage)[:, None]) ** 2, axis=0)


def _left(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return left singular vectors and singular values; of many features by their products."""
    if x.shape[1] <= MANY:
        u, d, _ = np.linalg.svd(x, full_matrices=False)
        return u, d
    values, u = np.linalg.eigh(x @ x.T)
    kept = values > NO_WIDTH * values[-1]
    return u[:, kept], np.sqrt(values[kept])
