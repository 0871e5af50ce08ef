#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A potential energy as functions of JAX: what PyTensor writes of a kernel."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace

from pymc_geodesic.graph_inputs import graph_input
from pymc_geodesic.kernel.building import quick_building
from pymc_geodesic.kernel.carry import as_values
from pymc_geodesic.kernel.jax.written import lacking, rewritten, unknown_to_jax, written
from pymc_geodesic.kernel.memo import Structure, structure_of
from pymc_geodesic.manifolds import Point
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential.estimate import Width

__all__ = ["PotentialOfArrays", "WrittenPotential", "written_potential"]


def written_potential(potential: Potential) -> WrittenPotential:
    """Return the functions of a potential, which all of its kernels share."""
    if potential.functions is None:
        potential.functions = WrittenPotential(potential)
    return potential.functions


class WrittenPotential:
    """The graphs of a potential, written for JAX when something that uses them is traced.

    Parameters
    ----------
    potential : Potential
        The potential.

    Attributes
    ----------
    structure : Structure
        Of the log density and of PyMC's values, from which all other graphs follow.

    Raises
    ------
    NotImplementedError
        If PyTensor cannot write an operation for JAX.
    """

    def __init__(self, potential: Potential) -> None:
        self.potential = potential
        self.variables, self.manifold = potential.variables, potential.manifold
        self.structure: Structure = structure_of(*self._whole())
        self._written: dict[Hashable, Callable[..., Any]] = {}
        outputs = self._whole()[1]
        # Rewrites may replace what is unknown.
        if unknown_to_jax(outputs):
            graph = rewritten(*self.structure.with_data_as_inputs(*self._whole()))
            if names := unknown_to_jax(graph.outputs):
                raise lacking(", ".join(names))

    @property
    def data(self) -> list[SharedVariable]:
        """The shared variables on which the graphs depend."""
        return self.structure.data

    def graph(self) -> tuple[list[Variable], list[Variable]]:
        """Return a graph that is the same for potentials of which all functions are the same."""
        return self.structure.with_data_as_inputs(*self._whole())

    def _whole(self) -> tuple[list[Variable], list[Variable]]:
        potential = self.potential
        inputs = [*potential.positions, *potential.indices, *potential.conditioned]
        energy = potential.energy(potential.positions, potential.indices)
        return inputs, [energy, *as_values(potential, potential.positions)]

    def at(self, conditioned: Sequence[Any], data: Sequence[Any]) -> PotentialOfArrays:
        """Return the potential for values of what it depends on beside points and rows."""
        return PotentialOfArrays(self, [*conditioned, *data])

    def function(
        self, name: str, rows: Sequence[Any], widths: Sequence[Any]
    ) -> Callable[..., Sequence[Any]]:
        """Return a function of positions, rows, widths, conditioned values and data.

        Parameters
        ----------
        name : str
            What it computes.
        rows, widths : sequence of array
            Rows of each source, and lengths over which poles are softened, for their forms.
        """
        import jax

        key = name, *((x.shape, str(x.dtype)) for x in (*rows, *widths))
        if key not in self._written:
            # It is written while a function that calls it is traced, and has constants of its own.
            with jax.ensure_compile_time_eval(), quick_building():
                self._written[key] = self._write(name, rows, widths)
        return self._written[key]

    def _write(
        self, name: str, rows: Sequence[Any], widths: Sequence[Any]
    ) -> Callable[..., Sequence[Any]]:
        potential, at = self.potential, self.potential.positions
        indices = [graph_input("rows", dtype=str(x.dtype), shape=x.shape) for x in rows]
        width = tuple(graph_input("width", dtype=str(x.dtype), shape=x.shape) for x in widths)
        outputs: list[Any] = []
        if name == "energy":
            outputs = [potential.energy(at, indices)]
        elif name == "gradient":
            outputs = [*potential.gradient(at, indices, width=width)]
        elif name == "energy_and_gradient":
            energy, gradient = potential.energy_and_gradient(at, indices)
            outputs = [energy, *gradient]
        elif name == "scores":
            scores = potential.scores(at, indices, width=width)
            outputs = [x for source in scores for x in source]
        elif name == "values":
            outputs = [*as_values(potential, at)]
        places = {x: x.type() for x in self.data}
        outputs = clone_replace(outputs, replace=places, rebuild_strict=False)
        inputs = [*at, *indices, *width, *potential.conditioned, *places.values()]
        return written(inputs, outputs)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the functions: another process writes its own."""
        return self.__dict__ | {"_written": {}}


class PotentialOfArrays:
    """A potential energy at points of arrays, with the interface of a potential.

    Parameters
    ----------
    written : WrittenPotential
        Its functions.
    given : sequence of array
        Conditioned values, then data.
    """

    def __init__(self, written: WrittenPotential, given: Sequence[Any]) -> None:
        self._functions, self._given = written, list(given)
        self.variables, self.manifold = written.variables, written.manifold

    def energy(self, position: Point, indices: Sequence[Any]) -> Any:
        """U at a point, estimated from the rows ``indices`` of each source of minibatches."""
        [energy] = self._call("energy", position, indices)
        return energy

    def gradient(self, position: Point, indices: Sequence[Any], *, width: Width) -> Point:
        """dU/dx in the embedding, one array per variable, with poles softened over ``width``."""
        return tuple(self._call("gradient", position, indices, self._widths(width)))

    def energy_and_gradient(self, position: Point, indices: Sequence[Any]) -> tuple[Any, Point]:
        """U and dU/dx."""
        energy, *gradient = self._call("energy_and_gradient", position, indices)
        return energy, tuple(gradient)

    def scores(self, position: Point, indices: Sequence[Any], *, width: Width) -> tuple[Point, ...]:
        """Gradient of the scaled likelihood of each row alone, for each source."""
        found = list(self._call("scores", position, indices, self._widths(width)))
        n = len(self.variables)
        return tuple(tuple(found[i : i + n]) for i in range(0, len(found), n))

    def values(self, position: Point) -> Point:
        """Map a point to PyMC's values."""
        if all(variable.is_flat for variable in self.variables):
            return position
        return tuple(self._call("values", position, []))

    def _widths(self, width: Width) -> Sequence[Any]:
        return width if isinstance(width, tuple) else (width,) * len(self.variables)

    def _call(
        self, name: str, position: Point, indices: Sequence[Any], widths: Sequence[Any] = ()
    ) -> Sequence[Any]:
        function = self._functions.function(name, indices, widths)
        return function(*position, *indices, *widths, *self._given)
