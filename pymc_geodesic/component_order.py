#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Matching of components between chains: the components of a mixture have no natural order."""

from __future__ import annotations

from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

__all__ = [
    "DIFFERENT",
    "Geometry",
    "Matching",
    "are_alike",
    "distances",
    "guessed_geometry",
    "match_chains",
    "match_draws",
    "permuted",
]

Geometry = Literal["direction", "composition", "frame", "plain"]
"""A unit vector or a probability vector along the last axis, orthonormal columns, or neither."""

# Iterations that update the average of the chains, and then the matching to it.
MAX_ROUNDS = 20
# Nearly equal components are matched either way by chance. A new order counts only if it reduces
# the distances of the components that it moves by a sixth.
SMALLEST_GAIN = 1.2
# Components are alike if they are nearer to each other than to other components by this factor.
LARGEST_SHARE = 0.25
# What to do if they are not.
DIFFERENT = (
    "Models of topics have many solutions that predict nearly equally well. Read one chain, such "
    "as the best one by `pmg.topics.document_completion_perplexity`, or start all chains with the "
    "same `initvals`."
)


class Matching(NamedTuple):
    """The order of each chain's components in which the chains agree best.

    Attributes
    ----------
    orders : ndarray of int, shape (C, K)
        Component ``orders[c, k]`` of chain c corresponds to component k of the other chains.
    before, after : ndarray, shape (C, K)
        Distances to the average of the chains in the original and in the new order.
    noise : ndarray, shape (C, K)
        Distances between the first and the second half of each chain.
    """

    orders: np.ndarray
    before: np.ndarray
    after: np.ndarray
    noise: np.ndarray

    @property
    def moved(self) -> np.ndarray:
        """Whether a component changes its number, shape (C, K)."""
        return self.orders != np.arange(self.orders.shape[1])

    @property
    def is_identity(self) -> bool:
        """Whether the chains agree on the order, up to changes by chance."""
        moved = self.moved
        if not moved.any():
            return True
        needed = SMALLEST_GAIN * self.after[moved].sum() + self.noise[moved].sum()
        return bool(self.before[moved].sum() <= needed)


def distances(a: np.ndarray, b: np.ndarray, geometry: Geometry) -> np.ndarray:
    r"""Return the distances between the components of two sets.

    For probability vectors this is the squared Hellinger distance
    :math:`1 - \sum_v \sqrt{a_{jv} b_{kv}}`, for directions :math:`1 - \cos`.

    Parameters
    ----------
    a, b : ndarray, shape (..., K, V)
        Components.
    geometry : {"composition", "direction", "plain"}
        Their geometry; for plain vectors the directions are compared.

    Returns
    -------
    ndarray, shape (..., K, K)
    """
    one, other = (_directions(x, geometry) for x in (a, b))
    return np.maximum(1 - one @ np.swapaxes(other, -1, -2), 0)


def _directions(x: np.ndarray, geometry: Geometry) -> np.ndarray:
    """Return square roots of probability vectors, and directions of other vectors."""
    x = np.sqrt(x) if geometry == "composition" else x
    norms = np.linalg.norm(x, axis=-1, keepdims=True)
    return x / np.maximum(norms, np.finfo(x.dtype).tiny)


def guessed_geometry(draws: np.ndarray) -> Geometry:
    """Detect the geometry of components (C, S, K, V) from their first draws."""
    first = draws[:, 0]
    sums_to_one = first.min() >= 0 and np.allclose(first.sum(axis=-1), 1, atol=1e-3)
    return "composition" if sums_to_one else "direction"


def match_chains(draws: np.ndarray, geometry: Geometry) -> Matching:
    """Match the components of chains by the means of their draws.

    Each chain is matched to the average of all chains by the assignment with the smallest total
    distance. Then the average is updated, until nothing changes.

    Parameters
    ----------
    draws : ndarray, shape (C, S, K, V)
        Draws of K components.
    geometry : {"composition", "direction", "plain"}
        Their geometry.

    References
    ----------
    Stephens, M. (2000). Dealing with label switching in mixture models. JRSS B 62. Section 4.
    """
    n_chains, n_draws, n_components = draws.shape[:3]
    means = draws.mean(axis=1, dtype=float)
    half = max(n_draws // 2, 1)
    early, late = (x.mean(axis=1, dtype=float) for x in (draws[:, :half], draws[:, -half:]))
    noise = np.diagonal(distances(early, late, geometry), axis1=1, axis2=2)
    orders = np.tile(np.arange(n_components), (n_chains, 1))
    for chain in range(1, n_chains):
        # The first matching is to the first chain: the average of unmatched chains is useless.
        orders[chain] = _assign(means[0], means[chain], geometry)
    for _ in range(MAX_ROUNDS):
        reference = permuted(means, orders).mean(axis=0)
        found = np.array([_assign(reference, mean, geometry) for mean in means])
        if np.array_equal(found, orders):
            break
        orders = found
    # The first chain defines the order.
    orders = orders[:, np.argsort(orders[0])]
    reference = permuted(means, orders).mean(axis=0)
    costs = distances(np.broadcast_to(reference, means.shape), means, geometry)
    before = np.diagonal(costs, axis1=1, axis2=2)
    after = np.take_along_axis(costs, orders[:, :, None], axis=2)[..., 0]
    return Matching(orders, before, after, noise)


def are_alike(draws: np.ndarray, matching: Matching, geometry: Geometry) -> np.ndarray:
    """Whether all chains have found a component, of shape (K,), up to what it moves within them."""
    means = draws.mean(axis=1, dtype=float)
    between = np.mean([distances(mean, mean, geometry) for mean in means], axis=0)
    typical = between[~np.eye(len(between), dtype=bool)].mean()
    noise = np.take_along_axis(matching.noise, matching.orders, axis=1).mean(axis=0)
    pairs = combinations(permuted(means, matching.orders), 2)
    partners = [np.diagonal(distances(one, other, geometry)) for one, other in pairs]
    return np.max(partners, axis=0) < LARGEST_SHARE * typical + noise


def match_draws(draws: np.ndarray, reference: np.ndarray, geometry: Geometry) -> np.ndarray:
    """Match the components of every draw to a reference (K, V); return orders (C, S, K)."""
    return np.array([[_assign(reference, draw, geometry) for draw in chain] for chain in draws])


def permuted(values: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """Reorder the components, which lie along the axis after the leading axes of the orders."""
    shape = orders.shape + (1,) * (values.ndim - orders.ndim)
    return np.take_along_axis(values, orders.reshape(shape), axis=orders.ndim - 1)


def _assign(reference: np.ndarray, components: np.ndarray, geometry: Geometry) -> np.ndarray:
    """Return the index of the component that is matched to each component of the reference."""
    # Imported on first use, because it loads all of SciPy's optimisation.
    from scipy.optimize import linear_sum_assignment

    return linear_sum_assignment(distances(reference, components, geometry))[1]
