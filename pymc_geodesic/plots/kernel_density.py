#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Kernel densities of draws on circle and sphere, with cross-validated bandwidth.

A kernel is a von Mises-Fisher density of concentration :math:`1 / h^2` about a draw, with h the
bandwidth in radians. The bandwidth maximises the likelihood of held-out draws. Blocks of
consecutive draws are held out together: neighbours in a chain are close to each other, and the
bandwidth would otherwise follow the path of the chain.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from scipy.optimize import minimize_scalar
from scipy.spatial.distance import cdist
from scipy.special import i0e

__all__ = [
    "choose_bandwidth",
    "find_bandwidth",
    "held_out_log_density",
    "log_density",
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
