#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Checks that total_size is the number of rows, and warnings about models of batches."""

from __future__ import annotations

import warnings

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytensor.tensor as pt

from pymc.model import Model
from pymc.variational.minibatch_rv import MinibatchRandomVariable
from pytensor.compile.mode import Mode
from pytensor.gradient import grad
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorVariable
from pytensor.tensor.type_other import NoneTypeT

from pymc_geodesic.distributions.symmetric_dirichlet import known_concentration
from pymc_geodesic.graph_inputs import evaluated
from pymc_geodesic.potential.deterministics import uses_batch
from pymc_geodesic.potential.log_density import LogDensity
from pymc_geodesic.potential.minibatch import batch_sources
from pymc_geodesic.potential.stream import Source
from pymc_geodesic.potential.variables import SampledVariable

__all__ = [
    "WrongSize",
    "declared_sizes",
    "missing_rows",
    "require_total_size",
    "row_variables",
    "warn_of_poles",
    "warn_of_row_variables",
    "wrong_sizes",
]


class WrongSize(NamedTuple):
    """A ``total_size`` that is not the number of rows.

    Attributes
    ----------
    name : str
        The observed variable.
    axis : int
        The axis of its values, zero for the rows.
    declared, held : int
        The declared size and that of the data.
    """

    name: str
    axis: int
    declared: int
    held: int


def declared_sizes(rv: TensorVariable) -> dict[int, int]:
    """Return the entries of ``total_size`` by axis."""
    if not isinstance(rv.owner.op, MinibatchRandomVariable):
        return {}
    return {
        axis: int(evaluated(size))
        for axis, size in enumerate(rv.owner.inputs[1:])
        if not isinstance(size.type, NoneTypeT)
    }


def wrong_sizes(model: Model, sources: Sequence[Source]) -> list[WrongSize]:
    """List every ``total_size`` that is not the length of the data's axis.

    The number of rows of a stream is unknown before it ends, so the largest ``total_size`` is used.
    """
    found = []
    for rv in model.observed_RVs:
        value = model.rvs_to_values[rv]
        used = set(ancestors([rv, value]))
        rows = {source.n_rows for source in sources if not used.isdisjoint(source.batches)}
        for axis, declared in declared_sizes(rv).items():
            lengths = rows if axis == 0 else {value.type.shape[axis]} - {None}
            if lengths and declared not in lengths:
                found.append(WrongSize(rv.name, axis, declared, max(lengths)))
    return found


def require_total_size(
    model: Model, sources: Sequence[Source], *, trust_total_size: bool = False
) -> None:
    """Raise an error for a ``total_size`` that is not the number of rows, unless it is intended.

    Parameters
    ----------
    model : pymc.Model
        The model.
    sources : sequence of BatchSource or StreamSource
        Sources of its rows.
    trust_total_size : bool, default False
        Accept any positive number.

    Raises
    ------
    ValueError
        If a ``total_size`` is not positive, or is not the length of the data's axis.
    """
    for rv in model.observed_RVs:
        for declared in declared_sizes(rv).values():
            if declared < 1:
                raise ValueError(
                    f"`total_size` of `{rv.name}` expected the number of rows of the whole data, "
                    f"got {declared}. Pass a positive whole number."
                )
    if not trust_total_size:
        for wrong in wrong_sizes(model, sources):
            raise ValueError(_sentence(wrong))


def _sentence(wrong: WrongSize) -> str:
    what = "rows" if wrong.axis == 0 else f"entries of axis {wrong.axis}"
    advice = f"Pass `total_size={wrong.held}`" if wrong.axis == 0 else "Correct it"
    return (
        f"`total_size` of `{wrong.name}` expected the number of {what}, {wrong.held}, got "
        f"{wrong.declared}, so the likelihood would count {wrong.declared / wrong.held:.3g} times. "
        f"{advice}. If you want this, pass `trust_total_size=True` to the step."
    )


