#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Whether the chains of a run agree, also about components, and whether they are long enough.

These are the checks of PyMC, for all entries at once. They name the worst entry, and their advice
is for these steps, which have no `target_accept`. Whether topics still change is not told by the
energy, most of which is that of words that topics do not have, but by how well topics predict.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from pymc.model import Model
from pymc.stats.convergence import SamplerWarning, WarningType
from scipy.special import chdtri

from pymc_geodesic.component_order import (
    DIFFERENT,
    Matching,
    are_alike,
    guessed_geometry,
    match_chains,
)
from pymc_geodesic.entry_names import worst_entry
from pymc_geodesic.kernel.representatives import without_seam
from pymc_geodesic.manifolds.registry import recorded_manifolds
from pymc_geodesic.monte_carlo import effective_sizes, largest_r_hats, rank_statistics
from pymc_geodesic.potential.components import components_in, predictions_of
from pymc_geodesic.run_record import SUPERCHAINS
from pymc_geodesic.runs.traces import labels_of

__all__ = ["of_superchains", "unsettled", "warnings_of_components", "warnings_of_convergence"]


# The limits of PyMC's own checks: of R-hat, and of effective draws of a chain and of all chains.
LARGEST_R_HAT, FEWEST_EFFECTIVE, FEWEST_OF_ALL = 1.01, 100, 400
# Probability that a run without a fault is accused.
BY_CHANCE = 0.01
# With fewer draws in a chain nothing is known of how they depend on one another.
FEWEST_TO_DEPEND = 4


def of_superchains(values: Mapping[str, xr.DataArray], n_superchains: int) -> list[SamplerWarning]:
    r"""Check nested R-hat and the effective sample size of all entries.

    The chains of a superchain have one origin. With the variance B of the superchains' means and
    the mean W of their variances, :math:`\hat R = \sqrt{1 + B / W}` (Margossian, Hoffman, Sountsov,
    Riou-Durand, Vehtari and Gelman 2024, equation 8); chains of few draws suffice.

    Parameters
    ----------
    values : mapping of str to DataArray
        Draws ``(chain, draw, ...)``.
    n_superchains : int
        Chain i belongs to superchain i modulo this number.
    """
    from arviz_stats import rhat_nested

    n_chains, n_draws = next(iter(values.values())).shape[:2]
    if n_draws < FEWEST_TO_DEPEND:
        return [_said(f"{n_draws} draws of each chain are too few to check convergence.", "info")]
    ids = np.arange(n_chains) % n_superchains
    sizes = {name: rank_statistics(x.to_numpy()).effective_size for name, x in values.items()}
    r_hats = rhat_nested(xr.Dataset(dict(values)), superchain_ids=ids)
    n_entries = sum(x.size for x in sizes.values())
    ratio = chdtri(n_superchains - 1, BY_CHANCE / n_entries) / (n_superchains - 1)
    excess, found = {}, []
    for name, size in sizes.items():
        limit = np.maximum(LARGEST_R_HAT, np.sqrt(1 + ratio * n_superchains / size))
        r_hat = r_hats[name].to_numpy()
        excess[name] = np.where(r_hat > limit, r_hat, np.nan)
    name, largest = worst_entry(excess, values)
    if largest > 0:
        found.append(
            f"Nested R-hat of {name} is {largest:.3f}, more than {LARGEST_R_HAT} and than chance "
            "makes it: the chains depend on where they began. Increase `draws` or `tune`."
        )
    name, least = worst_entry({name: -x for name, x in sizes.items()}, values)
    if -least < FEWEST_OF_ALL:
        found.append(
            f"The effective sample size of {name} is {-least:.0f} in all chains together, less "
            f"than {FEWEST_OF_ALL}. Increase `draws`."
        )
    return [_said(text, "warn") for text in found]


# Of slow chains, R-hat may be as large by chance; but their draws do not suffice then.
SURELY_TOO_LARGE = 1.05
# Chains that are so far apart have not mixed, whatever is corrected in each.
NEVER_MIXED = 1.1
# With fewer draws the statistics themselves are unreliable.
FEWEST_DRAWS = 100
# PyMC recommends four chains: R-hat compares chains, and few of them may agree by chance.
FEW_CHAINS = 4


