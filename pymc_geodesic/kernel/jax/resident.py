#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""PyTensor's JAX mode with the data held on the device.

PyTensor gives JAX the NumPy array behind a shared variable at every call, and JAX copies it every
time. As a constant of the graph the data is copied by every stage of compilation instead: 458 MB
took 4.8 GB.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from pytensor.compile.mode import Mode, optdb
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.rewriting.basic import dfs_rewriter
from pytensor.link.basic import Container
from pytensor.link.jax.linker import JAXLinker

from pymc_geodesic.kernel.jax.barriers import add_barrier, register_barrier_with_jax
from pymc_geodesic.kernel.jax.counted_scan import (
    count_iterations,
    register_counted_scan_with_jax,
    require_counted,
)
from pymc_geodesic.kernel.jax.stacking import Stacking

__all__ = ["can_be_resident", "resident"]

TAG = "resident_jax"

# Clones of a shared variable have its container: functions of the same data share one copy.
_ON_DEVICE: WeakKeyDictionary[Container, Any] = WeakKeyDictionary()


class ResidentJAXLinker(JAXLinker):
    """Copy the values of shared variables to the device once, when a function is made."""

    def fgraph_convert(
        self,
        fgraph: FunctionGraph,
        input_storage: list[list[Any]],
        storage_map: dict[Variable, list[Any]],
        **kwargs: Any,
    ) -> Callable:
        """Put arrays on the device in place of those of NumPy, and write the graph in JAX."""
        require_counted(fgraph)
        register_barrier_with_jax()
        register_counted_scan_with_jax()
        for variable in fgraph.inputs:
            if isinstance(variable, SharedVariable):
                storage_map[variable] = [_on_device(variable.container)]
        return super().fgraph_convert(fgraph, input_storage, storage_map, **kwargs)


def _on_device(container: Container) -> Any:
    import jax

    # Tells JAX to keep double precision, which it would cut to single precision here.
    import pytensor.link.jax.dispatch  # noqa: F401

    if container not in _ON_DEVICE:
        _ON_DEVICE[container] = jax.device_put(container.storage[0])
    return _ON_DEVICE[container]


def can_be_resident(mode: Mode) -> bool:
    """Whether a mode is PyTensor's own for JAX."""
    return type(mode.linker) is JAXLinker


def resident(mode: Mode) -> Mode:
    """Return PyTensor's JAX mode with resident data, and any other mode as it is.

    Shared variables must keep the value that they have when a function is made.
    """
    if not can_be_resident(mode):
        return mode
    return Mode(ResidentJAXLinker(), mode.provided_optimizer.including(TAG))


# Before operations are fused, when what is alike looks alike and a barrier is between operations.
optdb.register(Stacking.__name__, Stacking(), TAG, position=48.4)
optdb.register(add_barrier.__name__, dfs_rewriter(add_barrier), TAG, position=48.5)
# After PyTensor has rewritten what is inside scans.
optdb.register(count_iterations.__name__, dfs_rewriter(count_iterations), TAG, position=101)
