#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Moments of the posteriors of strangers, by quadrature or by importance sampling at the mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from scipy.special import expit, logsumexp

__all__ = [
    "Moments",
    "gamma_moments",
    "grid_moments",
    "logistic_moments",
    "softmax_moments",
]

# Degrees of freedom of the proposals around a mode, whose tails are heavier than the posterior's.
TAILS, N_PROPOSALS = 8, 2_000


class Moments(NamedTuple):
    """Means and deviations of some entries."""

    mean: np.ndarray
    sd: np.ndarray


def grid_moments(points: Sequence[np.ndarray], log_density: np.ndarray) -> Moments:
    """Sum over a grid with equal distances; ``points`` has an array of its shape per entry."""
    weights = np.exp(log_density - log_density.max())
    weights /= weights.sum()
    means = np.array([(weights * x).sum() for x in points])
    variances = [(weights * (x - m) ** 2).sum() for x, m in zip(points, means, strict=True)]
    return Moments(means, np.sqrt(variances))


def logistic_moments(x: np.ndarray, y: np.ndarray, *, prior_sd: float) -> Moments:
    """Intercept and coefficients of a logistic regression, in the columns' own units."""
    design = np.column_stack([np.ones(len(x)), x])
    scale = design.std(axis=0)
    scale[0] = 1.0
    design = design / scale
    precision = (prior_sd * scale) ** -2.0

    def log_density(w: np.ndarray) -> float:
        eta = design @ w
        return y @ eta - np.logaddexp(0.0, eta).sum() - 0.5 * precision @ w**2

    mode = np.zeros(design.shape[1])
    mode[0] = np.log(y.mean() / (1 - y.mean()))
    for _ in range(60):
        p = expit(design @ mode)
        curvature = (design.T * (p * (1 - p))) @ design + np.diag(precision)
        move = np.linalg.solve(curvature, design.T @ (y - p) - precision * mode)
        mode += move * min(1.0, 2.0 / np.abs(design @ move).max())
    found = _around(mode, curvature, log_density, n=400)
    return Moments(found.mean / scale, found.sd / scale)


def softmax_moments(x: np.ndarray, y: np.ndarray, n_classes: int, *, prior_sd: float) -> Moments:
    """Coefficients ``(column, class)`` of a softmax regression without a reference class."""
    n_columns = x.shape[1]
    chosen = np.eye(n_classes)[y]

    def log_density(w: np.ndarray) -> float:
        eta = x @ w.reshape(n_columns, n_classes)
        fit = (eta * chosen).sum() - logsumexp(eta, axis=1).sum()
        return fit - 0.5 * w @ w / prior_sd**2

    mode = np.zeros(n_columns * n_classes)
    for _ in range(30):
        eta = x @ mode.reshape(n_columns, n_classes)
        p = np.exp(eta - logsumexp(eta, axis=1, keepdims=True))
        slope = (x.T @ (chosen - p)).ravel() - mode / prior_sd**2
        blocks = np.einsum("nc,ni,nj->ijc", p, x, x)
        curvature = np.einsum("ijc,cd->icjd", blocks, np.eye(n_classes))
        curvature -= np.einsum("nc,nd,ni,nj->icjd", p, p, x, x, optimize=True)
        curvature = curvature.reshape(len(mode), -1) + np.eye(len(mode)) / prior_sd**2
        mode += np.linalg.solve(curvature, slope)
    return _around(mode, curvature, log_density, n=N_PROPOSALS)


def gamma_moments(x: np.ndarray, group: np.ndarray, y: np.ndarray, *, group_sd: float) -> Moments:
    """Coefficients of a gamma regression with effects of groups, whose deviation is known.

    The shape of the distribution is at its most likely value: it does not depend on the
    coefficients. Tens of thousands of rows make the posterior normal to a hundredth.
    """
    scale = x.std(axis=0)
    indicators = np.eye(group.max() + 1)[group]
    design = np.column_stack([np.ones(len(x)), x / scale, indicators])
    n_groups = indicators.shape[1]
    precision = np.r_[1e-2, (1.0 * scale) ** -2.0, np.full(n_groups, group_sd**-2.0)]
    mode, shape = np.zeros(design.shape[1]), 0.9
    mode[0] = np.log(y.mean())
    for _ in range(50):
        ratio = y * np.exp(-design @ mode)
        slope = shape * design.T @ (ratio - 1) - precision * mode
        curvature = shape * (design.T * ratio) @ design + np.diag(precision)
        move = np.linalg.solve(curvature, slope)
        mode += move * min(1.0, 1.0 / np.abs(design @ move).max())
    shape = _shape(y * np.exp(-design @ mode))
    curvature = shape * (design.T * (y * np.exp(-design @ mode))) @ design + np.diag(precision)
    sd = np.sqrt(np.diag(np.linalg.inv(curvature)))
    return Moments(mode[1:3] / scale, sd[1:3] / scale)


def _shape(ratio: np.ndarray) -> float:
    """Return the most likely shape of gamma variables whose means are one."""
    from scipy.optimize import brentq
    from scipy.special import digamma

    level = np.mean(ratio - np.log(ratio)) - 1
    return float(brentq(lambda k: np.log(k) - digamma(k) - level, 1e-2, 1e3))


def _around(
    mode: np.ndarray, curvature: np.ndarray, log_density: Callable[[np.ndarray], float], *, n: int
) -> Moments:
    """Weigh draws of a Student distribution around the mode."""
    rng = np.random.default_rng(9)
    root = np.linalg.cholesky(np.linalg.inv(curvature))
    z = rng.normal(size=(n, len(mode))) / np.sqrt(rng.chisquare(TAILS, (n, 1)) / TAILS)
    # With their mirror images, whose odd terms cancel.
    z = np.concatenate([z, -z])
    draws = mode + z @ root.T
    log_weights = np.array([log_density(w) for w in draws])
    log_weights += 0.5 * (TAILS + len(mode)) * np.log1p((z**2).sum(axis=1) / TAILS)
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    mean = weights @ draws
    return Moments(mean, np.sqrt(weights @ (draws - mean) ** 2))
