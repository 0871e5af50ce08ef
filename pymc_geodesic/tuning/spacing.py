#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""How many transitions apart draws are, in the tuning phase and after, and what few tell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.mass.arrays import LARGEST_DENSE

__all__ = [
    "MOST_TUNING",
    "autocorrelation_time",
    "shrunk_covariance",
    "shrunk_variances",
    "steps_while_tuning",
    "steps_worth_a_draw",
]


# Transitions per draw, for draws that are kept and for those of the tuning phase, where a finer
# choice gains nothing. Up to a tenth is rounded down. A draw for which a kernel has no room is
# divided into equal calls, so no number has a large prime factor.
NUMBERS_OF_STEPS = np.array([1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 70, 100, 140, 200, 300, 500])
NUMBERS_WHILE_TUNING = np.array([1, 2, 5, 10, 20, 50])
ROUNDED_DOWN = 0.9
# The number of lags at which autocorrelations are measured; beyond, they are assumed to fall
# exponentially. Correlations below the second number cannot be distinguished from zero.
MOST_LAGS, LEAST_CORRELATION = 8, 0.02
# The quantile of the entries that counts, and the largest correlation that is believed.
SLOWEST, LARGEST = 0.9, 0.98
# The most that are worth waiting for, of a posterior with few entries, and with many, whose
# transitions take ten times as long.
MOST_OF_FEW, MOST_OF_MANY, FEW = 500, 200, LARGEST_DENSE
# While tuning, draws need not be independent: velocities, which correct the friction, are forgotten
# within a few transitions. So draws are as many, but closer together.
CLOSER, FEWEST_TUNING, MOST_TUNING = 5, 20, 50


def autocorrelation_time(frame: np.ndarray, quantile: float = 0.5) -> float:
    """Autocorrelation time in draws of a first-order process with the measured lag."""
    square = np.mean(frame**2, axis=0)
    lagged = np.mean(frame[1:] * frame[:-1], axis=0)
    of_entries = lagged / np.maximum(square, np.finfo(float).tiny)
    correlation = float(np.clip(np.quantile(of_entries, quantile), 0.0, LARGEST))
    return (1 + correlation) / (1 - correlation)


def steps_worth_a_draw(
    frames: Sequence[np.ndarray], n_steps: float, *, sizes: Sequence[int] | None = None
) -> int:
    """Return in how many transitions the autocorrelation of the slowest entries falls to 1 / e.

    At most 500 are returned, or 200 for more than 100 entries. The entries that matter most are
    then few: scales of a hierarchy, which may be slower than its many effects. The autocorrelation
    of the slowest variable must fall to the root of 1 / e, which leaves a quarter of independent
    draws.

    Parameters
    ----------
    frames : sequence of ndarray, shape (draw, entry)
        Draws of each chain that are ``n_steps`` transitions apart.
    n_steps : float
        See ``frames``; of transitions of another length the number that goes as far.
    sizes : sequence of int, optional
        Number of entries of each variable.
    """
    is_few = frames[0].shape[1] <= FEW
    correlations = _correlations(frames)
    variables = [] if is_few or not sizes else np.split(correlations, np.cumsum(sizes)[:-1], axis=1)
    slowest = max((_draws_until(x, np.exp(-0.5)) for x in variables), default=0.0)
    draws = max(_draws_until(correlations, np.exp(-1.0)), slowest)
    return _rounded(n_steps * draws, NUMBERS_OF_STEPS, MOST_OF_FEW if is_few else MOST_OF_MANY)


def _correlations(frames: Sequence[np.ndarray]) -> np.ndarray:
    """Return the autocorrelation of each entry at the first lags, one lag per row."""
    n_lags = min(MOST_LAGS, min(map(len, frames)) - 1)
    square = sum(np.sum(frame**2, axis=0) for frame in frames) / sum(map(len, frames))
    rows = []
    for lag in range(1, n_lags + 1):
        lagged = sum(np.sum(frame[lag:] * frame[:-lag], axis=0) for frame in frames)
        n = sum(len(frame) - lag for frame in frames)
        rows.append(lagged / n / np.maximum(square, np.finfo(float).tiny))
    return np.array(rows).reshape(len(rows), frames[0].shape[1])


def _draws_until(correlations: np.ndarray, level: float) -> float:
    """Return after how many draws the autocorrelation of the slowest tenth falls to a level.

    That of a lightly damped chain, which oscillates, falls faster than exponentially, and that of
    one with slow directions more slowly: so it is followed, and only its end is extrapolated.
    """
    if not len(correlations):
        # Of single draws nothing is known.
        return 1.0
    slowest = np.clip(np.quantile(correlations, SLOWEST, axis=1), LEAST_CORRELATION, LARGEST)
    before = 1.0
    for lag, correlation in enumerate(slowest, start=1):
        if correlation <= level:
            return lag - 1 + float(np.log(before / level) / np.log(before / correlation))
        before = correlation
    return len(slowest) * float(np.log(level) / np.log(before))


def steps_while_tuning(n_steps: float) -> int:
    """Return the transitions per draw of the tuning phase, if draws that are kept need so many."""
    closer = max(n_steps / CLOSER, FEWEST_TUNING)
    return _rounded(min(n_steps, closer), NUMBERS_WHILE_TUNING, MOST_TUNING)


def _rounded(n_steps: float, numbers: np.ndarray, most: int) -> int:
    """Round up to one of few numbers."""
    enough = n_steps * ROUNDED_DOWN <= numbers
    return int(min(numbers[enough.argmax()] if enough.any() else most, most))


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
