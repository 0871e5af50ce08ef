#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Checks by gradients of all rows: their means, and the widths of directions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import xarray as xr

from pymc.model import Model
from pymc.util import RandomState

from pymc_geodesic.diagnostics.findings import Finding
from pymc_geodesic.diagnostics.gradients import Batches, ModelPoints, gradient_draws
from pymc_geodesic.diagnostics.model_checks import check_positions
from pymc_geodesic.diagnostics.temperature import temperatures_of
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.potential.minibatch import find_batch_sources
from pymc_geodesic.run_record import RunRecord
from pymc_geodesic.runs.direction_coordinates import DirectionDraws, direction_draws
from pymc_geodesic.runs.directions import extremes
from pymc_geodesic.runs.widths import Widths, compared_widths
from pymc_geodesic.tuning.barrier import BARRIER, barrier_between, farthest_means

__all__ = ["check_directions", "judged_modes", "with_gradients"]


def check_directions(draws: DirectionDraws) -> list[Finding]:
    """Look for directions along which positions are too wide or too narrow.

    Parameters
    ----------
    draws : DirectionDraws
        The draws, some of them with gradients.

    Returns
    -------
    list of Finding
        ``directions_too_wide`` or ``directions_too_narrow``, for the temperature furthest off.
    """
    wrong = [x for x in extremes(draws) if x.is_wrong]
    if not wrong:
        return []
    worst = max(wrong, key=lambda x: abs(x.temperature - 1))
    width = "wide" if worst.temperature > 1 else "narrow"
    named = " and ".join(f"{x.temperature:.3g}, mostly of `{x.owner}`" for x in wrong)
    sentence = (
        f"Positions are too {width} along a direction: configurational temperatures of the widest "
        f"and narrowest directions should be 1, but are {named}."
    )
    advice = (
        "Noise of gradients may prefer directions: use larger batches, control variates, or a "
        "smaller `accuracy` or `step_size`."
    )
    evidence = {"temperatures": [x.temperature for x in wrong], "errors": [x.error for x in wrong]}
    return [Finding(f"directions_too_{width}", "error", sentence, advice, evidence)]


def judged_modes(findings: Sequence[Finding], known: ModelPoints) -> list[Finding]:
    """Return findings in which chains are in different modes only if a barrier separates them.

    Parameters
    ----------
    findings : sequence of Finding
        What draws alone have shown.
    known : ModelPoints
        The draws as points of the model.
    """
    if known.conditioned or all(found.name != "different_modes" for found in findings):
        return list(findings)
    chains = [list(parts) for parts in zip(*known.points, strict=True)]
    barrier = barrier_between(HostGradient(known.potential), *farthest_means(chains))
    if barrier > BARRIER:
        return list(findings)
    return [_unmixed(x) if x.name == "different_modes" else x for x in findings]


def _unmixed(found: Finding) -> Finding:
    sentence = (
        f"The chains have not mixed: R-hat of {found.evidence['variable']} is "
        f"{found.evidence['r_hat']:.2f}, although the log density hardly dips between them. They "
        "explore one mode slowly."
    )
    advice = (
        "Increase `tune` and `draws`, or `n_steps`, or reparametrise the model. Discard these "
        "draws."
    )
    return Finding("not_stationary", "error", sentence, advice, found.evidence)


# Draws of a chain at which gradients are evaluated.
MAX_DRAWS = 250
# Rows, over all draws, whose gradients take some seconds; and the draws that are worth it. Where
# there is no time for all rows, batches give gradients that are right on average.
MOST_ROWS, FEWEST_DRAWS = 10**8, 80


DIVERGING = "diverging"


