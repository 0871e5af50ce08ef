#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A function of arrays and of a potential, compiled once for all data of the same form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pytensor.compile.sharedvalue import SharedVariable

from pymc_geodesic.kernel.graph_names import name_of_graph, name_of_value
from pymc_geodesic.kernel.jax.function import MEMO, Compiled, JAXFunction
from pymc_geodesic.kernel.jax.potential import WrittenPotential
from pymc_geodesic.kernel.jax.resident import load_jax
from pymc_geodesic.kernel.kept_files import key_of

__all__ = ["KernelFunction"]


class KernelFunction(JAXFunction):
    """A function of JAX that its first call compiles.

    Parameters
    ----------
    run : callable
        ``(arguments, data) -> outputs``, of lists of arrays.
    potential : WrittenPotential
        Gives the data, and names the model.
    settings : object
        All that determines what ``run`` does, apart from the model and the shapes of arguments.
    """

    def __init__(
        self,
        run: Callable[[Sequence[Any], Sequence[Any]], Sequence[Any]],
        *,
        potential: WrittenPotential,
        settings: Any,
    ) -> None:
        load_jax()
        self._run, self._potential, self._settings = run, potential, settings
        self._ready: tuple[Compiled, list[SharedVariable]] | None = None
        self._on_device: list[Any] | None = None
        self._by_shapes: dict[tuple[tuple[int, ...], ...], Callable[..., Any]] = {}

    def _found(self) -> tuple[Compiled, list[SharedVariable]]:
        data = self._potential.data
        settings = name_of_value(self._settings)
        key = self._potential.structure.key, self if settings is None else settings
        if (compiled := MEMO.get(key)) is None:
            graph = name_of_graph(*self._potential.graph())
            name = None if None in (graph, settings) else key_of(graph, settings)
            run, n = self._run, len(data)

            def function(*values: Any) -> Sequence[Any]:
                return run(values[: len(values) - n], values[len(values) - n :])

            compiled = Compiled(lambda: function, name=name)
            MEMO.put(key, compiled)
        return compiled, data
