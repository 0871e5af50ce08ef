#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Mixtures in a log density: logarithms of sums over components, one for each row."""

from __future__ import annotations

from collections.abc import Sequence

import pytensor.tensor as pt

from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorVariable
from pytensor.tensor.special import LogSumExp

from pymc_geodesic.graph_inputs import graph_input

__all__ = ["mixtures_in", "with_shares"]


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
