#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The log likelihood of groups: sums over their rows."""

from __future__ import annotations

from typing import Any

import pytensor.tensor as pt

from pymc.distributions.distribution import Distribution, SymbolicRandomVariable, _support_point
from pymc.distributions.shape_utils import change_dist_size
from pymc.logprob.abstract import _logprob, _logprob_helper
from pymc.util import check_dist_not_registered
from pytensor.tensor import TensorVariable
from pytensor.tensor.random.op import RandomVariable

from pymc_geodesic.distributions.base import with_signature

__all__ = ["GroupLikelihood", "GroupLikelihoodRV", "over_all_places", "require_mask", "row_sums"]


class GroupLikelihoodRV(SymbolicRandomVariable):
    """Random graph of :class:`GroupLikelihood`."""

    name = "GroupLikelihood"
    _print_name = ("GroupLikelihood", "\\operatorname{GroupLikelihood}")

    @classmethod
    def rv_op(cls, rows, mask, *, size=None):
        """Build the random variable; there is nothing at the places without a row."""
        rows = over_all_places(rows, mask)
        over_core = mask[(..., *[None] * rows.owner.op.ndim_supp)]
        core = ",".join(["l", *(f"k{i}" for i in range(rows.owner.op.ndim_supp))])
        return cls(
            inputs=[rows, mask],
            outputs=[pt.switch(over_core, rows, pt.zeros((), dtype=rows.dtype))],
            extended_signature=f"({core}),(l)->({core})",
        )(rows, mask)


@with_signature()
class GroupLikelihood(Distribution):
    r"""
    Rows of groups, which are independent given the variables of the model.

    .. math::

        \log p(y_g) = \sum_{i \in g} \log p(y_{gi})

    The log density has one entry per group, and ``total_size`` is the number of groups.

    Parameters
    ----------
    rows : unnamed distribution, shape (B, L)
        Distribution of the rows of each group, such as
        ``pm.Bernoulli.dist(logit_p=intercept + slope * x + effect[:, None])``.
    mask : tensor_like of bool, shape (B, L)
        Whether there is a row: ``rows.mask`` of :class:`GroupedRows`, drawn in the same
        ``pm.Minibatch`` as the columns.
    observed : TensorVariable, shape (B, L)
        The observed column.
    total_size : int, optional
        Number of all groups if ``observed`` is a minibatch.

    Raises
    ------
    TypeError, ValueError
        If ``rows`` is not a distribution, or ``mask`` is not boolean.

    See Also
    --------
    MarginalLikelihood : With the effect of each group integrated out.

    Examples
    --------
    Effects are drawn anew for the groups of each minibatch, so that the effects of all groups never
    have to be in memory:

    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> x = np.random.default_rng(1).normal(size=200)
    >>> table = {"user": np.repeat(np.arange(40), 5), "x": x, "y": x > 0.2}
    >>> rows = pmg.GroupedRows(table, by="user")
    >>> with pm.Model():
    ...     x, y, mask = pm.Minibatch(rows["x"], rows["y"], rows.mask, batch_size=10)
    ...     mu, slope = pm.Normal("mu", 0, 2), pm.Normal("slope", 0, 2)
    ...     tau = pm.HalfNormal("tau", 1)
    ...     effect = pm.Normal("effect", 0, tau, shape=10)
    ...     each = pm.Bernoulli.dist(logit_p=mu + slope * x + effect[:, None])
    ...     _ = pmg.GroupLikelihood("y", each, mask, observed=y, total_size=len(rows))

    A step such as ``pmg.SGNHT([mu, slope, tau], local=pmg.LocalGMC([effect]), step_size=0.01)``
    samples it.
    """

    rv_type = GroupLikelihoodRV

    @classmethod
    def dist(cls, rows: TensorVariable, mask: Any, **kwargs) -> TensorVariable:
        """Return a variable that is not registered in a model."""
        return super().dist([require_distribution(rows, "rows"), require_mask(mask)], **kwargs)


@_logprob.register(GroupLikelihoodRV)
def _group_likelihood_logp(op, values, rows, mask, **kwargs):
    [value] = values
    return row_sums(rows, mask, value)


@_support_point.register(GroupLikelihoodRV)
def _group_likelihood_support_point(op, rv, rows, mask):
    return pt.zeros_like(rv)


def row_sums(rows: TensorVariable, mask: TensorVariable, value: TensorVariable) -> TensorVariable:
    """Sum the log densities of the rows of each group; the result has shape (B,)."""
    # Unlike `pm.logp`, this does not require the static shape of the distribution.
    terms = _logprob_helper(rows, value)
    return pt.switch(mask, terms, pt.zeros((), dtype=terms.dtype)).sum(axis=1)


def over_all_places(rows: TensorVariable, mask: TensorVariable) -> TensorVariable:
    """Give a distribution the shape of the mask, if its parameters have fewer places."""
    return change_dist_size(rows, mask.shape)


def require_distribution(dist: Any, name: str) -> TensorVariable:
    """Return ``dist`` if it is a distribution outside of the model.

    Raises
    ------
    TypeError
        If it is something else.
    """
    op = getattr(getattr(dist, "owner", None), "op", None)
    if not isinstance(op, RandomVariable | SymbolicRandomVariable):
        raise TypeError(
            f"`{name}` expected a distribution made by `.dist`, such as "
            f"`pm.Normal.dist(mu, sigma)`, got {dist!r}."
        )
    check_dist_not_registered(dist)
    return dist


def require_mask(mask: Any) -> TensorVariable:
    """Return ``mask`` as a tensor if it holds truth values of groups and places.

    Raises
    ------
    ValueError
        If it does not.
    """
    mask = pt.as_tensor(mask)
    if mask.dtype != "bool" or mask.ndim != 2:
        raise ValueError(
            "`mask` expected `rows.mask`, with a truth value for each group and place, got an "
            f"array of {mask.dtype} with {mask.ndim} axes. Draw it in the same `pm.Minibatch`."
        )
    return mask
