#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A short verdict on a run: its faults and how to correct them."""

from __future__ import annotations

import math

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import xarray as xr

from pymc.model import Model
from pymc.util import RandomState

from pymc_geodesic.diagnostics.chain_checks import (
    check_chains,
    check_components,
    check_divergences,
    check_finite,
    check_labels,
    components_of,
)
from pymc_geodesic.diagnostics.findings import Diagnosis, Evidence, Finding
from pymc_geodesic.diagnostics.fold import are_exchangeable
from pymc_geodesic.diagnostics.gradient_checks import judged_modes, with_gradients
from pymc_geodesic.diagnostics.gradients import ModelPoints, model_points
from pymc_geodesic.diagnostics.model_checks import (
    check_local_rows,
    check_total_size,
    not_looked,
    with_modes,
)
from pymc_geodesic.diagnostics.sampled_draws import points_of_run, sampled_draws
from pymc_geodesic.diagnostics.sampler_checks import check_sampler
from pymc_geodesic.diagnostics.temperature import FREEDOM, KINETIC, kinetic_temperature
from pymc_geodesic.diagnostics.thermostat_checks import check_tuning, check_virial
from pymc_geodesic.potential.minibatch import has_minibatch
from pymc_geodesic.potential.total_size import missing_rows
from pymc_geodesic.rows.builders import given_model
from pymc_geodesic.run_record import RunRecord, read_records
from pymc_geodesic.runs.certificate import certified_before
from pymc_geodesic.runs.refined import as_drawn
from pymc_geodesic.runs.traces import sampled_model
from pymc_geodesic.validation import data_tree

__all__ = ["diagnose"]

# Statistics of NUTS and other steps of PyMC, nutpie, NumPyro and BlackJAX.
_FOREIGN = frozenset({"lp", "tree_depth", "depth", "tree_size", "step_size_bar", "energy_error"})


