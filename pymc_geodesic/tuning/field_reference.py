#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The reference that chooses the fields of configurational temperatures, from past draws."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["FieldReference"]

# A mean of fewer draws is hardly apart from the draws that are tested by it.
FEWEST_DRAWS = 20


class FieldReference:
    """Means over past draws that do not change with the draws that are tested by them.

    In the tuning phase the reference is the mean over the last window of draws, each window twice
    as long as the one before, so that the way from a poor start is forgotten. It is frozen at the
    end, at a mean over about the second half. Without a tuning phase it is the mean over the first
    quarter of the draws, and before that unknown.

    A mean that went on with the draws would be correlated with them, and the temperature biased.

    Parameters
    ----------
    shapes : sequence of tuple of int
        Shape of each mean.
    dtype : str
        Type of the sampled variables.
    """

    def __init__(self, shapes: Sequence[tuple[int, ...]], *, dtype: str) -> None:
        self.shapes, self.dtype = list(shapes), dtype
        self.begin(tune=0, draws=0)

    def begin(self, *, tune: int, draws: int) -> None:
        """Forget another chain; prepare for one of this length."""
        self.arrays = [np.zeros(shape, self.dtype) for shape in self.shapes]
        self.n_known, self.frozen = 0, False
        self.grows = tune >= FEWEST_DRAWS
        self.window = 1 if self.grows else max(FEWEST_DRAWS, draws // 4)
        self._begin_window()

    @property
    def known(self) -> bool:
        """Whether there is a reference yet."""
        return self.n_known > 0

    def observe(self, moments: Sequence[np.ndarray]) -> None:
        """Learn from a draw."""
        if self.frozen:
            return
        self.n_mean += 1
        # A chain that runs off overflows here before it does so in the kernel.
        with np.errstate(over="ignore", invalid="ignore"):
            for mean, moment in zip(self.mean, moments, strict=True):
                mean += (moment - mean) / self.n_mean
        if self.n_mean == self.window:
            self._adopt()
            self.window *= 2
            if not self.grows:
                self._stop()

    def freeze(self) -> None:
        """Keep the reference from the end of the tuning phase on."""
        if not self.grows or self.frozen:
            return
        # A window that has just begun knows less than the one before.
        if 2 * self.n_mean >= self.n_known:
            self._adopt()
        self._stop()

    def _stop(self) -> None:
        self.frozen = True
        self.mean.clear()

    def _adopt(self) -> None:
        self.arrays = [mean.astype(self.dtype) for mean in self.mean]
        self.n_known = self.n_mean
        self._begin_window()

    def _begin_window(self) -> None:
        self.mean = [np.zeros(shape) for shape in self.shapes]
        self.n_mean = 0
