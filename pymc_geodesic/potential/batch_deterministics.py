#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Deterministics that depend on a batch, and therefore on different rows at every draw."""

from __future__ import annotations

import warnings

from collections.abc import Iterable

from pymc.data import MinibatchOp
from pymc.model import Model
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import ancestors

__all__ = ["batch_deterministics", "uses_batch", "warn_of_batch_deterministics"]


def uses_batch(variables: Iterable[Variable], *, given: Iterable[Variable] = ()) -> bool:
    """Return whether variables depend on ``pm.Minibatch`` data, if some others are ``given``."""
    return any(
        ancestor.owner is not None and isinstance(ancestor.owner.op, MinibatchOp)
        for ancestor in ancestors(list(variables), blockers=list(given))
    )


def batch_deterministics(model: Model) -> list[str]:
    """List the names of a model's Deterministics that depend on ``pm.Minibatch`` data."""
    return [variable.name for variable in model.deterministics if uses_batch([variable])]


def warn_of_batch_deterministics(model: Model) -> None:
    """Warn that PyMC records a Deterministic for a different random batch at every draw."""
    if names := batch_deterministics(model):
        warnings.warn(
            f"The Deterministics {names} depend on `pm.Minibatch` data: `pm.sample` records them "
            "for a different random batch at every draw. Leave them out with "
            f"`pm.sample(var_names=...)`. `pmg.predict(idata, model, var_names={names})` computes "
            "them for all rows afterwards.",
            UserWarning,
            stacklevel=2,
        )
