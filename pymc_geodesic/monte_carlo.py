#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Monte Carlo errors of the means of chains, and what they are compared with."""

from __future__ import annotations

import numpy as np

from pymc_geodesic.rank_statistics import effective_sizes, rank_statistics

__all__ = ["effective_draws", "halves", "mcse", "mean_and_mcse", "r_hat", "z_score"]


def mcse(values: np.ndarray) -> np.ndarray:
    """Monte Carlo standard error of the mean of each entry of ``(chain, draw, ...)``."""
    return values.std(axis=(0, 1), ddof=1) / np.sqrt(effective_sizes(values))


def mean_and_mcse(values: np.ndarray) -> tuple[float, float]:
    """Mean over ``(chain, draw)`` and its Monte Carlo standard error."""
    if not np.isfinite(values).all():
        return float(values.mean()), np.inf
    return float(values.mean()), float(mcse(values)) if np.ptp(values) else 0.0


def z_score(distance: float, error: float) -> float:
    """Distance in standard errors; zero if the error is unknown."""
    return distance / error if np.isfinite(error) and error > 0 else 0.0


def r_hat(values: np.ndarray) -> float:
    """Rank-normalised R-hat of ``(chain, draw)``, with each chain split in two."""
    # It needs two chains. The halves of one chain, split again, are an equally good comparison.
    return float(rank_statistics(values if len(values) > 1 else halves(values)).r_hat)


def halves(values: np.ndarray) -> np.ndarray:
    """Split every chain of ``(chain, draw, ...)`` into two chains of equal length."""
    n = values.shape[1] // 2
    return np.concatenate([values[:, :n], values[:, values.shape[1] - n :]])


def effective_draws(values: np.ndarray) -> float:
    """Effective sample size for the mean of ``(chain, draw)``; zero if nothing moves."""
    return float(effective_sizes(values)) if np.ptp(values) > 0 else 0.0
