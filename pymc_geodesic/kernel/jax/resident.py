#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Data on the device: where JAX computes, and arrays that stay there.

A call of an accelerator takes as long as a hundred gradients of a small batch on the processor. So
what is decided step by step, as in a tuning phase, is computed on the processor, and many draws of
all chains, which are one call, on the accelerator.

PyTensor passes JAX the NumPy array behind a shared variable at every call, and JAX copies it every
time. If the data were a constant of the graph, every stage of compilation would copy it: 458 MB
took 4.8 GB.
"""

from __future__ import annotations

import math

from contextlib import AbstractContextManager, nullcontext
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.link.basic import Container

__all__ = [
    "Placement",
    "aligned_empty",
    "copied_to_device",
    "default_device",
    "form_of_data",
    "form_on_device",
    "has_accelerator",
    "in_double_precision",
    "load_jax",
    "on_accelerator",
    "on_device",
    "on_processor",
    "value_of",
]


def has_accelerator() -> bool:
    """Return whether JAX has another device than the processor, and would use it."""
    import jax

    return jax.default_backend() != "cpu"


def default_device() -> Any:
    """Return the device on which JAX computes now."""
    import jax

    chosen = jax.config.jax_default_device
    return jax.devices()[0] if chosen is None or isinstance(chosen, str) else chosen


def on_processor() -> AbstractContextManager[Any]:
    """Compute on the processor."""
    import jax

    return jax.default_device(jax.devices("cpu")[0]) if has_accelerator() else nullcontext()


def on_accelerator() -> AbstractContextManager[Any]:
    """Compute on the accelerator, if there is one."""
    import jax

    return jax.default_device(jax.devices()[0]) if has_accelerator() else nullcontext()


# JAX does not copy arrays whose address is a multiple of this number of bytes.
ALIGNMENT = 64


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return an array without values whose address JAX accepts; NumPy aligns to 16 bytes only."""
    n_bytes = math.prod(shape) * dtype.itemsize
    memory = np.empty(n_bytes + ALIGNMENT, dtype="uint8")
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + n_bytes].view(dtype).reshape(shape)


# Number of bytes from which the size of pages matters.
LARGE = 2**22

# Clones of a shared variable have its container: functions of the same data share one copy.
_ON_DEVICE: WeakKeyDictionary[Container, dict[Any, Any]] = WeakKeyDictionary()


def load_jax() -> None:
    """Import JAX, with PyTensor's conversions to it."""
    import pytensor.link.jax.dispatch  # noqa: F401


def in_double_precision() -> AbstractContextManager[None]:
    """Let JAX keep double precision, which it would reduce to single precision.

    Graphs have the precision of their models. PyTensor lets JAX keep it unless it was in single
    precision when it first met JAX.
    """
    import jax

    return nullcontext() if jax.config.jax_enable_x64 else jax.enable_x64(True)


def copied_to_device(array: np.ndarray) -> Any:
    """Copy an array to the device."""
    import jax

    return jax.device_put(array)


class Placement:
    """Where the arrays of many chains are: those of chains on all devices in equal parts.

    Parameters
    ----------
    n_chains : int
        Number of chains. If the devices cannot have equal numbers, the first has all.
    """

    def __init__(self, n_chains: int) -> None:
        import jax

        self._n_chains, devices = n_chains, jax.devices()
        self._of_chains = self._common = default_device()
        if len(devices) > 1 and n_chains % len(devices) == 0:
            mesh = jax.sharding.Mesh(np.array(devices), ("chain",))
            self._of_chains, self._common = (
                jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*axes))
                for axes in (("chain",), ())
            )

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process may have other devices."""
        return Placement, (self._n_chains,)

    def of_chains(self, array: Any) -> Any:
        """Place an array with the chain as first axis.

        It is as JAX returns the results of a call, for which it compiles another form.
        """
        import jax

        return jax.device_put(array, self._of_chains)

    def common(self, array: Any) -> Any:
        """Place an array that all chains need."""
        import jax

        return jax.device_put(array, self._common)


def on_device(variable: SharedVariable) -> Any:
    """Return the value of a shared variable on the present device, copied there once."""
    by_device = _ON_DEVICE.setdefault(variable.container, {})
    if (device := default_device()) not in by_device:
        shape = shape_on_device(variable)
        by_device[device] = copied_to_device(_on_large_pages(value_of(variable), shape))
    return by_device[device]


def value_of(variable: SharedVariable) -> np.ndarray:
    """Return the value of a shared variable, without a copy."""
    return variable.container.storage[0]


def shape_on_device(variable: SharedVariable) -> tuple[int, ...]:
    """Return the shape of the data on the device.

    Data of any length, of which rows are taken, have room for up to an eighth more rows: what was
    compiled for them serves when rows are added.
    """
    shape = value_of(variable).shape
    if not shape or variable.type.shape[0] is not None:
        return shape
    step = 2 ** max(shape[0].bit_length() - 4, 0)
    return -(-shape[0] // step) * step, *shape[1:]


def form_of_data(variable: SharedVariable) -> Any:
    """Return shape and dtype that data will have on the device."""
    return form_on_device(value_of(variable), shape_on_device(variable))


def form_on_device(array: Any, shape: tuple[int, ...] | None = None) -> Any:
    """Return shape and dtype that an array will have on the device."""
    import jax

    dtype = jax.dtypes.canonicalize_dtype(array.dtype)
    return jax.ShapeDtypeStruct(array.shape if shape is None else shape, dtype)


def _on_large_pages(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Copy an array to one of another length, or of NumPy's memory if it is large.

    NumPy asks the system for large pages, and JAX does not. Rows at random places of 160 MB are
    then read in 85 per cent of the time.
    """
    if array.nbytes < LARGE and array.shape == shape:
        return array
    copy = aligned_empty(shape, array.dtype)
    copy[: len(array)] = array
    copy[len(array) :] = 0
    return copy
