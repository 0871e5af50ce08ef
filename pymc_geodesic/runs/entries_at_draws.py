#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Chosen entries of variables that a run has integrated out, at its draws."""

from __future__ import annotations

import warnings

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from pymc.model import Model

from pymc_geodesic.groups.conditional import N_CANDIDATES
from pymc_geodesic.rows.conditional_entries import ConditionalEntries

__all__ = ["entries_at_draws", "points", "warn_of_few"]

# Below this share of the candidates a group's draws repeat a few of them.
LEAST_SHARE = 0.05


def entries_at_draws(
    posterior: xr.Dataset,
    chosen: Mapping[str, Sequence[Any]],
    *,
    model: Model,
    batch_size: int,
    rng: np.random.Generator,
) -> xr.DataTree:
    """Draw chosen entries at each draw of the other variables."""
    if len(chosen) != 1:
        raise ValueError(
            f"`groups` expected the entries of one variable, got {sorted(chosen)}. Call it for "
            "each; those of the same rows are drawn together."
        )
    [(name, given)] = chosen.items()
    labels = np.atleast_1d(np.asarray(given))
    if name not in {rv.name for rv in model.free_RVs}:
        free = ", ".join(f"`{rv.name}`" for rv in model.free_RVs)
        raise ValueError(f"`groups` expected a free variable, which are {free}; got `{name}`.")
    numbers = partial(_numbers, model, name, labels)
    conditional = ConditionalEntries(model, name, numbers, batch_size=batch_size)
    draws: list[list[np.ndarray]] = [[] for _ in conditional.variables]
    least = np.full(len(labels), np.inf)
    for values in points(posterior, conditional.needed):
        found, n_effective = conditional.draw(rng, values)
        for kept, x in zip(draws, found, strict=True):
            kept.append(x)
        least = np.minimum(least, n_effective)
    warn_of_few(labels, least)
    shape = posterior.sizes["chain"], posterior.sizes["draw"]
    arrays = {}
    for one, axis, kept in zip(conditional.variables, conditional.axes, draws, strict=True):
        array = np.reshape(kept, (*shape, *np.shape(kept[0])))
        own = model.named_vars_to_dims.get(one)
        own = own or [f"{one}_dim_{i}" for i in range(array.ndim - 2)]
        coords = {"chain": posterior["chain"], "draw": posterior["draw"], str(own[axis]): labels}
        names = ["chain", "draw", *map(str, own)]
        arrays[one] = xr.DataArray(array, dims=names, coords=coords)
    return xr.DataTree.from_dict({"posterior": xr.Dataset(arrays)})


def _numbers(model: Model, name: str, labels: np.ndarray, axis: int) -> np.ndarray:
    """Return the numbers of entries, by their coordinates."""
    dims = model.named_vars_to_dims.get(name)
    known = None if dims is None else model.coords.get(dims[axis])
    if known is None:
        known = range(model.eval_rv_shapes()[name][axis])
    found = pd.Index(known).get_indexer(labels)
    if len(unknown := labels[found < 0]):
        raise ValueError(
            f"`groups` expected entries of `{name}`, got {len(unknown)} that are not there, such "
            f"as {unknown.tolist()[0]!r}."
        )
    return found


def points(posterior: xr.Dataset, names: Sequence[str]) -> Iterator[dict[str, np.ndarray]]:
    """Yield the values of variables at each draw."""
    if missing := [name for name in names if name not in posterior]:
        raise ValueError(f"`idata` expected draws of {missing}, got {sorted(posterior.data_vars)}.")
    arrays = {name: posterior[name].transpose("chain", "draw", ...).values for name in names}
    for chain in range(posterior.sizes["chain"]):
        for draw in range(posterior.sizes["draw"]):
            yield {name: x[chain, draw] for name, x in arrays.items()}


def warn_of_few(labels: np.ndarray, n_effective: np.ndarray) -> None:
    """Warn of groups whose draws are few of the candidates."""
    labels = labels[n_effective < LEAST_SHARE * N_CANDIDATES]
    if len(labels):
        warnings.warn(
            f"{len(labels)} of the groups, such as '{labels[0]}', have effects far from a normal "
            "distribution: their draws repeat a few candidates. Sample the model of these groups "
            "alone by NUTS instead.",
            UserWarning,
            stacklevel=4,
        )