def diagnose(
    idata: xr.DataTree,
    *,
    model: Model | None = None,
    random_seed: int | np.random.Generator | None = 0,
) -> Diagnosis:
    """Print a verdict on a run: its faults, which parameters to change, and in which direction.

    Parameters
    ----------
    idata : DataTree
        Result of ``pm.sample``. Of a step that is not of this package only draws are checked, and
        divergences are counted.
    model : Model, optional
        The model that was given to :func:`sample`; by default that of the context. With it
        ``total_size`` is compared with the number of rows, and gradients are evaluated at some
        draws, of all rows if that takes seconds. If variables belong to the rows of a batch, if the
        likelihood has no closed form as in topic models, or if rows came from a loader, the
        gradients are left out, which the verdict reports.
    random_seed : int or Generator, optional
        For the minibatches.

    Returns
    -------
    Diagnosis
        The findings as objects; its ``str`` is the printed text.

    Raises
    ------
    ValueError
        If ``idata`` has no sample statistics, or too few draws.

    Notes
    -----
    Names of findings, with the evidence for each:

    - ``total_size``: it differs from the number of rows of ``pm.Minibatch``. This needs the model.
    - ``draws_not_finite``: NaN or infinity among the draws. Then nothing else is checked.
    - ``contradicted_by_gradients``: with the model, draws that are too wide or too
      narrow in one direction, or somewhere else; those of a model with other data, too.
    - ``divergences``: those of a step that is not of this package.
    - ``step_size_too_large``: diverging draws; velocities hotter than positions; a thermostat that
      damps more than 0.8 in a transition; Langevin steps of the order of the posterior variance;
      with the model, positions too wide or too narrow.
    - ``friction_too_small``: with a fixed friction, velocities and positions that are too hot.
    - ``gradient_noise_too_large``: with a fixed friction, velocities that are too cold.
    - ``thermostat_unsettled``, ``shared_thermostat``: with a thermostat, temperatures of all or
      some variables that differ from one; a chain that its friction keeps cold.
    - ``positions_too_wide``, ``positions_too_narrow``: ``configurational_temperature``, the
      temperature of the positions, differs from one, and nothing else was found.
    - ``directions_too_wide``, ``directions_too_narrow``: the same along a direction of all
      variables together, where averages over directions are right. This needs the model.
    - ``label_switching``: chains with the same topics, or other components, in different orders.
    - ``different_components``: chains with different topics.
    - ``chains_tuned_apart``: chains whose step sizes differ by more than a factor of three, or
      whose mean energies differ.
    - ``several_modes``: modes that were found before the first draw; chains hardly cross.
    - ``local_rows_unmoved``: rows of a batch whose local variables never moved from their start.
    - ``different_modes``: chains far apart, each with many effective draws. With the model, only
      if the log density dips between them.
    - ``not_stationary``: other chains that disagree with each other or with their own past. Of
      topics, with the model, a perplexity that still falls.
    - ``few_effective_draws``: fewer than 100 effective draws for each chain, and fewer than half of
      the draws; of a single chain, fewer than 50.

    Temperatures are reported if they differ from one by four standard errors and by more than
    self-tuned steps accept; see
    :func:`~pymc_geodesic.stein_check` and :func:`~pymc_geodesic.step_halving` for smaller biases.

    Examples
    --------
    >>> import numpy as np, arviz as az, pymc_geodesic as pmg
    >>> rng = np.random.default_rng(1)
    >>> stats = {"step_size": np.full((2, 200), 0.01), "diverging": np.zeros((2, 200), bool)}
    >>> draws = rng.normal([[0.0], [5.0]], 1.0, (2, 200))
    >>> idata = az.from_dict({"posterior": {"x": draws}, "sample_stats": stats})
    >>> verdict = pmg.diagnose(idata)  # doctest: +ELLIPSIS
    error: The chains are in different modes: ...
    >>> verdict.names
    ('different_modes',)
    """
    # What is corrected afterwards says nothing of the sampler.
    certificate = certified_before(data_tree(idata))
    idata = as_drawn(idata)
    model = Model.get_context(error_if_none=False) if model is None else given_model(model)
    stats = _statistics(idata)
    records = read_records(idata)
    model = sampled_model(model, idata)
    is_ours = bool(records) or (_FOREIGN.isdisjoint(stats) and "step_size" in stats)
    diagnosis = _verdict(check_finite(sampled_draws(idata, records)))
    if diagnosis.ok:
        diagnosis = _diagnosed(idata, model, stats, records, is_ours, random_seed)
    diagnosis = replace(diagnosis, certificate=certificate)
    print(diagnosis)
    return diagnosis


def _diagnosed(
    idata: xr.DataTree,
    model: Model | None,
    stats: Mapping[str, np.ndarray],
    records: Sequence[RunRecord],
    is_ours: bool,
    random_seed: RandomState,
) -> Diagnosis:
    """Make all checks of finite draws."""
    findings = [] if model is None else check_total_size(model)
    not_checked = [] if is_ours else ["the step, which is not of this package."]
    not_checked += filter(None, [not_looked(records)])
    try:
        known = None if model is None else model_points(idata, model, max_draws=10**9)
        findings += _from_draws(idata, stats, records, known, model=model, is_ours=is_ours)
        # Chains that are not stationary have no temperature.
        if model is None or known is None:
            return _verdict(findings, " ".join(not_checked))
        if known.latent:
            not_checked.append(
                "the temperatures of positions. They need the gradient of the log density. It has "
                "no closed form because of the latent variables of the rows "
                f"({known.latent_names})."
            )
        elif missing := missing_rows(model):
            not_checked.append(
                "the temperatures of positions, which need the gradients of all rows. The model "
                f"holds {missing}."
            )
        else:
            findings = judged_modes(findings, known)
            own = stats if is_ours else None
            findings = with_gradients(
                findings,
                idata,
                model,
                own,
                points=known.points,
                records=records,
                random_seed=random_seed,
            )
    except Exception:
        if model is not None:
            # The findings from the draws must survive a failure of the model's gradient.
            print(_verdict(_from_draws(idata, stats, records, None, model=None, is_ours=is_ours)))
        raise
    return _verdict(findings, " ".join(not_checked))


