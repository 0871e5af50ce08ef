#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The model that a run has sampled, which may be one with minibatches of the given one."""

from __future__ import annotations

from collections.abc import Sequence

from pymc.model import Model

from pymc_geodesic.potential.minibatch import has_minibatch
from pymc_geodesic.rows.convert import minibatch
from pymc_geodesic.run_record import RunRecord

__all__ = ["sampled_model"]


def sampled_model(model: Model | None, records: Sequence[RunRecord]) -> Model | None:
    """Return the model that was sampled, given that of all rows or the model itself."""
    batch_size = next((x.batch_size for x in records if x.batch_size), None)
    if model is None or batch_size is None or has_minibatch(model):
        return model
    return minibatch(model, batch_size=batch_size)
