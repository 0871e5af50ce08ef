#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Coordinates between those of centred effects and those of standard normals.

An effect :math:`x \sim N(m, s)` with unknown m and s, or a standard normal z of which the model
uses only :math:`x = m + z s`, moves as

.. math::

    w = \frac{x - (1 - a) m}{s^{1 - a}} = a m s^{a - 1} + z s^a.

It is centred for :math:`a = 1` and standard normal for :math:`a = 0`. Of z, what is the same for
all entries is left out of m, as one direction of a mass stands for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytensor.tensor as pt

from pymc.model import Model
from pytensor.gradient import disconnected_grad, grad
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorVariable

from pymc_geodesic.graph_inputs import shared_number
from pymc_geodesic.manifolds import Point
from pymc_geodesic.potential.centered_effects import centered_effects
from pymc_geodesic.potential.coordinates import Coordinate, ScaledCoordinate
from pymc_geodesic.potential.matrix_products import matrix_products
from pymc_geodesic.potential.scaled_products import scaled_products
from pymc_geodesic.potential.variables import SampledVariable

__all__ = ["carried", "coordinates_of", "inside", "outside"]


def coordinates_of(
    model: Model, values: Sequence[TensorVariable], exponents: Mapping[str, np.ndarray]
) -> dict[str, Coordinate]:
    """Return the coordinates of effects and of factors of products, by their names.

    Parameters
    ----------
    model : pymc.Model
        The model.
    values : sequence of TensorVariable
        Value variables that are sampled.
    exponents : mapping of str to ndarray
        The exponent a of each entry of some variables.
    """
    if not exponents:
        return {}
    products = scaled_products(model, values) | matrix_products(model, values)
    effects = centered_effects(model, values)
    found: dict[str, Coordinate] = {}
    for name, a in exponents.items():
        # Exponents are measured. As inputs they leave the graph unchanged for other data.
        share = shared_number(np.asarray(a, model[name].dtype), name=f"{name}_exponent")
        if name in products:
            found[name] = products[name].coordinate(share)
        else:
            rest, effect = 1 - share, effects[name]
            found[name] = ScaledCoordinate(
                rest * effect.mean, -rest * effect.log_scale, is_natural=False
            )
    return found


def inside(
    variables: Sequence[SampledVariable], values: Sequence[TensorVariable]
) -> list[TensorVariable]:
    """Return the values of the sampler's coordinates as functions of those of PyMC."""
    found = []
    for variable, value in zip(variables, values, strict=True):
        own = variable.coordinate
        found.append(value if own is None else own.inside(value))
    return found


def outside(
    variables: Sequence[SampledVariable], values: Sequence[TensorVariable]
) -> dict[TensorVariable, TensorVariable]:
    """Return PyMC's values as functions of those of the sampler's coordinates.

    Parameters
    ----------
    variables : sequence of SampledVariable
        The variables.
    values : sequence of TensorVariable
        Their values in the sampler's coordinates.

    Returns
    -------
    dict of TensorVariable to TensorVariable
        By PyMC's value variable. Coordinates may depend on effects that are moved themselves.
    """
    given = dict(zip(variables, values, strict=True))
    found: dict[TensorVariable, TensorVariable] = {}

    def value_of(variable: SampledVariable) -> TensorVariable:
        if variable.value not in found:
            x, own = given[variable], variable.coordinate
            if own is not None:
                behind = set(ancestors(own.parameters))
                others = {v.value: value_of(v) for v in given if v.value in behind}
                there = clone_replace(own.parameters, replace=others, rebuild_strict=False)
                x = own.with_parameters(there).outside(x)
            found[variable.value] = x
        return found[variable.value]

    for variable in variables:
        value_of(variable)
    return found


def _natural(variables: Sequence[SampledVariable], position: Point) -> Point:
    """Return the coordinates on which rows depend as the model is written: PyMC's values mostly.

    The change of a row's gradient in these does not depend on what effects are divided by.
    """
    own = _with_natural_ones(variables)
    flat = [(v, x) for v, x in zip(own, position, strict=True) if v.is_flat]
    values = outside([v for v, _ in flat], [x for _, x in flat])
    return tuple(values.get(v.value, x) for v, x in zip(own, position, strict=True))


def carried(
    variables: Sequence[SampledVariable],
    vectors: Point,
    *,
    center: Point,
    position: Point,
) -> Point:
    """Carry gradients from a center to a position, as gradients by natural coordinates."""
    own = _with_natural_ones(variables)
    values = [v.value if v.is_flat else v.position for v in own]
    inner = _pulled(inside(own, values), vectors, values)
    there = dict(zip(values, _natural(variables, center), strict=True))
    freed = clone_replace(inner, replace=there, rebuild_strict=False)
    positions = [v.position for v in own]
    outer = _pulled(_natural(variables, tuple(positions)), freed, positions)
    here = dict(zip(positions, position, strict=True))
    return tuple(clone_replace(outer, replace=here, rebuild_strict=False))


def _with_natural_ones(variables: Sequence[SampledVariable]) -> list[SampledVariable]:
    """Return the variables, without the coordinates that are natural themselves."""
    return [replace(v, coordinate=None) if v.is_natural else v for v in variables]


def _pulled(
    outputs: Sequence[TensorVariable],
    vectors: Sequence[TensorVariable],
    inputs: Sequence[TensorVariable],
) -> list[TensorVariable]:
    """Return the gradients by the inputs of a function for those by its outputs."""
    pairs = zip(outputs, vectors, strict=True)
    total = pt.add(*((x * disconnected_grad(v)).sum() for x, v in pairs), 0)
    return list(grad(total, list(inputs)))
