#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Vector fields of manifolds, which measure the temperature of positions."""

from __future__ import annotations

from typing import NamedTuple

from pymc_geodesic.arrays import Array

__all__ = ["Visit", "Work", "log_ratio_work"]


class Visit(NamedTuple):
    """The start of a transition, the point where it evaluates a gradient, and the gradient."""

    start: Array
    position: Array
    gradient: Array


class Work(NamedTuple):
    """Work and divergence of a field at one visit, summed over the points of a variable.

    Attributes
    ----------
    work : array
        ``F . dU``.
    divergence : array or float
        ``div F``.
    expected : array or float
        Mean of the divergence, computed from the moments that choose the field.
    """

    work: Array
    divergence: Array | float
    expected: Array | float


def log_ratio_work(p, eta, excess):
    r"""Work :math:`\sum_k (\eta_k - p \cdot \eta)\, e_k` of the field of log ratios.

    ``excess`` is :math:`p_k \partial U / \partial p_k - 1`. Accepts arrays and tensors.
    """
    return ((eta - (p * eta).sum(axis=-1, keepdims=True)) * excess).sum()
