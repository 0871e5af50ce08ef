#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Detection of kept draws whose velocities were too hot, which nothing may pass in silence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["VelocityHeat"]

# Self-tuned steps take half of the largest stable step size, at which velocities seem 7 per cent
# too hot, and accept heating by noise of up to another tenth; diagnoses use the same limit.
HOT = 1.2
# Standard errors from batch means, which are too small where draws depend on one another for longer
# than a batch. A deviation of six is met by chance once in two hundred thousand variables.
BATCHES, SIGNIFICANT = 20, 6.0
FEWEST_DRAWS = 100


class VelocityHeat:
    """Mean kinetic temperatures of the kept draws of a chain, with their standard errors.

    Parameters
    ----------
    names : sequence of str
        Names of the variables.
    draws : int
        Number of draws that will be kept.
    """

    def __init__(self, names: Sequence[str], *, draws: int) -> None:
        self._names, self._draws, self._n_seen = list(names), draws, 0
        self._sums = np.zeros((BATCHES, len(self._names)))
        self._sizes = np.zeros(BATCHES)

    def observe(self, temperatures: np.ndarray) -> str | None:
        """Observe a draw; after the last one name the hottest variable and its temperature.

        Parameters
        ----------
        temperatures : ndarray, shape (variables,)
            Kinetic temperature of each variable; empty without velocities.
        """
        if not temperatures.size:
            return None
        batch = min(self._n_seen * BATCHES // max(self._draws, 1), BATCHES - 1)
        self._sums[batch] += temperatures
        self._sizes[batch] += 1
        self._n_seen += 1
        is_last = self._n_seen == self._draws >= FEWEST_DRAWS
        return self._hottest() if is_last else None

    def _hottest(self) -> str | None:
        means = self._sums / self._sizes[:, None]
        mean, error = means.mean(0), means.std(0, ddof=1) / np.sqrt(BATCHES)
        hot = (mean > HOT) & (mean - 1 > SIGNIFICANT * error)
        if not hot.any():
            return None
        hottest = int(np.argmax(np.where(hot, mean, 0)))
        return f"velocities of `{self._names[hottest]}` had temperature {mean[hottest]:.3g}"
