#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The choice of the step that samples a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pymc.model import Model

from pymc_geodesic.algorithms.default_schedules import has_default_schedule
from pymc_geodesic.distributions.symmetric_dirichlet import known_concentration
from pymc_geodesic.kernel.jax.processes import start
from pymc_geodesic.manifolds import Simplex
from pymc_geodesic.potential.variables import manifold_in
from pymc_geodesic.step_methods import SGNHT, SGRLD, gSGNHT
from pymc_geodesic.step_methods.step import Step

__all__ = ["StepArgument", "has_sparse_prior", "require_continuous", "step_class_for", "step_for"]

StepArgument = Step | type[Step] | Callable[..., Step] | None
"""A step, a class of steps, or a function that returns a step."""

# Below it the density of a probability vector's square roots has poles at the corners, on which
# geodesic steps fail; see ``docs/choosing.md``.
SPARSE_BELOW = 0.5


def step_for(step: StepArgument, *, model: Model) -> Step:
    """Return the step of a run: the given one, or a new one.

    Parameters
    ----------
    step : Step, type of Step, callable or None
        If None, :func:`step_class_for` chooses it.
    model : Model
        The model.

    Raises
    ------
    ValueError, TypeError
        If it is no step of this package for all variables of the model.
    """
    start()
    if isinstance(step, list | tuple):
        raise TypeError(
            f"`step` expected one step for all variables, got {len(step)} of them. Pass several "
            "steps to `pm.sample`."
        )
    if isinstance(step, Step):
        return _required(step, model)
    make: Any = step_class_for(model) if step is None else step
    if isinstance(make, type) and not issubclass(make, Step):
        raise TypeError(
            f"`step` expected a step of pymc_geodesic, its class, or a function that returns a "
            f"step; got the class {make.__name__}. Pass other steps to `pm.sample`."
        )
    if not callable(make):
        raise TypeError(
            "`step` expected a step of pymc_geodesic, its class, or a function that returns a "
            f"step; got {step!r}."
        )
    with model:
        return _required(make(), model)


def step_class_for(model: Model) -> type[Step]:
    """Choose a step by the manifolds of the variables.

    It is :class:`SGRLD` if all variables are probability vectors, and some have a concentration
    below one half or are the topics of :class:`LatentDirichletAllocation`; :class:`gSGNHT` if a
    variable is on a curved manifold; and else :class:`SGNHT`.

    Raises
    ------
    ValueError
        If the model has discrete variables, or needs a step size that no step finds.
    """
    require_continuous(model)
    manifolds = [manifold_in(model, rv) for rv in model.free_RVs]
    others = [
        rv.name
        for rv, manifold in zip(model.free_RVs, manifolds, strict=True)
        if not isinstance(manifold, Simplex)
    ]
    has_latents = has_default_schedule(model)
    if not others and (has_latents or has_sparse_prior(model)):
        return SGRLD
    found = SGNHT if all(manifold.is_flat for manifold in manifolds) else gSGNHT
    if has_latents:
        listed = ", ".join(f"`{name}`" for name in others)
        raise ValueError(
            "`step=None` expected topics with a Dirichlet prior and no other variables, because "
            "the words of documents have latent topics and no step finds a step size for other "
            f"variables; got {listed}. Pass a step with a step size, such as "
            f"`step=pmg.{found.__name__}(step_size=1e-3)`."
        )
    return found


def require_continuous(model: Model) -> None:
    """Raise an error if a variable of the model is discrete."""
    if model.discrete_value_vars:
        names = ", ".join(f"`{model.values_to_rvs[v].name}`" for v in model.discrete_value_vars)
        raise ValueError(
            f"The model expected continuous variables only, got {names}. Sum discrete variables "
            "out of the model."
        )


def has_sparse_prior(model: Model) -> bool:
    """Return whether some Dirichlet prior has its mass in the corners of the simplex."""
    found = [known_concentration(rv) for rv in model.free_RVs]
    return any(x is not None and bool(np.min(x) < SPARSE_BELOW) for x in found)


def _required(step: Any, model: Model) -> Step:
    if not isinstance(step, Step):
        raise TypeError(
            f"`step` expected a step of pymc_geodesic, got {type(step).__name__}. Pass other steps "
            "to `pm.sample`."
        )
    if step.model is not model:
        raise ValueError(
            "`step` expected a step that was created for this model, got a step of another model."
        )
    sampled = {value.name for value in step.vars}
    if left := [model.values_to_rvs[v].name for v in model.value_vars if v.name not in sampled]:
        listed = ", ".join(f"`{name}`" for name in left)
        raise ValueError(
            f"`step` expected one step for all variables, got a step that leaves out {listed}. "
            "Pass it all variables, or pass several steps to `pm.sample`."
        )
    return step
