#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Draws in the frame of a mass, without those that ran off."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.mass.arrays import Mass

__all__ = ["FARTHEST", "whitened", "without_runaways"]

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
