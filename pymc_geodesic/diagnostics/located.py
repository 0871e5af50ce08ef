#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Where draws are: their mean as a point of their manifold, and coordinates about it."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

__all__ = ["located"]


@singledispatch
def located(manifold: Any, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of draws, and the draws about it.

    The files of :mod:`pymc_geodesic.diagnostics.rules` register manifolds. All others have the mean
    of the entries.

    Parameters
    ----------
    manifold : Manifold or None
        Where the draws lie; None is flat space.
    draws : ndarray, shape (S, ...)
        The draws, along the first axis.

    Returns
    -------
    mean, draws : ndarray
        Draws that are the same point in several ways, such as angles and axes, are written as those
        next to the mean.
    """
    return draws.mean(axis=0, dtype=float), draws
