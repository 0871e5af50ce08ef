#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Functions of arrays of NumPy, of JAX and of PyTensor, so that a formula is written once.

The geometry of a manifold is needed by the transitions, which JAX compiles, by log densities, which
PyTensor writes, and on the host. ``arrays.sqrt(x)`` is the function of the library whose array x
is. Names are those of NumPy.
"""

from __future__ import annotations

import sys

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from pytensor.graph.basic import Variable

__all__ = ["Array", "size_along", "static_shape", "with_shape"]

Array = Any
"""An array of NumPy or JAX, or a tensor of PyTensor."""

# Functions that the libraries have in other modules than the others, or under other names.
ELSEWHERE = {
    "numpy": {
        **dict.fromkeys(["erf", "erfc", "log_softmax", "logsumexp", "softmax"], "scipy.special"),
        **dict.fromkeys(["expm", "solve_triangular"], "scipy.linalg"),
        **dict.fromkeys(["cholesky", "det", "eigh", "inv", "svd"], "numpy.linalg"),
    },
    "jax.numpy": {
        **dict.fromkeys(["erf", "erfc", "logsumexp"], "jax.scipy.special"),
        **dict.fromkeys(["log_softmax", "softmax"], "jax.nn"),
        **dict.fromkeys(["expm", "solve_triangular"], "jax.scipy.linalg"),
        **dict.fromkeys(["cholesky", "det", "eigh", "inv", "svd"], "jax.numpy.linalg"),
    },
    "pytensor.tensor": {
        **dict.fromkeys(["log_softmax", "softmax"], "pytensor.tensor.special"),
        **dict.fromkeys(
            ["cholesky", "det", "eigh", "expm", "inv", "solve_triangular", "svd"],
            "pytensor.tensor.linalg",
        ),
    },
}
RENAMED = {("pytensor.tensor", "equal"): "eq", ("pytensor.tensor", "asarray"): "as_tensor"}


def __getattr__(name: str) -> Callable[..., Any]:
    """Return a function that calls the one of this name of its arguments' library."""
    if name.startswith("_"):
        raise AttributeError(name)
    return _function(name)


def static_shape(x: Any) -> tuple[int, ...]:
    """Return the shape of an array, as far as it is known of a tensor of PyTensor."""
    return x.type.shape if isinstance(x, Variable) else x.shape


def size_along(x: Any, axis: int) -> Any:
    """Return the length of an axis as a number that does not widen single precision."""
    n = static_shape(x)[axis]
    return x.shape[axis].astype(x.dtype) if n is None else float(n)


def with_shape(x: Any, shape: Sequence[int | None]) -> Any:
    """Tell PyTensor the shape of a tensor; arrays have theirs."""
    if not isinstance(x, Variable):
        return x
    import pytensor.tensor as pt

    return pt.specify_shape(x, shape)


@cache
def _function(name: str) -> Callable[..., Any]:
    found: dict[str, Callable[..., Any]] = {}

    def call(*arguments: Any, **keywords: Any) -> Any:
        library = _library(arguments)
        if library not in found:
            module = ELSEWHERE[library].get(name, library)
            __import__(module)
            found[library] = getattr(sys.modules[module], RENAMED.get((library, name), name))
        return found[library](*arguments, **keywords)

    call.__name__ = name
    return call


def _library(arguments: Sequence[Any]) -> str:
    library = "numpy"
    for x in arguments:
        if isinstance(x, Variable):
            return "pytensor.tensor"
        if isinstance(x, tuple | list):
            found = _library(x)
            if found == "pytensor.tensor":
                return found
        elif isinstance(x, np.ndarray | np.generic | int | float | str):
            continue
        else:
            found = "jax.numpy" if hasattr(x, "__jax_array__") or _is_of_jax(x) else "numpy"
        if found != "numpy":
            library = found
    return library


def _is_of_jax(x: Any) -> bool:
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(x, jax.Array)
