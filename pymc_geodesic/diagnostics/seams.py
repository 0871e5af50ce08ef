#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Draws in coordinates with a distant seam: angles about their mean, axes of one sign."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from pymc_geodesic.diagnostics.axial import principal_axes
from pymc_geodesic.manifolds import Circle, Manifold, ProjectiveSphere

__all__ = ["circular_mean", "without_seam", "wrapped_about"]


def circular_mean(angles: np.ndarray) -> np.ndarray:
    """Return the direction of the mean of the unit vectors of angles, over the first axis."""
    return np.arctan2(np.sin(angles).mean(axis=0), np.cos(angles).mean(axis=0))


def wrapped_about(angles: np.ndarray, center: np.ndarray) -> np.ndarray:
    """Return the angles within half a turn of a center, which may be beyond pi."""
    return center + np.mod(angles - center + np.pi, 2 * np.pi) - np.pi


@singledispatch
def without_seam(manifold: Manifold, x: np.ndarray) -> np.ndarray:
    """Return draws, ``(chain, draw, *shape)``, without jumps from one representative to another.

    R-hat and effective sample sizes of coordinates assume that near points have near coordinates.
    """
    return x


@without_seam.register
def _(manifold: Circle, x: np.ndarray) -> np.ndarray:
    return wrapped_about(x, circular_mean(x.reshape(-1, *x.shape[2:])))


@without_seam.register
def _(manifold: ProjectiveSphere, x: np.ndarray) -> np.ndarray:
    """Give all axes the sign of the principal axis of all chains."""
    _, axes = principal_axes(x.reshape(-1, *x.shape[2:]))
    return np.where((x * axes[..., 0, :]).sum(axis=-1, keepdims=True) < 0, -x, x)
