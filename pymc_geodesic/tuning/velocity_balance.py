#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Velocities that are hotter or colder than expected, of entries or of directions."""

from __future__ import annotations

import math

from collections.abc import Iterator, Sequence

import numpy as np

from pymc_geodesic.entry_names import entry_name

__all__ = ["BatchSums", "VelocityBalance", "VelocityHeat"]


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
        return len(self._labels) > 1 and self._n_draws >= _FEWEST_DRAWS

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


# Standard errors from batch means are too small where draws depend on one another for longer than a
# batch; chains are independent of one another.
_BATCHES, _FEWEST_DRAWS = 20, 100


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
        self._sums, self._sizes = np.zeros((_BATCHES, *shape)), np.zeros(_BATCHES)

    def parts(self, n_chains: int) -> Iterator[tuple[int, slice]]:
        """Count a draw of all chains; yield the batches to which it belongs, with their chains."""
        draw, self._n_seen, self._n_chains = self._n_seen, self._n_seen + 1, n_chains
        if n_chains >= _BATCHES:
            for batch in range(_BATCHES):
                yield batch, slice(batch, None, _BATCHES)
        else:
            yield min(draw * _BATCHES // max(self._draws, 1), _BATCHES - 1), slice(None)

    def add(self, batch: int, total: np.ndarray, size: int) -> None:
        """Add the sum of so many values to a batch."""
        self._sums[batch] += total
        self._sizes[batch] += size

    @property
    def are_complete(self) -> bool:
        """Whether all draws have been observed, and are enough."""
        enough = self._draws * self._n_chains >= _FEWEST_DRAWS
        return enough and self._n_seen == self._draws

    @property
    def means(self) -> np.ndarray:
        """Means of the batches, with the batch as first axis."""
        return self._sums / self._sizes.reshape(-1, *[1] * (self._sums.ndim - 1))


# Self-tuned steps take half of the largest stable step size, at which velocities seem 7 per cent
# too hot, and accept heating by noise of up to another tenth; diagnoses use the same limit.
HOT = 1.2
# In standard errors from batch means: by chance it is met once in two hundred thousand variables.
SIGNIFICANT = 6.0


class VelocityHeat:
    """Mean kinetic temperatures of kept draws, with their standard errors.

    Parameters
    ----------
    names : sequence of str
        Names of the variables.
    draws : int
        Number of draws that will be kept.
    """

    def __init__(self, names: Sequence[str], *, draws: int) -> None:
        self._names = list(names)
        self._sums = BatchSums((len(self._names),), draws=draws)

    def observe(self, temperatures: np.ndarray) -> str | None:
        """Observe a draw; after the last one name the hottest variable and its temperature.

        Parameters
        ----------
        temperatures : ndarray, shape (variables,) or (chains, variables)
            Kinetic temperature of each variable; empty without velocities.
        """
        if not temperatures.size:
            return None
        temperatures = np.atleast_2d(temperatures)
        for batch, chains in self._sums.parts(len(temperatures)):
            some = temperatures[chains]
            self._sums.add(batch, some.sum(axis=0), len(some))
        return self._hottest() if self._sums.are_complete else None

    def _hottest(self) -> str | None:
        means = self._sums.means
        mean, error = means.mean(0), means.std(0, ddof=1) / np.sqrt(len(means))
        hot = (mean > HOT) & (mean - 1 > SIGNIFICANT * error)
        if not hot.any():
            return None
        hottest = int(np.argmax(np.where(hot, mean, 0)))
        return f"velocities of `{self._names[hottest]}` had temperature {mean[hottest]:.3g}"
