#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Inputs of graphs: named after the user's variables, or shared; and graphs without inputs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytensor

from pytensor.compile.mode import Mode
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant, Variable
from pytensor.tensor import TensorConstant, TensorType, TensorVariable

__all__ = [
    "LARGE_CONSTANT",
    "call_data",
    "called",
    "evaluated",
    "graph_input",
    "is_constant",
    "is_number",
    "shared_constant",
    "shared_number",
]


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
    call_data(shared, called(x))
    return shared


def call_data(x: TensorVariable, name: str | None) -> None:
    """Say what users call the data of a variable, which has a name of its own."""
    x.tag.called = name


def called(x: TensorVariable) -> str | None:
    """Return what users call the data of a variable: its name, if nothing else has been said."""
    return getattr(x.tag, "called", x.name)


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


def evaluated(x: Variable) -> np.ndarray:
    """Return the value of a variable that depends on no input.

    It is needed once, and PyTensor would compile it for .1 s, after .2 s for loading Numba.

    Parameters
    ----------
    x : Variable
        A number or an array of any shape, such as a ``total_size`` or the length of a dimension.
    """
    if isinstance(x, Constant):
        return np.asarray(x.data)
    return np.asarray(pytensor.function([], x, mode=Mode(linker="py", optimizer="fast_compile"))())
