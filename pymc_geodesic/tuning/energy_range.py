#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Detection of diverging chains, by their position and their energy."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np

__all__ = ["BATCHES", "EnergyRange", "largest_of", "overflowing"]

# Standard deviations of the energy above the energies of the tuning phase. They are those of single
# estimates, including minibatch noise. A diverging chain exceeds any number of them; 300 are
# beyond the tails of every posterior, and of batches with outlying rows like those of a Cauchy
# distribution.
MOST_DEVIATIONS = 300.0
# Energy above the mean for each degree of freedom. A typical draw is 1/2 above the mode. So a
# chain that tuned at the mode, with an exact gradient and a step so small that its energy hardly
# varied, may still rise to typical energies.
MOST_PER_FREEDOM = 10.0
# Consecutive batches, because a batch with an outlying row can have any energy.
BATCHES = 3
# Fewer draws do not determine a standard deviation.
FEWEST_DRAWS = 20


def overflowing(values: Mapping[str, np.ndarray]) -> tuple[str, float] | None:
    """Find a variable beyond the cube root of the largest number: 5.6e102, or 7e12 in float32.

    Products of a position, a velocity and a gradient of that size overflow.
    """
    for name, value in values.items():
        largest = float(max(value.max(), -value.min())) if value.size else 0.0
        if largest > largest_of(value.dtype):
            return name, largest
    return None


@cache
def largest_of(dtype: np.dtype) -> float:
    """Return the cube root of the largest number."""
    return float(np.finfo(dtype).max) ** (1 / 3)


class EnergyRange:
    """The potential energies of the tuning phase, and whether a draw is far above them.

    Parameters
    ----------
    freedom : int
        Degrees of freedom of the sampled variables.
    """

    def __init__(self, freedom: int) -> None:
        self.freedom = freedom
        self.begin()

    def begin(self) -> None:
        """Forget the previous chain."""
        self.energies: list[float] = []
        self.mean = self.deviation = np.nan
        self.n_above = 0

    def observe(self, energy: float) -> None:
        """Learn from a draw of the tuning phase."""
        self.energies.append(energy)

    def settle(self) -> None:
        """End the tuning phase; its first half belongs to the way from the start."""
        energies = np.array(self.energies[len(self.energies) // 2 :])
        energies = energies[np.isfinite(energies)]
        if len(energies) >= FEWEST_DRAWS:
            with np.errstate(over="ignore"):
                self.mean, self.deviation = float(energies.mean()), float(energies.std())
        self.energies = []

    def has_left(self, energy: float, *, draws_per_batch: int) -> bool:
        """Return whether this draw and those with the batches before it are above the range."""
        # The limit is NaN before it is known, and comparisons with it are false.
        above = energy > self.limit
        self.n_above = self.n_above + 1 if above else 0
        return self.n_above > (BATCHES - 1) * draws_per_batch

    @property
    def limit(self) -> float:
        """Energy above which a draw has left the range."""
        return self.mean + MOST_DEVIATIONS * self.deviation + MOST_PER_FREEDOM * self.freedom
