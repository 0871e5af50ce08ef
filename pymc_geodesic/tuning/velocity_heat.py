#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Detection of kept draws whose velocities were too hot, which nothing may pass in silence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.tuning.batch_means import BatchSums

__all__ = ["VelocityHeat"]

# Self-tuned steps take half of the largest stable step size, at which velocities seem 7 per cent
# too hot, and accept heating by noise of up to another tenth; diagnoses use the same limit.
HOT = 1.2
# In standard errors from batch means: by chance it is met once in two hundred thousand variables.
SIGNIFICANT = 6.0


class VelocityHeat:
    """Mean kinetic temperatures of kept draws, with their standard errors.

    Parameters
    ----------
    names : sequence of str
        Names of the variables.
    draws : int
        Number of draws that will be kept.
    """

    def __init__(self, names: Sequence[str], *, draws: int) -> None:
        self._names = list(names)
        self._sums = BatchSums((len(self._names),), draws=draws)

    def observe(self, temperatures: np.ndarray) -> str | None:
        """Observe a draw; after the last one name the hottest variable and its temperature.

        Parameters
        ----------
        temperatures : ndarray, shape (variables,) or (chains, variables)
            Kinetic temperature of each variable; empty without velocities.
        """
        if not temperatures.size:
            return None
        temperatures = np.atleast_2d(temperatures)
        for batch, chains in self._sums.parts(len(temperatures)):
            some = temperatures[chains]
            self._sums.add(batch, some.sum(axis=0), len(some))
        return self._hottest() if self._sums.are_complete else None

    def _hottest(self) -> str | None:
        means = self._sums.means
        mean, error = means.mean(0), means.std(0, ddof=1) / np.sqrt(len(means))
        hot = (mean > HOT) & (mean - 1 > SIGNIFICANT * error)
        if not hot.any():
            return None
        hottest = int(np.argmax(np.where(hot, mean, 0)))
        return f"velocities of `{self._names[hottest]}` had temperature {mean[hottest]:.3g}"
