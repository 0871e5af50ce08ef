#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Functions with their own gradients that treat each entry, or each matrix, of an array alone."""

from __future__ import annotations

from typing import Any

from pytensor.compile.builders import OpFromGraph

__all__ = ["RowwiseGraph"]


class RowwiseGraph(OpFromGraph):
    """An operation on the last axes of its inputs, the same along all other axes.

    Inputs without axes are common to all entries.

    Parameters
    ----------
    core_ndim : int
        Number of the last axes: 0 for a function of numbers, 2 for one of matrices.
    """

    def __init__(self, *arguments: Any, core_ndim: int, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.core_ndim = core_ndim
