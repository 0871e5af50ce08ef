#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Arguments that step methods have in common: variables, keywords, the rule for a step size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

import numpy as np

from numpy.typing import ArrayLike
from pymc.model import Model
from pytensor.tensor import TensorVariable

from pymc_geodesic.latents.gmc import LocalGMC
from pymc_geodesic.potential.minibatch import total_size
from pymc_geodesic.tuning.mass_adaptation import MassArgument
from pymc_geodesic.tuning.self_tuner import VarianceReduction
from pymc_geodesic.validation import positive

__all__ = [
    "DEFAULT_LEARNING_RATE",
    "DEFAULT_MOMENTUM_DECAY",
    "StepOptions",
    "Variables",
    "global_and_local",
    "step_size_of",
    "value_variables",
]

# The SGGMC paper recommends 0.01 to 0.1 for both; the careful end suits models it has not seen.
DEFAULT_LEARNING_RATE = 0.01
DEFAULT_MOMENTUM_DECAY = 0.01


Variables = TensorVariable | str | Sequence[TensorVariable | str]
"""Random variables or their names."""


def value_variables(model: Model, vars: Variables | None) -> list[TensorVariable]:
    """Resolve the user's ``vars`` to value variables in the model's order.

    The order matters: PyMC's own steps swap the values of variables given in another one.

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
    """Resolve the user's ``vars`` and ``local``; without ``vars`` take all that is not local.

    Raises
    ------
    ValueError
        As for :func:`value_variables`, and for a variable that is in both.
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


class StepOptions(TypedDict, total=False):
    """Keywords that every stochastic-gradient step takes."""

    n_steps: int | None
    mass: MassArgument
    variance_reduction: VarianceReduction | None
    center: Mapping[str, ArrayLike] | None
    accuracy: float
    replacement: bool
    data: Mapping[str, Iterable[np.ndarray]] | None
    local: LocalGMC | None
    backend: str | None
    compile_kwargs: dict[str, Any] | None
    model: Model | None
    rng: Any
    initial_point: Mapping[str, np.ndarray] | None
    blocked: bool
    trust_total_size: bool


def step_size_of(learning_rate: float, model: Model) -> float:
    """Step size ``sqrt(learning_rate / N)`` with N from the model's ``total_size``."""
    return float(np.sqrt(positive("learning_rate", learning_rate) / total_size(model)))
