#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Directions in which draws are wider than the frame of a mass expects.

The search for directions at the beginning sees the curvature around one point. Item response
models, for instance, have a direction in which all abilities and difficulties grow together; it
was missed there, and its draws were 34 times as wide in variance as those of other directions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.mass.low_rank import LowRankMass
from pymc_geodesic.tuning.shrinkage import shrunk_covariance
from pymc_geodesic.tuning.whitening import FARTHEST, whitened

__all__ = ["soft_directions", "with_directions_of_draws"]

# Variance in the frame from which on a direction is soft: draws along it are four times as
# correlated as others.
SOFT = 4.0
# Directions that one set of draws may add.
MOST_NEW = 4
# Draws that are compared, and numbers in them; more are thinned. Their products take a second.
MOST_DRAWS, MOST_NUMBERS = 800, 20_000_000


def with_directions_of_draws(
    mass: LowRankMass, draws: Sequence[Sequence[np.ndarray]], *, is_flat: np.ndarray
) -> LowRankMass:
    """Correct a mass by draws along its directions, and along softer ones that it lacks.

    Parameters
    ----------
    mass : LowRankMass
        The mass, with a diagonal that fits the draws.
    draws : sequence of sequence of ndarray
        Positions of all chains, one chain after the other.
    is_flat : ndarray of bool, shape (entry,)
        Entries of variables that are flat; others have no directions.

    Returns
    -------
    LowRankMass
        The corrected mass; the same one if there are fewer than four draws, or draws that are not
        finite or ran off.
    """
    frame = whitened(mass, draws).astype(float) * is_flat
    # Products of draws that all ran off overflow.
    if len(frame) < 4 or not np.all(np.abs(frame) < FARTHEST):
        return mass
    known = mass.directions[:, mass.directions.any(axis=0)].astype(float)
    # Directions that were found in noisy draws would seem correlated with the known ones.
    others = soft_directions(frame - (frame @ known) @ known.T)
    directions = np.concatenate([known, others], axis=1)
    if not directions.size:
        return mass
    return mass.turned(directions, shrunk_covariance(frame @ directions))


def soft_directions(frame: np.ndarray) -> np.ndarray:
    r"""Return directions along which draws in a frame have variances far above one.

    With fewer draws than entries the widest direction of draws is wide by chance. So one half of
    the draws gives directions, and the other half the variances along them, then the other way
    round; as many are returned as have a mean variance of four or more.

    Parameters
    ----------
    frame : ndarray, shape (draw, entry)
        Draws in the frame of a mass, those of one chain after the other, so that its halves are
        from different chains, or at least from different times.

    Returns
    -------
    ndarray, shape (entry, direction)
        Orthonormal columns: principal axes of all draws.

    Examples
    --------
    >>> import numpy as np
    >>> from pymc_geodesic.tuning.soft_directions import soft_directions
    >>> frame = np.random.default_rng(1).standard_normal((200, 300))
    >>> soft_directions(frame).shape
    (300, 0)
    >>> frame[:, 7] *= 5
    >>> soft_directions(frame).shape, np.argmax(np.abs(soft_directions(frame)))
    ((300, 1), np.int64(7))
    """
    n_compared = max(4, min(MOST_DRAWS, MOST_NUMBERS // frame.shape[1]))
    thinned = frame[:: -(-len(frame) // n_compared)]
    halves = [half - half.mean(axis=0) for half in np.array_split(thinned, 2)]
    variances = [
        np.var(other @ _principal_axes(one), axis=0) for one, other in (halves, halves[::-1])
    ]
    n = min(map(len, variances))
    is_soft = np.mean([variance[:n] for variance in variances], axis=0) >= SOFT
    # The axes are in the order of their widths.
    n_soft = n if is_soft.all() else int(np.argmin(is_soft))
    return _principal_axes(thinned - thinned.mean(axis=0))[:, :n_soft]


def _principal_axes(deviations: np.ndarray) -> np.ndarray:
    """Return the widest orthonormal directions of deviations, at most MOST_NEW, as columns."""
    values, vectors = np.linalg.eigh(deviations @ deviations.T)
    chosen = np.argsort(values)[::-1][:MOST_NEW]
    chosen = chosen[values[chosen] > len(values) * np.finfo(float).eps * values[-1]]
    return deviations.T @ (vectors[:, chosen] / np.sqrt(values[chosen]))
