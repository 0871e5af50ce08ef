#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Coordinates in which draws have mean zero and unit covariance, or at least unit variances."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["MOST_PAIRED", "Frame", "frame_of"]

# Coordinates up to which all covariances are corrected: of more, only variances are, which must be
# those of single entries.
MOST_PAIRED = 50
# Draws for each coordinate that determine a covariance well enough to start from.
DRAWS_EACH = 10
# Of the largest eigenvalue: directions in which draws do not move.
NO_WIDTH = 1e-12


class Frame(NamedTuple):
    """A linear map of coordinates.

    Attributes
    ----------
    mean, scale : ndarray, shape (coordinate,)
        Of the draws.
    root : ndarray, shape (coordinate, coordinate), optional
        Symmetric root of the draws' correlations; None where they are too many.
    """

    mean: np.ndarray
    scale: np.ndarray
    root: np.ndarray | None

    def into(self, x: np.ndarray) -> np.ndarray:
        """Return draws in these coordinates."""
        z = (x - self.mean) / self.scale
        return z if self.root is None else z @ np.linalg.inv(self.root)

    def out_of(self, y: np.ndarray) -> np.ndarray:
        """Return draws in the coordinates that were given."""
        return self.mean + self.scale * (y if self.root is None else y @ self.root)

    def force(self, gradient: np.ndarray) -> np.ndarray:
        """Return gradients in these coordinates."""
        z = gradient * self.scale
        return z if self.root is None else z @ self.root


def frame_of(x: np.ndarray) -> Frame | None:
    """Find coordinates for draws ``(chain, draw, coordinate)``; None if some do not move."""
    flat = x.reshape(-1, x.shape[-1])
    mean, scale = flat.mean(axis=0), flat.std(axis=0)
    if not np.all(np.isfinite(scale) & (scale > NO_WIDTH * np.abs(mean))):
        return None
    n, d = flat.shape
    if d > MOST_PAIRED or n < DRAWS_EACH * d:
        return Frame(mean, scale, None)
    z = (flat - mean) / scale
    values, vectors = np.linalg.eigh(z.T @ z / n)
    if values[0] <= NO_WIDTH * values[-1]:
        return None
    return Frame(mean, scale, (vectors * np.sqrt(values)) @ vectors.T)
