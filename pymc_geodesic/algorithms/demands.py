#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What limits step size and friction: noise of gradients, curvature, and the accuracy asked for.

The tuning phase measures them, and :mod:`pymc_geodesic.algorithms.tuning_rules` computes settings
from them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["Demands", "GradientNoise", "RareEntries"]

# Share of the stability limit 2 / sqrt(curvature) of a step: curvature varies over the posterior,
# and nonlinear forces cause further errors.
LARGEST_STEP = 0.5
# Few batches concern an entry if fewer rows of a batch do, on average.
FEW_ROWS = 1.0
# Of the heat of such an entry, the share that noise supplies. Where velocities follow the noise at
# their place, a share s turns a Gaussian posterior into a Student one with 1 + 1 / s degrees of
# freedom, of the right variance; skewed ones were too wide by up to a third with a fifth. If no
# batch told the noise, so that no friction balances it, deviations are too large by a twentieth.
RARE_SHARE = 0.1
# Of the heat of any other entry. The noise of a scale that a thousand effects share adds up theirs
# and is correlated with all of them, which no friction for single entries balances. With a share of
# .75 such a scale, of random walks, had .4 of the right deviation, with .55 it had .6, and with .25
# the right one. Few models have an entry with more than a quarter.
ENTRY_SHARE = 0.25


class RareEntries(NamedTuple):
    """Entries of a position that few batches concern.

    Attributes
    ----------
    n_rows : ndarray, shape (entry,)
        Rows of a batch that concern each of them, on average.
    variance : ndarray, shape (entry,)
        Variance of the gradient's noise, in units in which the posterior deviation of each is one.
    """

    n_rows: np.ndarray
    variance: np.ndarray

    @property
    def largest(self) -> float:
        """Largest variance of those that few batches concern; zero if there are none."""
        return float(np.max(self.variance[self.n_rows < FEW_ROWS], initial=0.0))

    def times(self, factor: float) -> RareEntries:
        """Return the entries for batches with variances that are larger by a factor."""
        return RareEntries(self.n_rows / factor, factor * self.variance)


class GradientNoise(NamedTuple):
    """Variance of a minibatch gradient in the frame of unit mass.

    Attributes
    ----------
    mean, largest : float
        Over the entries of all variables. For a point on a curved manifold the mean is over its
        directions, which are fewer than its entries.
    by_entry : tuple of ndarray
        Variance of each entry, for each variable. On a curved manifold it is the mean over the
        directions of a point, for all its entries.
    unbalanced : float
        What friction for every entry leaves unbalanced, because the noise is correlated or changes
        from place to place; zero where it was not measured.
    uneven : float
        By how much the noise of gradients without control variates changes from place to place,
        relative to its mean; zero where it was not measured. Such noise is proportional to the
        curvature that the data cause, which a Gaussian posterior has the same everywhere.
    total : float
        Sum of the variances over all directions; zero where it was not measured.
    is_outweighed : bool
        Whether a few rows outweigh all others, so that many batches were needed to find it.
    rare : RareEntries, optional
        Entries that few batches concern, whose noise grows with the distance from the center of
        control variates.
    """

    mean: float
    largest: float
    by_entry: tuple[np.ndarray, ...] = ()
    unbalanced: float = 0.0
    uneven: float = 0.0
    total: float = 0.0
    is_outweighed: bool = False
    rare: RareEntries | None = None

    @property
    def of_effects(self) -> float:
        """Largest mean over the entries of a variable that has several; at least that of all."""
        means = [float(np.mean(v)) for v in self.by_entry[:-1] if np.size(v) > 1]
        return max([self.mean, *means])

    @property
    def of_noisiest(self) -> float:
        """Largest variance of an entry, or mean over the directions of a curved point."""
        return max([self.mean, *(float(np.max(v, initial=0.0)) for v in self.by_entry[:-1])])

    @property
    def of_rare(self) -> float:
        """Largest variance of an entry that few batches concern."""
        return 0.0 if self.rare is None else self.rare.largest

    def times(self, factor: float) -> GradientNoise:
        """Return the noise whose variances are larger by a factor."""
        return self._replace(
            mean=factor * self.mean,
            largest=factor * self.largest,
            by_entry=tuple(np.asarray(factor * v, dtype=v.dtype) for v in self.by_entry),
            unbalanced=factor * self.unbalanced,
            total=factor * self.total,
            rare=None if self.rare is None else self.rare.times(factor),
        )


class Demands(NamedTuple):
    """The quantities that limit the step size.

    Attributes
    ----------
    noise : GradientNoise
        Noise of the estimator in use.
    curvature : float
        Largest curvature in the frame.
    accuracy : float
        Tolerated error, in posterior standard deviations.
    given_step : float or None
        The step size that the user has given, for which only the friction is sought.
    is_dense : bool
        Whether the frame is that of a dense mass, in which noise is nearly independent.
    """

    noise: GradientNoise
    curvature: float
    accuracy: float
    given_step: float | None = None
    is_dense: bool = False

    def chosen(self, step_size: float) -> float:
        """Return the given step size, or else the one that a rule proposes."""
        return step_size if self.given_step is None else self.given_step

    @property
    def variance_error(self) -> float:
        """Tolerated relative error of a variance, b."""
        return 2 * self.accuracy

    @property
    def stable_step(self) -> float:
        """Step size that the curvature allows."""
        return LARGEST_STEP / np.sqrt(max(self.curvature, 1e-12))

    @property
    def entry_friction(self) -> float:
        """Friction per step size with which noise supplies little of the heat of every entry.

        It is at most a quarter, and a tenth for entries that few batches concern.
        """
        of_rare = (1 / RARE_SHARE - 1) * self.noise.of_rare
        return 0.5 * max(of_rare, (1 / ENTRY_SHARE - 1) * self.noise.of_noisiest)