def warnings_of_convergence(idata: xr.DataTree, model: Model) -> list[SamplerWarning]:
    """Return what ``pm.sample`` would say of these draws, and name the worst entry.

    Parameters
    ----------
    idata : DataTree
        A run.
    model : Model
        Its model; R-hat and effective sizes are those of its free variables.

    Returns
    -------
    list of SamplerWarning
        Empty if nothing is wrong.
    """
    if "posterior" not in idata.children:
        return []
    posterior = idata["posterior"].to_dataset()
    n_chains, n_draws = posterior.sizes["chain"], posterior.sizes["draw"]
    components = _components(posterior, model)
    found = [
        _said(f"{text} {LONGER}", "warn")
        for name, draws in components.items()
        for text in unsettled(model, name, draws.to_numpy())
    ]
    n_superchains = idata["posterior"].attrs.get(SUPERCHAINS)
    if n_draws < FEWEST_DRAWS and n_superchains is None:
        return [*found, _said(f"{n_draws} draws are too few to check convergence reliably.")]
    if n_chains == 1:
        return [*found, _said("Only one chain was drawn: there is none to compare it with.")]
    if n_chains < FEW_CHAINS:
        found.append(_said(f"R-hat is reliable from {FEW_CHAINS} chains on; got {n_chains}."))
    labels = labels_of(model)
    names = [labels.name(x.name) for x in model.free_RVs]
    manifolds, values = recorded_manifolds(idata), {}
    for name in [name for name in names if name in posterior.data_vars]:
        x = posterior[name].transpose("chain", "draw", ...)
        if x.size:
            # Angles and axes are compared where they do not jump.
            values[name] = x.copy(data=without_seam(manifolds.get(name), x.to_numpy()))
    for name, draws in components.items():
        found += warnings_of_components(name, draws, fewest=FEWEST_EFFECTIVE, model=model)
        free = components_in(model)[name]
        values = {key: x for key, x in values.items() if key not in free}
    if n_superchains is not None:
        return [*found, *of_superchains(values, n_superchains)]
    return [*found, *_of_ranks(values, n_chains)]


def _components(posterior: xr.Dataset, model: Model) -> dict[str, xr.DataArray]:
    """Return the draws of variables whose rows have no order."""
    found = {}
    for name in components_in(model):
        if name in posterior and posterior.sizes["draw"] > 1:
            x = posterior[name].transpose("chain", "draw", ...)
            if x.shape[2] > 1 and np.isfinite(x.to_numpy().sum()):
                found[name] = x
    return found


def _of_ranks(values: Mapping[str, xr.DataArray], n_chains: int) -> list[SamplerWarning]:
    """Check R-hat and effective sizes of all entries."""
    statistics = {name: rank_statistics(x.to_numpy()) for name, x in values.items()}
    found = []
    n_entries = sum(x.r_hat.size for x in statistics.values())
    excess = {name: _excess(values[name], x.r_hat, n_entries) for name, x in statistics.items()}
    name, largest = worst_entry(excess, values)
    if largest > 0:
        most = f"more than {LARGEST_R_HAT}"
        if n_entries > 1:
            most += f" and than chance makes the largest of {n_entries:,}"
        text = (
            f"R-hat of {name} is {largest + LARGEST_R_HAT:.3f}, {most}: the chains disagree, and "
            "their draws do not represent the posterior. `pmg.diagnose(idata)` tells more."
        )
        found.append(_said(text, "error" if largest + LARGEST_R_HAT > NEVER_MIXED else "warn"))
    opposite, least = worst_entry(
        {name: -x.effective_size for name, x in statistics.items()}, values
    )
    if -least < FEWEST_EFFECTIVE * n_chains:
        text = (
            f"The effective sample size of {opposite} is {-least / n_chains:.0f} per chain, less "
            f"than {FEWEST_EFFECTIVE}: R-hat and other statistics are unreliable. Increase "
            "`draws`, or `n_steps`, the transitions per draw."
        )
        found.append(_said(text, "warn"))
    return found


def _excess(values: xr.DataArray, r_hat: np.ndarray, n_entries: int) -> np.ndarray:
    """Return by how much R-hats exceed the limit; NaN where they may do so by chance."""
    excess = np.where(np.isnan(r_hat), np.nan, r_hat - LARGEST_R_HAT)
    if (above := excess > 0).any():
        by_chance = largest_r_hats(values.to_numpy()[:, :, above], n_entries=n_entries)
        limit = np.minimum(by_chance, SURELY_TOO_LARGE)
        excess[above] = np.where(r_hat[above] > limit, excess[above], np.nan)
    return excess


def _said(text: str, level: str = "info") -> SamplerWarning:
    return SamplerWarning(WarningType.CONVERGENCE, text, level)


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
        found.append(_said(text))
    effective = effective_sizes(_largest(draws, matching)) / len(draws)
    if (least := float(np.nanmin(effective))) < fewest:
        text = (
            f"The smallest effective sample size of the largest entries of `{name}` is {least:.0f} "
            f"per chain. Below {fewest} their means show what the components are about, "
            "and how much several chains differ shows how certain these are; intervals from one "
            "chain are too narrow."
        )
        found.append(_said(text))
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


def _largest(draws: np.ndarray, matching: Matching) -> np.ndarray:
    """Return the draws of the largest entries of all components, in one order."""
    chains = np.arange(len(draws))[:, None]
    means = draws.mean(axis=1)[chains, matching.orders].mean(axis=0)
    largest = np.argsort(-np.abs(means), axis=1)[:, :N_LARGEST]
    own = zip(draws, matching.orders, strict=True)
    return np.stack([chain[:, order[:, None], largest] for chain, order in own])
