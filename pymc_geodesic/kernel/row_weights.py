#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Rows that are drawn by their weight, and evenly from all groups.

Row i is drawn with probability :math:`p_i`, and its term is multiplied by :math:`1 / N p_i`, so
that sums over batches keep their mean. Their variance is least where :math:`p_i` is proportional to
the norm of the term. The rows stand in a list of N + M places, row i in :math:`1 + m_i` of them, so
that :math:`p_i = (1 + m_i) / (N + M)`. Every row thus has at least a share :math:`N / (N + M)` of
its uniform probability, and no factor exceeds the inverse of it.

The list is ordered by groups, and in random order within them. Draws are systematic: each half of a
batch takes places at equal distances from a random first one, so that the rows of a group in it
are as many as expected, or one more or less. The noise that uneven numbers cause is gone, and the
two halves are independent, so that they tell the noise that is left.

Putcha, S., Nemeth, C. and Fearnhead, P. (2023). Preferential subsampling for stochastic gradient
Langevin dynamics. Proceedings of Machine Learning Research 206.

Madow, W. G. and Madow, L. H. (1944). On the theory of systematic sampling, I. Annals of
Mathematical Statistics 15.
"""

from __future__ import annotations

import hashlib

from copy import deepcopy
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from pymc_geodesic.arrays import Array
from pymc_geodesic.kernel.jax.resident import aligned_empty

__all__ = ["RowWeights", "factors_by", "read_only", "systematic"]

# Places by weight for each row: a fifth of the draws is uniform.
LENGTH = 4
MOST = np.iinfo("uint16").max


class RowWeights:
    """Draw rows by weight, or all alike, and evenly from groups.

    Parameters
    ----------
    counts : ndarray of uint16, shape (row,)
        How many places each row has beside one.
    groups : ndarray of int, shape (row,), optional
        The group of each row.

    Attributes
    ----------
    factors : list of ndarray, shape (row,)
        By what the terms of each row are multiplied, in single precision: one array, or none if all
        rows are alike.
    listed : ndarray of int
        The row at each place of the list.
    """

    def __init__(self, counts: np.ndarray, groups: np.ndarray | None = None) -> None:
        # Copies of chains share what cannot be written to.
        self._given = read_only(counts), None if groups is None else read_only(groups)
        n, self._order = len(counts), _order(len(counts), groups)
        self.listed = np.repeat(self._order, 1 + counts[self._order].astype("int64"))
        self.factors = []
        if np.any(counts):
            # JAX uses this memory as it is, in every call.
            self.factors = [aligned_empty((n,), np.dtype("float32"))]
            self.factors[0][:] = len(self.listed) / (n * (1.0 + counts))
        self._key = _digest(counts) + _digest(self._order)
        ALIVE[self._key] = self

    @classmethod
    def proportional_to(cls, sizes: np.ndarray, groups: np.ndarray | None = None) -> RowWeights:
        """Draw rows in proportion to the sizes of their terms, as far as the uniform part allows.

        Parameters
        ----------
        sizes : ndarray, shape (row,)
            Finite and not negative, not all zero.
        groups : ndarray of int, shape (row,), optional
            The group of each row.
        """
        # Rounded sums, and not sums of rounded numbers: many small rows together keep their share.
        ends = np.floor(np.cumsum(sizes) * (LENGTH * len(sizes) / np.sum(sizes)))
        return cls(np.minimum(np.diff(ends, prepend=0.0), MOST).astype("uint16"), groups)

    @classmethod
    def alike(cls, groups: np.ndarray) -> RowWeights:
        """Draw all rows alike, evenly from groups.

        Parameters
        ----------
        groups : ndarray of int, shape (row,)
            The group of each row.
        """
        return cls(np.zeros(len(groups), "uint16"), groups)

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """Draw the rows of batches, along the last axis."""
        *outer, size = shape
        return self.listed[systematic(rng.random((*outer, 2)), size, len(self.listed), np)]

    def sample(self, rng: np.random.Generator, size: int) -> np.ndarray:
        """Draw rows in random order, since parts of a batch hold rows of few groups."""
        return deepcopy(rng).permutation(self.draw(rng, (size,)))

    def gain(self, sizes: np.ndarray) -> float:
        """Return by which factor these weights lower the variance of sums over rows.

        It is that of independent terms of these root mean squares.

        Parameters
        ----------
        sizes : ndarray, shape (row,)
            Finite and not negative.

        Returns
        -------
        float
            One for weights that are all the same.
        """
        squares = np.square(sizes, dtype=float)
        total = np.sum(squares * self.factors[0]) if self.factors else 0.0
        return float(np.sum(squares) / total) if total > 0 else 1.0

    def __reduce__(self) -> tuple[Any, tuple[bytes, tuple[np.ndarray, np.ndarray | None]]]:
        """Keep what is not much: chains are copied often."""
        return _restored, (self._key, self._given)


def factors_by(weights: RowWeights | None) -> list[np.ndarray]:
    """Return by what the terms of rows are multiplied: nothing where all rows are alike."""
    return [] if weights is None else weights.factors


def systematic(begins: Array, size: int, n_places: int, arrays: Any) -> Array:
    """Return places at equal distances, for both halves of a batch.

    Parameters
    ----------
    begins : array, shape (..., 2)
        Uniform on 0 to 1: where between two distances each half begins.
    size : int
        Rows of the batch.
    n_places : int
        Length of the list.
    arrays : module
        NumPy or ``jax.numpy``.

    Returns
    -------
    array of int, shape (..., size)
        The halves after one another.
    """
    halves = size // 2, size - size // 2
    places = [
        (arrays.arange(n) + begins[..., i, None]) * (n_places / max(n, 1))
        for i, n in enumerate(halves)
    ]
    # Products may be rounded up to the end.
    return arrays.minimum(arrays.concatenate(places, -1).astype("int64"), n_places - 1)


# Copies of chains in one process share the list, and all weights the order of rows.
ALIVE: WeakValueDictionary[bytes, RowWeights] = WeakValueDictionary()
ORDERS: WeakValueDictionary[bytes, np.ndarray] = WeakValueDictionary()


def _order(n: int, groups: np.ndarray | None) -> np.ndarray:
    """Return the rows in the order of groups, and in random order within them."""
    key = b"%d" % n if groups is None else _digest(groups)
    if (order := ORDERS.get(key)) is None:
        order = np.random.default_rng(0).permutation(n).astype("int32" if n < 2**31 else "int64")
        if groups is not None:
            order = order[np.argsort(groups[order], kind="stable")]
        ORDERS[key] = order
    return order


def read_only(array: np.ndarray) -> np.ndarray:
    """Return an array after a promise that nobody writes to it."""
    array.setflags(write=False)
    return array


def _digest(array: np.ndarray) -> bytes:
    return hashlib.blake2b(np.ascontiguousarray(array), digest_size=16).digest()


def _restored(key: bytes, given: tuple[np.ndarray, np.ndarray | None]) -> RowWeights:
    return ALIVE.get(key) or RowWeights(*given)
