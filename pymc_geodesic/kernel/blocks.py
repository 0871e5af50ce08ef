#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Scalar variables side by side in one array, for kernels of models with many of them.

A kernel writes every operation of its dynamics once for each array that it carries. PyTensor
and XLA take more than twice as long for a graph of twice the size: 100 scalars took minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise
from typing import Any

import numpy as np

from pytensor.tensor import tensor

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.kernel.interface import leaves_of
from pymc_geodesic.manifolds import Euclidean, Point, Product
from pymc_geodesic.manifolds.fields import Work
from pymc_geodesic.mass import Mass
from pymc_geodesic.mass.arrays import JointMass, VariableMasses
from pymc_geodesic.mass.low_rank import LowRankMass
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential.estimate import PotentialEnergy, Width
from pymc_geodesic.potential.noise_models import KnownNoise, NoiseModel
from pymc_geodesic.potential.variables import SampledVariable

__all__ = [
    "Blocks",
    "JoinedPotential",
    "Scalars",
    "blocks_for",
    "blocks_of",
    "joined",
]

# Measured: fewer scalars compile equally fast in separate arrays.
FEWEST = 6


class Scalars(Euclidean):
    """K scalar variables in an array of shape (K, 1): K points of the line."""

    ndim_core = 1

    def field_work(self, visit, moments, *, dim) -> Work:
        """``F = x - mean`` for each scalar separately."""
        [mean] = moments
        return Work((visit.start - mean) * visit.gradient, 1.0, 1.0)


