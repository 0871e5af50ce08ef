#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""How step sizes of independent rows adapt from one trajectory to the next, symbolically."""

from __future__ import annotations

import math

from typing import NamedTuple

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array

__all__ = ["RowAdaptation"]

# A row that adapts for some ten trajectories finds its step size up to a factor of about two.
NEAR, FAR = math.log(2.0), math.log(4.0)


class RowAdaptation(NamedTuple):
    """How the step sizes of independent rows follow their acceptance probabilities.

    Attributes
    ----------
    log_start : array, shape (n_rows,)
        Logarithms of the step sizes at the start.
    gains : array, shape (n_trajectories,)
        Change of the logarithm for an excess of one over the target; zero after the
        trajectories that adapt.
    target_accept : float
        Target of the acceptance probability.
    """

    log_start: Array
    gains: Array
    target_accept: float

    def step_size(self, log_own: Array, which: Array) -> Array:
        r"""Return the rows' step sizes in a trajectory: their own step sizes while they adapt.

        A row's own step size depends on the states that it has visited, and so on its present
        state. Keeping it would bias the draws until the chain has forgotten that state. After
        adaptation a row therefore returns to the initial step size, unless its own differs by more
        than a factor of two; beyond a factor of four the row keeps its own. This is firm
        thresholding of the difference d of the logarithms,

        .. math::

            d \mapsto \min\bigl(|d|, \max(0, 2 |d| - 2 \log 2)\bigr) \, \operatorname{sign} d.
        """
        found = log_own - self.log_start
        size = abs(found)
        # The line from zero at NEAR meets the diagonal at FAR.
        line = FAR / (FAR - NEAR) * arrays.maximum(size - NEAR, 0)
        kept = self.log_start + arrays.sign(found) * arrays.minimum(size, line)
        return arrays.exp(arrays.where(self.gains[which] > 0, log_own, kept))

    def adapted(self, log_own: Array, which: Array, acceptance: Array) -> Array:
        """Return the logarithms of the rows' own step sizes after a trajectory."""
        return log_own + self.gains[which] * (acceptance - self.target_accept)
