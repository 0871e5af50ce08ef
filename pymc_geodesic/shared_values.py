#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Constants and numbers as shared variables, whose values PyTensor does not look at."""

from __future__ import annotations

import numpy as np
import pytensor

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.tensor import TensorConstant, TensorVariable

__all__ = ["LARGE_CONSTANT", "is_constant", "is_number", "shared_constant", "shared_number"]

# A constant with fewer entries costs the compiler nothing and may be folded.
LARGE_CONSTANT = 64


def shared_constant(x: TensorVariable) -> TensorVariable:
    """Return a shared variable with the array of a large constant, and other variables unchanged.

    PyTensor compares constants with each other. For that it sums each, and keeps a mask of its NaN
    for as long as Python keeps the graph: a byte for each entry. Booleans stay constants, because
    they may determine a shape.
    """
    if not isinstance(x, TensorConstant) or x.data.size <= LARGE_CONSTANT or x.dtype == "bool":
        return x
    shared = pytensor.shared(x.data, name=x.name, shape=x.type.shape, borrow=True)
    shared.tag.is_constant = True
    return shared


def is_constant(x: SharedVariable) -> bool:
    """Return whether a shared variable is from :func:`shared_constant`: its value never changes."""
    return hasattr(x.tag, "is_constant")


def shared_number(value: np.ndarray, *, name: str) -> TensorVariable:
    """Return a shared variable of numbers that determine no shape.

    They are an input of a compiled function, which then serves other numbers too. Other data of a
    few entries become constants, because they may determine a shape.

    Parameters
    ----------
    value : ndarray, any shape
        The numbers.
    name : str
        Name of the variable.
    """
    shared = pytensor.shared(value, name=name, shape=np.shape(value))
    shared.tag.is_number = True
    return shared


def is_number(x: SharedVariable) -> bool:
    """Return whether a shared variable is from :func:`shared_number`."""
    return hasattr(x.tag, "is_number")
