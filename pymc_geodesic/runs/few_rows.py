#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Runs that read all rows, of few or by NUTS, and starts around the posterior for such samplers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
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
from pymc_geodesic.rows.builders import given_model
from pymc_geodesic.rows.convert import BATCH_SIZE
from pymc_geodesic.rows.refusals import FewRowsError
from pymc_geodesic.runs.choose_step import (
    Sampled,
    StepArgument,
    has_sparse_prior,
    in_batches,
    require_continuous,
    sampled_model,
    step_class_for,
)
from pymc_geodesic.runs.deterministics import Traced
from pymc_geodesic.runs.memory_limits import fit_in_memory
from pymc_geodesic.runs.plan import Plan
from pymc_geodesic.runs.starts import (
    InitialValues,
    RandomSeed,
    begin_chains,
    by_name,
    exact_starts,
    has_mixture,
    seeds,
    whole_potential,
)
from pymc_geodesic.sampling.advance import Sampler, prepare
from pymc_geodesic.stages import log, stage
from pymc_geodesic.step_methods import GMC, SGNHT, gSGNHT
from pymc_geodesic.validation import one_of, whole

__all__ = [
    "Chosen",
    "ExactArgument",
    "chosen",
    "find_starts",
    "free_values",
    "of_all_rows",
    "sample_with_nuts",
]

ExactArgument = Literal["nuts"] | None
"""An exact sampler, in place of a step."""


def of_all_rows(model: Model, exact: str, others: Mapping[str, Any]) -> Model:
    """Return the model that an exact sampler samples; raise an error for what it does not take."""
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
    starts, masses = found
    lengths: Any = {"n_leapfrog": N_LEAPFROG, "jitter": JITTER, "n_steps": N_STEPS}
    step = partial(GMC, mass=masses, **lengths) if masses else GMC
    return Chosen(Sampled(model), step, free_values(model, starts))


def find_starts(
    model: Model | None = None,
    *,
    chains: int = 4,
    random_seed: RandomSeed = None,
    initvals: InitialValues = None,
) -> list[dict[str, np.ndarray]]:
    r"""Find the posterior, and draw a start for each chain of another sampler.

    This is what a step that tunes itself does before its first draw. A Gaussian distribution
    :math:`N(c, M^{-1})` describes the posterior around its mode or, where a mode is of no use, as
    in hierarchies, on average. Each start is a draw from it.

    Parameters
    ----------
    model : Model, optional
        Model whose variables are all continuous; with :class:`pymc.Minibatch`, or with all rows,
        which are read in batches if they are many and independent. By default that of the context.
    chains : int, default 4
        How many starts.
    random_seed : int, sequence of int, SeedSequence or Generator, optional
        Seed.
    initvals : dict or list of dict, optional
        Where the search begins, as in :func:`sample`; by default it tries several starts.

    Returns
    -------
    list of dict of str to ndarray
        Values of the free variables, in their own shapes, one mapping per chain: the ``initvals``
        of :func:`pymc.sample`. Variables that :func:`sample` would integrate out have none.

    Raises
    ------
    ValueError
        If the model has no variables or discrete ones, its minibatches cannot be sampled
        correctly, or it has topics of :class:`LatentDirichletAllocation`.
    pymc.exceptions.SamplingError
        If no start with a finite density is found.

    References
    ----------
    R. Giordano, M. Ingram and T. Broderick, Black Box Variational Inference with a Deterministic
    Objective, Journal of Machine Learning Research 25 (2024): the Gaussian distribution on average.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> data = np.random.default_rng(1).normal(2.0, 1.0, 10_000)
    >>> with pm.Model() as model:
    ...     mean, sd = pm.Normal("mean", 0.0, 10.0), pm.HalfNormal("sd", 10.0)
    ...     batch = pm.Minibatch(data, batch_size=100)
    ...     _ = pm.Normal("x", mean, sd, observed=batch, total_size=10_000)
    >>> starts = pmg.find_starts(model, chains=2, random_seed=1)
    >>> sorted(starts[0]), bool(abs(starts[0]["mean"] - 2.0) < 0.1)
    (['mean', 'sd'], True)
    >>> options = {"cores": 1, "progressbar": False, "compute_convergence_checks": False}
    >>> with pmg.full_data(model):
    ...     idata = pm.sample(20, tune=20, chains=2, initvals=starts, init="adapt_diag", **options)
    >>> idata.posterior["mean"].shape
    (2, 20)
    """
    model = given_model(model)
    n_chains = whole("chains", chains)
    require_continuous(model)
    if has_default_schedule(model):
        raise ValueError(
            "`find_starts` expected a likelihood in closed form, got that of words whose topics "
            "are summed out by sampling. Leave it out: `pmg.sample` finds a start of topics."
        )
    is_flat = all(manifold_in(model, rv).is_flat for rv in model.free_RVs)
    make = SGNHT if is_flat else gSGNHT
    searched = in_batches(model)
    with searched:
        # The search compiles nothing, and JAX compiles a step only when it moves.
        sampler: Sampler = make().sampler
    begun = begin_chains(
        sampler,
        searched,
        chain_seeds=seeds(random_seed, n_chains),
        initvals=initvals,
        tune=1,
        draws=1,
    )
    prepare(sampler, begun)
    return free_values(searched, [chain.values for chain in begun])


def free_values(
    model: Model, points: Sequence[Mapping[str, np.ndarray]]
) -> list[dict[str, np.ndarray]]:
    """Return the free variables of a model at PyMC's values, in their own shapes."""
    traced = Traced(model, [rv.name for rv in model.free_RVs])
    values = {name: np.array([[point[name]] for point in points]) for name in traced.value_names}
    found = traced(values, (len(points), 1))
    return [{name: x[i, 0] for name, x in found.items()} for i in range(len(points))]
