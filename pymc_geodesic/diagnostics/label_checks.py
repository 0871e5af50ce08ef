#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A check for components that are numbered differently in different chains."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import xarray as xr

from pymc_geodesic.diagnostics.findings import Finding
from pymc_geodesic.diagnostics.geometry import geometries
from pymc_geodesic.diagnostics.labels import Matching, distances, match_chains, permuted

__all__ = ["check_labels", "component_draws"]

# Chains agree if a component is nearer to its partner than to other components by this factor.
LARGEST_SHARE = 0.25


def check_labels(draws: Mapping[str, np.ndarray]) -> list[Finding]:
    """Look for components that are numbered differently in different chains.

    Chains that do not agree in any order have a different fault, which is not reported here.

    Parameters
    ----------
    draws : mapping of str to ndarray
        Draws of sets of components, topics or cluster centres, ``(chain, draw, K, V)``.
    """
    return [
        _finding(name, matching)
        for name, x in draws.items()
        if min(len(x), x.shape[2]) > 1
        and not (matching := match_chains(x)).is_identity
        and _agree(x, matching)
    ]


def component_draws(idata: xr.DataTree) -> dict[str, np.ndarray]:
    """Return the sets of probability vectors and of unit vectors in a posterior."""
    matrices = {
        name: values.transpose("chain", "draw", ...)
        for name, values in idata["posterior"].data_vars.items()
        if values.ndim == 4
    }
    kinds = geometries(xr.Dataset(matrices))
    return {str(n): x.to_numpy() for n, x in matrices.items() if kinds[n] != "plain"}


def _agree(draws: np.ndarray, matching: Matching) -> bool:
    """Whether matched components are near each other, compared with others of a chain."""
    means = draws.mean(axis=1, dtype=float)
    costs = np.mean([distances(mean, mean) for mean in means], axis=0)
    typical = costs[~np.eye(len(costs), dtype=bool)].mean()
    # Distances to the average of two chains are a quarter of those between the chains.
    pairs = combinations(permuted(means, matching.orders), 2)
    partners = np.mean([np.diagonal(distances(one, other)) for one, other in pairs], axis=0)
    return bool(partners[matching.moved.any(axis=0)].mean() < LARGEST_SHARE * typical)


def _finding(name: str, matching: Matching) -> Finding:
    n_moved = int(matching.moved.any(axis=0).sum())
    sentence = (
        f"The chains have found the same {matching.orders.shape[1]} components of {name} in "
        f"different orders: {n_moved} of them are numbered differently, so that means over "
        "chains mix them and their R-hat is meaningless."
    )
    advice = (
        f"Put them in one order with `pmg.topics.align(idata, {name!r})` and diagnose the result."
    )
    evidence = {"variable": name, "n_components": n_moved}
    return Finding("label_switching", "error", sentence, advice, evidence)
