#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The model with its whole data, for predictions, model comparison and exact samplers."""

from __future__ import annotations

from collections.abc import Sequence

from pymc.data import MinibatchOp
from pymc.model import Model
from pymc.variational.minibatch_rv import MinibatchRandomVariable
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor import TensorVariable
from pytensor.tensor.type_other import NoneTypeT

from pymc_geodesic.graph_inputs import evaluated
from pymc_geodesic.potential.deterministics import uses_batch
from pymc_geodesic.potential.minibatch import find_batch_sources
from pymc_geodesic.potential.model_graphs import graph_of_model, model_of_graph, renew
from pymc_geodesic.potential.total_size import row_variables
from pymc_geodesic.potential.variables import sampled_variables
from pymc_geodesic.validation import pymc_model

__all__ = ["full_data"]


def full_data(model: Model) -> Model:
    """Return the model with every ``pm.Minibatch`` replaced by its whole data.

    Sampling uses minibatches, but later computations need every row. The new model has the same
    variables, so that it accepts the draws of the original: ``pm.compute_log_likelihood`` (and with
    it ``az.loo``), ``pm.sample_posterior_predictive`` and PyMC's own samplers work with it.

    Parameters
    ----------
    model : pymc.Model
        A model with ``pm.Minibatch`` data. It does not change.

    Returns
    -------
    pymc.Model
        A new model with the same names, coordinates, transforms, initial values, Deterministics and
        Potentials. The likelihood is not scaled by ``total_size``, because all rows are present.
        A Deterministic that depends on a batch is computed for all rows.

    Raises
    ------
    ValueError
        If a free variable or a Potential depends on a minibatch, a variable belongs to the rows of
        a batch, like those in ``local``, an observed minibatch has no ``total_size`` or one that is
        not its number of rows, a dimension differs in length from the data, or the model's shapes
        only fit batches.

    Notes
    -----
    The new model has data variables of its own, which share their arrays: ``pm.set_data`` changes
    only one of the two models.

    Use only this model for predictions. With the original model ``pm.sample_posterior_predictive``
    predicts the rows of random batches, and ``pm.compute_log_likelihood`` returns scaled values of
    such rows. Both then warn.

    A Deterministic that depends on a batch has the values of a different batch at every draw. PyMC
    would use them as those of all rows. Leave it out of the draws with ``var_names`` of
    ``pm.sample``, or before predicting:
    ``idata["posterior"] = idata["posterior"].to_dataset().drop_vars("eta")``. Its values for all
    rows are ``pm.compute_deterministics(idata, model=full, var_names=["eta"])``.

    Unlike ``pm.model.transform.remove_minibatched_nodes``, this removes the scaling by
    ``total_size``, gives graphs inside operations the shapes of all rows, and keeps initial values.

    Examples
    --------
    >>> import arviz as az, numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> y = np.random.default_rng(1).normal(1.0, 1.0, 1000)
    >>> with pm.Model() as model:
    ...     mean = pm.Normal("mean")
    ...     _ = pm.Normal("y", mean, observed=pm.Minibatch(y, batch_size=50), total_size=1000)
    >>> pmg.full_data(model)["y"].type.shape
    (1000,)

    After ``idata = pm.sample(step=pmg.gSGNHT(), model=model)``, predictions of all rows are
    ``pm.sample_posterior_predictive(idata, model=pmg.full_data(model))``. Leave-one-out
    cross-validation needs no whole model: ``pmg.loo(idata, model)``.
    """
    # Raises for terms that `total_size` does not scale.
    find_batch_sources(pymc_model(model), of_any_size=True)
    _require_expandable(model)
    try:
        graph, _ = graph_of_model(model)
        result = model_of_graph(_with_all_rows(graph), like=graph, source=model)
        result.logp(vars=result.observed_RVs, sum=False)  # finds shapes that do not fit
    except (ValueError, TypeError) as error:
        _refuse_row_variables(model)
        raise ValueError(
            "The model cannot be written for all rows of its data: some shape in it fits only a "
            f"batch. Take shapes from the data, as in `x.shape[0]`. The cause: {error}"
        ) from error
    _require_all_rows(model, result)
    _require_dimensions(result)
    return result


def _require_expandable(model: Model) -> None:
    for rv in model.free_RVs:
        if uses_batch([rv]):
            raise ValueError(
                f"The free variable `{rv.name}` depends on `pm.Minibatch` data: its draws belong "
                "to a batch, not to all rows. Sum or integrate it out of the model."
            )


def _refuse_row_variables(model: Model) -> None:
    """Raise an error if shapes do not fit because variables belong to the rows of a batch."""
    point, values = model.initial_point(), model.continuous_value_vars
    variables = sampled_variables(model, values, initial_point=point, coordinates={})
    if names := list(row_variables(model, variables)):
        raise ValueError(
            f"`full_data` expected no variables of the rows of a batch, got {names}. Their draws "
            "belong to other rows each time, so no draw has all rows. To predict new rows, use "
            "draws of the other variables, and draw these from their prior. For topics use "
            "`pmg.topics.proportions`, `pmg.topics.log_perplexity` or "
            "`pmg.topics.document_completion_perplexity`."
        ) from None


def _with_all_rows(graph: FunctionGraph) -> FunctionGraph:
    """Rebuild a model's graph with the data instead of batches, and without scaling."""
    new: dict[Variable, Variable] = {}
    renew(graph.toposort(), new, _without_batches)
    return FunctionGraph(outputs=[new.get(out, out) for out in graph.outputs], clone=False)


def _without_batches(node: Apply, inputs: Sequence[Variable]) -> Sequence[Variable] | None:
    if isinstance(node.op, MinibatchOp):
        return inputs
    if isinstance(node.op, MinibatchRandomVariable):
        return inputs[:1]
    return None


def _require_all_rows(model: Model, result: Model) -> None:
    """Raise an error unless all scaled rows are present."""
    for rv in model.observed_RVs:
        if not isinstance(rv.owner.op, MinibatchRandomVariable):
            continue
        shape = _shape(result.rvs_to_values[result[rv.name]])
        for size, rows in zip(rv.owner.inputs[1:], shape or (1,), strict=False):
            if not isinstance(size.type, NoneTypeT) and evaluated(size) != rows:
                raise ValueError(
                    f"The observed variable `{rv.name}` expected as many rows of data as its "
                    f"`total_size`, {evaluated(size)}, got {rows}. The model does not hold the "
                    "rest of the data: build it with all rows."
                )


def _shape(variable: TensorVariable) -> tuple[int, ...]:
    static = variable.type.shape
    return tuple(evaluated(variable.shape)) if None in static else static


def _require_dimensions(model: Model) -> None:
    for rv in model.observed_RVs:
        dims = model.named_vars_to_dims.get(rv.name) or ()
        for dim, rows in zip(dims, _shape(model.rvs_to_values[rv]), strict=False):
            length = int(evaluated(model.dim_lengths[dim]))
            if length != rows:
                raise ValueError(
                    f"The dimension `{dim}` of `{rv.name}` expected a length of {rows}, the rows "
                    f"of the data, got {length}. Pass coordinates for all rows."
                )
