#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Names of the entries of variables, written as ArviZ does, whose labellers import much more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import xarray as xr

__all__ = ["entry_at", "entry_name"]


def entry_name(name: str, place: Iterable[Any]) -> str:
    """Return the name of an entry, such as ``x[0, low]``; of a variable without axes, its own.

    Parameters
    ----------
    name : str
        The variable.
    place : iterable
        Index or coordinate of the entry along each axis.
    """
    inside = ", ".join(map(str, place))
    return f"{name}[{inside}]" if inside else name


def entry_at(draws: xr.DataArray, index: Sequence[int]) -> str:
    """Return the name of an entry by its coordinates.

    Parameters
    ----------
    draws : DataArray, shape (chain, draw, ...)
        Draws of a variable.
    index : sequence of int
        Index along the axes after the first two; the last axes may be left out.
    """
    pairs = zip(draws.dims[2:], index, strict=False)
    return entry_name(str(draws.name), (draws[dim].values[i] for dim, i in pairs))
