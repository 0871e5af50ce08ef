#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Whether chains that are far apart have a barrier between them, or one mode that they share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.kernel.host_gradient import SUBSAMPLE, HostGradient

__all__ = ["BARRIER", "barrier_between", "farthest_means"]

# Of the log density on the way between two chains: they leave a mode behind such a barrier once in
# thousands of draws. There is none between chains of a log-concave posterior.
BARRIER = 5.0
# Places on the way, which include both ends.
N_PLACES = 9


def farthest_means(chains: Sequence[Sequence[np.ndarray]]) -> tuple[list[np.ndarray], ...]:
    """Return the means of the two chains that are farthest apart, in their standard deviations.

    Parameters
    ----------
    chains : sequence of sequence of ndarray
        Draws ``(draw, *shape)`` of every variable, for each chain.
    """
    means = [[np.mean(x, axis=0) for x in chain] for chain in chains]
    scales = [np.maximum(np.std(x, axis=0), np.finfo(float).tiny) for x in chains[0]]
    pairs = [(i, j) for i in range(len(means)) for j in range(i)]

    def distance(pair: tuple[int, int]) -> float:
        parts = zip(*(means[i] for i in pair), scales, strict=True)
        return sum(float(np.sum(((a - b) / scale) ** 2)) for a, b, scale in parts)

    i, j = max(pairs, key=distance)
    return means[i], means[j]


def barrier_between(
    gradient: HostGradient, start: Sequence[np.ndarray], end: Sequence[np.ndarray]
) -> float:
    """Return by how much the log density is lower on the straight way than at either end.

    It is zero for log-concave posteriors: if chains of one are apart, they have not mixed yet.

    Parameters
    ----------
    gradient : HostGradient
        Energies of the model, with all rows or a sample of a stream.
    start, end : sequence of ndarray
        Points of the embedding; those between them are projected onto the manifold.

    Returns
    -------
    float
        In natural logarithms; infinite if there is no density on the way.
    """
    points = [
        list(gradient.project(*((1 - t) * a + t * b for a, b in zip(start, end, strict=True))))
        for t in np.linspace(0.0, 1.0, N_PLACES)
    ]
    if gradient.is_stream:
        rows = gradient.rows(np.random.default_rng(0), SUBSAMPLE)
        energies = np.array([gradient(point, rows).energy for point in points])
    else:
        energies = np.array([gradient.whole(point).energy for point in points])
    if not np.isfinite(energies).all():
        return np.inf
    return float(max(energies.max() - max(energies[0], energies[-1]), 0.0))
