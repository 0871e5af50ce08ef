#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""How many entries of a position a row of the data concerns, and whether a dense mass pays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.kernel.host_gradient import HostGradient

__all__ = ["dense_pays", "entries_of_row"]

# Pairs of rows whose gradients are compared.
N_PAIRS = 8
# Entries up to which a matrix of all, of ten megabytes, stays in a processor's cache; and the share
# of them that a row must concern, so that its gradient takes about as long as a product with it.
LARGEST_WIDE, LEAST_CONCERNED = 1_200, 0.5


def entries_of_row(gradient: HostGradient, point: Sequence[np.ndarray]) -> float:
    """Return how many entries a row concerns, on average; of rows that concern all, half of them.

    It is half the number of entries in which the gradients of two rows differ, and at least one.

    Parameters
    ----------
    gradient : HostGradient
        Gradients of the model.
    point : sequence of ndarray
        Where to evaluate them.
    """
    # Rows of its own, so that the draws of a chain do not depend on this.
    rng = np.random.default_rng(0)
    rows = [gradient.rows(rng, 1) for _ in range(2 * N_PAIRS)]
    gradients = [found.gradient for found in gradient.many([point] * len(rows), rows)]
    differing = [
        sum(np.count_nonzero(a != b) for a, b in zip(*pair, strict=True))
        for pair in zip(gradients[::2], gradients[1::2], strict=True)
    ]
    return max(1.0, sum(differing) / (2 * N_PAIRS))


def dense_pays(gradient: HostGradient, point: Sequence[np.ndarray]) -> bool:
    """Return whether a dense mass of many entries takes about as long as the gradients of a batch.

    It does in regressions. Where a row concerns few of the entries, as with effects of groups, it
    takes far longer.

    Parameters
    ----------
    gradient : HostGradient
        Gradients of the model.
    point : sequence of ndarray
        Where to evaluate them.
    """
    size = sum(map(np.size, point))
    is_flat = all(factor.mass == "matrix" for factor in gradient.manifold.factors)
    if not (is_flat and gradient.n_rows and size <= LARGEST_WIDE):
        return False
    return 2 * entries_of_row(gradient, point) >= LEAST_CONCERNED * size
