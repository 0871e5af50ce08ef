#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Names of the entries of variables, written as ArviZ does, whose labellers import much more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import xarray as xr

__all__ = ["entry_at", "entry_name", "worst_entry"]


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


def entry_at(draws: xr.DataArray, index: Iterable[Any]) -> str:
    """Return the name of an entry by its coordinates.

    Parameters
    ----------
    draws : DataArray, shape (chain, draw, ...)
        Draws of a variable.
    index : iterable of int
        Index along the axes after the first two; the last axes may be left out.
    """
    pairs = zip(draws.dims[2:], index, strict=False)
    return entry_name(str(draws.name), (draws[dim].values[i] for dim, i in pairs))


def worst_entry(
    found: Mapping[str, np.ndarray], values: Mapping[str, xr.DataArray]
) -> tuple[str, float]:
    """Return the name of the entry with the largest value, and the value; NaN do not count.

    Parameters
    ----------
    found : mapping of str to ndarray, shape (...)
        A value of each entry.
    values : mapping of str to DataArray, shape (chain, draw, ...)
        Draws of the variables.

    Returns
    -------
    name : str
        In backquotes; empty if there is no value.
    largest : float
        The value; minus infinity if there is none.
    """
    largest = {name: float(np.nanmax(x)) for name, x in found.items() if not np.isnan(x).all()}
    if not largest:
        return "", -np.inf
    name = max(largest, key=lambda key: largest[key])
    index = np.unravel_index(np.nanargmax(found[name]), found[name].shape)
    return f"`{entry_at(values[name].rename(name), index)}`", largest[name]
