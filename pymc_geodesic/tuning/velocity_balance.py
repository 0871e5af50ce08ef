#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Detection of entries, or directions, whose velocities are hot or cold where their mean is not."""

from __future__ import annotations

import math

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.entry_names import entry_name
from pymc_geodesic.tuning.batch_means import FEWEST_DRAWS, BatchSums
from pymc_geodesic.tuning.velocity_heat import HOT, SIGNIFICANT

__all__ = ["VelocityBalance"]

COLD = 0.8
# Chains are copied: 160 kilobytes of sums are not noticed, and noise that differs among thousands
# of entries differs among a thousand of them.
MOST_ENTRIES, MOST_DIRECTIONS = 1_000, 30


class VelocityBalance:
    """Temperatures of entries of kept draws, and of up to 30 entries' directions.

    One friction for noise that differs between entries, or along directions, makes draws too wide
    in some and too narrow in others, at a mean temperature of one.

    Parameters
    ----------
    names : sequence of str
        Names of the variables.
    shapes : sequence of tuple of int
        Their shapes.
    draws : int
        Number of draws of a chain that will be kept.
    n_chains : int
        Number of chains.
    """

    def __init__(
        self,
        names: Sequence[str],
        shapes: Sequence[tuple[int, ...]],
        *,
        draws: int,
        n_chains: int = 1,
    ) -> None:
        self._n_entries = sizes = [math.prod(shape) for shape in shapes]
        n, self._n_draws = sum(sizes), draws * n_chains
        spread = np.unique(np.linspace(0, n - 1, min(n, MOST_ENTRIES)).astype(int))
        ends = np.cumsum(sizes, dtype=int)
        kept = [
            spread[(spread >= b - size) & (spread < b)] - (b - size)
            for b, size in zip(ends, sizes, strict=True)
        ]
        self._kept = kept
        self._labels = [
            f"`{entry_name(name, np.unravel_index(i, shape))}`"
            for name, shape, own in zip(names, shapes, kept, strict=True)
            for i in own
        ]
        self._has_directions = 1 < n <= MOST_DIRECTIONS
        size = (n, n) if self._has_directions else (len(self._labels),)
        self._sums = BatchSums(size if self.is_on else (0,), draws=draws)

    @property
    def is_on(self) -> bool:
        """Whether there is something to compare, in enough draws."""
        return len(self._labels) > 1 and self._n_draws >= FEWEST_DRAWS

    def observe(self, velocity: Sequence[np.ndarray]) -> str | None:
        """Observe a draw; after the last one say which temperatures differ from one.

        Parameters
        ----------
        velocity : sequence of ndarray
            Velocities of the variables, in the frame of the mass, of one chain or with the chain as
            first axis.
        """
        if not self.is_on:
            return None
        parts = zip(velocity, self._n_entries, self._kept, strict=True)
        v = np.concatenate([x.reshape(-1, n)[:, i] for x, n, i in parts], axis=1)
        for batch, chains in self._sums.parts(len(v)):
            some = v[chains]
            total = some.T @ some if self._has_directions else np.square(some).sum(axis=0)
            self._sums.add(batch, total, len(some))
        return self._deviation() if self._sums.are_complete else None

    def _deviation(self) -> str | None:
        means = self._sums.means
        if not self._has_directions:
            return _worded(means, self._labels)
        of_entries = _worded(np.diagonal(means, axis1=1, axis2=2), self._labels)
        if of_entries is not None:
            return of_entries
        # Directions found in one half of the batches are judged by the other half.
        _, axes = np.linalg.eigh(means[::2].mean(axis=0))
        ends = axes[:, [0, -1]]
        along = np.einsum("bij,ik,jk->bk", means[1::2], ends, ends)
        largest = [self._labels[i] for i in np.argmax(np.abs(ends), axis=0)]
        return _worded(along, [f"a direction, mostly of {label}" for label in largest])


def _worded(means: np.ndarray, labels: Sequence[str]) -> str | None:
    """Name the hottest and the coldest column of batch means, if they differ from one."""
    mean, own = means.mean(0), means.std(0, ddof=1) / np.sqrt(len(means))
    # With few batches some of many errors are far too small by chance.
    error = np.maximum(own, np.sqrt(np.mean(own**2)))
    sure = np.abs(mean - 1) > SIGNIFICANT * error
    ends = int(np.argmax(mean)), int(np.argmin(mean))
    off = [i for i in ends if sure[i] and not COLD < mean[i] < HOT]
    if not off:
        return None
    return " and ".join(f"of {labels[i]} had temperature {mean[i]:.3g}" for i in dict.fromkeys(off))
