#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Warnings for minibatch models that do not load the steps of this package.

Steps are loaded on first use. A user who never uses one, and lets NUTS sample a model with
``pm.Minibatch``, is still warned. So is one who evaluates such a model at draws, or looks for its
mode. PyMC asks no one before it does, so some of its functions are wrapped: they do the same as
before, after a look at the model.
"""

from __future__ import annotations

import sys

from collections.abc import Callable, Collection, Sequence
from functools import partial, wraps
from types import ModuleType
from typing import Any

import pymc as pm

from pymc.model import Model, modelcontext
from pymc.sampling import deterministic, forward
from pymc.smc import sampling as smc
from pymc.stats import log_density
from pymc.step_methods import STEP_METHODS
from pymc.step_methods.compound import BlockedStep, Competence
from pymc.tuning import starting
from pymc.variational.minibatch_rv import MinibatchRandomVariable
from pytensor.graph.basic import Variable

__all__ = ["MinibatchGuard", "install"]


class MinibatchGuard(BlockedStep):
    """A step that PyMC queries for its competence, and that never samples a variable.

    Once the steps of this package are loaded, they issue the warning themselves.
    """

    @staticmethod
    def competence(var, has_grad) -> Competence:
        """Claim no variable; load the steps if the model has minibatches."""
        model = Model.get_context(error_if_none=False)
        if "pymc_geodesic.step_methods" in sys.modules or model is None:
            return Competence.INCOMPATIBLE
        if _is_scaled(model):
            from pymc_geodesic.potential.random_gradients import guarded_competence

            guarded_competence(var)
        return Competence.INCOMPATIBLE


def install() -> None:
    """Register the guard with PyMC, when the package is first imported."""
    if MinibatchGuard not in STEP_METHODS:
        STEP_METHODS.append(MinibatchGuard)
        _look_before([log_density], "compute_log_density", _at_log_density)
        _look_before([forward], "compile_forward_sampling_function", _at_predictions)
        modules = [pm, pm.sampling, deterministic]
        _look_before(modules, "compute_deterministics", _at_deterministics)
        # They ask for the model once.
        _look_before([starting], "modelcontext", partial(_at_evaluations, "find_MAP"))
        _look_before([smc], "modelcontext", partial(_at_evaluations, "sample_smc"))


def _look_before(modules: Sequence[ModuleType], name: str, look: Callable[..., None]) -> None:
    """Wrap a function in all modules that have it."""
    function = getattr(modules[0], name)

    @wraps(function)
    def guarded(*arguments: Any, **keywords: Any) -> Any:
        look(*arguments, **keywords)
        return function(*arguments, **keywords)

    for module in modules:
        setattr(module, name, guarded)


def _is_scaled(model: Model) -> bool:
    return any(isinstance(rv.owner.op, MinibatchRandomVariable) for rv in model.observed_RVs)


def _at_log_density(
    *_: Any,
    model: Model | None = None,
    kind: str = "likelihood",
    var_names: Sequence[str] | None = None,
    **__: Any,
) -> None:
    model = modelcontext(model)
    if kind == "likelihood" and _is_scaled(model):
        from pymc_geodesic.potential.random_gradients import warn_of_scaled_likelihood

        warn_of_scaled_likelihood(model, var_names)


def _at_predictions(
    outputs: Sequence[Variable],
    vars_in_trace: Collection[Variable],
    *_: Any,
    model: Model | None = None,
    **__: Any,
) -> None:
    # Without draws of the posterior, predictions are those of the prior.
    if vars_in_trace and model is not None and _is_scaled(model):
        from pymc_geodesic.potential.random_gradients import warn_of_random_rows

        warn_of_random_rows(outputs, given=vars_in_trace)


def _at_deterministics(
    *_: Any, model: Model | None = None, var_names: Sequence[str] | None = None, **__: Any
) -> None:
    model = modelcontext(model)
    if _is_scaled(model):
        from pymc_geodesic.potential.random_gradients import warn_of_random_deterministics

        warn_of_random_deterministics(model, var_names)


def _at_evaluations(name: str, model: Model | None) -> None:
    model = modelcontext(model)
    if _is_scaled(model):
        from pymc_geodesic.potential.random_gradients import warn_of_random_densities

        warn_of_random_densities(model, name)