def _verdict(findings: Iterable[Finding], not_checked: str = "") -> Diagnosis:
    return Diagnosis(tuple(sorted(findings, key=lambda found: found.severity)), not_checked)


def _from_draws(
    idata: xr.DataTree,
    stats: Mapping[str, np.ndarray],
    records: Sequence[RunRecord],
    known: ModelPoints | None,
    *,
    model: Model | None,
    is_ours: bool,
) -> list[Finding]:
    """Check draws and statistics; the model, if known, only defines the coordinates."""
    points = points_of_run(idata, known, records)
    followed = dict(points)
    is_one_step = is_ours and stats["step_size"].ndim == 2
    record = records[0] if records else None
    components = components_of(idata, with_names=known is not None)
    labels = check_labels(components, partial(are_exchangeable, known, model))
    # Their entries can be compared only in one order; most of them are next to zero.
    unordered = {name for one in records for name in one.components}
    followed = {name: x for name, x in followed.items() if name not in unordered}
    if labels:
        # Only statistics that do not depend on the order of components can be compared.
        followed = {}
    if "potential_estimate" in stats and is_one_step and not unordered:
        followed["potential_estimate"] = stats["potential_estimate"]
    with_chains = labels + check_chains(followed)
    if not labels:
        found = {name: x for name, x in components.items() if name in unordered}
        with_chains += check_components(found, model=model)
    if not is_ours:
        return check_divergences(stats) + with_chains
    findings = check_tuning(stats, n_entries=sum(math.prod(x.shape[2:]) for x in points.values()))
    # With several steps it is unknown which of them moved which variable.
    if is_one_step:
        # Chains that have not converged are hot for another reason.
        is_stationary = all(finding.name != "not_stationary" for finding in with_chains)
        exact = model is not None and not has_minibatch(model)
        evidence = _evidence(idata, stats, points, is_stationary=is_stationary, exact=exact)
        evidence = evidence._replace(record=record)
        step = None if record is None else record.step
        # Chains on different posteriors need different settings.
        findings += check_sampler(evidence, step=step, one_posterior=not findings)
    findings += with_chains + check_local_rows(stats)
    findings = with_modes(findings, records, idata)
    # An error explains them; a warning may not.
    if is_one_step and all(found.severity != "error" for found in findings):
        findings += check_virial(stats, record=record)
    return findings


def _evidence(
    idata: xr.DataTree,
    stats: Mapping[str, np.ndarray],
    points: Mapping[str, np.ndarray],
    *,
    is_stationary: bool,
    exact: bool,
) -> Evidence:
    temperatures = None
    if is_stationary and KINETIC in stats and FREEDOM in stats:
        temperatures = kinetic_temperature(idata)
    # Other variables are functions of these.
    sampled = [name for name in points if f"{FREEDOM}_{name}" in stats] or list(points)
    entries = {name: points[name].reshape(*points[name].shape[:2], -1) for name in sampled}
    return Evidence(stats, temperatures, entries, exact)


def _statistics(idata: xr.DataTree) -> dict[str, np.ndarray]:
    data_tree(idata)
    if "sample_stats" not in idata:
        raise ValueError(
            "`diagnose` expected the group `sample_stats` of a run, got the groups "
            f"{sorted(idata.children)}. Sample with `pm.sample(step=...)`."
        )
    # A run without recorded variables still has statistics.
    if (draws := idata["sample_stats"].sizes["draw"]) < 20:
        raise ValueError(
            f"`diagnose` expected at least 20 draws per chain, got {draws}. Draw more."
        )
    found = idata["sample_stats"].to_dataset()
    return {
        name: found[name].transpose("chain", "draw", ...).to_numpy()
        for name in found.data_vars
        if found[name].dtype.kind in "biuf"
    }
