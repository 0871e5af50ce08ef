#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Checks of the draws and the chains of any sampler: convergence, components, their labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from pymc.model import Model
from scipy import stats

from pymc_geodesic.component_order import DIFFERENT, Matching, are_alike, match_chains
from pymc_geodesic.diagnostics.findings import Finding
from pymc_geodesic.diagnostics.fold import are_rotated
from pymc_geodesic.diagnostics.geometry import Geometry, geometries
from pymc_geodesic.diagnostics.sampled_draws import Scalars, worst_mixing
from pymc_geodesic.manifolds.registry import recorded_manifolds
from pymc_geodesic.monte_carlo import effective_draws, halves, r_hat
from pymc_geodesic.runs.convergence import LONGER, unsettled

__all__ = [
    "Components",
    "check_chains",
    "check_components",
    "check_divergences",
    "check_finite",
    "check_labels",
    "components_of",
]

# PyMC and Stan warn from 1.01 on; a value above this is an error even with few draws.
LARGEST_R_HAT = 1.05
# Effective draws with which a chain has explored its surroundings.
SETTLED = 20
# In standard deviations within chains. Chains nearer than this share a mode explored slowly.
APART = 2.0
# For each chain, as PyMC and Stan ask: with fewer, R-hat and this number itself are unreliable.
LEAST_EFFECTIVE = 100
# The estimate from a single chain is accurate to a factor of two.
LEAST_EFFECTIVE_OF_ONE = 50
# The quarters of one chain are short and differ by chance up to this value.
LARGEST_R_HAT_OF_ONE = 1.2
# Probability of a false alarm for each of some tens of scalars.
RARE = 1e-5


def check_chains(variables: Mapping[str, np.ndarray]) -> list[Finding]:
    """Look for chains in different modes, chains that are not stationary, and few effective draws.

    Chains that are far apart although each has many effective draws are in different modes. Other
    chains that disagree have not converged yet.

    Parameters
    ----------
    variables : mapping of str to ndarray
        Variables to follow, ``(chain, draw, *shape)``.
    """
    scalars = dict(worst_mixing(Scalars.of(variables))) if variables else {}
    if not scalars:
        return []
    r_hats = {name: r_hat(x) for name, x in scalars.items()}
    failed = {name: r for name, r in r_hats.items() if r > _limit(scalars[name])}
    if not failed:
        return _few(scalars)
    name = max(failed, key=lambda key: failed[key])
    draws = scalars[name]
    # A chain that moves slowly far from the others has not reached a mode.
    effective = min(effective_draws(chain[None]) for chain in draws)
    evidence = {"r_hat": failed[name], "variable": name, "effective_draws_per_chain": effective}
    evidence["n_variables"] = len(failed)
    if len(draws) > 1 and effective >= SETTLED and _apart(draws):
        return [_different_modes(name, draws, evidence)]
    return [_not_stationary(name, draws, evidence)]


def _limit(draws: np.ndarray) -> float:
    """Largest R-hat that is acceptable.

    For parts of n effective draws each, the square of R-hat exceeds one by ``chi2 / (3 n)``, with
    three degrees of freedom for the four parts of one chain.
    """
    if len(draws) > 1:
        return LARGEST_R_HAT
    effective = np.median([effective_draws(part[None]) for part in np.array_split(draws[0], 4)])
    by_chance = np.sqrt(1 + stats.chi2(3).isf(RARE) / (3 * max(effective, 1.0)))
    return float(np.clip(by_chance, LARGEST_R_HAT, LARGEST_R_HAT_OF_ONE))


def _apart(draws: np.ndarray) -> bool:
    within = np.sqrt(draws.var(axis=1).mean())
    return bool(np.ptp(draws.mean(axis=1)) > APART * within)


def _different_modes(name: str, draws: np.ndarray, evidence: dict[str, Any]) -> Finding:
    means = ", ".join(f"{mean:.3g}" for mean in draws.mean(axis=1))
    sentence = (
        f"The chains are in different modes: R-hat of {name} is {evidence['r_hat']:.2f}, although "
        f"each chain mixes well within its own (means {means})."
    )
    advice = (
        "Start all chains in the relevant mode (`initvals`), break the symmetry in the model, or "
        "try `pmg.CyclicalSchedule` as `step_size`. Do not average these chains."
    )
    return Finding("different_modes", "error", sentence, advice, evidence)


