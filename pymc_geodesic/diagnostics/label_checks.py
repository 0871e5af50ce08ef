#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A check for components that are numbered differently in different chains."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import xarray as xr

from pymc_geodesic.component_order import Matching, are_alike, match_chains
from pymc_geodesic.diagnostics.exchange import are_rotated
from pymc_geodesic.diagnostics.findings import Finding
from pymc_geodesic.diagnostics.geometry import Geometry, geometries
from pymc_geodesic.manifolds.recorded import recorded_manifolds

__all__ = ["Components", "check_labels", "components_of"]


class Components(NamedTuple):
    """Draws of a set of components, ``(chain, draw, K, V)``, and their geometry."""

    draws: np.ndarray
    geometry: Geometry


def check_labels(
    components: Mapping[str, Components],
    are_exchangeable: Callable[[str, np.ndarray], bool] = lambda name, order: True,
) -> list[Finding]:
    """Look for components that are numbered differently in different chains.

    Chains that do not agree in any order have a different fault, which is not reported here, and so
    have chains that differ by a rotation.

    Parameters
    ----------
    components : mapping of str to Components
        Sets of components, topics or cluster centres.
    are_exchangeable : callable
        Whether the components of a variable, by its name, may be in another order.
    """
    return [
        _finding(name, matching)
        for name, parts in components.items()
        if min(len(parts.draws), parts.draws.shape[2]) > 1
        and not (matching := match_chains(*parts)).is_identity
        and _agree(parts, matching)
        and not are_rotated(parts.draws.mean(axis=1, dtype=float))
        and all(are_exchangeable(name, order) for order in matching.orders[matching.moved.any(1)])
    ]


def components_of(idata: xr.DataTree, *, with_names: bool = True) -> dict[str, Components]:
    """Return the sets of probability vectors and of unit vectors in a posterior.

    Components ``with_names``, such as nodes of a network, are probably not exchangeable. Without
    the model nobody knows.
    """
    matrices = {
        name: values.transpose("chain", "draw", ...)
        for name, values in idata["posterior"].data_vars.items()
        if values.ndim == 4 and (with_names or not _have_names(values))
    }
    kinds = geometries(xr.Dataset(matrices), manifolds=recorded_manifolds(idata))
    return {
        str(name): Components(values.to_numpy(), kinds[name])
        for name, values in matrices.items()
        if kinds[name] != "plain"
    }


def _have_names(values: xr.DataArray) -> bool:
    """Return whether the components have coordinates other than their numbers."""
    dim = values.dims[2]
    return dim in values.coords and not np.array_equal(values[dim], np.arange(values.sizes[dim]))


def _agree(components: Components, matching: Matching) -> bool:
    """Return whether the components that change their numbers are alike in all chains."""
    alike = are_alike(components.draws, matching, components.geometry)
    return bool(alike[matching.moved.any(axis=0)].all())


def _finding(name: str, matching: Matching) -> Finding:
    n_moved = int(matching.moved.any(axis=0).sum())
    sentence = (
        f"The chains have found the same {matching.orders.shape[1]} components of {name} in "
        f"different orders: {n_moved} of them are numbered differently. Means over chains mix "
        "them, and their R-hat is meaningless."
    )
    advice = (
        f"Put them in one order with `pmg.topics.align(idata, {name!r})` and diagnose the result."
    )
    evidence = {"variable": name, "n_components": n_moved}
    return Finding("label_switching", "error", sentence, advice, evidence)
