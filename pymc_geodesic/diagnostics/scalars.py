#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The entries of all variables as named scalars, and a choice of those that mix worst."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from pymc_geodesic.monte_carlo import halves

__all__ = ["Scalars", "worst_mixing"]

# ArviZ takes tenths of a millisecond per scalar, so a fast screening selects them.
N_CHOSEN = 32
# Larger values come from divergences, and overflow in every summary.
LARGEST = 1e100


class Scalars(NamedTuple):
    """Scalars followed along the chains.

    Attributes
    ----------
    names : list of str
        The variable with the index of the entry, such as ``"w[1,3]"``; a scalar has no index.
    values : ndarray
        Shape ``(chain, draw, scalar)``.
    """

    names: list[str]
    values: np.ndarray

    @classmethod
    def of(cls, variables: Mapping[str, np.ndarray]) -> Scalars:
        """Join the entries of variables ``(chain, draw, *shape)``, without constant ones."""
        names = [
            name + (f"[{','.join(map(str, index))}]" if index else "")
            for name, x in variables.items()
            for index in np.ndindex(x.shape[2:])
        ]
        columns = [x.reshape(*x.shape[:2], -1) for x in variables.values()]
        values = np.concatenate(columns, axis=-1)
        size = np.abs(values).max(axis=(0, 1))
        kept = size < LARGEST
        kept[kept] = np.ptp(values[..., kept], axis=(0, 1)) > 0
        return cls(
            [name for name, keep in zip(names, kept, strict=True) if keep], values[..., kept]
        )


def worst_mixing(scalars: Scalars) -> list[tuple[str, np.ndarray]]:
    """Choose the scalars whose chains agree least and those that move most slowly.

    Classical split R-hats of each entry and of its distance from the median, and correlations of
    neighbouring draws, are computed for all scalars at once.
    """
    if not scalars.names:
        return []
    x = scalars.values
    spread = np.abs(x - np.median(x, axis=(0, 1)))
    ranks = [_split_r_hat(x), _split_r_hat(spread), _lagged(x)]
    chosen = np.unique(np.concatenate([np.argsort(rank)[-N_CHOSEN:] for rank in ranks]))
    return [(scalars.names[i], x[..., i]) for i in chosen]


def _split_r_hat(x: np.ndarray) -> np.ndarray:
    parts = halves(x)
    within = parts.var(axis=1, ddof=1).mean(axis=0)
    between = parts.mean(axis=1).var(axis=0, ddof=1)
    return between / np.maximum(within, np.finfo(float).tiny)


def _lagged(x: np.ndarray) -> np.ndarray:
    centred = x - x.mean(axis=(0, 1))
    products = (centred[:, 1:] * centred[:, :-1]).mean(axis=(0, 1))
    return products / np.maximum((centred**2).mean(axis=(0, 1)), np.finfo(float).tiny)