def _not_stationary(name: str, draws: np.ndarray, evidence: dict[str, Any]) -> Finding:
    what, where = ("chains have", "the slowest") if len(draws) > 1 else ("chain has", "it")
    sentence = (
        f"The {what} not yet become stationary: R-hat of {name} is {evidence['r_hat']:.2f}, with "
        f"about {evidence['effective_draws_per_chain']:.0f} effective draws in {where}."
    )
    advice = "Increase `tune` and `draws`, or `n_steps`, and discard these draws."
    return Finding("not_stationary", "error", sentence, advice, evidence)


def _effective(draws: np.ndarray) -> float:
    """Effective draws; a single chain is cut into quarters, whose means reveal slow drifts."""
    return effective_draws(draws if len(draws) > 1 else halves(halves(draws)))


def _few(scalars: Mapping[str, np.ndarray]) -> list[Finding]:
    found = {name: _effective(x) for name, x in scalars.items()}
    name = min(found, key=lambda key: found[key])
    effective, (chains, draws) = found[name], scalars[name].shape
    n = chains * draws
    least = LEAST_EFFECTIVE * chains if chains > 1 else LEAST_EFFECTIVE_OF_ONE
    if effective >= min(least, n / 2):
        return []
    sentence = (
        f"There are few effective draws: {n} draws of {name} are worth {effective:.0f}, so "
        f"the error of its mean is {effective**-0.5:.2g} posterior standard deviations."
    )
    advice = "Increase `draws`, or `n_steps`, the transitions per draw."
    evidence = {"effective_draws": effective, "variable": name, "draws": n}
    return [Finding("few_effective_draws", "warning", sentence, advice, evidence)]


def check_finite(variables: Mapping[str, np.ndarray]) -> list[Finding]:
    """Look for draws that are not finite, of which nothing else can be said.

    Parameters
    ----------
    variables : mapping of str to ndarray
        Draws of each variable, ``(chain, draw, *shape)``.
    """
    counts = {
        name: (int(np.count_nonzero(bad)), bad.size)
        for name, x in variables.items()
        for bad in [~np.isfinite(x.reshape(*x.shape[:2], -1)).all(axis=-1)]
        if bad.any()
    }
    if not counts:
        return []
    named = ", ".join(f"{n} of {size} draws of `{name}`" for name, (n, size) in counts.items())
    sentence = f"Draws are not finite: {named} hold NaN or infinity."
    advice = (
        "Leave these draws out, or find their cause: `model.debug()` at such a draw names the "
        "variable."
    )
    evidence = {name: n for name, (n, _) in counts.items()}
    return [Finding("draws_not_finite", "error", sentence, advice, evidence)]


def check_divergences(stats: Mapping[str, np.ndarray]) -> list[Finding]:
    """Count the divergences of a step that is not of this package.

    Parameters
    ----------
    stats : mapping of str to ndarray
        Sample statistics, ``(chain, draw)``.
    """
    share = float(np.mean(stats.get("diverging", 0.0)))
    if not share:
        return []
    sentence = f"{100 * share:.3g} per cent of the draws diverged."
    advice = "Increase `target_accept`, or write the model with other parameters."
    return [Finding("divergences", "error", sentence, advice, {"diverging": share})]


def check_components(components: Mapping[str, Components], *, model: Model | None) -> list[Finding]:
    """Look for components that still improve, and that some chains have and others do not.

    Parameters
    ----------
    components : mapping of str to Components
        Sets of components that are known to have no order.
    model : Model, optional
        The model, whose data they predict.
    """
    findings = []
    for name, parts in components.items():
        if model is not None:
            findings += [
                Finding("not_stationary", "error", text, LONGER, {"variable": name})
                for text in unsettled(model, name, parts.draws)
            ]
        if min(len(parts.draws), parts.draws.shape[2]) == 1:
            continue
        alike = are_alike(parts.draws, match_chains(*parts), parts.geometry)
        if not alike.all():
            sentence = (
                f"The chains have found different components of {name}: {alike.sum()} of "
                f"{len(alike)} are alike in all chains, and means over chains mix the others."
            )
            evidence = {"variable": name, "n_components": int((~alike).sum())}
            found = Finding("different_components", "warning", sentence, DIFFERENT, evidence)
            findings.append(found)
    return findings


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
