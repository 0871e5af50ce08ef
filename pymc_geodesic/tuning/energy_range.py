#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Monitors of a chain: draws that diverge, temperatures, and the field of a reference.

How much the temperature of one variable exaggerates errors, because others move with it.

The temperature of a variable b is :math:`T_b = E[(b - E b) \cdot \partial_b U] / d`, one for draws
of the posterior. On a ridge, the position along it, which is wide, multiplies a gradient that
depends on the narrow distance from it. With the mass M as the curvature, an error of a share
:math:`\delta` in the narrow direction, or of a product of both, changes :math:`T_b` by up to

.. math::

    \delta \sqrt{\operatorname{tr}[(M^{-1})_{bb} M_{bb}] / d},

where the square is :math:`1 / (1 - \rho^2)` for a single entry whose multiple correlation with all
others is :math:`\rho`, and one for a variable that is independent of the others, whatever the
correlations within it. For a mean to which the effects of groups are added, the root is its
deviation over that given all effects: ten or more in large data.
"""

from __future__ import annotations

import math

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from pymc_geodesic.mass.arrays import Mass, joined, split

__all__ = ["BATCHES", "EnergyRange", "FieldReference", "amplification", "largest_of", "overflowing"]


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


# Entries of a variable that are looked at: each takes two products with the mass.
MOST_ENTRIES = 64


def amplification(mass: Mass, shapes: Sequence[tuple[int, ...]]) -> np.ndarray:
    """Return the factor by which the temperature of each variable exaggerates errors.

    Parameters
    ----------
    mass : Mass
        The mass that fits the posterior.
    shapes : sequence of tuple of int
        Shape of each variable, which has at least one entry.

    Returns
    -------
    ndarray, shape (variable,)
        At least one, up to rounding. Of variables with more than 64 entries it is that of 64.

    Examples
    --------
    Two variables with a correlation of .8:

    >>> import numpy as np
    >>> from pymc_geodesic.mass import JointMass
    >>> from pymc_geodesic.tuning.energy_range import amplification
    >>> precision = np.linalg.inv([[1.0, 0.8], [0.8, 1.0]])
    >>> mass = JointMass(precision, shapes=[(), ()], dtype="float64")
    >>> amplification(mass, [(), ()]).round(2)
    array([1.67, 1.67])
    """
    sizes = [math.prod(shape) for shape in shapes]
    starts = np.cumsum([0, *sizes[:-1]])
    pairs = zip(starts, sizes, strict=True)
    return np.sqrt([_square(mass, start + _chosen(size), shapes) for start, size in pairs])


def _chosen(size: int) -> np.ndarray:
    """Return places that are spread over the entries of a variable."""
    return np.unique(np.linspace(0, size - 1, min(size, MOST_ENTRIES)).astype(int))


def _square(mass: Mass, entries: np.ndarray, shapes: Sequence[tuple[int, ...]]) -> float:
    """Mean over entries of the diagonal of their covariance times their curvature."""
    units = np.zeros((len(entries), sum(map(math.prod, shapes))))
    units[np.arange(len(entries)), entries] = 1.0
    parts = [split(unit, shapes) for unit in units]
    inverse = np.array([joined(mass.force(part)) for part in parts], dtype=float)
    factor = np.array([mass.whiten(part) for part in parts], dtype=float)
    return float(np.mean(np.diag((inverse @ inverse.T) @ (factor @ factor.T))))


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
