#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The results of the measurements of a tuning phase."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pymc_geodesic.algorithms.demands import Demands, GradientNoise
from pymc_geodesic.kernel.row_weights import RowWeights
from pymc_geodesic.mass.arrays import JointMass, Mass

__all__ = ["Center", "Findings"]

# Of the accuracy, where a few rows outweigh all others. Their noise grows with the distance from
# the center of control variates, so that an estimate from draws that are too narrow is too small
# by more than half; noise is then a smaller part of what friction balances.
OUTWEIGHED_SHARE = 0.25


class Center(NamedTuple):
    """The center of control variates, with the gradient of the whole data there.

    If changes of the gradient from there are those of few rows, rows are drawn by ``weights``.
    """

    point: list[np.ndarray]
    gradient: list[np.ndarray]
    weights: RowWeights | None = None


class Findings(NamedTuple):
    """The results of the tuning phase.

    Attributes
    ----------
    mass : Mass
        Mass in whose frame the posterior has about unit variance.
    noise : GradientNoise
        Noise of the estimator in use, in that frame.
    curvature : float
        Largest curvature in that frame.
    variance_ratio : float
        Noise variance with control variates divided by that without; NaN without a center.
    controlled : bool
        Whether control variates are used.
    center : Center or None
        Center of the control variates.
    is_gaussian : bool
        Whether its mode and the curvature there describe the posterior.
    smallest_shape : float
        Smallest concentration of a probability that is near zero; infinite off the simplex.
    halved : bool
        Whether the two halves of every batch balance the noise.
    damps : bool
        Whether they balance the noise of the points of curved manifolds.
    unbalanced : float
        Share of the heat that nothing balances; zero if that is harmless.
    """

    mass: Mass
    noise: GradientNoise
    curvature: float
    variance_ratio: float
    controlled: bool
    center: Center | None
    is_gaussian: bool = True
    smallest_shape: float = np.inf
    halved: bool = False
    damps: bool = False
    unbalanced: float = 0.0

    def demands(self, accuracy: float) -> Demands:
        """Collect the quantities that limit a step size."""
        if self.noise.is_outweighed:
            accuracy *= OUTWEIGHED_SHARE
        is_dense = isinstance(self.mass, JointMass)
        return Demands(self.noise, self.curvature, accuracy, self.smallest_shape, is_dense=is_dense)

    def of_batches(self, times: float) -> Findings:
        """Return the same for batches of so many times as many rows."""
        return self._replace(noise=self.noise.times(1 / times))

    def with_control_variates(self) -> Findings:
        """Use control variates if they lower the noise at all."""
        if self.controlled or not self.variance_ratio < 1:
            return self
        return self._replace(noise=self.noise.times(self.variance_ratio), controlled=True)
