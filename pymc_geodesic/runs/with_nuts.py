#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The same run by NUTS with all rows, which is exact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import pymc as pm
import xarray as xr

from pymc.model import Model

from pymc_geodesic.potential.full_data import full_data
from pymc_geodesic.potential.minibatch import has_minibatch
from pymc_geodesic.runs.exact_starts import has_mixture
from pymc_geodesic.runs.find_starts import find_starts
from pymc_geodesic.runs.memory_limits import fit_in_memory
from pymc_geodesic.runs.plan import Plan
from pymc_geodesic.runs.starts import by_name, seeds
from pymc_geodesic.validation import one_of

__all__ = ["ExactArgument", "of_all_rows", "sample_with_nuts"]

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
