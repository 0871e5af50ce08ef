#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A function of arrays and of the graphs of a model, compiled once for all data of one form."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any
from weakref import ref

from pytensor.compile.sharedvalue import SharedVariable

from pymc_geodesic.kernel.graph_names import name_of_value
from pymc_geodesic.kernel.interface import Tree, leaves_of, map_leaves, rebuilt
from pymc_geodesic.kernel.jax.function import MEMO, Change, Compiled, JAXFunction
from pymc_geodesic.kernel.jax.graphs import Graphs
from pymc_geodesic.kernel.jax.resident import load_jax
from pymc_geodesic.kernel.jax.traced import key_of
from pymc_geodesic.manifolds import Point
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential.estimate import PotentialEnergy, Width

__all__ = ["KernelFunction", "PotentialOfArrays", "graphs_of"]


def graphs_of(potential: Potential) -> Graphs:
    """Return the functions of a potential, which all of its kernels share."""
    if potential.functions is None:
        positions, indices = potential.positions, potential.indices
        outputs = [potential.energy(positions, indices), *potential.values(positions)]
        inputs = [*positions, *indices, *potential.conditioned]
        potential.functions = Graphs(inputs, outputs, conditioned=potential.conditioned)
    return potential.functions


class PotentialOfArrays:
    """A potential energy at points of arrays, with the interface of a potential.

    Parameters
    ----------
    potential : PotentialEnergy
        The potential.
    graphs : Graphs
        Those of the model.
    conditioned, data : sequence of array
        Values of its inputs and of its data.
    """

    def __init__(
        self,
        potential: PotentialEnergy,
        graphs: Graphs,
        *,
        conditioned: Sequence[Any],
        data: Sequence[Any],
    ) -> None:
        self._potential, self._graphs = potential, graphs
        self._given = [*conditioned, *data]
        self.variables, self.manifold = potential.variables, potential.manifold
        self.is_standardised = potential.is_standardised

    def energy(self, position: Point, indices: Sequence[Any]) -> Any:
        """U at a point, estimated from the rows ``indices`` of each source of minibatches."""
        [energy] = self._call("energy", self._potential.energy, position, list(indices))
        return energy

    def gradient(self, position: Point, indices: Sequence[Any], *, width: Width) -> Point:
        """dU/dx in the embedding, one array per variable, with poles softened over ``width``."""

        def write(position, indices, width):
            return self._potential.gradient(position, indices, width=width)

        return tuple(self._call("gradient", write, position, list(indices), self._widths(width)))

    def energy_and_gradient(self, position: Point, indices: Sequence[Any]) -> tuple[Any, Point]:
        """U and dU/dx."""
        write = self._potential.energy_and_gradient
        energy, *gradient = self._call("energy_and_gradient", write, position, list(indices))
        return energy, tuple(gradient)

    def scores(self, position: Point, indices: Sequence[Any], *, width: Width) -> tuple[Point, ...]:
        """Gradient of the scaled likelihood of each row alone, for each source."""

        def write(position, indices, width):
            assert isinstance(self._potential, Potential), "noise of rows keeps scalars apart"
            return self._potential.scores(position, indices, width=width)

        found = self._call("scores", write, position, list(indices), self._widths(width))
        n = len(self.variables)
        return tuple(tuple(found[i : i + n]) for i in range(0, len(found), n))

    def values(self, position: Point) -> Point:
        """Map a point to PyMC's values."""
        if all(variable.manifold.is_flat for variable in self.variables):
            return position
        return tuple(self._call("values", self._potential.values, position))

    def carried(self, vectors: Point, center: Point, position: Point) -> Point:
        """Carry gradients from a center to a position."""
        return tuple(self._call("carried", self._potential.carried, vectors, center, position))

    def _widths(self, width: Width) -> tuple[Any, ...]:
        return width if isinstance(width, tuple) else (width,) * len(self.variables)

    def _call(self, name: str, write: Any, *arguments: Any) -> list[Any]:
        return self._graphs.call(name, write, self._given, *arguments)


class _Latest:
    """Calls the function of its kind that was asked for last, without keeping its data alive."""

    function: Callable[[], Any]

    def __call__(self, *values: Any) -> list[Any]:
        return self.function().of_leaves(*values)


class KernelFunction(JAXFunction):
    """A function that its first call compiles, of the leaves of a tree.

    Parameters
    ----------
    run : callable
        ``(inputs, data) -> outputs``, which JAX traces: trees of arrays, and a list of arrays.
    example : tree of array
        Inputs of the structure with which it is called.
    graphs : Graphs
        Has the data, and names what the function takes from the model.
    settings : object
        All that determines what it does, apart from the graphs and the shapes of arguments.
    """

    def __init__(
        self,
        run: Callable[[Tree, Sequence[Any]], Tree],
        *,
        example: Tree,
        graphs: Graphs,
        settings: Any,
    ) -> None:
        load_jax()
        self._run, self._graphs, self._settings = run, graphs, settings
        self._form = map_leaves(lambda _: 0, example)
        self._ready: tuple[Compiled, list[SharedVariable]] | None = None
        self._on_device: dict[Any, list[Any]] = {}
        self._by_shapes: dict[tuple[tuple[int, ...], ...], Callable[..., Any]] = {}

    def _found(self) -> tuple[Compiled, list[SharedVariable]]:
        settings = name_of_value((self._settings, self._form))
        # A function that has no name equals no other. The memo must not keep its data alive.
        key = self._graphs.key, object() if settings is None else settings
        if (compiled := MEMO.get(key)) is None:
            graph = self._graphs.name
            name = None if graph is None or settings is None else key_of(graph, settings)
            compiled = Compiled(_Latest, name=name)
            MEMO.put(key, compiled)
        return compiled, self._graphs.data

    def changed(
        self, change: Change, arguments: Sequence[Any], *, how: Hashable
    ) -> Callable[..., Any]:
        """Return a function made of this one; see :class:`JAXFunction`."""
        self._be_latest()
        return super().changed(change, arguments, how=how)

    def data(self, run: Any, arguments: Sequence[Any]) -> list[Any]:
        """Return the data on the device; see :class:`JAXFunction`."""
        # JAX may trace again what another of the same kind, which is gone, was traced for.
        self._be_latest()
        return super().data(run, arguments)

    def _be_latest(self) -> None:
        latest = self.ready()[0].run
        assert isinstance(latest, _Latest), "graphs of kernels have keys of their own"
        latest.function = ref(self)

    def of_leaves(self, *values: Any) -> list[Any]:
        """Call it with the leaves of its inputs, then its data; JAX traces it."""
        n = len(values) - len(self._graphs.data)
        return leaves_of(self._run(rebuilt(self._form, values[:n]), values[n:]))