def missing_rows(model: Model) -> str:
    """Say which rows a model does not hold, as the end of a sentence; empty if it holds all.

    The ``pm.Data`` of a stream has the shape of a batch, and any values: the rows come from a
    loader, which belongs to the step.

    Parameters
    ----------
    model : pymc.Model
        The model. Variables with ``pm.Minibatch`` have all rows.
    """
    for rv in model.observed_RVs:
        value = model.rvs_to_values[rv]
        declared = declared_sizes(rv).get(0)
        if declared is None or uses_batch([rv, value]):
            continue
        held = int(evaluated(value.shape[0]))
        if held != declared:
            return (
                f"{held:,} of the {declared:,} rows of `{rv.name}`: the others came from a loader, "
                "which is not part of the model"
            )
    return ""


def warn_of_poles(variables: Sequence[SampledVariable]) -> None:
    """Warn of Dirichlet variables whose density is infinite at the facets of the simplex."""
    for variable in variables:
        least = variable.manifold.poles_below
        if not least:
            continue
        alpha = known_concentration(variable.rv)
        if alpha is not None and np.min(alpha) < least:
            warnings.warn(
                f"The Dirichlet variable `{variable.name}` has concentrations down to "
                f"{np.min(alpha):g}. Below {least:g} its density in the square-root coordinates is "
                "infinite at entries of zero, where geodesic samplers fail unless the data fills "
                "every entry. Sample it with `pmg.SGRLD`.",
                UserWarning,
                stacklevel=2,
            )


def warn_of_row_variables(model: Model, variables: Sequence[SampledVariable]) -> None:
    """Warn of variables with an entry for each row of a batch, which the next batch would share."""
    for name, data in row_variables(model, variables).items():
        warnings.warn(
            f"The variable `{name}` has an entry for each of the {data.type.shape[0]} rows of a "
            f"batch of `{data.name}`. It is sampled as one variable that all batches share, so "
            "every batch uses the same entries for different rows. If it belongs to the rows, pass "
            f"it as `local=pmg.LocalGMC([{name}])`.",
            UserWarning,
            stacklevel=2,
        )


def row_variables(model: Model, variables: Sequence[SampledVariable]) -> dict[str, TensorVariable]:
    """Find the variables that belong to the rows of a batch, each with the data of these rows.

    A variable whose first axis is as long as the batch belongs to the rows if the log density of a
    row depends on the entry of this row and on no other entry.
    """
    found = {}
    for data in model.observed_RVs:
        if not isinstance(data.owner.op, MinibatchRandomVariable):
            continue
        n_rows = data.type.shape[0] if data.ndim else None
        above = set(ancestors([data]))
        for variable in variables:
            fits = n_rows not in (None, 1) and variable.shape[:1] == (n_rows,)
            if fits and variable.rv in above and _belongs_to_rows(model, data, variable):
                found[variable.name] = data
    return found


def _belongs_to_rows(model: Model, data: TensorVariable, variable: SampledVariable) -> bool:
    sources = batch_sources(model)
    rows = [source.placeholder("rows", None) for source in sources]
    density = LogDensity(model, (), rows=dict(zip(sources, rows, strict=True)), scaled=False)
    log_density = density.terms()[model.basic_RVs.index(data)]
    point = model.initial_point()
    n_rows = variable.shape[0]
    # A transform along the rows, such as that of one probability vector, mixes them.
    if log_density.ndim == 0 or point[variable.value.name].shape[0] != n_rows:
        return False
    looked_at = {0, n_rows // 2, n_rows - 1}
    # Only the structure matters, so any point will do at which no gradient is zero by chance.
    rng = np.random.default_rng(1)
    point = {name: x + 0.1 * rng.uniform(size=x.shape) for name, x in point.items()}
    gradients = [
        grad(log_density[i].sum(), variable.value, disconnected_inputs="ignore") for i in looked_at
    ]
    values = {value: point[value.name].astype(value.dtype) for value in model.value_vars}
    found = pt.stack(gradients).eval(
        values | {x: np.arange(y.batch_size) for x, y in zip(rows, sources, strict=True)},
        mode=Mode(linker="py", optimizer=None),
        on_unused_input="ignore",
    )
    depends = np.any(found.reshape(len(looked_at), n_rows, -1) != 0, axis=-1)
    return all(
        np.array_equal(np.flatnonzero(row), [i]) for i, row in zip(looked_at, depends, strict=True)
    )
