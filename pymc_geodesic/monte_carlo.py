#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""ArviZ's Monte Carlo errors, imported on first use because ArviZ imports JAX if installed."""

from __future__ import annotations

from typing import Literal

import numpy as np

__all__ = ["effective_draws", "halves", "mcse", "mean_and_mcse", "r_hat", "z_score"]


def mcse(values: np.ndarray, *, method: Literal["mean", "sd"] = "mean") -> np.ndarray:
    """Monte Carlo standard error of each statistic of ``(chain, draw, ...)``."""
    import arviz_stats

    return arviz_stats.mcse(values, method=method)


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
    import arviz_stats

    # ArviZ needs two chains. The halves of one chain, split again, are an equally good comparison.
    return float(arviz_stats.rhat(values if len(values) > 1 else halves(values)))


def halves(values: np.ndarray) -> np.ndarray:
    """Split every chain of ``(chain, draw, ...)`` into two chains of equal length."""
    n = values.shape[1] // 2
    return np.concatenate([values[:, :n], values[:, values.shape[1] - n :]])


def effective_draws(values: np.ndarray) -> float:
    """Effective sample size for the mean of ``(chain, draw)``; zero if nothing moves."""
    import arviz_stats

    return float(arviz_stats.ess(values, method="mean")) if np.ptp(values) > 0 else 0.0