@dataclass(frozen=True)
class Blocks:
    """The variables that a kernel carries in one array.

    Attributes
    ----------
    sizes : tuple of int
        Number of variables in each array, in the order of the variables. A single variable has its
        own shape; several are scalars, in shape (K, 1).
    """

    sizes: tuple[int, ...]

    @property
    def are_single(self) -> bool:
        """Whether every variable has its own array."""
        return all(size == 1 for size in self.sizes)

    def cut(self, items: Sequence) -> list[list]:
        """Group items by the array of their variables."""
        return _grouped(items, self.sizes)

    def first(self, items: Sequence) -> list:
        """Take the item of the first variable of each array."""
        return [part[0] for part in self.cut(items)]

    def repeat(self, items: Sequence) -> list:
        """Give every variable the item of its array."""
        return [x for x, size in zip(items, self.sizes, strict=True) for _ in range(size)]

    def _join(self, items: Sequence, stack: Callable) -> list:
        return [stack(part)[..., None] if len(part) > 1 else part[0] for part in self.cut(items)]

    def join(self, variables: Sequence[Array]) -> Point:
        """Put the tensors of scalars side by side."""
        return tuple(self._join(variables, arrays.stack))

    def split(self, joined: Sequence[Array]) -> Point:
        """Separate the tensors of scalars: the inverse of :meth:`join`."""
        pairs = zip(joined, self.sizes, strict=True)
        return tuple(
            part for x, n in pairs for part in ([x[i, 0] for i in range(n)] if n > 1 else [x])
        )

    def join_arrays(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Put arrays side by side, such as those of n values for each scalar in (n, K, 1).

        Arrays after those of the variables are unchanged, and so is an empty list.
        """
        if self.are_single or not arrays:
            return list(arrays)
        n = sum(self.sizes)
        stack = lambda part: np.stack(part, axis=-1)  # noqa: E731
        return [*self._join(arrays[:n], stack), *arrays[n:]]

    def split_arrays(self, joined: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Separate arrays: the inverse of :meth:`join_arrays`, for one value per scalar."""
        if self.are_single or not joined:
            return list(joined)
        pairs = zip(joined, self.sizes, strict=True)
        # With an ellipsis an entry is an array without axes, as elsewhere, and not a number.
        return [y for x, n in pairs for y in ([x[..., i, 0] for i in range(n)] if n > 1 else [x])]

    def join_groups(self, arrays: Sequence[np.ndarray], counts: Sequence[int]) -> list[np.ndarray]:
        """Put arrays side by side; each scalar has one, other variables any number."""
        if self.are_single:
            return list(arrays)
        joined = []
        for part in self.cut(_grouped(arrays, counts)):
            if len(part) > 1:
                joined.append(np.stack([array for [array] in part])[:, None])
            else:
                joined += part[0]
        return joined

    def split_groups(self, joined: Sequence[np.ndarray], counts: Sequence[int]) -> list[np.ndarray]:
        """Separate arrays: the inverse of :meth:`join_groups`."""
        if self.are_single:
            return list(joined)
        groups = _grouped(joined, self.first(counts))
        pairs = zip(groups, self.sizes, strict=True)
        return [y for g, n in pairs for y in ([g[0][i, 0, ...] for i in range(n)] if n > 1 else g)]

    def join_state(self, state: Any) -> Any:
        """Put the arrays of positions and velocities side by side."""
        return _with_parts(state, self.join_arrays)

    def split_state(self, state: Any) -> Any:
        """Separate the arrays: the inverse of :meth:`join_state`."""
        return _with_parts(state, self.split_arrays)

    def join_shapes(self, shapes: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """Return the shapes of the arrays; shapes after those of the variables are unchanged."""
        firsts = zip(self.first(shapes), self.sizes, strict=True)
        joined = [(size, 1) if size > 1 else shape for shape, size in firsts]
        return [*joined, *shapes[sum(self.sizes) :]]

    def join_mass(self, mass: Mass | None) -> Mass | None:
        """Return the same mass, for the arrays instead of the variables."""
        if isinstance(mass, JointMass):
            return mass.reshaped(self.join_shapes(mass.shapes))
        if isinstance(mass, VariableMasses):
            arrays = self.join_arrays(mass.arrays)
            return mass.regrouped(
                arrays, dense=self.first(mass.dense), shapes=self.join_shapes(mass.shapes)
            )
        if isinstance(mass, LowRankMass):
            scales, corrections, _ = self._cut_mass(mass.arrays)
            return mass.regrouped(
                self.join_arrays(scales),
                self.join_arrays(corrections),
                shapes=self.join_shapes(mass.shapes),
            )
        return mass

    def join_mass_arrays(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Put the arrays of a mass side by side, if each variable has some."""
        if len(arrays) < sum(self.sizes):
            return list(arrays)
        per_variable = self._cut_mass(arrays)
        return [x for part in per_variable[:-1] for x in self.join_arrays(part)] + per_variable[-1]

    def _cut_mass(self, arrays: Sequence[np.ndarray]) -> list[list[np.ndarray]]:
        """Group the arrays of the variables; other arrays come last."""
        n, parts = sum(self.sizes), list(arrays)
        whole = len(parts) // n * n
        return [*(parts[start : start + n] for start in range(0, whole, n)), parts[whole:]]


def _with_parts(state: Any, change: Callable) -> Any:
    names = [name for name in ("position", "velocity") if name in state._fields]
    return state._replace(**{name: tuple(change(getattr(state, name))) for name in names})


def _grouped(arrays: Sequence[np.ndarray], counts: Sequence[int]) -> list[list[np.ndarray]]:
    ends = accumulate(counts, initial=0)
    return [list(arrays[a:b]) for a, b in pairwise(ends)]


def blocks_for(
    potential: Potential, noise_model: NoiseModel, state: Any, mass: Mass | None
) -> Blocks:
    """Join scalars if only position and velocity have a part for each variable."""
    is_exact = isinstance(noise_model, KnownNoise) and noise_model.is_zero
    others = [part for name, part in state._asdict().items() if name not in MOVED]
    if is_exact and len(leaves_of(others)) < 2:
        return blocks_of(potential, mass)
    return Blocks((1,) * len(potential.variables))


MOVED = ("position", "velocity")
"""Fields of a state with a part for each variable."""


def blocks_of(potential: Potential, mass: Mass | None) -> Blocks:
    """Join consecutive scalars of the model, if there are many."""
    if isinstance(mass, VariableMasses) and not mass.is_diagonal:
        return Blocks((1,) * len(potential.variables))
    sizes: list[int] = []
    for is_scalar, run in groupby(potential.variables, lambda v: v.is_flat and v.shape == ()):
        n = len(list(run))
        sizes += [n] if is_scalar and n >= FEWEST else [1] * n
    return Blocks(tuple(sizes))


@dataclass(frozen=True)
class _ScalarBlock:
    """The variables of one array, with the interface of one variable."""

    name: str
    position: Array
    manifold: Scalars

    def to_position(self, value: Array) -> Array:
        """Return the values, which are the points."""
        return value

    def to_value(self, position: Array) -> Array:
        """Return the points, which are the values."""
        return position


def _joined_variable(variables: Sequence[SampledVariable]) -> SampledVariable | _ScalarBlock:
    if len(variables) == 1:
        return variables[0]
    names, dtype = ", ".join(v.name for v in variables), variables[0].position.dtype
    position = tensor("scalars", dtype=dtype, shape=(len(variables), 1))
    return _ScalarBlock(names, position, Scalars())


class JoinedPotential:
    """A potential whose scalar variables are side by side.

    Parameters
    ----------
    potential : PotentialEnergy
        The potential of the variables.
    blocks : Blocks
        The variables to join.
    """

    def __init__(self, potential: PotentialEnergy, blocks: Blocks) -> None:
        self._potential, self._blocks = potential, blocks
        self.is_standardised = potential.is_standardised
        self.variables = [_joined_variable(part) for part in blocks.cut(potential.variables)]
        self.manifold = Product(
            [variable.manifold for variable in self.variables],
            shapes=blocks.join_shapes(potential.manifold.shapes),
        )
        self.positions = tuple(variable.position for variable in self.variables)

    def energy(self, position: Point, indices: Sequence[Array]) -> Array:
        """U at a point."""
        return self._potential.energy(self._blocks.split(position), indices)

    def gradient(self, position: Point, indices: Sequence[Array], *, width: Width) -> Point:
        """dU/dx, side by side like the points."""
        widths = tuple(self._blocks.repeat(width)) if isinstance(width, tuple) else width
        apart = self._blocks.split(position)
        return self._blocks.join(self._potential.gradient(apart, indices, width=widths))

    def energy_and_gradient(self, position: Point, indices: Sequence[Array]) -> tuple[Array, Point]:
        """U and dU/dx."""
        apart = self._blocks.split(position)
        energy, gradient = self._potential.energy_and_gradient(apart, indices)
        return energy, self._blocks.join(gradient)

    def values(self, position: Point) -> Point:
        """Map a point to PyMC's values."""
        return self._blocks.join(self._potential.values(self._blocks.split(position)))

    def carried(self, vectors: Point, center: Point, position: Point) -> Point:
        """Carry gradients from a center to a position."""
        given = map(self._blocks.split, (vectors, center, position))
        return self._blocks.join(self._potential.carried(*given))


def joined(potential: PotentialEnergy, blocks: Blocks) -> PotentialEnergy:
    """Return a potential with its scalars side by side, or unchanged if there are none to join."""
    return potential if blocks.are_single else JoinedPotential(potential, blocks)
