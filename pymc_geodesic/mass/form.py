#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The form of a mass that the tuning phase finds."""

from __future__ import annotations

import math

from collections.abc import Sequence
from typing import Literal

from pymc_geodesic.manifolds import Manifold

__all__ = ["LARGEST_DENSE", "MassForm", "mass_form", "n_flat_entries"]

# A dense mass costs a matrix product per transition: up to here less than a batch's gradient.
LARGEST_DENSE = 100

MassForm = Literal["diagonal", "dense", "low_rank"]
"""A mass for each entry, of all entries, or for each entry and a few directions."""


def mass_form(factors: Sequence[Manifold], shapes: Sequence[tuple[int, ...]]) -> MassForm:
    """Choose the form of the mass: dense if possible, else with the directions of flat variables.

    Parameters
    ----------
    factors : sequence of Manifold
        One per variable.
    shapes : sequence of tuple of int
        Shape of each variable.
    """
    n_flat = n_flat_entries(factors, shapes)
    if all(factor.mass == "matrix" for factor in factors) and n_flat <= LARGEST_DENSE:
        return "dense"
    return "low_rank" if n_flat > 1 else "diagonal"


def n_flat_entries(factors: Sequence[Manifold], shapes: Sequence[tuple[int, ...]]) -> int:
    """Count the entries for which a mass may be any matrix.

    Parameters
    ----------
    factors : sequence of Manifold
        One per variable.
    shapes : sequence of tuple of int
        Shape of each variable.
    """
    pairs = zip(factors, shapes, strict=True)
    return sum(math.prod(shape) for factor, shape in pairs if factor.mass == "matrix")
