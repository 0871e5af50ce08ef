#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Checks of arguments, whose errors state what was expected and what was got."""

from __future__ import annotations

import warnings

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import xarray as xr

from numpy.typing import ArrayLike
from pymc.model import Model, modelcontext

__all__ = [
    "TURNS",
    "UNIT_NORM_TOLERANCE",
    "Unit",
    "data_tree",
    "definite",
    "extracted",
    "flag",
    "mapping",
    "no_backend",
    "one_of",
    "positive",
    "pymc_model",
    "radians",
    "share",
    "whole",
]

UNIT_NORM_TOLERANCE = 1e-6
"""Above float32 rounding of a unit vector and far below any deliberate scaling. PyMC uses the same
tolerance for the sum of a probability vector."""

Unit = Literal["radians", "degrees"]
"""Unit of angles that are data."""

TURNS: dict[Unit, float] = {"radians": 2 * np.pi, "degrees": 360.0}
"""A whole turn in each unit."""

# Of angles that are stored in single precision.
TURN_TOLERANCE = 1e-6


def flag(name: str, value: bool) -> bool:
    """Return ``value`` if it is True or False; any non-empty string, even "no", is truthy."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"`{name}` expected True or False, got {value!r}.")
    return bool(value)


def no_backend(name: str, value: Any) -> None:
    """Warn of an argument that chose between compilers when there were several."""
    warnings.warn(
        f"`{name}` expected no value, got {value!r}. JAX compiles every model, and the argument "
        "will be removed. Leave it out.",
        FutureWarning,
        skip_file_prefixes=(str(Path(__file__).parent),),
    )


def share(name: str, value: float, *, least: float = 0.0, most: float = 1.0) -> float:
    """Return ``value`` as a float if it lies strictly between two bounds."""
    number = value if isinstance(value, int | float | np.number) else np.nan
    if not least < number < most:
        raise ValueError(
            f"`{name}` expected a number between {least:g} and {most:g}, got {value!r}."
        )
    return float(number)


def mapping(name: str, value: Mapping[str, Any], *, what: str) -> Mapping[str, Any]:
    """Return ``value`` if it is a mapping with names as keys."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise ValueError(f"`{name}` expected {what}, got {value!r}.")
    return value


def definite(name: str, entries: np.ndarray, *, strictly: bool = True) -> np.ndarray:
    """Return ``entries`` if they are a symmetric, positive (semi)definite matrix.

    Numbers per entry are the diagonal of one. ``strictly`` refuses eigenvalues of zero.
    """
    if not np.all(np.isfinite(entries)):
        raise ValueError(f"`{name}` expected finite numbers, got {entries}.")
    if entries.ndim == 2 and not np.allclose(entries, entries.T):
        raise ValueError(
            f"`{name}` expected a symmetric matrix, got an asymmetric one. Pass "
            f"`(matrix + matrix.T) / 2`."
        )
    values = np.linalg.eigvalsh(entries) if entries.ndim == 2 else np.sort(entries)
    smallest = float(values[0])
    # Rounding makes zero eigenvalues of a covariance slightly negative.
    allowed = -1e-10 * float(np.abs(values).max())
    if smallest <= 0 if strictly else smallest < allowed:
        kind = "positive" if strictly else "non-negative"
        raise ValueError(f"`{name}` expected {kind} eigenvalues, got one of {smallest:.3g}.")
    return entries


def data_tree(value: xr.DataTree, *, group: str = "posterior") -> xr.DataTree:
    """Return ``value`` if it holds the draws of a run."""
    if not isinstance(value, xr.DataTree):
        raise TypeError(
            "`idata` expected the `DataTree` that `pm.sample` returns, got "
            f"{type(value).__name__}. Read a saved one with `xr.open_datatree`."
        )
    if group not in value.children:
        raise ValueError(
            f"`idata` expected a group {group!r}, got the groups {sorted(value.children)}. Pass "
            "the result of `pm.sample`."
        )
    return value


def extracted(
    idata: xr.DataTree | xr.Dataset,
    *,
    var_names: str | Sequence[str] | None = None,
    filter_vars: Any = None,
    group: str = "posterior",
) -> xr.Dataset:
    """Return variables of a group as ArviZ selects them, with the axes chain and draw."""
    # Imported on first use, because ArviZ imports JAX if installed.
    from arviz_base import extract

    if isinstance(idata, xr.Dataset):
        idata = xr.DataTree.from_dict({group: idata})
    there = data_tree(idata, group=group)[group].data_vars
    if var_names is not None and filter_vars is None:
        names = [var_names] if isinstance(var_names, str) else list(var_names)
        # ArviZ leaves out a variable with a tilde before its name.
        if unknown := [n for n in names if n not in there and n.removeprefix("~") not in there]:
            raise ValueError(
                f"`var_names` expected names of the group {group!r}, {sorted(map(str, there))}, "
                f"got {unknown[0]!r}."
            )
    return extract(
        idata,
        var_names=var_names,
        filter_vars=filter_vars,
        group=group,
        combined=False,
        keep_dataset=True,
    )


def pymc_model(value: Model | None) -> Model:
    """Return ``value`` if it is a PyMC model; without one, that of the context."""
    if value is None:
        try:
            return modelcontext(None)
        except TypeError:
            raise TypeError(
                "`model` expected a model, got none. Pass `model=`, or call it in `with model:`."
            ) from None
    if not isinstance(value, Model):
        raise TypeError(f"`model` expected a `pm.Model`, got {value!r}.")
    return value


def one_of[T](name: str, value: T, choices: Iterable[T]) -> T:
    """Return ``value`` if it is one of the choices."""
    choices = tuple(choices)
    if value not in choices:
        raise ValueError(
            f"`{name}` expected one of {', '.join(map(repr, choices))}, got {value!r}."
        )
    return value


def positive(name: str, value: float) -> float:
    """Return ``value`` as a float if it is positive and finite."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not (np.isfinite(number) and number > 0):
        raise ValueError(f"`{name}` expected a positive, finite number, got {value!r}.")
    return number


def whole(name: str, value: int, *, least: int = 1) -> int:
    """Return ``value`` as an int if it is a whole number of at least 1, or another bound."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"`{name}` expected a whole number of at least {least}, got {value!r}.")
    return int(value)


def radians(name: str, angles: ArrayLike, *, unit: Unit) -> np.ndarray:
    """Return angles in radians, or raise a ValueError if they are not in the stated unit.

    Of whole turns only those that data have are accepted, up to one in either direction: degrees
    that are taken for radians, and codes of missing values, are larger. Missing angles remain NaN.
    """
    turn = TURNS[one_of("unit", unit, TURNS)]
    x = np.asarray(angles, dtype=float)
    known = x[~np.isnan(x)]
    if np.any(np.abs(known) > turn * (1 + TURN_TOLERANCE)):
        limit = "2 pi" if unit == "radians" else "360"
        cure = 'Pass `unit="degrees"` if they are degrees; leave' if unit == "radians" else "Leave"
        raise ValueError(
            f"`{name}` expected angles in {unit} from -{limit} to {limit}, got values in "
            f"[{known.min():.6g}, {known.max():.6g}]. {cure} out codes of missing values, and wrap "
            "angles of several turns with `np.mod`."
        )
    return x * (2 * np.pi / turn)
