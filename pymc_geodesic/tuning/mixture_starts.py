#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Starts of mixtures: clusters of rows, to each of which a component is fitted.

Rows are compared as the components see them: by their log densities under many random components,
which differ from each other in one variable at a time. For von Mises-Fisher distributions these are
random projections of the rows, for axes of their outer products, for normal distributions of the
rows and their squares; whatever the densities, two rows are near if no component tells them apart.
Ward's method divides some rows in this space, and k-means moves the borders. Then the bound that
EM maximises,

.. math::

    \sum_i \sum_k r_{ik} [\log w_k + \log f_k(x_i)] + \log p(\theta),

is maximised with the clusters as shares r. The search of a mode goes on from there.

References
----------
J. H. Ward, Hierarchical Grouping to Optimize an Objective Function, Journal of the American
Statistical Association 58 (1963).
A. Rahimi and B. Recht, Random Features for Large-Scale Kernel Machines, NIPS (2007).
"""

from __future__ import annotations

import warnings

from collections.abc import Callable, Sequence

import numpy as np

from pymc_geodesic.kernel.host_functions import component_densities, energies_and_gradients
from pymc_geodesic.kernel.host_gradient import Evaluation, HostGradient
from pymc_geodesic.potential import Potential
from pymc_geodesic.tuning.center import descend

__all__ = ["MixtureStarts", "mixture_starts"]

Point = Sequence[np.ndarray]

# Random components for each entry of a component, and at most, for each variable: so many random
# projections keep the distances of rows to a tenth.
PER_ENTRY, MOST_COMPONENTS = 4, 300
# Rows for each component, so that a small cluster is told from a part of a large one; at least and
# at most. Distances of half of them are in memory at once, 40 megabytes.
ROWS_EACH, FEWEST_ROWS, MOST_ROWS = 200, 1_000, 6_000
# Divisions, each by other halves of the rows, of which the one with the smallest distances is
# taken. Random seeds of thirty clusters are never one in each; Ward's method misses one at most.
N_DIVISIONS = 4
# Evaluations of the bound: clusters need no precise fit.
MOST_EVALUATIONS = 60
# A variable moves no rows whose log densities differ by less, relative to their size.
ROUNDING = 1e-10


def mixture_starts(gradient: HostGradient) -> MixtureStarts | None:
    """Return the starts of the mixtures of a posterior; None if it has no mixtures."""
    bound = gradient.potential.shared_out()
    return None if bound is None else MixtureStarts(gradient, bound)


class MixtureStarts:
    """Starts of the mixtures of a posterior.

    Parameters
    ----------
    gradient : HostGradient
        Energies and gradients.
    bound : Potential
        The bound that EM maximises.
    """

    def __init__(self, gradient: HostGradient, bound: Potential) -> None:
        self._gradient = gradient
        self._bound = energies_and_gradients(bound)
        self._densities = component_densities(gradient.potential)
        self._rows: Sequence[np.ndarray] = ()
        self._shapes: list[tuple[int, ...]] = []
        self._features: list[np.ndarray] = []

    def n_rows(self, point: Point) -> int:
        """Return how many rows tell the components apart."""
        self._rows = [row[:1] for row in self._gradient.first_rows()]
        k = max(x.shape[-1] for x in self._at(point))
        return max(FEWEST_ROWS, min(ROWS_EACH * k, MOST_ROWS))

    def look(
        self,
        center: Point,
        *,
        rows: Sequence[np.ndarray],
        varied: Callable[[int], Point],
    ) -> None:
        """See rows as the components do.

        Parameters
        ----------
        center : sequence of ndarray
            A point at which all components have about the width of all data.
        rows : sequence of ndarray
            Rows of each source that are divided among components.
        varied : callable
            ``(number of a variable) -> point``: the center with another value of this variable.
        """
        self._rows = list(rows)
        self._shapes = [x.shape for x in self._at(center)]
        self._features = self._seen_by_components(center, varied)

    def start(self, near: Point, rng: np.random.Generator) -> list[np.ndarray]:
        """Divide the rows anew, and fit the components to the clusters from a point."""
        shares = [
            np.eye(shape[-1])[_clusters(features, shape[-1], rng)].reshape(shape)
            for features, shape in zip(self._features, self._shapes, strict=True)
        ]
        gradient, n = self._gradient, len(near)

        def evaluate(point: Point) -> Evaluation:
            given = [*gradient.conditioned, *shares, *point, *self._rows]
            energy, *g = self._bound.once(given, interprets=gradient.interprets)
            return Evaluation(float(energy), g[:n], g[n:])

        return descend(evaluate, near, project=gradient.project, most=MOST_EVALUATIONS).point

    def _at(self, point: Point) -> list[np.ndarray]:
        given = [*self._gradient.conditioned, *point, *self._rows]
        return self._densities.once(given, interprets=self._gradient.interprets)

    def _seen_by_components(
        self, center: Point, varied: Callable[[int], Point]
    ) -> list[np.ndarray]:
        """Return the rows of each mixture, as seen by random components, ``(row, component)``."""
        k = min(shape[-1] for shape in self._shapes)
        blocks: list[list[np.ndarray]] = []
        for i, x in enumerate(center):
            size = max(1, np.size(x) // k)
            n_points = -(-min(PER_ENTRY * size, MOST_COMPONENTS) // k)
            at_each = [self._at(varied(i)) for _ in range(n_points)]
            of_each = [np.concatenate(parts, axis=-1) for parts in zip(*at_each, strict=True)]
            blocks.append([np.sqrt(size) * _scaled(x) for x in of_each])
        return [np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True)]


def _scaled(densities: np.ndarray) -> np.ndarray:
    """Return log densities as differences between rows, with a total variance of one or zero."""
    flat = densities.reshape(-1, densities.shape[-1]).astype(float)
    fine = np.isfinite(flat)
    least = np.min(np.where(fine, flat, np.inf), axis=0)
    flat = np.where(fine, flat, np.where(np.isfinite(least), least, 0.0))
    moved = flat - flat.mean(axis=0)
    width = np.sqrt(np.sum(np.mean(moved**2, axis=0)))
    return moved / width if width > ROUNDING * np.abs(flat).max(initial=1.0) else 0.0 * moved


def _clusters(features: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """Return the cluster of each row."""
    # Imported on first use, because they take a while to load.
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.cluster.vq import kmeans2

    best, least = np.zeros(len(features), int), np.inf
    for _ in range(N_DIVISIONS):
        some = features[rng.permutation(len(features))[: len(features) // 2 + 1]]
        groups = fcluster(linkage(some, "ward"), k, "maxclust") if len(some) > 1 else np.ones(1)
        centers = np.array([some[groups == i].mean(axis=0) for i in np.unique(groups)])
        with warnings.catch_warnings():
            # A cluster without rows is a component to which the prior is fitted.
            warnings.simplefilter("ignore", UserWarning)
            centers, labels = kmeans2(features, centers, minit="matrix")
        distance = float(np.sum((features - centers[labels]) ** 2))
        if distance < least:
            best, least = labels, distance
    return best
