#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The draws that a plot shows: vectors by label, from a DataTree, a mapping or an array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from numpy.typing import ArrayLike

from pymc_geodesic.diagnostics.geometry import Geometry, geometries
from pymc_geodesic.entry_names import entry_at
from pymc_geodesic.manifolds import Manifold
from pymc_geodesic.manifolds.registry import recorded_manifolds
from pymc_geodesic.validation import extracted

__all__ = [
    "Coordinates",
    "Draws",
    "dataset_of",
    "labelled_vectors",
    "most_probable",
    "pick_variable",
    "probability_or_default",
    "thinned",
    "unit_vectors",
]

# Unit vectors written with three digits have this precision.
NORM_TOLERANCE = 2e-3

type Draws = xr.DataTree | Mapping[str, ArrayLike] | ArrayLike
"""Result of ``pm.sample``, arrays by label, or one array."""

Coordinates = Mapping[str, Any]
"""Part of the draws, as in ArviZ."""


def dataset_of(
    idata: xr.DataTree,
    *,
    var_names: str | Sequence[str] | None,
    group: str,
    coords: Coordinates | None,
) -> xr.Dataset:
    """Return the chosen part of the draws, with the sample dimensions first."""
    draws = extracted(idata, var_names=var_names, group=group)
    draws = draws if coords is None else draws.sel(coords)
    return draws.transpose("chain", "draw", ...)


def labelled_vectors(
    draws: Draws,
    *,
    geometry: Geometry,
    sizes: Sequence[int] | None = None,
    var_names: str | Sequence[str] | None = None,
    group: str = "posterior",
    coords: Coordinates | None = None,
) -> dict[str | None, np.ndarray]:
    """Return the draws of each vector, of shape (S, n), by label.

    From a DataTree, take the named variables, or all of the geometry, and of the ``sizes`` if any
    are given. Each point of a variable with several points gets its own label.

    Raises
    ------
    ValueError
        If a DataTree has no such variable.
    """
    if isinstance(draws, Mapping) and not isinstance(draws, xr.DataTree):
        return {label: _flat(values) for label, values in draws.items()}
    if not isinstance(draws, xr.DataTree):
        return {None: _flat(draws)}
    dataset = dataset_of(draws, var_names=var_names, group=group, coords=coords)
    if var_names is None:
        kinds = geometries(dataset, manifolds=recorded_manifolds(draws))
        names = [
            name
            for name, values in dataset.data_vars.items()
            if kinds[name] == geometry and (sizes is None or values.shape[-1] in sizes)
        ]
        if not names:
            raise ValueError(
                f"The group `{group}` expected {_wanted(geometry, sizes)}, got the variables "
                f"{sorted(map(str, dataset.data_vars))}. Select one with `var_names`."
            )
        dataset = dataset[names]
    return {
        label: values
        for array in dataset.data_vars.values()
        for label, values in _points(array).items()
    }


def pick_variable(
    dataset: xr.Dataset, kinds: Sequence[Geometry], *, manifolds: Mapping[str, Manifold]
) -> xr.DataArray:
    """Return the only variable of these kinds that is a matrix.

    ``manifolds`` are those that the run has recorded.

    Raises
    ------
    ValueError
        If there is none or more than one.
    """
    if len(dataset.data_vars) == 1:
        return next(iter(dataset.data_vars.values()))
    found = geometries(dataset, manifolds=manifolds)
    names = [n for n, a in dataset.data_vars.items() if found[n] in kinds and a.ndim == 4]
    if len(names) != 1:
        raise ValueError(
            "`var_names` expected one suitable variable, got "
            f"{names or sorted(map(str, dataset.data_vars))}. Select one."
        )
    return dataset[names[0]]


def most_probable(
    values: np.ndarray, n: int, ci_prob: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the means of draws, which n are the largest, and the intervals of these."""
    mean = values.mean(axis=0)
    largest = np.argsort(-mean, kind="stable")[:n]
    tails = (0.5 - ci_prob / 2, 0.5 + ci_prob / 2)
    return mean, largest, np.quantile(values[:, largest], tails, axis=0)


def probability_or_default(ci_prob: float | None) -> float:
    """Return the given probability, or ArviZ's default for intervals."""
    from arviz_base import rcParams

    return rcParams["stats.ci_prob"] if ci_prob is None else ci_prob


def thinned(values: np.ndarray, max_draws: int) -> np.ndarray:
    """Take at most ``max_draws`` draws, evenly."""
    return values[:: -(-len(values) // max_draws)]


def unit_vectors(name: str, values: ArrayLike, *, sizes: Sequence[int]) -> np.ndarray:
    """Return unit vectors (S, n), of unit length to rounding.

    Raises
    ------
    ValueError
        If they have other lengths, or as many entries as none of the ``sizes``.
    """
    x = np.asarray(values, dtype=float)
    if x.ndim == 0 or x.shape[-1] not in sizes:
        shapes = " or ".join(f"(..., {n})" for n in sizes)
        raise ValueError(
            f"`{name}` expected directions of shape {shapes}, got shape {x.shape}. `pmg.summary` "
            "describes directions in any number of dimensions, and `pmg.directions` makes them "
            "from angles."
        )
    x = x.reshape(-1, x.shape[-1])
    lengths = np.linalg.norm(x, axis=-1, keepdims=True)
    off = np.abs(lengths - 1)
    if not np.all(off < NORM_TOLERANCE):
        raise ValueError(
            f"`{name}` expected unit vectors, got a length of {lengths.flat[off.argmax()]:.6g}. "
            "Divide the vectors by their lengths."
        )
    return x / lengths


def _flat(values: ArrayLike) -> np.ndarray:
    values = np.asarray(values, dtype=float)
    return values.reshape(-1, values.shape[-1])


def _points(values: xr.DataArray) -> dict[str, np.ndarray]:
    points = {}
    for index in np.ndindex(values.shape[2:-1]):
        entry = values[(slice(None), slice(None), *index)]
        points[entry_at(values, index)] = _flat(entry.values)
    return points


def _wanted(geometry: Geometry, sizes: Sequence[int] | None) -> str:
    noun = "unit vectors" if geometry == "direction" else "probability vectors"
    return noun if sizes is None else f"{noun} with {' or '.join(map(str, sizes))} entries"
