#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Sums over batches of the draws of a chain, or of many, from which errors of means follow."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

__all__ = ["BATCHES", "FEWEST_DRAWS", "BatchSums"]

# Standard errors from batch means are too small where draws depend on one another for longer than a
# batch; chains are independent of one another.
BATCHES, FEWEST_DRAWS = 20, 100


class BatchSums:
    """Sums over batches: of consecutive draws, or of chains if there are at least as many.

    Parameters
    ----------
    shape : tuple of int
        Shape of what is summed.
    draws : int
        Number of draws of each chain that will be observed.
    """

    def __init__(self, shape: tuple[int, ...], *, draws: int) -> None:
        self._draws, self._n_seen, self._n_chains = draws, 0, 1
        self._sums, self._sizes = np.zeros((BATCHES, *shape)), np.zeros(BATCHES)

    def parts(self, n_chains: int) -> Iterator[tuple[int, slice]]:
        """Count a draw of all chains; yield the batches to which it belongs, with their chains."""
        draw, self._n_seen, self._n_chains = self._n_seen, self._n_seen + 1, n_chains
        if n_chains >= BATCHES:
            for batch in range(BATCHES):
                yield batch, slice(batch, None, BATCHES)
        else:
            yield min(draw * BATCHES // max(self._draws, 1), BATCHES - 1), slice(None)

    def add(self, batch: int, total: np.ndarray, size: int) -> None:
        """Add the sum of so many values to a batch."""
        self._sums[batch] += total
        self._sizes[batch] += size

    @property
    def are_complete(self) -> bool:
        """Whether all draws have been observed, and are enough."""
        enough = self._draws * self._n_chains >= FEWEST_DRAWS
        return enough and self._n_seen == self._draws

    @property
    def means(self) -> np.ndarray:
        """Means of the batches, with the batch as first axis."""
        return self._sums / self._sizes.reshape(-1, *[1] * (self._sums.ndim - 1))
