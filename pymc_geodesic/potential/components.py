#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Components: of mixtures in a log density, and variables whose rows have no order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pytensor.tensor as pt

from pymc.model import Model
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorVariable
from pytensor.tensor.special import LogSumExp

from pymc_geodesic.graph_inputs import graph_input
from pymc_geodesic.potential.batch_structure import observed_rv

__all__ = [
    "Prediction",
    "components_in",
    "mixtures_in",
    "predictions_of",
    "register_components",
    "with_shares",
]


class Prediction(NamedTuple):
    """How well components predict data that the model was fitted to; smaller is better.

    Attributes
    ----------
    perplexities : ndarray
        Of each set of components.
    without : float
        That of a model without components.
    """

    perplexities: np.ndarray
    without: float


Predict = Callable[[Apply, TensorVariable, np.ndarray], Prediction]


"""Maps a node of the distribution, its observed value and sets of components ``(n, K, V)``."""


_PARAMETERS: dict[type, tuple[int, Predict]] = {}


def register_components(distribution: type, *, parameter: int, predict: Predict) -> None:
    """Register that the rows of a parameter of a distribution have no order.

    Parameters
    ----------
    distribution : type
        Class of the random variable operation.
    parameter : int
        Index of the parameter.
    predict : callable
        Predicts the data from sets of components.
    """
    _PARAMETERS[distribution] = parameter, predict


def components_in(model: Model) -> dict[str, set[str]]:
    """Return the variables of a model whose rows have no order.

    Returns
    -------
    dict of str to set of str
        The free variables that each of them is a function of: itself, if it is free.
    """
    return {
        rows.name: {x.name for x in free}
        for rv in model.observed_RVs
        if (rows := _rows_of(rv)) is not None and rows.name is not None
        if (free := set(ancestors([rows], blockers=model.free_RVs)) & set(model.free_RVs))
    }


def predictions_of(model: Model, name: str, components: np.ndarray) -> Prediction:
    """Return how well sets of components ``(n, K, V)`` of a variable predict the model's data."""
    for rv in model.observed_RVs:
        rows = _rows_of(rv)
        if rows is not None and rows.name == name:
            node = observed_rv(rv).owner
            _, predict = _PARAMETERS[type(node.op)]
            return predict(node, model.rvs_to_values[rv], components)
    raise ValueError(f"`name` expected one of {sorted(components_in(model))}, got {name!r}.")


def _rows_of(rv: TensorVariable) -> TensorVariable | None:
    """Return the parameter of an observed variable whose rows have no order, if it has one."""
    node = observed_rv(rv).owner
    found = _PARAMETERS.get(type(node.op))
    return None if found is None else node.op.dist_params(node)[found[0]]


def mixtures_in(terms: Sequence[TensorVariable]) -> list[TensorVariable]:
    """Return the logarithms of sums over the last of several axes, which are those of mixtures.

    The components of a mixture may be mixtures; these are left out.
    """
    found = [x for x in ancestors(list(terms)) if _is_mixture(x)]
    inner = {x for mixture in found for x in ancestors(mixture.owner.inputs)}
    return [x for x in found if x not in inner]


def _is_mixture(x: Variable) -> bool:
    is_sum = x.owner is not None and isinstance(x.owner.op, LogSumExp)
    return is_sum and x.ndim > 0 and x.owner.op.axis == (x.ndim,)


def with_shares(
    terms: Sequence[TensorVariable], mixtures: Sequence[TensorVariable]
) -> tuple[list[TensorVariable], list[TensorVariable]]:
    r"""Replace mixtures by the bounds that EM maximises, :math:`\sum_k r_{ik} a_{ik}`.

    Parameters
    ----------
    terms : sequence of TensorVariable
        Unsummed log densities.
    mixtures : sequence of TensorVariable
        From :func:`mixtures_in`.

    Returns
    -------
    terms : list of TensorVariable
        The new terms.
    shares : list of TensorVariable
        Inputs: what shares of a row each component of each mixture has.
    """
    shares, bounds = [], {}
    for i, mixture in enumerate(mixtures):
        [parts] = mixture.owner.inputs
        share = graph_input(f"shares_{i}", dtype=parts.dtype, shape=(None,) * parts.ndim)
        # A component may have no density at the rows of others.
        bounds[mixture] = pt.switch(pt.gt(share, 0), share * parts, 0).sum(axis=-1)
        shares.append(share)
    return clone_replace(list(terms), replace=bounds, rebuild_strict=False), shares
