#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Which means and covariances of draws are corrected, and the map that corrects the draws."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pymc_geodesic.monte_carlo import mcse
from pymc_geodesic.refinement.control_variates import Estimates

__all__ = ["Correction", "correction_of"]

# The share of the variance that a regression may leave where it is to move what it contradicts:
# a bias of the draws remains in about its root.
MOST_LEFT = 0.25
# Standard errors of a difference that is significant.
SIGNIFICANT = 4.0
# Least variance along a direction, of that of the draws.
LEAST_VARIANCE = 0.01


class Correction(NamedTuple):
    """An affine map of draws in the coordinates of a frame, with the errors of its moments.

    Attributes
    ----------
    mean, mean_error : ndarray, shape (coordinate,)
        The corrected mean of the draws, whose mean is zero, and its standard error.
    cov, cov_error : ndarray, shape (coordinate, coordinate) or (coordinate,)
        The same of covariances, which are one; only of variances where coordinates are many.
    is_moved, is_scaled : ndarray of bool
        Which of them come from gradients; the others are those of the draws.
    """

    mean: np.ndarray
    mean_error: np.ndarray
    cov: np.ndarray
    cov_error: np.ndarray
    is_moved: np.ndarray
    is_scaled: np.ndarray

    @property
    def is_any(self) -> bool:
        """Whether anything is corrected."""
        return bool(self.is_moved.any() or self.is_scaled.any())

    @property
    def largest(self) -> tuple[float, float]:
        """The largest shift, and change of a deviation, both in deviations of the draws."""
        variances = self.cov if self.cov.ndim == 1 else np.diagonal(self.cov)
        return float(np.abs(self.mean).max()), float(np.abs(np.sqrt(variances) - 1).max())

    def of(self, place: slice) -> Correction:
        """Return the correction of some coordinates."""
        return Correction(*(x[place] if x.ndim == 1 else x[place, place] for x in self))

    def __call__(self, y: np.ndarray) -> np.ndarray:
        """Return draws with the corrected moments."""
        if self.cov.ndim == 1:
            return self.mean + y * np.sqrt(self.cov)
        values, vectors = np.linalg.eigh(self.cov)
        return self.mean + y @ ((vectors * np.sqrt(values)) @ vectors.T)


def correction_of(y: np.ndarray, found: Estimates) -> Correction:
    """Choose the moments that are more precise than those of the draws, or contradict them.

    Parameters
    ----------
    y : ndarray, shape (chain, draw, coordinate)
        All draws, in coordinates in which they have unit variances.
    found : Estimates
        Moments by gradients at some of them.
    """
    mean_error, square_error = _error(y), _error(y**2)
    is_moved = _is_better(found.mean, found.mean_error, found.mean_left, mean_error)
    if found.cov.ndim == 1:
        of_draws, drawn_error = np.ones_like(found.cov), square_error
    else:
        of_draws = np.cov(y.reshape(-1, y.shape[-1]), rowvar=False, bias=True)
        # Products of independent normal numbers have half the variance of their squares.
        drawn_error = np.sqrt(np.outer(square_error, square_error) / 2)
        drawn_error[np.diag_indices_from(drawn_error)] = square_error
    difference = found.cov - of_draws
    is_scaled = _is_better(difference, found.cov_error, found.cov_left, drawn_error)
    cov = np.where(is_scaled, found.cov, of_draws)
    return Correction(
        mean=np.where(is_moved, found.mean, 0.0),
        mean_error=np.where(is_moved, found.mean_error, mean_error),
        cov=_positive(cov),
        cov_error=np.where(is_scaled, found.cov_error, drawn_error),
        is_moved=is_moved,
        is_scaled=is_scaled,
    )


def _is_better(
    difference: np.ndarray, error: np.ndarray, left: np.ndarray, drawn_error: np.ndarray
) -> np.ndarray:
    is_wrong = (np.abs(difference) > SIGNIFICANT * error) & (left < MOST_LEFT)
    return np.isfinite(difference) & ((error < drawn_error) | is_wrong)


def _error(y: np.ndarray) -> np.ndarray:
    independent = y.std(axis=(0, 1)) / np.sqrt(y.shape[0] * y.shape[1])
    return np.fmax(mcse(y), independent)


def _positive(cov: np.ndarray) -> np.ndarray:
    """Return the nearest covariance whose directions are not much narrower than the draws."""
    if cov.ndim == 1:
        return np.maximum(cov, LEAST_VARIANCE)
    values, vectors = np.linalg.eigh(0.5 * (cov + cov.T))
    return (vectors * np.maximum(values, LEAST_VARIANCE)) @ vectors.T
