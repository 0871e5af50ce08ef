#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Variables whose rows have no order, such as topics: each chain numbers them by itself."""

from __future__ import annotations

from pymc.model import Model
from pymc.variational.minibatch_rv import MinibatchRandomVariable
from pytensor.graph.traversal import ancestors

__all__ = ["components_in", "register_components"]

_PARAMETERS: dict[type, int] = {}


def register_components(distribution: type, *, parameter: int) -> None:
    """Register that the rows of a parameter of a distribution have no order.

    Parameters
    ----------
    distribution : type
        Class of the random variable operation.
    parameter : int
        Index of the parameter.
    """
    _PARAMETERS[distribution] = parameter


def components_in(model: Model) -> dict[str, set[str]]:
    """Return the variables of a model whose rows have no order.

    Returns
    -------
    dict of str to set of str
        The free variables that each of them is a function of: itself, if it is free.
    """
    found = {}
    for rv in model.observed_RVs:
        node = rv.owner.inputs[0].owner if _is_scaled(rv) else rv.owner
        if (index := _PARAMETERS.get(type(node.op))) is not None:
            rows = node.op.dist_params(node)[index]
            free = set(ancestors([rows], blockers=model.free_RVs)).intersection(model.free_RVs)
            if rows.name is not None and free:
                found[rows.name] = {x.name for x in free}
    return found


def _is_scaled(rv) -> bool:
    return isinstance(rv.owner.op, MinibatchRandomVariable)
