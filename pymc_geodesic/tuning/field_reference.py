#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The reference that chooses the fields of configurational temperatures, from past draws."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["FieldReference"]

# A mean of fewer draws is hardly independent of the draws that are tested with it.
FEWEST_DRAWS = 20


class FieldReference:
    """Means over past draws that do not depend on the draws that are tested with them.

    In the tuning phase the reference is the mean over the last window of draws. Each window is
    twice as long as the previous one, so that a poor start is forgotten. At the end it is fixed at
    a mean over about the second half. Without a tuning phase it is the mean over the first
    quarter of the draws, and unknown before.

    A mean that changed with the draws would be correlated with them, and the temperature biased.

    Parameters
    ----------
    shapes : sequence of tuple of int
        Shape of each mean.
    dtype : str
        Type of the sampled variables.
    """

    def __init__(self, shapes: Sequence[tuple[int, ...]], *, dtype: str) -> None:
        self.shapes, self.dtype = list(shapes), dtype
        self.mean: list[np.ndarray] = []
        self.begin(tune=0, draws=0)

    def begin(self, *, tune: int, draws: int) -> None:
        """Forget the previous chain; prepare for one of this length."""
        self.arrays = [np.zeros(shape, self.dtype) for shape in self.shapes]
        self.n_known, self.frozen = 0, False
        self.grows = tune >= FEWEST_DRAWS
        self.window = 1 if self.grows else max(FEWEST_DRAWS, draws // 4)
        self._begin_window()

    @property
    def known(self) -> bool:
        """Whether there is a reference."""
        return self.n_known > 0

    @property
    def until_change(self) -> float:
        """Draws after which the reference may be another one."""
        return np.inf if self.frozen else self.window - self.n_mean

    def observe(self, moments: Sequence[np.ndarray]) -> None:
        """Learn from a draw."""
        if self.frozen:
            return
        self.n_mean += 1
        # A diverging chain overflows here before it overflows in the kernel.
        with np.errstate(over="ignore", invalid="ignore"):
            # New arrays, so that copies of a chain can share those of before.
            self.mean = [
                mean + (moment - mean) / self.n_mean
                for mean, moment in zip(self.mean, moments, strict=True)
            ]
        if self.n_mean == self.window:
            self._adopt()
            self.window *= 2
            if not self.grows:
                self._stop()

    def freeze(self) -> None:
        """Fix the reference at the end of the tuning phase."""
        if not self.grows or self.frozen:
            return
        # A window that has just begun has less information than the previous one.
        if 2 * self.n_mean >= self.n_known:
            self._adopt()
        self._stop()

    def _stop(self) -> None:
        self.frozen = True
        self.mean = []

    def _adopt(self) -> None:
        self.arrays = [mean.astype(self.dtype) for mean in self.mean]
        self.n_known = self.n_mean
        self._begin_window()

    def _begin_window(self) -> None:
        self.mean = [np.zeros(shape) for shape in self.shapes]
        self.n_mean = 0
