#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A function that JAX compiles in the calling process, once for all data of the same shapes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Variable

from pymc_geodesic.kernel.building import quick_building
from pymc_geodesic.kernel.jax.after_fork import require_alive
from pymc_geodesic.kernel.jax.cache import keep_compiled
from pymc_geodesic.kernel.jax.memory import return_free_memory
from pymc_geodesic.kernel.jax.resident import n_bytes, on_device, shape_on_device
from pymc_geodesic.kernel.memo import Memo, structure_of

__all__ = ["MEMO", "Compiled", "JAXFunction"]

# Bytes of data from which a hundred megabytes matter more than a fifth of a second.
LARGE = 2**28


@dataclass
class Compiled:
    """A function of JAX.

    Attributes
    ----------
    run : callable
        Takes the inputs, then the data in the order of :attr:`Structure.data`.
    vectorized : dict
        The same for several lists of inputs, by which inputs are common to all and by how calls
        follow one another.
    """

    run: Callable[..., Any]
    vectorized: dict[Hashable, Callable[..., Any]] = field(default_factory=dict)


# Each function takes several megabytes.
MEMO = Memo[Compiled](32)


class JAXFunction:
    """A function that its first call compiles.

    Parameters
    ----------
    inputs, outputs : sequence of Variable
        Its graph. Shared variables are data, and keep their values of the first call.
    make : callable
        Compiles the graph to a function of PyTensor.
    mode : hashable
        Everything else on which the result depends.
    """

    def __init__(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        *,
        make: Callable[[Sequence[Variable], Sequence[Variable]], Any],
        mode: Hashable,
    ) -> None:
        self._inputs, self._outputs = list(inputs), list(outputs)
        self._make, self._mode = make, mode
        self._ready: tuple[Compiled, list[SharedVariable]] | None = None
        self._on_device: list[Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        """Call the function.

        Raises
        ------
        SamplingError
            In a process that was forked from one that has computed with JAX.
        """
        compiled, _ = self.ready()
        return compiled.run(*arguments, *self.data(compiled.run, arguments))

    def ready(self) -> tuple[Compiled, list[SharedVariable]]:
        """Return the function, writing it for JAX if necessary, and its data.

        Raises
        ------
        SamplingError
            In a process that was forked from one that has computed with JAX.
        """
        require_alive()
        if self._ready is None:
            keep_compiled()
            structure = structure_of(self._inputs, self._outputs)
            key = (structure.key, self._mode)
            if (compiled := MEMO.get(key)) is None:
                with quick_building():
                    compiled = Compiled(self.compiled.vm.jit_fn)
                MEMO.put(key, compiled)
            self._ready = compiled, structure.data
        return self._ready

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
            The data, in the order of :attr:`Structure.data`.
        """
        if self._on_device is None:
            _, shared = self.ready()
            run.lower(*arguments, *map(shape_on_device, shared)).compile()
            if sum(map(n_bytes, shared)) >= LARGE:
                return_free_memory()
            self._on_device = [on_device(x) for x in shared]
        return self._on_device

    @property
    def compiled(self) -> Any:
        """PyTensor's function of the inputs and the data.

        In its graph the data are inputs, so that it does not keep them in memory.
        """
        structure = structure_of(self._inputs, self._outputs)
        return self._make(*structure.with_data_as_inputs(self._inputs, self._outputs))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the compiled function: another process compiles its own."""
        return self.__dict__ | {"_ready": None, "_on_device": None}
