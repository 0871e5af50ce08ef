#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Effective samples, Monte Carlo errors and distances between distributions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arviz import ess

__all__ = [
    "effective_samples",
    "histogram",
    "long_run_variance",
    "mcse",
    "median_and_range",
    "total_variation",
]


def effective_samples(draws: np.ndarray) -> float:
    """Effective samples of the entry of ``(chain, draw, entry)`` that has the fewest.

    Both for its mean and for its squared distance from it: lightly damped chains oscillate, which
    makes their means better than independent draws would, and their widths worse.
    """
    centered = draws - draws.mean(axis=(0, 1))
    sizes = [(ess(entry), ess(entry**2)) for entry in np.moveaxis(centered, -1, 0)]
    return float(np.min(sizes))


def mcse(values: np.ndarray) -> float:
    """Monte Carlo standard error of the mean of ``(chain, draw)``."""
    return float(np.sqrt(long_run_variance(values, batches=25) / values.size))


def long_run_variance(values: np.ndarray, *, batches: int) -> float:
    """Variance of a single value times its autocorrelation time in draws, by batch means.

    ``values`` is ``(chain, draw)``; each chain is cut into ``batches``. ArviZ cuts the sum of
    autocorrelations off where they turn negative, which overestimates it for lightly damped chains.
    """
    length = values.shape[1] // batches
    means = values[:, : batches * length].reshape(-1, length).mean(axis=1)
    return float(length * means.var(ddof=1))


def median_and_range(values: Sequence[float], form: str = ".2f") -> str:
    """Write the median of some runs, and between brackets the least and the largest."""
    low, high = min(values), max(values)
    return f"{np.median(values):{form}} ({low:{form}} to {high:{form}})"


def histogram(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Share of the values in each bin."""
    return np.histogram(values, bins=edges)[0] / values.size


def total_variation(p: np.ndarray, q: np.ndarray) -> float:
    """Half the summed difference of two vectors of probabilities."""
    return 0.5 * float(np.abs(p - q).sum())
