#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Errors and warnings that keep PyMC's own steps and functions away from random gradients."""

from __future__ import annotations

import warnings

from collections.abc import Collection, Sequence
from pathlib import Path
from weakref import WeakKeyDictionary, WeakSet

import pymc as pm

from pymc.model import Model
from pymc.step_methods.compound import BlockedStep, Competence
from pytensor.graph.basic import Variable
from pytensor.tensor import TensorVariable

from pymc_geodesic.potential.deterministics import batch_deterministics, uses_batch
from pymc_geodesic.potential.minibatch import find_batch_sources, has_minibatch, n_rows
from pymc_geodesic.potential.total_size import declared_sizes, require_total_size
from pymc_geodesic.validation import pymc_model

__all__ = [
    "check_minibatch",
    "claim",
    "guarded_competence",
    "require_all_sampled",
    "warn_minibatch",
    "warn_of_random_densities",
    "warn_of_random_deterministics",
    "warn_of_random_rows",
    "warn_of_scaled_likelihood",
]

# A warning points at the line that calls PyMC.
OURS = tuple(f"{path.parent}/" for path in (Path(pm.__file__), Path(__file__).parent))
MINIBATCH_MESSAGE = (
    "The model draws its data by `pm.Minibatch`, so PyMC's own step methods (NUTS and the others) "
    "would see a different random log probability at every evaluation and return meaningless draws "
    "without an error. Sample all its variables with steps of pymc_geodesic, such as "
    "`pm.sample(step=pmg.gSGNHT())`, or write the model with the full data."
)


def check_minibatch(model: Model, *, trust_total_size: bool = False) -> None:
    """Raise an error if a model has ``pm.Minibatch`` data, which PyMC's own steps cannot sample.

    Without a step of this package, ``pm.sample()`` runs NUTS on such a model without an error,
    although every gradient comes from another batch. The draws are meaningless. Call this function
    before ``pm.sample()`` in code that must exclude this.

    Parameters
    ----------
    model : pymc.Model
        The model about to be sampled.
    trust_total_size : bool, default False
        Accept a ``total_size`` that is not the number of rows, as the steps do with this argument.

    Raises
    ------
    ValueError
        If the model depends on ``pm.Minibatch``. The message differs if no step can sample the
        model, because ``total_size`` is not the number of rows or the log likelihood is not a sum
        over rows.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> with pm.Model() as model:
    ...     x = pm.Normal("x")
    ...     y = pm.Minibatch(np.zeros(100), batch_size=10)
    ...     _ = pm.Normal("y", x, observed=y, total_size=100)
    >>> try:
    ...     pmg.check_minibatch(model)
    ... except ValueError as error:
    ...     print(str(error)[:41])
    The model draws its data by `pm.Minibatch
    """
    if has_minibatch(pymc_model(model)):
        sources = find_batch_sources(model)
        require_total_size(model, sources, trust_total_size=trust_total_size)
        raise ValueError(MINIBATCH_MESSAGE)


def warn_minibatch(model: Model) -> None:
    """Warn that a step of PyMC is about to sample a model with ``pm.Minibatch`` data."""
    if has_minibatch(model):
        warnings.warn(MINIBATCH_MESSAGE, UserWarning, stacklevel=2)


def warn_of_scaled_likelihood(model: Model, names: Sequence[str] | None = None) -> None:
    """Warn that log likelihoods are scaled by ``total_size``, and may belong to a random batch.

    Parameters
    ----------
    model : pymc.Model
        The model.
    names : sequence of str, optional
        Names of observed variables whose log likelihoods are computed; all by default.
    """
    for rv in model.observed_RVs:
        size = declared_sizes(rv).get(0)
        if size is None or (names is not None and rv.name not in names):
            continue
        value = model.rvs_to_values[rv]
        if uses_batch([rv, value]):
            text = (
                f"`pm.compute_log_likelihood` expected all rows of `{rv.name}`, got one random "
                "batch of `pm.Minibatch`, with log likelihoods that are scaled by `total_size`. "
                "`az.loo` would take them for those of all rows. Use "
                "`pm.compute_log_likelihood(idata, model=pmg.full_data(model))`."
            )
        elif value.ndim and (held := n_rows(value)) != size:
            text = (
                f"`pm.compute_log_likelihood` expected all rows of `{rv.name}`, {size} by its "
                f"`total_size`, got {held}, each of which counts {size / held:.3g} times. Set the "
                "`pm.Data` to all rows with `pm.set_data`, or leave out `total_size`."
            )
        else:
            continue
        warnings.warn(text, UserWarning, skip_file_prefixes=OURS)


def warn_of_random_rows(outputs: Sequence[Variable], *, given: Collection[Variable]) -> None:
    """Warn that predictions belong to the rows of a random batch.

    Parameters
    ----------
    outputs : sequence of Variable
        What is predicted.
    given : collection of Variable
        Variables whose draws are known.
    """
    names = [output.name for output in outputs if uses_batch([output], given=given)]
    if names:
        warnings.warn(
            f"`pm.sample_posterior_predictive` expected all rows of the data, got one random batch "
            f"of `pm.Minibatch` for each draw of {names}. Use "
            "`pm.sample_posterior_predictive(idata, model=pmg.full_data(model))`.",
            UserWarning,
            skip_file_prefixes=OURS,
        )


def warn_of_random_deterministics(model: Model, names: Sequence[str] | None = None) -> None:
    """Warn that Deterministics are computed for the rows of a random batch at every draw.

    Parameters
    ----------
    model : pymc.Model
        The model.
    names : sequence of str, optional
        Names of the Deterministics that are computed; all by default.
    """
    of_batch = batch_deterministics(model)
    if computed := [name for name in of_batch if names is None or name in names]:
        warnings.warn(
            "`pm.compute_deterministics` expected all rows of the data, got one random batch of "
            f"`pm.Minibatch` for each draw of {computed}. Use "
            "`pm.compute_deterministics(idata, model=pmg.full_data(model))`.",
            UserWarning,
            skip_file_prefixes=OURS,
        )


def warn_of_random_densities(model: Model, name: str) -> None:
    """Warn that a function of PyMC gets the log density of another batch at every evaluation.

    Parameters
    ----------
    model : pymc.Model
        The model.
    name : str
        The function.
    """
    if has_minibatch(model):
        warnings.warn(
            f"`pm.{name}` expected the log density of all rows, got that of another random batch "
            f"of `pm.Minibatch` at every evaluation. Use `pm.{name}(model=pmg.full_data(model))`.",
            UserWarning,
            skip_file_prefixes=OURS,
        )


_STEPS: WeakKeyDictionary[Model, WeakSet[BlockedStep]] = WeakKeyDictionary()


def claim(model: Model, step: BlockedStep) -> None:
    """Record that ``step`` samples its variables of ``model``."""
    _STEPS.setdefault(model, WeakSet()).add(step)


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
        claimed = frozenset(var.name for step in _STEPS.get(model, ()) for var in step.vars)
        # An existing step that claims this variable is left over from an earlier run.
        if claimed and model.rvs_to_values[rv].name not in claimed:
            _require_covered(model, claimed)
        else:
            warn_minibatch(model)
    return Competence.INCOMPATIBLE
