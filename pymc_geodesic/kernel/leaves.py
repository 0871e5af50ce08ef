#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""States as flat lists of arrays, and back."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from pytensor.tensor import TensorVariable

from pymc_geodesic.algorithms.state import State

__all__ = ["leaves_of", "shapes_of", "split", "unflatten"]


def leaves_of(state: State) -> list:
    """List the arrays of all parts of a state."""
    return [leaf for part in state for leaf in part]


def unflatten(leaves: Sequence, sizes: Sequence[int]) -> State:
    """Make a state of arrays, with the given number of them in each part."""
    return State(*split(leaves, *sizes[:-1]))


def split(items: Sequence, *sizes: int) -> list[tuple]:
    """Cut a sequence into parts of the given sizes, and the rest."""
    ends = list(accumulate(sizes, initial=0))
    parts = [tuple(items[a:b]) for a, b in pairwise(ends)]
    return [*parts, tuple(items[ends[-1] :])]


def shapes_of(parts: Sequence[tuple[TensorVariable, ...]]) -> list[list[tuple]]:
    """Return the static shapes of the arrays of each part."""
    return [[leaf.type.shape for leaf in part] for part in parts]
