#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Densities of directions: by kernels from draws, and the regions that hold a probability."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from contourpy import contour_generator
from scipy.linalg import null_space

from pymc_geodesic.diagnostics.directional import angles_to, angular_sd, mean_direction

__all__ = ["cap_border", "circle_density", "contour_lines", "levels_of", "regions_of_draws"]

LogDensity = Callable[[np.ndarray], np.ndarray]

# Points of the grid on which the density of draws is evaluated, along each side.
GRID = 121


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
        Increasing log densities at the borders that there are, and what each holds.
    """
    mass = np.sort(np.asarray(mass, dtype=float))[::-1]
    weight = (np.exp(values - values.max()) * area).ravel()
    order = np.argsort(values, axis=None)[::-1]
    held = np.cumsum(weight[order]) / weight.sum()
    index = np.minimum(np.searchsorted(held, mass), held.size - 1)
    levels = values.ravel()[order][index]
    # A flat density has no borders, and contours need levels that differ.
    keep = (
        (levels > values.min()) & (levels < values.max()) & (np.diff(levels, prepend=-np.inf) > 0)
    )
    return levels[keep], mass[keep]


def regions_of_draws(x: np.ndarray, mass: Sequence[float]) -> list[np.ndarray]:
    """Draw the borders of the densest regions of draws on the sphere, as unit vectors of lines.

    The density is a mean of von Mises-Fisher kernels with the bandwidth of Scott's rule in the
    tangent plane. It is evaluated on a map about the mean direction that is as wide as the draws,
    so that any width of a posterior is resolved.
    """
    center = mean_direction(x)
    bandwidth = angular_sd(x) / np.sqrt(2) * len(x) ** (-1 / 6)
    radius = min(np.pi, angles_to(x, center).max() + 4 * bandwidth)
    side = np.linspace(-radius, radius, GRID)
    flat = np.stack(np.meshgrid(side, side), axis=-1)
    grid = _from_map(flat, center)
    kernels = (grid.reshape(-1, 3) @ x.T - 1) / bandwidth**2
    density = np.exp(kernels).mean(axis=1).reshape(GRID, GRID)
    distance = np.linalg.norm(flat, axis=-1)
    # The map is equidistant from its middle: its cells shrink on the sphere, and end at the rim.
    area = np.where(distance < radius, np.sinc(distance / np.pi), 0)
    log_density = np.log(np.maximum(density, np.finfo(float).tiny))
    lines = contour_lines(side, side, log_density, levels_of(log_density, area, mass)[0])
    return [_from_map(line, center) for line in lines]


def contour_lines(x: np.ndarray, y: np.ndarray, values: np.ndarray, levels) -> list[np.ndarray]:
    """Trace the contours of values on a grid, as arrays of shape (m, 2)."""
    generator = contour_generator(x, y, values)
    return [line for level in levels for line in generator.lines(level)]


def cap_border(center: np.ndarray, radius: float) -> np.ndarray:
    """Give the border of a cap as unit vectors of a closed line."""
    turn = np.linspace(0, 2 * np.pi, 181)
    flat = radius * np.column_stack([np.cos(turn), np.sin(turn)])
    return _from_map(flat, center)


def circle_density(angles: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Estimate the density of angles by von Mises kernels.

    The bandwidth is 0.7 of Scott's, which is meant for one mode and would flatten several.
    """
    x = np.column_stack([np.cos(angles), np.sin(angles)])
    bandwidth = 0.74 * angular_sd(x) * len(x) ** (-1 / 5)
    # Twice the squared sine of half the angle keeps its digits where the cosine is near one.
    kernels = np.exp(-2 * (np.sin((at[:, None] - angles) / 2) / bandwidth) ** 2)
    density = kernels.mean(axis=1)
    return density / (density.mean() * 2 * np.pi)


def _from_map(flat: np.ndarray, center: np.ndarray) -> np.ndarray:
    """Leave `center` along geodesics, by the azimuthal equidistant map."""
    frame = null_space(center[None])
    distance = np.linalg.norm(flat, axis=-1, keepdims=True)
    return np.cos(distance) * center + np.sinc(distance / np.pi) * (flat @ frame.T)
