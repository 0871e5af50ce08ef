#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Gradient noise of a known variance, for examples whose target has no data."""

from __future__ import annotations

import numpy as np
import pymc as pm

from pytensor.tensor import TensorVariable

__all__ = ["add_gradient_noise", "gradient_noise_rows"]


def gradient_noise_rows(n_rows: int, variance: np.ndarray, *, seed: int) -> np.ndarray:
    """Draw normal rows with mean exactly zero and covariance exactly ``diag(variance)``.

    Given to :func:`add_gradient_noise`, they add noise of this covariance to every gradient and
    do not change the posterior.
    """
    rows = np.random.default_rng(seed).standard_normal((n_rows, len(variance)))
    rows -= rows.mean(axis=0)
    rows = rows @ np.linalg.inv(np.linalg.cholesky(rows.T @ rows / n_rows)).T
    return rows * np.sqrt(variance)


def add_gradient_noise(name: str, x: TensorVariable, rows: np.ndarray) -> None:
    """Make a minibatch of one row add that row to the gradient of ``x``.

    The log density of a row is its inner product with ``x``, and of N rows each counts 1 / N.
    """
    n_rows = len(rows)
    pm.CustomDist(
        name,
        x,
        logp=lambda row, x: row * x / n_rows,
        observed=pm.Minibatch(rows, batch_size=1),
        total_size=n_rows,
    )
