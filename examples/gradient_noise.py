#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Gradient noise of a known variance, for examples whose target has no data."""

from __future__ import annotations

import numpy as np

__all__ = ["gradient_noise_rows"]


def gradient_noise_rows(n_rows: int, variance: np.ndarray, *, seed: int) -> np.ndarray:
    """Draw normal rows with mean exactly zero and covariance exactly ``diag(variance)``.

    A ``pm.Minibatch`` of one such row, times the variable, in a ``pm.Potential`` adds noise of this
    covariance to every gradient and leaves the posterior as it is.
    """
    rows = np.random.default_rng(seed).standard_normal((n_rows, len(variance)))
    rows -= rows.mean(axis=0)
    rows = rows @ np.linalg.inv(np.linalg.cholesky(rows.T @ rows / n_rows)).T
    return rows * np.sqrt(variance)
