#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A test whether chains that are tuned together have found the same mode."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.mass.arrays import Mass
from pymc_geodesic.tuning.whitening import whitened

__all__ = ["FARTHEST_MEANS", "distance_of_means"]

# In standard deviations within a chain. Means of short windows of one slow mode differ by half a
# standard deviation; R-hat would be 1.4 at this limit.
FARTHEST_MEANS = 1.0


def distance_of_means(mass: Mass, windows: Sequence[Sequence[Sequence[np.ndarray]]]) -> float:
    """Compare the spread of the chains' means with that within chains, in the worst direction.

    Parameters
    ----------
    mass : Mass
        Mass in whose frame entries are compared.
    windows : sequence of sequences of draws
        Draws of each chain, equally many.

    Returns
    -------
    float
        Ratio of the standard deviations; zero for a single chain.

    Examples
    --------
    >>> import numpy as np
    >>> from pymc_geodesic.mass.arrays import VariableMasses
    >>> from pymc_geodesic.tuning.agreement import distance_of_means
    >>> mass = VariableMasses([np.ones(2)], dense=[False], shapes=[(2,)], dtype="float64")
    >>> draws = np.random.default_rng(1).normal(size=(2, 500, 2))
    >>> windows = [[[x] for x in chain] for chain in (draws[0], draws[1] + [0.0, 9.0])]
    >>> 5.5 < distance_of_means(mass, windows) < 7.5
    True
    """
    if len(windows) < 2:
        return 0.0
    frame = whitened(mass, [draw for window in windows for draw in window])
    chains = frame.reshape(len(windows), -1, frame.shape[-1])
    within = np.sqrt(chains.var(axis=1).mean(axis=0))
    between = chains.mean(axis=1).std(axis=0, ddof=1)
    return float(np.max(between / np.maximum(within, np.finfo(float).tiny)))
