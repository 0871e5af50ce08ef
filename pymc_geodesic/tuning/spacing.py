#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""How many transitions apart draws are, in the tuning phase and after it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.mass.form import LARGEST_DENSE

__all__ = ["MOST_TUNING", "autocorrelation_time", "steps_while_tuning", "steps_worth_a_draw"]

# Transitions per draw, about a factor of two apart: JAX compiles a kernel for each, which chains
# can share. An additional transition costs less than PyMC's own work on a draw of lower value.
NUMBERS_OF_STEPS = np.array([1, 2, 5, 10, 20, 50, 100, 200, 500])
ROUNDED_DOWN = 0.9
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
    correlation = float(np.clip(np.quantile(of_entries, quantile), 0.0, 0.98))
    return (1 + correlation) / (1 - correlation)


def steps_worth_a_draw(
    frame: np.ndarray, n_steps: float, *, sizes: Sequence[int] | None = None
) -> int:
    """Return in how many transitions the autocorrelation of the slowest entries falls to 1 / e.

    At most 500 are returned, or 200 for more than 100 entries. The entries that matter most are
    then few: scales of a hierarchy, which may be slower than its many effects. The autocorrelation
    of the slowest variable must fall to the root of 1 / e, which leaves a quarter of independent
    draws.

    Parameters
    ----------
    frame : ndarray, shape (draw, entry)
        Draws that are ``n_steps`` transitions apart.
    n_steps : float
        See ``frame``; of transitions of another length the number that goes as far.
    sizes : sequence of int, optional
        Number of entries of each variable.
    """
    is_few = frame.shape[1] <= FEW
    variables = [] if is_few or not sizes else np.split(frame, np.cumsum(sizes)[:-1], axis=1)
    slowest = max(map(_correlation, variables), default=0.0)
    correlation = max(_correlation(frame), slowest**2)
    most = MOST_OF_FEW if is_few else MOST_OF_MANY
    if correlation < 0.02:
        return _rounded(n_steps / 4, most)
    return _rounded(-n_steps / np.log(correlation), most)


def _correlation(frame: np.ndarray) -> float:
    time = autocorrelation_time(frame, quantile=0.9)
    return (time - 1) / (time + 1)


def steps_while_tuning(n_steps: float) -> int:
    """Return the transitions per draw of the tuning phase, if draws that are kept need so many."""
    closer = max(n_steps / CLOSER, FEWEST_TUNING)
    return _rounded(min(n_steps, closer), MOST_TUNING)


def _rounded(n_steps: float, most: int) -> int:
    """Round up to one of few numbers."""
    enough = n_steps * ROUNDED_DOWN <= NUMBERS_OF_STEPS
    return int(min(NUMBERS_OF_STEPS[enough.argmax()] if enough.any() else most, most))
