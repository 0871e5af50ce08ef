#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A logistic regression of any number of rows, its Laplace approximation, and errors in its sd."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pymc as pm

from scipy.special import expit

__all__ = [
    "BATCH_SIZE",
    "N_COEFFICIENTS",
    "SMALLEST_LAPLACE",
    "accuracy",
    "laplace",
    "parts",
    "regression",
    "resident",
]

N_COEFFICIENTS, BATCH_SIZE = 20, 300
PART = 500_000
# Fewer rows have a posterior that is not quite Gaussian.
SMALLEST_LAPLACE = 50_000


def parts(n_rows: int) -> Iterator[np.ndarray]:
    """Simulate covariates and, in the last column, outcomes, a part at a time."""
    weights = 1.5 * np.random.default_rng(0).standard_normal(N_COEFFICIENTS)
    weights /= np.sqrt(N_COEFFICIENTS)
    for start in range(0, n_rows, PART):
        rng = np.random.default_rng([1, start])
        design = rng.standard_normal((min(PART, n_rows - start), N_COEFFICIENTS))
        outcome = rng.uniform(size=len(design)) < expit(design @ weights)
        yield np.column_stack([design, outcome.astype(float)])


def laplace(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Mode by Newton's method, and standard deviations from the curvature there."""
    beta = np.zeros(N_COEFFICIENTS)
    # Near the mode of some rows two steps on all of them converge.
    for n in [*[min(PART, n_rows)] * 8, *[n_rows] * 2]:
        gradient, precision = -beta / 100, np.eye(N_COEFFICIENTS) / 100
        for part in parts(n):
            x, y = part[:, :-1], part[:, -1]
            p = expit(x @ beta)
            gradient = gradient + x.T @ (y - p)
            precision = precision + (x * (p * (1 - p))[:, None]).T @ x
        beta = beta + np.linalg.solve(precision, gradient)
    return beta, np.sqrt(np.diag(np.linalg.inv(precision)))


def regression(design, outcome, **size: int) -> pm.Model:
    """Write the model."""
    with pm.Model() as model:
        beta = pm.Normal("beta", 0.0, 10.0, shape=N_COEFFICIENTS)
        pm.Bernoulli("y", logit_p=design @ beta, observed=outcome, **size)
    return model


def resident(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Hold all rows in memory."""
    rows = np.concatenate(list(parts(n_rows)))
    return np.ascontiguousarray(rows[:, :-1]), np.ascontiguousarray(rows[:, -1])


def accuracy(mean, sd, truth: tuple[np.ndarray, np.ndarray]) -> list[float]:
    """Largest error of a mean in standard deviations, smallest and largest of their ratios."""
    bias = float(np.max(np.abs(np.asarray(mean) - truth[0]) / truth[1]))
    ratios = np.asarray(sd) / truth[1]
    return [bias, float(ratios.min()), float(ratios.max())]
