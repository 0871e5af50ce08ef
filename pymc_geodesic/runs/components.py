#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Whether chains have found the same components, such as topics, and whether they still change.

The energy of a draw of topics tells neither: most of it is that of words that topics do not have,
whose probabilities next to zero move slowly and do not matter. How well topics predict words does.
"""

from __future__ import annotations

import numpy as np
import xarray as xr

from pymc.model import Model
from pymc.stats.convergence import SamplerWarning, WarningType

from pymc_geodesic.component_order import (
    DIFFERENT,
    Matching,
    are_alike,
    guessed_geometry,
    match_chains,
)
from pymc_geodesic.monte_carlo import effective_sizes
from pymc_geodesic.potential.components import predictions_of

__all__ = ["LONGER", "unsettled", "warnings_of_components"]

# What a component is about: a topic is read by its most frequent words. The words that a topic does
# not have are thousands, and move slowly next to zero, where they do not matter.
N_LARGEST = 10
# Of perplexities: an improvement from the first to the second half of a run at which it has not
# ended, and a difference between chains that is more than that of solutions that predict alike.
# LDA of 20,000 short texts and 30 topics: 20, 8 and 2.0 per cent in runs of 100, 200 and 600
# transitions, 5, 10 and 4 above that of the true topics; at most .9 in one of 2,000.
STILL_IMPROVES, PREDICTS_WORSE = 0.01, 0.1
LONGER = "Increase `tune`, or `n_steps`, the transitions per draw."


def warnings_of_components(
    name: str, values: xr.DataArray, *, fewest: int, model: Model
) -> list[SamplerWarning]:
    """Compare the components of chains after they were put in one order.

    Parameters
    ----------
    name : str
        The variable.
    values : DataArray
        Its draws ``(chain, draw, component, entry)``.
    fewest : int
        Effective sample size that each chain should have.
    model : Model
        The model, whose data they predict.
    """
    draws = values.to_numpy()
    geometry = guessed_geometry(draws)
    matching = match_chains(draws, geometry)
    alike = are_alike(draws, matching, geometry)
    found = []
    if not alike.all():
        perplexities = predictions_of(model, name, draws.mean(axis=1, dtype=float)).perplexities
        least, most = perplexities.min(), perplexities.max()
        text = (
            f"The chains have found different components of `{name}`: {alike.sum()} of "
            f"{len(alike)} are alike in all chains, and means over chains mix the others. The "
            f"perplexities of the chains are {least:.4g} to {most:.4g}. {DIFFERENT}"
        )
        is_alike = most < (1 + PREDICTS_WORSE) * least
        return [_said(text, "info" if is_alike else "warn")]
    if not matching.is_identity:
        text = (
            f"The chains have found the same components of `{name}` and number them differently: "
            f"`pmg.topics.align(idata, {name!r})` puts them in one order."
        )
        found.append(_said(text, "info"))
    effective = effective_sizes(_largest(draws, matching)) / len(draws)
    if (least := float(np.nanmin(effective))) < fewest:
        text = (
            f"The smallest effective sample size of the largest entries of `{name}` is {least:.0f} "
            f"per chain. Below {fewest} their means show what the components are about, "
            "and how much several chains differ shows how certain these are; intervals from one "
            "chain are too narrow."
        )
        found.append(_said(text, "info"))
    return found


def unsettled(model: Model, name: str, draws: np.ndarray) -> list[str]:
    """Say in a sentence that components still improve, or predict no more than frequencies do.

    Parameters
    ----------
    model : Model
        The model.
    name : str
        The variable.
    draws : ndarray, shape (chain, draw, component, entry)
        Its draws, two of each chain at least.
    """
    half = draws.shape[1] // 2
    means = [x.mean(axis=1, dtype=float) for x in (draws[:, :half], draws[:, -half:])]
    early, late = (predictions_of(model, name, mean) for mean in means)
    if (least := late.perplexities.min()) > late.without:
        return [
            f"The components of `{name}` predict the data no better than none would: their "
            f"perplexity is {least:.4g}, that of frequencies {late.without:.4g}."
        ]
    improvement = float(np.mean(np.log(early.perplexities / late.perplexities)))
    if improvement < STILL_IMPROVES:
        return []
    return [
        f"The components of `{name}` still improve: the perplexity of the data falls by "
        f"{100 * improvement:.2g} per cent from the first to the second half of the draws."
    ]


def _said(text: str, level: str) -> SamplerWarning:
    return SamplerWarning(WarningType.CONVERGENCE, text, level)


def _largest(draws: np.ndarray, matching: Matching) -> np.ndarray:
    """Return the draws of the largest entries of all components, in one order."""
    chains = np.arange(len(draws))[:, None]
    means = draws.mean(axis=1)[chains, matching.orders].mean(axis=0)
    largest = np.argsort(-np.abs(means), axis=1)[:, :N_LARGEST]
    own = zip(draws, matching.orders, strict=True)
    return np.stack([chain[:, order[:, None], largest] for chain, order in own])
