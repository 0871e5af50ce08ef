#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Checks that keep PyMC's own steps away from random gradients."""

from __future__ import annotations

from weakref import WeakKeyDictionary, WeakSet

from pymc.model import Model
from pymc.step_methods.compound import BlockedStep, Competence
from pytensor.tensor import TensorVariable

from pymc_geodesic.potential.minibatch import has_minibatch
from pymc_geodesic.potential.random_gradients import warn_minibatch

__all__ = ["claim", "guarded_competence", "require_all_sampled"]

_STEPS: WeakKeyDictionary[Model, WeakSet[BlockedStep]] = WeakKeyDictionary()


def claim(model: Model, step: BlockedStep) -> None:
    """Record that ``step`` samples its variables of ``model``."""
    _STEPS.setdefault(model, WeakSet()).add(step)


def _claimed_names(model: Model) -> frozenset[str]:
    """Names of the value variables that existing steps of this package sample."""
    return frozenset(var.name for step in _STEPS.get(model, ()) for var in step.vars)


def require_all_sampled(model: Model) -> None:
    """Raise if a step of another package would sample a variable from random gradients.

    Call it at the first draw of a chain. PyMC sets up all steps of a chain before it makes the
    first draw, so the steps that wait for it are those of this chain.

    Raises
    ------
    ValueError
        If the model has minibatches and a variable that no step of the chain samples.
    """
    steps = [step for step in _STEPS.get(model, ()) if step.awaits_first_draw]
    _require_covered(model, frozenset(var.name for step in steps for var in step.vars))
    for step in steps:
        step.awaits_first_draw = False


def _require_covered(model: Model, names: frozenset[str]) -> None:
    left = [model.values_to_rvs[v].name for v in model.value_vars if v.name not in names]
    if left and has_minibatch(model):
        listed = ", ".join(f"`{name}`" for name in left)
        raise ValueError(
            f"The model draws its data with `pm.Minibatch`, but {listed} would be sampled by a "
            "step that is not of pymc_geodesic and would see a different random log probability at "
            "every evaluation. Sample all variables with steps of pymc_geodesic, or use the full "
            "data."
        )


def guarded_competence(rv: TensorVariable) -> Competence:
    """Claim nothing, but warn when PyMC looks for a step for a minibatch model.

    PyMC asks every registered step for its competence only for variables without a given step.
    For these NUTS would run on random gradients without an error.
    """
    model = Model.get_context(error_if_none=False)
    if model is not None and rv in model.basic_RVs:
        claimed = _claimed_names(model)
        # An existing step that claims this variable is left over from an earlier run.
        if claimed and model.rvs_to_values[rv].name not in claimed:
            _require_covered(model, claimed)
        else:
            warn_minibatch(model)
    return Competence.INCOMPATIBLE
