#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Checks that total_size is the number of rows, and whether a model holds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pymc.model import Model
from pymc.variational.minibatch_rv import MinibatchRandomVariable
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorVariable
from pytensor.tensor.type_other import NoneTypeT

from pymc_geodesic.potential.deterministics import uses_batch
from pymc_geodesic.potential.minibatch import known_size
from pymc_geodesic.potential.stream import Source

__all__ = ["WrongSize", "declared_sizes", "missing_rows", "require_total_size", "wrong_sizes"]


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
        axis: known_size(size)
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
        held = int(value.shape[0].eval())
        if held != declared:
            return (
                f"{held:,} of the {declared:,} rows of `{rv.name}`: the others came from a loader, "
                "which is not part of the model"
            )
    return ""
