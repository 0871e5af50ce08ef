#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Runs that read all rows: of models with no more than a batch, and by NUTS if it is asked for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import pymc as pm
import xarray as xr

from pymc.model import Model

from pymc_geodesic.algorithms.default_schedules import has_default_schedule
from pymc_geodesic.potential.full_data import full_data
from pymc_geodesic.potential.minibatch import has_minibatch
from pymc_geodesic.potential.variables import manifold_in
from pymc_geodesic.rows.convert import BATCH_SIZE
from pymc_geodesic.rows.refusals import FewRowsError
from pymc_geodesic.runs.choose_step import StepArgument, has_sparse_prior, step_class_for
from pymc_geodesic.runs.exact_starts import exact_starts, has_mixture, whole_potential
from pymc_geodesic.runs.find_starts import find_starts, free_values
from pymc_geodesic.runs.memory_limits import fit_in_memory
from pymc_geodesic.runs.plan import Plan
from pymc_geodesic.runs.starts import InitialValues, by_name, seeds
from pymc_geodesic.runs.whole_models import Sampled, sampled_model
from pymc_geodesic.sampling.log import log
from pymc_geodesic.stages import stage
from pymc_geodesic.step_methods import GMC, gSGNHT
from pymc_geodesic.validation import one_of

__all__ = ["Chosen", "ExactArgument", "chosen", "of_all_rows", "sample_with_nuts"]


ExactArgument = Literal["nuts"] | None
"""An exact sampler, in place of a step."""


def of_all_rows(model: Model, exact: str, others: Mapping[str, Any]) -> Model:
    """Return the model that an exact sampler samples.

    Raises
    ------
    ValueError
        For an unknown sampler, and for arguments beside it that ``pm.sample`` does not have.
    """
    one_of("exact", exact, ["nuts"])
    for name, value in others.items():
        if value is not None:
            raise ValueError(
                f"`{name}` expected its default beside `exact='nuts'`, which runs `pm.sample`; got "
                f"{value!r}. Leave it out."
            )
    return full_data(model) if has_minibatch(model) else model


def sample_with_nuts(
    plan: Plan, *, progressbar: bool, compute_convergence_checks: bool
) -> xr.DataTree:
    """Run ``pm.sample`` with the settings of a plan.

    Deterministics of which not all draws would fit into memory are left out. The chains of a
    mixture start around one mode, so that they number its components alike.
    """
    fit_in_memory(plan)
    initvals, options = by_name(plan.initvals), {}
    if initvals is None and has_mixture(plan.model):
        seed = seeds(plan.random_seed, 1)[0]
        initvals = find_starts(plan.model, chains=plan.n_chains, random_seed=seed)
        options = {"init": "adapt_diag"}
    return pm.sample(
        plan.sampling.n_draws,
        tune=plan.tuning.n_draws,
        chains=plan.n_chains,
        model=plan.model,
        random_seed=[int(x.generate_state(1)[0]) for x in seeds(plan.random_seed, plan.n_chains)],
        initvals=initvals,
        var_names=[x.name for x in plan.traced.variables],
        discard_tuned_samples=not plan.tuning.is_kept,
        progressbar=progressbar,
        compute_convergence_checks=compute_convergence_checks,
        **options,
    )


# In the frame of the posterior, a step is about half a standard deviation long, and three of them
# are a quarter of a period. A whole period would bring a trajectory back to where it began.
N_LEAPFROG, JITTER, N_STEPS = 3, 0.3, 3


class Chosen(NamedTuple):
    """What a run samples, and how.

    Attributes
    ----------
    sampled : Sampled
        The model.
    step : Step, type of Step, callable or None
        As it was given; or a step that reads all rows.
    initvals : mapping or sequence of mapping, optional
        As they were given; or the starts of chains that read all rows.
    exact : "nuts" or None
        The name of an exact sampler in place of a step.
    """

    sampled: Sampled
    step: StepArgument
    initvals: InitialValues = None
    exact: ExactArgument = None


@stage("Reading the model")
def chosen(
    model: Model,
    step: StepArgument,
    exact: ExactArgument,
    others: Mapping[str, Any],
    *,
    kept: Collection[str],
    initvals: InitialValues,
    n_chains: int,
) -> Chosen:
    """Return what a run samples: batches of rows, or all of them.

    All of few rows are sampled by :class:`GMC`, where batches would be by :class:`gSGNHT` and no
    Dirichlet prior has its mass in the corners, else by NUTS.

    Parameters
    ----------
    model, step, exact, initvals
        As for :func:`~pymc_geodesic.runs.sample`.
    others : mapping
        Arguments that NUTS does not have, and the batch size.
    kept : collection of str
        Names of variables that are not integrated out.
    n_chains : int
        Number of chains.

    Raises
    ------
    ValueError
        If the arguments do not fit together; see ``of_all_rows`` and ``sampled_model``.
    """
    if exact is not None:
        whole = of_all_rows(model, exact, {**others, "step": step})
        return Chosen(Sampled(whole), None, initvals, exact)
    batch_size = others["batch_size"]
    try:
        return Chosen(sampled_model(model, step, batch_size, kept=kept), step, initvals)
    except FewRowsError:
        if batch_size is not None or step is not None or has_default_schedule(model):
            raise
    is_nuts = _is_for_nuts(model)
    name = "NUTS" if is_nuts else "GMC"
    log.info(f"The model has at most {BATCH_SIZE} rows: {name} samples all of them, and is exact.")
    if is_nuts:
        return Chosen(Sampled(of_all_rows(model, "nuts", others)), None, initvals, "nuts")
    return _by_gmc(model, initvals, n_chains)


def _is_for_nuts(model: Model) -> bool:
    if model.discrete_value_vars or step_class_for(model) is not gSGNHT:
        return True
    # In the corners of the simplex the density of geodesic samplers has poles, that of NUTS none.
    return has_sparse_prior(model) and all(
        model.rvs_to_transforms[rv] is not None or manifold_in(model, rv).is_flat
        for rv in model.free_RVs
    )


def _by_gmc(model: Model, initvals: InitialValues, n_chains: int) -> Chosen:
    """Return a step whose units are widths of the posterior, and starts around a mode."""
    if initvals is not None:
        return Chosen(Sampled(model), GMC, initvals)
    # The same for all seeds, so that a run is continued from a checkpoint with the same step.
    rng, points = np.random.default_rng(0), [model.initial_point()] * n_chains
    found = exact_starts(whole_potential(model), model, points, rng)
    if found is None:
        return Chosen(Sampled(model), GMC)
    options: dict[str, Any] = {}
    if found.masses:
        options = {"mass": found.masses, "n_leapfrog": N_LEAPFROG, "jitter": JITTER}
        options["n_steps"] = N_STEPS
    return Chosen(Sampled(model), partial(GMC, **options), free_values(model, found.points))
