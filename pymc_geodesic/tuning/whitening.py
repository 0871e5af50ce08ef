#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Draws in the frame of a mass: those that ran off, those of all chains, soft directions.

Directions in which draws are wider than the frame of a mass expects.

The search for directions at the beginning sees the curvature around one point. Item response
models, for instance, have a direction in which all abilities and difficulties grow together; it
was missed there, and its draws were 34 times as wide in variance as those of other directions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.mass.arrays import Mass
from pymc_geodesic.mass.low_rank import LowRankMass
from pymc_geodesic.tuning.spacing import shrunk_covariance

__all__ = [
    "FARTHEST",
    "FARTHEST_MEANS",
    "distance_of_means",
    "soft_directions",
    "whitened",
    "with_directions_of_draws",
    "without_runaways",
]


# Scales from the median beyond which a draw has run off: draws of a Cauchy variable reach as far
# less than once in a million.
FARTHEST = 1e6


def whitened(mass: Mass, draws: Sequence[Sequence[np.ndarray]]) -> np.ndarray:
    """Draws relative to their mean in the frame of a mass, one per row."""
    mean = [np.mean(np.array(arrays), axis=0) for arrays in zip(*draws, strict=True)]
    return np.array(
        [mass.whiten([x - m for x, m in zip(draw, mean, strict=True)]) for draw in draws]
    )


def without_runaways(
    mass: Mass, draws: Sequence[Sequence[np.ndarray]]
) -> list[Sequence[np.ndarray]]:
    """Leave out draws that ran off while a chain was tuned: products of them overflow.

    Parameters
    ----------
    mass : Mass
        Gives the frame.
    draws : sequence of sequence of ndarray
        Positions of chains, one array for each variable.

    Returns
    -------
    list of sequence of ndarray
        The other draws, in the same order; possibly none.
    """
    middle = [np.nanmedian(np.array(arrays), axis=0) for arrays in zip(*draws, strict=True)]
    return [
        draw
        for draw in draws
        if np.all(
            np.abs(mass.whiten([x - m for x, m in zip(draw, middle, strict=True)])) < FARTHEST
        )
    ]


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
    >>> from pymc_geodesic.tuning.whitening import soft_directions
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
    >>> from pymc_geodesic.tuning.whitening import distance_of_means
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
