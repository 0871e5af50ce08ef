#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A sampled variable: the maps between PyMC's value and the point of the embedding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytensor.tensor as pt

from pymc.distributions.transforms import _default_transform
from pymc.logprob.transforms import CircularTransform, Transform
from pymc.model import Model
from pytensor.tensor import TensorVariable

from pymc_geodesic.distributions.transforms import EmbeddedTransform
from pymc_geodesic.graph_inputs import graph_input
from pymc_geodesic.manifolds import Circle, Euclidean, Manifold, manifold_of
from pymc_geodesic.potential.coordinates import Coordinate
from pymc_geodesic.potential.even_densities import is_even

__all__ = [
    "UNCONSTRAINED",
    "Coordinates",
    "SampledVariable",
    "as_points",
    "as_values",
    "geometry_names",
    "has_custom_transform",
    "manifold_in",
    "sampled_variables",
]


Coordinates = Mapping[Any, Manifold]
"""Other manifolds to move variables on, by the class of their own manifold or by their name."""

UNCONSTRAINED: Manifold = Euclidean()
"""PyMC's unconstrained coordinates, for variables of any manifold."""


@dataclass(frozen=True)
class SampledVariable:
    """One free random variable with its manifold.

    Attributes
    ----------
    rv, value : TensorVariable
        The random variable and PyMC's value variable for it.
    manifold : Manifold
        The manifold on which the sampler moves it.
    transform : Transform or None
        PyMC's transform from the random variable to its value.
    position : TensorVariable
        Placeholder for the point of the embedding, of known shape.
    coordinate : Coordinate or None
        How the position of a flat variable depends on its value, if they are not the same.
    """

    rv: TensorVariable
    value: TensorVariable
    manifold: Manifold
    transform: Transform | None
    position: TensorVariable
    coordinate: Coordinate | None = None

    @property
    def name(self) -> str:
        """Name of the random variable."""
        return self.rv.name

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the embedded point."""
        return self.position.type.shape

    @property
    def is_flat(self) -> bool:
        """Whether the variable is moved in PyMC's own unconstrained coordinates."""
        return self.manifold.is_flat

    @property
    def is_natural(self) -> bool:
        """Whether rows depend on its coordinate as the model is written."""
        return self.coordinate is None or self.coordinate.is_natural

    def check(self, value: np.ndarray) -> str | None:
        """Return why PyMC's value is not on the manifold, as a sentence, or None.

        If the transform is the identity on the manifold, a start can be invalid. Any other
        transform gives only valid starts.
        """
        keeps_points = self.transform is None or isinstance(self.transform, EmbeddedTransform)
        return self.manifold.check(value) if keeps_points else None

    def embed(self, point: TensorVariable) -> TensorVariable:
        """Map a value of the random variable itself to the point of the embedding."""
        if not self.is_flat:
            return self.manifold.embed(point)
        if self.transform is None:
            return point
        return self.transform.forward(point, *self.rv.owner.inputs)

    def to_position(self, value: TensorVariable) -> TensorVariable:
        """Map PyMC's value to the point of the embedding."""
        if self.is_flat:
            return value
        if self.transform is not None:
            value = self.transform.backward(value, *self.rv.owner.inputs)
            # PyMC forgets the shape of a correlation matrix of two variables.
            if None in value.type.shape:
                value = pt.specify_shape(value, self.rv.type.shape)
        return self.manifold.embed(value)

    def to_value(self, position: TensorVariable) -> TensorVariable:
        """Map a point of the embedding to PyMC's value."""
        if self.is_flat:
            return position
        value = self.manifold.unembed(position)
        if self.transform is not None:
            value = self.transform.forward(value, *self.rv.owner.inputs)
        return value


def as_points(
    variables: Sequence[SampledVariable], values: Sequence[TensorVariable]
) -> tuple[TensorVariable, ...]:
    """Map PyMC's values to points exactly on the manifolds."""
    pairs = zip(variables, values, strict=True)
    return tuple(v.manifold.project(v.to_position(value)) for v, value in pairs)


def as_values(
    variables: Sequence[SampledVariable], position: Sequence[TensorVariable]
) -> tuple[TensorVariable, ...]:
    """Map points to PyMC's values."""
    return tuple(v.to_value(x) for v, x in zip(variables, position, strict=True))


