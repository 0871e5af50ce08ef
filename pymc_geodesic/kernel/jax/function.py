#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A function that JAX compiles in the calling process, once for all data of the same form.

In a later process PyTensor does not write it again: see :mod:`pymc_geodesic.kernel.jax.traced`.
"""

from __future__ import annotations

import ctypes
import gc
import sys

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.configdefaults import config
from pytensor.graph.basic import Variable
from pytensor.graph.fg import FunctionGraph

from pymc_geodesic.kernel.graph_names import name_of_graph
from pymc_geodesic.kernel.jax.graphs import Memo, structure_of
from pymc_geodesic.kernel.jax.processes import require_alive
from pymc_geodesic.kernel.jax.resident import (
    default_device,
    form_of_data,
    form_on_device,
    in_double_precision,
    load_jax,
    on_device,
    value_of,
)
from pymc_geodesic.kernel.jax.traced import traced
from pymc_geodesic.kernel.jax.written import lacking, rewritten, unknown_to_jax, written
from pymc_geodesic.stages import stage

__all__ = ["MEMO", "Change", "Compiled", "JAXFunction"]

type Change = Callable[[Callable[..., Any]], Callable[..., Any]]

# Bytes of data from which a hundred megabytes matter more than a fifth of a second.
LARGE = 2**28


class Compiled:
    """A function of JAX, written when it is first traced.

    Parameters
    ----------
    make : callable
        Writes it.
    name : str, optional
        Name of what it computes, the same in every process.

    Attributes
    ----------
    run : callable
        Takes the inputs, then the data in the order of ``Structure.data``.
    others : dict
        Functions made of it, such as that of several chains.
    """

    def __init__(self, make: Callable[[], Callable[..., Any]], *, name: str | None) -> None:
        self._make, self.name = make, name
        self.others: dict[Hashable, Callable[..., Any]] = {}

    @cached_property
    def run(self) -> Callable[..., Any]:
        """Write the function for JAX."""
        import jax

        # It may be written while a function that calls it is traced, and has constants of its own.
        with jax.ensure_compile_time_eval():
            return self._make()


# Each function takes several megabytes.
MEMO = Memo[Compiled](32)


class JAXFunction:
    """A function that its first call compiles.

    Parameters
    ----------
    inputs, outputs : sequence of Variable
        Its graph. Shared variables are data, and keep their values of the first call.

    Raises
    ------
    NotImplementedError
        If PyTensor cannot write an operation for JAX.
    """

    how: Hashable = "alone"

    def __init__(self, inputs: Sequence[Variable], outputs: Sequence[Variable]) -> None:
        # Imported once for all workers. It starts no threads, unlike computing with JAX.
        load_jax()
        self._inputs, self._outputs = list(inputs), list(outputs)
        # Rewrites may replace what is unknown.
        if unknown_to_jax(self._outputs) and (names := unknown_to_jax(self.graph.outputs)):
            raise lacking(", ".join(names))
        self._ready: tuple[Compiled, list[SharedVariable]] | None = None
        self._on_device: dict[Any, list[Any]] = {}
        self._by_shapes: dict[tuple[tuple[int, ...], ...], Callable[..., Any]] = {}

    def __call__(self, *arguments: Any) -> Any:
        """Call the function.

        Raises
        ------
        SamplingError
            In a process that was forked from one that has computed with JAX.
        """
        shapes = tuple(x.shape for x in arguments)
        with in_double_precision():
            if (run := self._by_shapes.get(shapes)) is None:
                with stage("Compiling"):
                    run = self.changed(self.form, arguments, how=self.how)
                self._by_shapes[shapes] = run
            return run(*arguments, *self.data(run, arguments))

    def form(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return what is called, from the function of inputs and data."""
        return function

    def is_made_for(self, *arguments: Any) -> bool:
        """Return whether the function has been called with arguments of these shapes."""
        return tuple(x.shape for x in arguments) in self._by_shapes

    def changed(
        self, change: Change, arguments: Sequence[Any], *, how: Hashable
    ) -> Callable[..., Any]:
        """Return a function made of this one, for arguments of certain shapes.

        Parameters
        ----------
        change : callable
            Makes a function of JAX from that of the inputs and the data.
        arguments : sequence of array
            Its arguments before the data.
        how : hashable
            All that determines what ``change`` does, apart from shapes; its text is the same in
            every process.

        Raises
        ------
        SamplingError
            In a process that was forked from one that has computed with JAX.
        """
        compiled, shared = self.ready()
        forms = [*map(form_on_device, arguments), *map(form_of_data, shared)]
        key = how, default_device(), tuple((x.shape, x.dtype) for x in forms)
        if key not in compiled.others:
            name = None if compiled.name is None else f"{compiled.name} {how}"
            function = change(lambda *values: compiled.run(*values))
            compiled.others[key] = traced(function, forms, name=name)
        return compiled.others[key]

    def ready(self) -> tuple[Compiled, list[SharedVariable]]:
        """Return what was made for graphs like this one, and its data.

        Raises
        ------
        SamplingError
            In a process that was forked from one that has computed with JAX.
        """
        require_alive()
        if self._ready is None:
            load_jax()
            keep_compiled()
            self._ready = self._found()
        return self._ready

    def _found(self) -> tuple[Compiled, list[SharedVariable]]:
        structure = structure_of(self._inputs, self._outputs)
        if (compiled := MEMO.get(structure.key)) is None:
            graph = structure.with_data_as_inputs(self._inputs, self._outputs)
            compiled = Compiled(lambda: written(*graph), name=name_of_graph(*graph))
            MEMO.put(structure.key, compiled)
        return compiled, structure.data

    def data(self, run: Any, arguments: Sequence[Any]) -> list[Any]:
        """Return the data on the device.

        Before they are copied there, JAX compiles what will be called with them, so that the copy
        and the compiler do not take memory at the same time.

        Parameters
        ----------
        run : callable
            Function of JAX that will be called, of the arguments and the data.
        arguments : sequence of array
            Its arguments before the data.

        Returns
        -------
        list of jax.Array
            The data, in the order of ``Structure.data``.

        Raises
        ------
        SamplingError
            In a process that was forked from one that has computed with JAX.
        """
        require_alive()
        if (device := default_device()) not in self._on_device:
            _, shared = self.ready()
            with stage("Compiling"):
                run.lower(*arguments, *map(form_of_data, shared)).compile()
            if sum(value_of(x).nbytes for x in shared) >= LARGE:
                return_free_memory()
            self._on_device[device] = [on_device(x) for x in shared]
        return self._on_device[device]

    @property
    def graph(self) -> FunctionGraph:
        """The graph as it is rewritten for JAX, whose last inputs are the data."""
        structure = structure_of(self._inputs, self._outputs)
        return rewritten(*structure.with_data_as_inputs(self._inputs, self._outputs))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the compiled function: another process compiles its own."""
        return self.__dict__ | {"_ready": None, "_on_device": {}, "_by_shapes": {}}


# By default JAX keeps what took at least a second; the several small kernels take less.
LEAST_SECONDS = 0.1


def keep_compiled() -> None:
    """Keep JAX's compiled functions on disk, next to PyTensor's cache.

    A folder that the user has chosen for JAX, or ``JAX_ENABLE_COMPILATION_CACHE=0``, is respected.
    """
    import jax

    if jax.config.jax_compilation_cache_dir is not None:
        return
    folder = Path(config.base_compiledir) / "pymc_geodesic_jax"
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", LEAST_SECONDS)


def return_free_memory() -> None:
    """Give the system back what is free, for a large array to be allocated next.

    The C library of Linux keeps freed memory for small allocations, which a large array cannot use.
    After a compilation that is a hundred megabytes, and takes a fifth of a second to return.
    """
    gc.collect()
    if sys.platform == "linux" and hasattr(library := ctypes.CDLL(None), "malloc_trim"):
        library.malloc_trim(0)
