#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Data kept on the device, and PyTensor's JAX mode for graphs with such inputs.

PyTensor passes JAX the NumPy array behind a shared variable at every call, and JAX copies it every
time. If the data were a constant of the graph, every stage of compilation would copy it: 458 MB
took 4.8 GB.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from pytensor.compile.mode import Mode, optdb
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.rewriting.basic import dfs_rewriter
from pytensor.link.basic import Container
from pytensor.link.jax.linker import JAXLinker

from pymc_geodesic.kernel.aligned import aligned_empty
from pymc_geodesic.kernel.jax.barriers import add_barrier, register_barrier_with_jax
from pymc_geodesic.kernel.jax.constants import register_constants_with_jax
from pymc_geodesic.kernel.jax.counted_scan import (
    count_iterations,
    register_counted_scan_with_jax,
    require_counted,
)
from pymc_geodesic.potential.stacking import Stacking

__all__ = [
    "can_be_resident",
    "copied_to_device",
    "form_on_device",
    "on_device",
    "resident",
    "value_of",
]

TAG = "resident_jax"
# Number of bytes from which the size of pages matters.
LARGE = 2**22

# Clones of a shared variable have its container: functions of the same data share one copy.
_ON_DEVICE: WeakKeyDictionary[Container, Any] = WeakKeyDictionary()


class ResidentJAXLinker(JAXLinker):
    """Convert graphs with operations of this package to JAX."""

    def fgraph_convert(self, fgraph: FunctionGraph, *args: Any, **kwargs: Any) -> Callable:
        """Convert the graph to JAX."""
        require_counted(fgraph)
        register_barrier_with_jax()
        register_counted_scan_with_jax()
        register_constants_with_jax()
        return super().fgraph_convert(fgraph, *args, **kwargs)


def copied_to_device(array: np.ndarray) -> Any:
    """Copy an array to the device."""
    import jax

    # Makes JAX keep double precision, which it would otherwise reduce to single precision. In a
    # worker that was given a step, nothing else may have done so yet.
    import pytensor.link.jax.dispatch  # noqa: F401

    return jax.device_put(array)


def on_device(variable: SharedVariable) -> Any:
    """Return the value of a shared variable on the device, copied there once."""
    container = variable.container
    if container not in _ON_DEVICE:
        _ON_DEVICE[container] = copied_to_device(_on_large_pages(value_of(variable)))
    return _ON_DEVICE[container]


def value_of(variable: SharedVariable) -> np.ndarray:
    """Return the value of a shared variable, without a copy."""
    return variable.container.storage[0]


def form_on_device(array: Any) -> Any:
    """Return shape and dtype that an array will have on the device."""
    import jax

    return jax.ShapeDtypeStruct(array.shape, jax.dtypes.canonicalize_dtype(array.dtype))


def _on_large_pages(array: np.ndarray) -> np.ndarray:
    """Copy a large array to memory of NumPy, which asks the system for large pages; JAX does not.

    Rows at random places of 160 MB are then read in 85 per cent of the time.
    """
    if array.nbytes < LARGE:
        return array
    copy = aligned_empty(array.shape, array.dtype)
    copy[...] = array
    return copy


def can_be_resident(mode: Mode) -> bool:
    """Return whether a mode is PyTensor's own for JAX."""
    return type(mode.linker) is JAXLinker


def resident(mode: Mode) -> Mode:
    """Return PyTensor's JAX mode with the rewrites of this package, and other modes unchanged."""
    if not can_be_resident(mode):
        return mode
    # For several chains JAX computes both branches of a condition, and first copies all that they
    # use for each chain: the directions of a mass, in every transition.
    rewrites = mode.provided_optimizer.including(TAG).excluding("introduce_lazy_ifelse")
    return Mode(ResidentJAXLinker(), rewrites)


# Before fusion, while similar operations can be recognised and barriers put between operations.
optdb.register(Stacking.__name__, Stacking(), TAG, position=48.4)
optdb.register(add_barrier.__name__, dfs_rewriter(add_barrier), TAG, position=48.5)
# After PyTensor has rewritten the inner graphs of scans.
optdb.register(count_iterations.__name__, dfs_rewriter(count_iterations), TAG, position=101)
