#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Requirements on the structure of a model whose log likelihood is estimated from batches."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pymc.model import Model
from pymc.variational.minibatch_rv import MinibatchRandomVariable
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import ancestors, walk
from pytensor.tensor import TensorVariable
from pytensor.tensor.shape import Shape, Shape_i
from pytensor.tensor.type_other import NoneTypeT

__all__ = [
    "batched_variables",
    "observed_rv",
    "require_fixed_priors",
    "require_one_source",
    "require_sum_over_rows",
]


def observed_rv(rv: TensorVariable) -> TensorVariable:
    """Return the random variable that ``total_size`` scales."""
    return rv.owner.inputs[0] if isinstance(rv.owner.op, MinibatchRandomVariable) else rv


def batched_variables(model: Model, batch: Collection[TensorVariable]) -> list[TensorVariable]:
    """List the observed variables whose values or parameters depend on a batch."""
    return [
        rv
        for rv in model.observed_RVs
        if not set(batch).isdisjoint(ancestors([rv, model.rvs_to_values[rv]]))
    ]


def require_sum_over_rows(
    model: Model, batches: Sequence[Collection[TensorVariable]], *, data: str, size: str
) -> None:
    """Raise an error if the log likelihood is not a sum over rows that ``total_size`` scales.

    Parameters
    ----------
    model : pymc.Model
        The model.
    batches : sequence of collections of TensorVariable
        The tensors whose rows are drawn together, for each source of batches.
    data, size : str
        Descriptions, for messages, of the data and of the value of ``total_size`` to pass.

    Raises
    ------
    ValueError
        If a potential depends on a batch, or if an observed variable that depends on a batch has no
        ``total_size`` or treats the rows as a single value.
    """
    _require_no_potentials(model, batches, data)
    for batch in batches:
        for rv in batched_variables(model, batch):
            _require_row_axis(model, rv)
            _require_total_size(rv, data, size)


def _require_no_potentials(
    model: Model, batches: Sequence[Collection[TensorVariable]], data: str
) -> None:
    tensors = {tensor for batch in batches for tensor in batch}
    for potential in model.potentials:
        if not tensors.isdisjoint(ancestors([potential])):
            raise ValueError(
                f"The potential `{potential.name}` depends on {data}, but a `pm.Potential` has no "
                "`total_size`: its number of rows is unknown, so it cannot be scaled to the "
                "whole data. Write it as an observed variable, "
                f'`pm.CustomDist("{potential.name}", ..., logp=lambda value, ...: ..., '
                "observed=batch, total_size=len(data))`, whose `logp` returns the term of each "
                "row, without a factor that scales it."
            )


def _require_row_axis(model: Model, rv: TensorVariable) -> None:
    op = observed_rv(rv).owner.op
    if model.rvs_to_values[rv].ndim > getattr(op, "ndim_supp", 0):
        return
    name = getattr(op, "_print_name", (type(op).__name__,))[0]
    raise ValueError(
        f"The observed variable `{rv.name}` expected rows that are independent given the "
        f"parameters, got one {name} over all rows of a batch. If rows depend on each other, as in "
        "a time series, a random walk or a Gaussian process, a batch cannot estimate the log "
        "likelihood. Use the whole data and sample with NUTS or `pmg.GMC`."
    )


def _require_total_size(rv: TensorVariable, data: str, size: str) -> None:
    if isinstance(rv.owner.op, MinibatchRandomVariable) and not isinstance(
        rv.owner.inputs[1].type, NoneTypeT
    ):
        return
    raise ValueError(
        f"The observed variable `{rv.name}` depends on {data} but has no `total_size`, so its log "
        f"likelihood cannot be scaled to the whole data. Pass {size} to it."
    )


def require_fixed_priors(
    model: Model,
    batches: Sequence[Collection[TensorVariable]],
    local: Collection[TensorVariable],
) -> None:
    """Raise an error if a prior depends on the batch, unless its variable is local to the rows.

    Parameters
    ----------
    model : pymc.Model
        The model.
    batches : sequence of collections of TensorVariable
        The tensors whose rows are drawn together, for each source of batches.
    local : collection of TensorVariable
        Random variables that belong to the rows.
    """
    tensors = {tensor for batch in batches for tensor in batch}
    for rv in model.free_RVs:
        if rv not in local and not tensors.isdisjoint(_known_by_value(rv)):
            raise ValueError(
                f"The free variable `{rv.name}` expected a prior that is the same for all batches, "
                "got a prior that depends on the data of a batch. Move that dependence into the "
                "likelihood, or, if the variable has a row for each row of the batch, pass it as "
                f"`local=pmg.LocalGMC([{rv.name}])`."
            )


def _known_by_value(variable: TensorVariable) -> set[Variable]:
    """Return the variables on which the value of a variable depends, and not only its shape."""

    def inputs(x: Variable) -> Sequence[Variable]:
        return () if x.owner is None or isinstance(x.owner.op, Shape | Shape_i) else x.owner.inputs

    return set(walk([variable], inputs))


def require_one_source(model: Model, batches: Sequence[Collection[TensorVariable]]) -> None:
    """Raise an error if an observed variable combines rows from independent batches."""
    seen: dict[TensorVariable, int] = {}
    for i, batch in enumerate(batches):
        for rv in batched_variables(model, batch):
            if seen.setdefault(rv, i) != i:
                raise ValueError(
                    f"The observed variable `{rv.name}` expected data from one call of "
                    "`pm.Minibatch`, got data from several calls, which draw their rows "
                    "independently. Draw them in one call, such as `x, y = pm.Minibatch(X, Y, "
                    "batch_size=100)`."
                )
