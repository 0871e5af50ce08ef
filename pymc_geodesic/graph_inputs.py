#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Inputs of graphs that are named after the user's variables."""

from __future__ import annotations

from collections.abc import Sequence

from pytensor.tensor import TensorType, TensorVariable

__all__ = ["graph_input"]


def graph_input(name: str | None, *, dtype: str, shape: Sequence[int | None]) -> TensorVariable:
    """Return an input with any name.

    ``pytensor.tensor.tensor`` asks NumPy whether the name is a dtype. It refuses those that are,
    such as ``int8``, and NumPy raises errors for others, such as ``1|g``.

    Parameters
    ----------
    name : str, optional
        The name.
    dtype : str
        Type of the entries.
    shape : sequence of int or None
        The static shape.
    """
    return TensorType(dtype=dtype, shape=tuple(shape))(name=name)
