#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A function that JAX compiles in the calling process, once for all data of the same shapes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace

from pymc_geodesic.kernel.building import quick_building
from pymc_geodesic.kernel.jax.after_fork import require_alive
from pymc_geodesic.kernel.jax.cache import keep_compiled
from pymc_geodesic.kernel.jax.memo import MEMO, Compiled, structure_of
from pymc_geodesic.kernel.jax.resident import on_device

__all__ = ["JAXFunction"]


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
        self._ready: tuple[Compiled, list[Any]] | None = None

    def __call__(self, *arguments: Any) -> Any:
        """Call the function.

        Raises
        ------
        SamplingError
            In a process that was forked from one that has computed with JAX.
        """
        compiled, data = self.ready()
        return compiled.run(*arguments, *data)

    def ready(self) -> tuple[Compiled, list[Any]]:
        """Return the compiled function, compiling it if necessary, and the data on the device.

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
            self._ready = compiled, [on_device(x) for x in structure.data]
        return self._ready

    @property
    def compiled(self) -> Any:
        """PyTensor's function of the inputs and the data.

        In its graph the data are inputs, so that it does not keep them in memory.
        """
        data = structure_of(self._inputs, self._outputs).data
        places = [x.type() for x in data]
        replacements = dict(zip(data, places, strict=True))
        outputs = clone_replace(self._outputs, replace=replacements, rebuild_strict=False)
        return self._make([*self._inputs, *places], outputs)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the compiled function: another process compiles its own."""
        return self.__dict__ | {"_ready": None}
