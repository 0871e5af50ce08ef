#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The random inputs of transitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

__all__ = ["Randomness"]


class Randomness(NamedTuple):
    """What transitions take from a chain's generator and its data.

    Attributes
    ----------
    noise : sequence of ndarray
        Standard normals for each transition.
    rows : sequence of ndarray
        Rows of each source of batches, for each transition.
    fresh : ndarray of bool
        Whether each transition is the first to see its batch.
    """

    noise: Sequence[np.ndarray]
    rows: Sequence[np.ndarray]
    fresh: np.ndarray

    def part(self, part: slice) -> Randomness:
        """Return those of some transitions."""
        if part == slice(None):
            # The same array objects for the whole draw, so that they are copied to a device once.
            return self
        return Randomness(
            [x[part] for x in self.noise], [x[part] for x in self.rows], self.fresh[part]
        )
