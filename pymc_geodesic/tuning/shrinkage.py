#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Variances of draws in the frame of a mass, shrunk towards those that the frame expects."""

from __future__ import annotations

import numpy as np

from pymc_geodesic.tuning.spacing import autocorrelation_time

__all__ = ["shrunk_covariance", "shrunk_variances"]

# Weight of the present mass relative to draws, in draws per estimated entry.
PRIOR_DRAWS = 5


def shrunk_variances(frame: np.ndarray) -> np.ndarray:
    """Return the variance of every entry, shrunk towards one.

    Parameters
    ----------
    frame : ndarray, shape (draw, entry)
        Draws in the frame of a mass, relative to their mean.

    Returns
    -------
    ndarray, shape (entry,)
        Variances; those of five independent draws would have half of the weight.
    """
    n = len(frame) / autocorrelation_time(frame)
    weight = n / (n + PRIOR_DRAWS)
    return weight * frame.var(axis=0) + (1 - weight)


def shrunk_covariance(frame: np.ndarray) -> np.ndarray:
    """Return the covariance between all entries, shrunk towards the identity.

    Parameters
    ----------
    frame : ndarray, shape (draw, entry)
        Draws in the frame of a mass, relative to their mean.

    Returns
    -------
    ndarray, shape (entry, entry)
        The covariance, which has the less weight the more entries there are.
    """
    size = frame.shape[1]
    n = len(frame) / autocorrelation_time(frame)
    weight = n / (n + PRIOR_DRAWS + size)
    return weight * np.cov(frame.T, ddof=0).reshape(size, size) + (1 - weight) * np.eye(size)
