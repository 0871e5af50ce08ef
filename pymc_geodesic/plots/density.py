#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Densities of directions: kernel estimates from draws, and regions of highest density.

A kernel is a von Mises-Fisher density of concentration :math:`1 / h^2` about a draw, with h the
bandwidth in radians. The bandwidth maximises the likelihood of held-out draws. Blocks of
consecutive draws are held out together: neighbours in a chain are close to each other, and the
bandwidth would otherwise follow the path of the chain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from contourpy import contour_generator
from scipy.linalg import null_space
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import cdist
from scipy.special import i0e

from pymc_geodesic.diagnostics.directional import angles_to
from pymc_geodesic.plots.sphere_mesh import isolines, mesh_near

__all__ = [
    "cap_border",
    "choose_bandwidth",
    "circle_density",
    "contour_lines",
    "find_bandwidth",
    "held_out_log_density",
    "levels_of",
    "log_density",
    "regions_of_draws",
    "squared_distances",
]


N_BLOCKS = 20
# Number of bandwidths tried before the search between the neighbours of the best one.
N_BANDWIDTHS = 10
# A kernel as wide as this is uniform to a few per cent.
WIDEST = 3.0
# Number of draws used to choose the bandwidth, which takes quadratic time.
MOST_DRAWS = 1000
# Kernels evaluated at a time: 16 MB.
CHUNK = 2_000_000


def choose_bandwidth(x: np.ndarray) -> float:
    """Choose the bandwidth that best predicts blocks of draws from the other blocks.

    Parameters
    ----------
    x : ndarray, shape (S, 2) or (S, 3)
        Unit vectors in the order of the chain.

    Returns
    -------
    float
        In radians; zero if all draws are the same.
    """
    few = x[:: -(-len(x) // MOST_DRAWS)]
    n = x.shape[1]
    found = find_bandwidth(
        squared_distances(few, few),
        log_height=lambda bandwidth: _log_height(bandwidth, n),
        area=2 * np.pi if n == 2 else 4 * np.pi,
        widest=WIDEST,
    )
    # The best bandwidth is proportional to the number of draws to the power -1 / (4 + dimension).
    return found * (len(few) / len(x)) ** (1 / (n + 3))


def find_bandwidth(
    squares: np.ndarray,
    *,
    log_height: Callable[[float], float],
    area: float,
    widest: float,
) -> float:
    """Search for the bandwidth with the largest likelihood of held-out draws.

    Parameters
    ----------
    squares : ndarray, shape (S, T)
        Squared distances of draws from the centres of kernels, by :func:`squared_distances`.
    log_height : callable
        Log density of a kernel at its centre, for a bandwidth.
    area : float
        Area of the whole space.
    widest : float
        Largest bandwidth.
    """
    positive = np.where(squares > 0, squares, np.inf).min(axis=1)
    if not np.isfinite(positive).any():
        return 0.0
    narrowest = np.sqrt(np.median(positive[np.isfinite(positive)]))
    n_draws = len(squares)

    def loss(log_bandwidth: float) -> float:
        # A uniform share of one draw keeps a single draw from deciding alone.
        bandwidth = np.exp(log_bandwidth)
        inside = _held_out(squares, bandwidth) + log_height(bandwidth)
        return -np.logaddexp(inside + np.log1p(-1 / n_draws), -np.log(n_draws * area)).mean()

    tried = np.linspace(np.log(min(narrowest, widest) / 2), np.log(widest), N_BANDWIDTHS)
    best = int(np.argmin([loss(value) for value in tried]))
    bounds = tried[max(best - 1, 0)], tried[min(best + 1, N_BANDWIDTHS - 1)]
    return float(np.exp(minimize_scalar(loss, bounds=bounds, options={"xatol": 0.03}).x))


def held_out_log_density(x: np.ndarray, bandwidth: float) -> np.ndarray:
    """Evaluate the log density at each draw from the draws of the other blocks, shape (S,)."""
    return _held_out(squared_distances(x, x), bandwidth) + _log_height(bandwidth, x.shape[1])


def log_density(at: np.ndarray, x: np.ndarray, bandwidth: float) -> np.ndarray:
    """Evaluate the log density of the draws `x` at points, shape (m,)."""
    size = max(CHUNK // len(x), 1)
    parts = [cdist(at[i : i + size], x, "sqeuclidean") for i in range(0, len(at), size)]
    sums = np.concatenate([_sum_of_kernels(part, bandwidth) for part in parts])
    return np.log(sums / len(x)) + _log_height(bandwidth, x.shape[1])


def squared_distances(x: np.ndarray, middles: np.ndarray) -> np.ndarray:
    """Squared distances of draws from the centres of kernels, infinite in a draw's own block.

    Parameters
    ----------
    x : ndarray, shape (S, n)
        Draws in the order of the chain.
    middles : ndarray, shape (S m, n)
        For each draw its m kernel centres: itself, and its mirror images if there are any.
    """
    block = np.arange(len(x)) * min(N_BLOCKS, len(x)) // len(x)
    squares = cdist(x, middles, "sqeuclidean")
    squares[block[:, None] == np.repeat(block, len(middles) // len(x))] = np.inf
    return squares


def _held_out(squares: np.ndarray, bandwidth: float) -> np.ndarray:
    """Log of the mean of the other blocks' kernels, of height one, per draw."""
    n_images = squares.shape[1] // squares.shape[0]
    n_others = np.isfinite(squares).sum(axis=1) / n_images
    return np.log(_sum_of_kernels(squares, bandwidth) / n_others)


def _sum_of_kernels(squares: np.ndarray, bandwidth: float) -> np.ndarray:
    """Add kernels of height one, with a tiny lower bound where all of them vanish."""
    kernels = squares * (-0.5 / bandwidth**2)
    return np.exp(kernels, out=kernels).sum(axis=1) + np.finfo(float).tiny


def _log_height(bandwidth: float, n: int) -> float:
    """Log density of a kernel at its centre."""
    kappa = bandwidth**-2.0
    if n == 2:
        return float(-np.log(2 * np.pi * i0e(kappa)))
    return float(np.log(kappa / (2 * np.pi)) - np.log(-np.expm1(-2 * kappa)))


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
