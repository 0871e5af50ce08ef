#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The form of a mass that the tuning phase finds."""

from __future__ import annotations

import math

from collections.abc import Sequence
from typing import Literal

from pymc_geodesic.manifolds import Manifold

__all__ = ["LARGEST_DENSE", "MassForm", "mass_form"]

# A dense mass costs a matrix product per transition: up to here less than a batch's gradient.
LARGEST_DENSE = 100

MassForm = Literal["diagonal", "dense", "low_rank"]
"""A mass for each entry, of all entries, or for each entry and a few directions."""


def mass_form(factors: Sequence[Manifold], shapes: Sequence[tuple[int, ...]]) -> MassForm:
    """Choose the form of the mass from the number of entries whose mass may differ.

    Parameters
    ----------
    factors : sequence of Manifold
        One per variable.
    shapes : sequence of tuple of int
        Shape of each variable.
    """
    is_flat = [factor.mass == "matrix" for factor in factors]
    n_flat = sum(math.prod(shape) for shape, flat in zip(shapes, is_flat, strict=True) if flat)
    if n_flat > LARGEST_DENSE:
        return "low_rank"
    return "dense" if all(is_flat) else "diagonal"
