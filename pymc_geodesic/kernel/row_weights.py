#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Rows that are drawn by their weight.

Row i is drawn with probability :math:`p_i`, and its term is multiplied by :math:`1 / N p_i`, so
that sums over batches keep their mean. Their variance is least where :math:`p_i` is proportional to
the norm of the term. The rows stand in a list, row i :math:`m_i` times, and a draw is uniform on
the list and on the rows themselves: :math:`p_i = (1 + m_i) / (N + M)` for a list of M. Every row
thus has at least a share :math:`N / (N + M)` of its uniform probability, and no factor exceeds the
inverse of it.

Putcha, S., Nemeth, C. and Fearnhead, P. (2023). Preferential subsampling for stochastic gradient
Langevin dynamics. Proceedings of Machine Learning Research 206.
"""

from __future__ import annotations

import hashlib

from typing import Any
from weakref import WeakValueDictionary

import numpy as np

__all__ = ["RowWeights", "gain_of"]

# Length of the list in rows: a fifth of the draws is uniform.
LENGTH = 4
MOST = np.iinfo("uint16").max


class RowWeights:
    """Draw rows by weight.

    Parameters
    ----------
    counts : ndarray of uint16, shape (row,)
        How often each row stands in the list.

    Attributes
    ----------
    factors : ndarray, shape (row,)
        By what the terms of each row are multiplied, in single precision.
    listed : ndarray of int
        Places beside one for each row, each with a row; all are drawn with the same probability.
    """

    def __init__(self, counts: np.ndarray) -> None:
        self._counts = counts
        n = len(counts)
        self.listed = np.repeat(np.arange(n, dtype="int32" if n < 2**31 else "int64"), counts)
        self.factors = ((n + len(self.listed)) / (n * (1.0 + counts))).astype("float32")
        self._key = hashlib.blake2b(counts.tobytes(), digest_size=16).digest()
        ALIVE[self._key] = self

    @classmethod
    def proportional_to(cls, sizes: np.ndarray) -> RowWeights:
        """Draw rows in proportion to the sizes of their terms, as far as the uniform part allows.

        Parameters
        ----------
        sizes : ndarray, shape (row,)
            Finite and not negative, not all zero.
        """
        # Rounded sums, and not sums of rounded numbers: many small rows together keep their share.
        ends = np.floor(np.cumsum(sizes) * (LENGTH * len(sizes) / np.sum(sizes)))
        return cls(np.minimum(np.diff(ends, prepend=0.0), MOST).astype("uint16"))

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """Draw the indices of rows."""
        n = len(self._counts)
        places = rng.integers(0, n + len(self.listed), shape)
        listed = self.listed[np.maximum(places - n, 0)]
        return np.where(places < n, places, listed)

    def __reduce__(self) -> tuple[Any, tuple[bytes, np.ndarray]]:
        """Keep what is not much: chains are copied often."""
        return _restored, (self._key, self._counts)


# Copies of chains in one process share the list.
ALIVE: WeakValueDictionary[bytes, RowWeights] = WeakValueDictionary()


def _restored(key: bytes, counts: np.ndarray) -> RowWeights:
    return ALIVE.get(key) or RowWeights(counts)


def gain_of(sizes: np.ndarray) -> float:
    """Return by which factor drawing rows by the sizes of their terms lowers the variance.

    It is that of independent terms of these root mean squares, the uniform part included.

    Parameters
    ----------
    sizes : ndarray, shape (row,)
        Finite and not negative.

    Returns
    -------
    float
        One for equal sizes.

    Examples
    --------
    >>> import numpy as np
    >>> from pymc_geodesic.kernel.row_weights import gain_of
    >>> gain_of(np.ones(1000))
    1.0
    >>> round(gain_of(np.append(np.ones(999), 1000.0)))
    241
    """
    if not np.any(sizes > 0):
        return 1.0
    shares = sizes / np.mean(sizes)
    return float(np.mean(shares**2) / np.mean(shares**2 * (1 + LENGTH) / (1 + LENGTH * shares)))
