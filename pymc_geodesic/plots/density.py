#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Densities of directions: kernel estimates from draws, and regions of highest density."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from contourpy import contour_generator
from scipy.linalg import null_space

from pymc_geodesic.diagnostics.directional import angles_to
from pymc_geodesic.plots.kernel_density import (
    choose_bandwidth,
    held_out_log_density,
    log_density,
)
from pymc_geodesic.plots.sphere_mesh import isolines, mesh_near

__all__ = ["cap_border", "circle_density", "contour_lines", "levels_of", "regions_of_draws"]

LogDensity = Callable[[np.ndarray], np.ndarray]

# Ratio of the widest visible extent to the narrowest kernel.
FINEST = 400


def levels_of(
    values: np.ndarray, area: np.ndarray, mass: Sequence[float]
) -> tuple[np.ndarray, np.ndarray]:
    """Find the borders of the regions of highest density that hold `mass`.

    Parameters
    ----------
    values : ndarray
        Log densities on a grid.
    area : ndarray
        Area of each cell, up to a constant, broadcastable to `values`.
    mass : sequence of float
        Probabilities.

    Returns
    -------
    levels, mass : ndarray
        Increasing log densities at the borders that exist, and the probability that each holds.
    """
    wanted = np.sort(np.asarray(mass, dtype=float))[::-1]
    weight = (np.exp(values - values.max()) * area).ravel()
    order = np.argsort(values, axis=None)[::-1]
    held = np.cumsum(weight[order]) / weight.sum()
    index = np.minimum(np.searchsorted(held, wanted), held.size - 1)
    levels = values.ravel()[order][index]
    # A flat density has no borders, and contours need levels that differ.
    keep = (
        (levels > values.min()) & (levels < values.max()) & (np.diff(levels, prepend=-np.inf) > 0)
    )
    return levels[keep], wanted[keep]


def regions_of_draws(x: np.ndarray, mass: Sequence[float]) -> list[np.ndarray]:
    """Find the borders of the densest regions of draws on the sphere, as lines of unit vectors.

    The density is a mean of von Mises-Fisher kernels. Its level at the border of a region is the
    quantile of the densities at the draws, each evaluated without its neighbours in the
    chain. A new draw therefore lies in the region with the stated probability, whatever the
    bandwidth. The triangles on which the borders are traced are as fine as the kernels.
    """
    bandwidth = choose_bandwidth(x)
    if bandwidth == 0:
        return []
    # A kernel narrower than this share of the extent would be invisible.
    bandwidth = max(bandwidth, angles_to(x, x[0]).max() / FINEST)
    levels = np.quantile(held_out_log_density(x, bandwidth), 1 - np.asarray(mass, dtype=float))
    vertices, triangles = mesh_near(x, edge=0.8 * bandwidth, reach=4 * bandwidth)
    values = log_density(vertices, x, bandwidth)
    return [line for level in levels for line in isolines(triangles, vertices, values, level)]


def contour_lines(
    x: np.ndarray, y: np.ndarray, values: np.ndarray, levels: Sequence[float] | np.ndarray
) -> list[np.ndarray]:
    """Trace the contours of values on a grid, as arrays of shape (m, 2)."""
    generator = contour_generator(x, y, values)
    return [line for level in levels for line in generator.lines(level)]


def cap_border(center: np.ndarray, radius: float) -> np.ndarray:
    """Return the border of a cap as a closed line of unit vectors."""
    turn = np.linspace(0, 2 * np.pi, 181)
    flat = radius * np.column_stack([np.cos(turn), np.sin(turn)])
    return _from_map(flat, center)


def circle_density(angles: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Estimate the density of angles by von Mises kernels, with a cross-validated bandwidth."""
    x, at = _on_circle(angles), _on_circle(at)
    # Identical draws have no density: show a peak as wide as a line.
    return np.exp(log_density(at, x, max(choose_bandwidth(x), 1e-6)))


def _on_circle(angles: np.ndarray) -> np.ndarray:
    return np.column_stack([np.cos(angles), np.sin(angles)])


def _from_map(flat: np.ndarray, center: np.ndarray) -> np.ndarray:
    """Map points of the azimuthal equidistant map about `center` to the sphere."""
    frame = null_space(center[None])
    distance = np.linalg.norm(flat, axis=-1, keepdims=True)
    return np.cos(distance) * center + np.sinc(distance / np.pi) * (flat @ frame.T)
