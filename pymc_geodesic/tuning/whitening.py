#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Draws in the frame of a mass."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.mass.arrays import Mass

__all__ = ["whitened"]


def whitened(mass: Mass, draws: Sequence[Sequence[np.ndarray]]) -> np.ndarray:
    """Draws relative to their mean in the frame of a mass, one per row."""
    mean = [np.mean(np.array(arrays), axis=0) for arrays in zip(*draws, strict=True)]
    return np.array(
        [mass.whiten([x - m for x, m in zip(draw, mean, strict=True)]) for draw in draws]
    )
