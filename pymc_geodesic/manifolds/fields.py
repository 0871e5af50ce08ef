#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What a manifold's vector field tells of the temperature of positions."""

from __future__ import annotations

from typing import NamedTuple

from pytensor.tensor import TensorVariable

__all__ = ["Visit", "Work", "log_ratio_work"]


class Visit(NamedTuple):
    """Where a transition starts, and where it evaluates which gradient of the potential energy."""

    start: TensorVariable
    position: TensorVariable
    gradient: TensorVariable


class Work(NamedTuple):
    """What a field tells at one visit, of all points of a variable together.

    Attributes
    ----------
    work : TensorVariable
        ``F . dU``.
    divergence : TensorVariable or float
        ``div F``.
    expected : TensorVariable or float
        Mean of the divergence as the moments that choose the field have it.
    """

    work: TensorVariable
    divergence: TensorVariable | float
    expected: TensorVariable | float


def log_ratio_work(p, eta, excess):
    r"""Work :math:`\sum_k (\eta_k - p \cdot \eta)\, e_k` of the field of log ratios.

    ``excess`` is :math:`p_k \partial U / \partial p_k - 1`. Arrays and tensors alike.
    """
    return ((eta - (p * eta).sum(axis=-1, keepdims=True)) * excess).sum()
