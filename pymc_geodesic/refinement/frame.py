#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Coordinates in which draws have mean zero and unit covariance, or at least unit variances."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["MOST_PAIRED", "Frame", "Ridge", "frame_of"]


# Coordinates up to which all covariances are corrected: of more, only variances are, which must be
# those of single entries.
MOST_PAIRED = 50
# Draws for each coordinate that determine a covariance well enough to start from.
DRAWS_EACH = 10
# Of the largest eigenvalue: directions in which draws do not move.
NO_WIDTH = 1e-12


class Frame(NamedTuple):
    """A linear map of coordinates.

    Attributes
    ----------
    mean, scale : ndarray, shape (coordinate,)
        Of the draws.
    root : ndarray, shape (coordinate, coordinate), optional
        Symmetric root of the draws' correlations; None where they are too many.
    """

    mean: np.ndarray
    scale: np.ndarray
    root: np.ndarray | None

    def into(self, x: np.ndarray) -> np.ndarray:
        """Return draws in these coordinates."""
        z = (x - self.mean) / self.scale
        return z if self.root is None else z @ np.linalg.inv(self.root)

    def out_of(self, y: np.ndarray) -> np.ndarray:
        """Return draws in the coordinates that were given."""
        return self.mean + self.scale * (y if self.root is None else y @ self.root)

    def force(self, gradient: np.ndarray) -> np.ndarray:
        """Return gradients in these coordinates."""
        z = gradient * self.scale
        return z if self.root is None else z @ self.root


def frame_of(x: np.ndarray) -> Frame | None:
    """Find coordinates for draws ``(chain, draw, coordinate)``; None if some do not move."""
    flat = x.reshape(-1, x.shape[-1])
    mean, scale = flat.mean(axis=0), flat.std(axis=0)
    if not np.all(np.isfinite(scale) & (scale > NO_WIDTH * np.abs(mean))):
        return None
    n, d = flat.shape
    if d > MOST_PAIRED or n < DRAWS_EACH * d:
        return Frame(mean, scale, None)
    z = (flat - mean) / scale
    values, vectors = np.linalg.eigh(z.T @ z / n)
    if values[0] <= NO_WIDTH * values[-1]:
        return None
    return Frame(mean, scale, (vectors * np.sqrt(values)) @ vectors.T)


# Penalties relative to the mean square of the features' principal components, and none of them.
PENALTIES = 10.0 ** np.arange(-9, 4, 2)
# A leverage of one has no error when left out.
LARGEST_LEVERAGE = 0.999
# Functions up to which each has a penalty of its own; so many others share one.
MOST_SEPARATE = 100
# Features from which on their products are decomposed: faster, and less exact. Eigenvalues that are
# rounding errors.
MANY, NO_WIDTH_OF_RIDGE = 250, 1e-12
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
    kept = values > NO_WIDTH_OF_RIDGE * values[-1]
    return u[:, kept], np.sqrt(values[kept])
