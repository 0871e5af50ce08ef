#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Whether chains have found the same components, such as topics, whatever their numbers."""

from __future__ import annotations

import numpy as np
import xarray as xr

from pymc.stats.convergence import SamplerWarning, WarningType

from pymc_geodesic.component_order import (
    DIFFERENT,
    Matching,
    are_alike,
    guessed_geometry,
    match_chains,
)
from pymc_geodesic.rank_statistics import effective_sizes

__all__ = ["warnings_of_components"]

# What a component is about: a topic is read by its most frequent words. The words that a topic does
# not have are thousands, and move slowly next to zero, where they do not matter.
N_LARGEST = 10


def warnings_of_components(name: str, values: xr.DataArray, *, fewest: int) -> list[SamplerWarning]:
    """Compare the components of chains after they were put in one order.

    Parameters
    ----------
    name : str
        The variable.
    values : DataArray
        Its draws ``(chain, draw, component, entry)``.
    fewest : int
        Effective sample size that each chain should have.
    """
    draws = values.to_numpy()
    geometry = guessed_geometry(draws)
    matching = match_chains(draws, geometry)
    alike = are_alike(draws, matching, geometry)
    if not alike.all():
        text = (
            f"The chains have found different components of `{name}`: {alike.sum()} of "
            f"{len(alike)} are alike in all chains, and means over chains mix the others. "
            f"{DIFFERENT}"
        )
        return [SamplerWarning(WarningType.CONVERGENCE, text, "warn")]
    found = []
    if not matching.is_identity:
        text = (
            f"The chains have found the same components of `{name}` and number them differently: "
            f"`pmg.topics.align(idata, {name!r})` puts them in one order."
        )
        found.append(SamplerWarning(WarningType.CONVERGENCE, text, "info"))
    effective = effective_sizes(_largest(draws, matching)) / len(draws)
    if (least := float(np.nanmin(effective))) < fewest:
        text = (
            f"The smallest effective sample size of the largest entries of `{name}` is {least:.0f} "
            f"per chain. Below {fewest} their means show what the components are about, "
            "and how much several chains differ shows how certain these are; intervals from one "
            "chain are too narrow."
        )
        found.append(SamplerWarning(WarningType.CONVERGENCE, text, "info"))
    return found


def _largest(draws: np.ndarray, matching: Matching) -> np.ndarray:
    """Return the draws of the largest entries of all components, in one order."""
    chains = np.arange(len(draws))[:, None]
    means = draws.mean(axis=1)[chains, matching.orders].mean(axis=0)
    largest = np.argsort(-np.abs(means), axis=1)[:, :N_LARGEST]
    own = zip(draws, matching.orders, strict=True)
    return np.stack([chain[:, order[:, None], largest] for chain, order in own])
