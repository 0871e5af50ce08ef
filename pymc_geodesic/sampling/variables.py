#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The variables that a step samples."""

from __future__ import annotations

from collections.abc import Sequence

from pymc.model import Model
from pytensor.tensor import TensorVariable

from pymc_geodesic.latents.gmc import LocalGMC

__all__ = ["Variables", "global_and_local", "value_variables"]

type Variables = TensorVariable | str | Sequence[TensorVariable | str]
"""Random variables or their names."""


def value_variables(model: Model, vars: Variables | None) -> list[TensorVariable]:
    """Resolve the user's ``vars`` to value variables in the model's order.

    The order matters: PyMC's own steps swap the values of variables given in another order.

    Raises
    ------
    ValueError
        If a variable is not a free variable of the model, or there is none.
    """
    if vars is None:
        if not model.continuous_value_vars:
            raise ValueError(
                "The model expected at least one continuous free variable to sample, got none."
            )
        return list(model.continuous_value_vars)
    chosen = set()
    for var in [vars] if isinstance(vars, str | TensorVariable) else vars:
        rv = model.named_vars.get(var) if isinstance(var, str) else var
        value = model.rvs_to_values.get(rv, rv)
        if value not in model.value_vars:
            free = ", ".join(f"`{free_rv.name}`" for free_rv in model.free_RVs)
            raise ValueError(
                f"`vars` expected free random variables of the model, which are {free}; got "
                f"{getattr(var, 'name', var)!r}."
            )
        chosen.add(value)
    return [value for value in model.value_vars if value in chosen]


def global_and_local(
    model: Model, vars: Variables | None, local: LocalGMC | None
) -> tuple[list[TensorVariable], list[TensorVariable]]:
    """Resolve the user's ``vars`` and ``local``; the default is all variables that are not local.

    Raises
    ------
    ValueError
        See :func:`value_variables`; also for a variable that is in both.
    """
    if local is None:
        return value_variables(model, vars), []
    local_values = value_variables(model, local.vars)
    if vars is None:
        return [v for v in value_variables(model, None) if v not in local_values], local_values
    values = value_variables(model, vars)
    if both := [model.values_to_rvs[v].name for v in values if v in local_values]:
        raise ValueError(f"`vars` and `local` expected different variables, got {both} in both.")
    return values, local_values