def with_gradients(
    findings: Sequence[Finding],
    idata: xr.DataTree,
    model: Model,
    stats: Mapping[str, np.ndarray] | None,
    *,
    points: Sequence[np.ndarray],
    records: Sequence[RunRecord],
    random_seed: RandomState,
) -> list[Finding]:
    """Return findings with those that gradients add; doubts that gradients clear are warnings.

    Parameters
    ----------
    findings : sequence of Finding
        What the draws have shown. Chains that have not converged need no gradients.
    idata : DataTree
        The run.
    model : Model
        Its model.
    stats : mapping of str to ndarray, or None
        Sample statistics; None if the step is not of this package.
    points : sequence of ndarray
        All draws of the continuous variables, in the embedding.
    records : sequence of RunRecord
        Records of the steps.
    random_seed : int or Generator, optional
        For the minibatches.
    """
    if not all(_is_open(finding, stats or {}) for finding in findings):
        return list(findings)
    batches, max_draws = _affordable(idata, model)
    try:
        draws = gradient_draws(
            idata, model=model, batches=batches, max_draws=max_draws, random_seed=random_seed
        )
    except ValueError:
        # Draws that have run off have no gradient, which is no news.
        if any(DIVERGING in finding.evidence for finding in findings):
            return list(findings)
        raise
    temperatures, found = temperatures_of(draws), direction_draws(*draws, points)
    widths = None if found is None else _widths(found, n_variables=len(draws.variables))
    added = []
    if stats is not None:
        friction = float(np.mean(stats["friction"])) if "friction" in stats else None
        step_size = float(np.median(stats["step_size"])) if stats["step_size"].ndim == 2 else None
        record = records[0] if records else None
        added = check_positions(temperatures, friction=friction, step_size=step_size, record=record)
    if not added and widths is not None and widths.wrong:
        added = [_contradiction(widths, batches)]
    if stats is not None and not added and found is not None:
        added = check_directions(found)
    if batches == "all" and widths is not None:
        findings = [_judged(finding, widths) for finding in findings]
    return [*findings, *added]


def _is_open(finding: Finding, stats: Mapping[str, np.ndarray]) -> bool:
    """Return whether gradients can tell more of a fault: its cause, or that it does no harm."""
    # Only the gradient can distinguish the causes of heating.
    if finding.name == "positions_too_wide":
        return "friction" in stats
    return DIVERGING in finding.evidence or finding.name in (
        "shared_thermostat",
        "few_effective_draws",
    )


def _affordable(idata: xr.DataTree, model: Model) -> tuple[Batches, int]:
    """Choose between all rows and batches, and the number of draws of each chain."""
    sizes = idata["posterior"].sizes
    n_rows = sum(source.n_rows for source in find_batch_sources(model))
    n_draws = min(MAX_DRAWS, sizes["draw"])
    affordable = MOST_ROWS // max(n_rows, 1)
    if affordable < min(FEWEST_DRAWS, n_draws * sizes["chain"]):
        return 1, n_draws
    return "all", max(1, min(n_draws, affordable // sizes["chain"]))


def _widths(draws: DirectionDraws, *, n_variables: int) -> Widths:
    """Compare the widths of the draws of all variables whose directions can be compared."""
    # On a ridge, entries by themselves tell little, and which are on one is unknown here.
    none = np.zeros(len(draws.names), bool)
    found = compared_widths(draws.names, draws.here, draws.forces(), are_informative=none)
    return found._replace(are_all=len(set(draws.owners)) == n_variables)


def _contradiction(widths: Widths, batches: Batches) -> Finding:
    rows = "all rows" if batches == "all" else "random batches"
    sentence = (
        "The draws do not follow the posterior of this model: by the gradients of "
        f"{rows} at {widths.n_draws} of the draws, {widths.wrong}."
    )
    advice = (
        "Check that `model` has the data of the run. If it does, take larger batches or shorter "
        "steps."
    )
    evidence = {"n_draws": widths.n_draws}
    return Finding("contradicted_by_gradients", "error", sentence, advice, evidence)


def _judged(finding: Finding, widths: Widths) -> Finding:
    """Say of a doubt whether the gradients of all rows clear it."""
    if DIVERGING not in finding.evidence and finding.name != "shared_thermostat":
        return finding
    at = f"The gradients of all rows at {widths.n_draws} of the draws"
    if widths.are_right and widths.are_all:
        said = (
            f"{at} show that means and standard deviations are nevertheless right to about a "
            "quarter of a standard deviation."
        )
        return replace(finding, severity="warning", sentence=f"{finding.sentence} {said}")
    said = f"These draws do not follow the posterior: {at[0].lower()}{at[1:]} do not clear them."
    return replace(finding, severity="error", sentence=f"{finding.sentence} {said}")