def manifold_in(model: Model, rv: TensorVariable) -> Manifold:
    """Return the manifold, unless a custom transform restricts the variable further."""
    return Euclidean() if has_custom_transform(model, rv) else _geometry(model, rv)


def has_custom_transform(model: Model, rv: TensorVariable) -> bool:
    """Return whether a transform, other than one that closes angles, is not the default one."""
    transform = model.rvs_to_transforms[rv]
    return not (
        transform is None or isinstance(transform, CircularTransform) or _is_default(rv, transform)
    )


def _is_default(rv: TensorVariable, transform: Transform) -> bool:
    return type(transform) is type(_default_transform(rv.owner.op, rv))


def _geometry(model: Model, rv: TensorVariable) -> Manifold:
    """Return the manifold of the values of a variable, whatever their transform.

    The circular transform makes any variable an angle, but not one of a distribution that has it
    and another manifold. A manifold of axes is replaced by that of directions if the model
    distinguishes the ends of an axis.
    """
    manifold, transform = manifold_of(rv), model.rvs_to_transforms[rv]
    if isinstance(transform, CircularTransform) and (
        manifold.is_flat or not _is_default(rv, transform)
    ):
        return Circle()
    covering = manifold.covering
    return manifold if covering is manifold or is_even(model, rv) else covering


def geometry_names(model: Model, values: Sequence[TensorVariable]) -> dict[str, str]:
    """Return the name of the manifold of each variable, whatever coordinates a sampler uses."""
    rvs = [model.values_to_rvs[value] for value in values]
    return {rv.name: _geometry(model, rv).name for rv in rvs}


def _position_shape(
    model: Model, rv: TensorVariable, manifold: Manifold, value_shape: tuple[int, ...]
) -> tuple[int, ...]:
    if manifold.is_flat:
        return value_shape
    shape = rv.type.shape
    if None in shape:
        shape = tuple(int(size) for size in model.eval_rv_shapes()[rv.name])
    return manifold.embedded_shape(shape)


def _require_points(name: str, manifold: Manifold, shape: tuple[int, ...]) -> None:
    """Raise an error if a variable's shape holds no points of its manifold, or fixed points."""
    if (missing := manifold.ndim_core - len(shape)) > 0:
        axes = "axis" if manifold.ndim_core == 1 else f"{manifold.ndim_core} axes"
        raise ValueError(
            f"The variable `{name}` expected points along its last {axes}, as {manifold!r} needs "
            f"them; got {f'a shape of {shape}' if shape else 'a scalar'}. Add {missing} more, such "
            f"as `shape={(*shape, *[1] * missing)}`."
        )
    if manifold.dim(manifold.core_shape(shape)) < 1:
        raise ValueError(
            f"The variable `{name}` expected at least two entries in each point of {manifold!r}, "
            f"got a shape of {shape}: with one entry there is nothing to sample."
        )


def sampled_variables(
    model: Model,
    values: Sequence[TensorVariable],
    *,
    initial_point: Mapping[str, Any],
    coordinates: Coordinates,
    moved: Mapping[str, Coordinate] | None = None,
) -> tuple[SampledVariable, ...]:
    """Describe the variables with the given value variables, in this order; some are ``moved``.

    Raises
    ------
    ValueError
        If a variable is discrete, or has a single entry where its manifold leaves it no freedom.
    """
    variables = []
    for value in values:
        rv = model.values_to_rvs[value]
        if np.dtype(value.dtype).kind != "f":
            raise ValueError(
                f"The variable `{rv.name}` is discrete (dtype {value.dtype}), but geodesic and "
                "stochastic-gradient steps need a differentiable log density. Use another step for "
                "it, such as `pm.Metropolis`, or sum it out of the model."
            )
        manifold = manifold_in(model, rv)
        manifold = coordinates.get(rv.name, coordinates.get(type(manifold), manifold))
        shape = _position_shape(model, rv, manifold, np.shape(initial_point[value.name]))
        _require_points(rv.name, manifold, shape)
        position = graph_input(f"{rv.name}_position", dtype=value.dtype, shape=shape)
        transform, coordinate = model.rvs_to_transforms[rv], (moved or {}).get(rv.name)
        variables.append(SampledVariable(rv, value, manifold, transform, position, coordinate))
    return tuple(variables)
