#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Matrices over the entries of variables, as users give them: one for all, or some by name."""

from __future__ import annotations

import math

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import scipy.linalg

__all__ = ["EntryArray", "finite_array", "has_matrix", "read_entries"]


class EntryArray(Protocol):
    """A variable whose entries have a name and a shape."""

    @property
    def name(self) -> str:
        """Name, for messages."""
        ...

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the embedded variable."""
        ...


def has_matrix(given: Any, variables: Sequence[EntryArray]) -> bool:
    """Return whether a matrix over entries is given, for all variables or for one of them."""
    if isinstance(given, Mapping):
        return any(v.name in given and _is_matrix(given[v.name], [v]) for v in variables)
    return _is_matrix(given, variables)


def _is_matrix(given: Any, variables: Sequence[EntryArray]) -> bool:
    if given is None or isinstance(given, str):
        return False
    size = sum(math.prod(variable.shape) for variable in variables)
    # An array that broadcasts to the variables has one number per entry. Only a single entry could
    # have both shapes, with the same meaning.
    return size > 1 and np.shape(given) == (size, size)


def read_entries(
    argument: str, given: Any, variables: Sequence[EntryArray], *, missing: float | None
) -> np.ndarray:
    """Return one number per entry, or a matrix, over the entries of all variables in order.

    Parameters
    ----------
    argument : str
        Name of the user's argument, for messages.
    given : number, array or mapping of str to either
        The user's value.
    variables : sequence of EntryArray
        The variables.
    missing : float, optional
        Value for variables that a mapping leaves out; without it they raise an error.

    Raises
    ------
    ValueError
        For unknown or missing names, wrong shapes, and numbers that are not finite.
    """
    if not isinstance(given, Mapping):
        return _of_all(argument, given, variables)
    names = [variable.name for variable in variables]
    absent = [] if missing is not None else sorted(set(names) - set(given))
    if unknown := sorted(set(given) - set(names)):
        raise ValueError(f"`{argument}` expected variables among {names}, got {unknown}.")
    if absent:
        raise ValueError(
            f"`{argument}` expected a value for each of {names}, got none for {absent}."
        )
    parts = [_of_variable(argument, given.get(v.name, missing), v) for v in variables]
    if all(part.ndim == 1 for part in parts):
        return np.concatenate(parts)
    return scipy.linalg.block_diag(*[np.diag(p) if p.ndim == 1 else p for p in parts])


def _of_variable(argument: str, given: Any, variable: EntryArray) -> np.ndarray:
    array, size = finite_array(argument, given), math.prod(variable.shape)
    if _is_matrix(array, [variable]):
        return array
    try:
        return np.broadcast_to(array, variable.shape).ravel()
    except ValueError:
        raise ValueError(
            f"`{argument}` of `{variable.name}` expected a number, an array that broadcasts to "
            f"shape {variable.shape}, or a matrix of shape {(size, size)} over its entries; got "
            f"shape {array.shape}."
        ) from None


def _of_all(argument: str, given: Any, variables: Sequence[EntryArray]) -> np.ndarray:
    array, size = finite_array(argument, given), sum(math.prod(v.shape) for v in variables)
    if array.shape == (size, size):
        return array
    if array.shape in ((), (size,)):
        return np.broadcast_to(array, (size,))
    raise ValueError(
        f"`{argument}` expected a number, {size} numbers or a matrix of shape {(size, size)}, for "
        f"the entries of {', '.join(f'`{v.name}`' for v in variables)} in this order; got shape "
        f"{array.shape}. Pass a dict by variable name for one value per variable."
    )


def finite_array(argument: str, given: Any) -> np.ndarray:
    """Return the user's numbers as an array of floats."""
    try:
        array = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        array = np.asarray(np.nan)
    if not np.all(np.isfinite(array)):
        raise ValueError(f"`{argument}` expected finite numbers, got {given!r}.")
    return array
