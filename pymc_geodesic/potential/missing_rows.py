#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Whether a model holds the rows that its ``total_size`` counts."""

from __future__ import annotations

from pymc.model import Model

from pymc_geodesic.potential.batch_deterministics import uses_batch
from pymc_geodesic.potential.total_size import declared_sizes

__all__ = ["missing_rows"]


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
