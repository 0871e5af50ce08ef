#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A potential energy as functions of arrays: what PyTensor writes of a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pymc_geodesic.kernel.jax.graphs import Graphs
from pymc_geodesic.manifolds import Point
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential.estimate import PotentialEnergy, Width

__all__ = ["PotentialOfArrays", "graphs_of"]


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

    def _widths(self, width: Width) -> tuple[Any, ...]:
        return width if isinstance(width, tuple) else (width,) * len(self.variables)

    def _call(self, name: str, write: Any, *arguments: Any) -> list[Any]:
        return self._graphs.call(name, write, self._given, *arguments)
