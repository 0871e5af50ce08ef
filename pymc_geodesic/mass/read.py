#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Reading the user's ``mass=``."""

from __future__ import annotations

import math

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np

from numpy.typing import ArrayLike

from pymc_geodesic.manifolds.base import MassKind
from pymc_geodesic.mass.arrays import JointMass, Mass, VariableMasses
from pymc_geodesic.potential.variables import SampledVariable
from pymc_geodesic.validation import definite

__all__ = ["GivenMass", "read_mass", "require_kind"]

GivenMass = ArrayLike | Mapping[str, ArrayLike]
"""A known mass: for all variables, or one per variable by name."""


def read_mass(mass: GivenMass, variables: Sequence[SampledVariable]) -> Mass | None:
    """Return the mass, or None if it is one.

    Raises
    ------
    ValueError
        If the mass is not positive definite, has a shape that does not fit, names an unknown
        variable, or is of a kind that the manifold of a variable does not take.
    """
    dtype = variables[0].position.dtype
    read: Mass
    if isinstance(mass, Mapping):
        read = _by_name(mass, variables, dtype)
    else:
        read = _of_all_entries(mass, variables, dtype)
    # A mass of one is left out, which keeps draws the same to the last bit: compilers may round
    # products with one differently.
    return None if read.is_one else read


def _by_name(
    mass: Mapping[str, ArrayLike], variables: Sequence[SampledVariable], dtype: str
) -> VariableMasses:
    names = [variable.name for variable in variables]
    if unknown := set(mass) - set(names):
        raise ValueError(f"`mass` expected variables among {names}, got {sorted(unknown)}.")
    read = [_of_variable(mass.get(variable.name, 1.0), variable) for variable in variables]
    masses, dense = zip(*read, strict=True)
    return VariableMasses(masses, dense=dense, shapes=[v.shape for v in variables], dtype=dtype)


def _of_variable(mass: ArrayLike, variable: SampledVariable) -> tuple[np.ndarray, bool]:
    mass = _as_array(mass)
    if mass.ndim == 0:
        return _checked_diagonal(mass), False
    manifold = variable.manifold
    if manifold.mass == "number" and mass.shape == manifold.mass_shape(variable.shape):
        return _checked_diagonal(mass), False
    require_kind(variable, "diagonal", f"an array of shape {mass.shape}")
    try:
        np.broadcast_to(mass, variable.shape)
    except ValueError:
        require_kind(variable, "matrix", f"an array of shape {mass.shape}")
        size = variable.shape[-1] if variable.shape else 1
        if mass.shape != (size, size):
            raise ValueError(
                f"`mass` of `{variable.name}` expected a number, an array that broadcasts to its "
                f"shape {variable.shape}, or a matrix of shape {(size, size)} along its last axis, "
                f"got shape {mass.shape}."
            ) from None
        return definite("mass", mass), True
    return _checked_diagonal(mass), False


def _of_all_entries(mass: ArrayLike, variables: Sequence[SampledVariable], dtype: str) -> Mass:
    mass = _as_array(mass)
    sizes = [math.prod(variable.shape) for variable in variables]
    for variable in variables:
        kind = get_args(MassKind)[min(mass.ndim, 2)]
        require_kind(variable, kind, f"an array of shape {mass.shape}")
    size, shapes = sum(sizes), [variable.shape for variable in variables]
    if mass.shape == (size, size) and mass.ndim == 2:
        return JointMass(definite("mass", mass), shapes=shapes, dtype=dtype)
    if mass.shape not in ((), (size,)):
        raise ValueError(
            f"`mass` expected a number, {size} diagonal entries of shape {(size,)} or a matrix of "
            f"shape {(size, size)}, for the entries of "
            f"{', '.join(f'`{variable.name}`' for variable in variables)} in this order, got shape "
            f"{mass.shape}. Pass a dict by variable name for one mass per variable."
        )
    _checked_diagonal(mass)
    parts = np.split(np.broadcast_to(mass, (size,)), np.cumsum(sizes)[:-1])
    # A number stays a number, the only possible mass on a curved manifold.
    masses = [
        mass if mass.ndim == 0 else part.reshape(variable.shape)
        for part, variable in zip(parts, variables, strict=True)
    ]
    return VariableMasses(masses, dense=[False] * len(masses), shapes=shapes, dtype=dtype)


def _as_array(mass: Any) -> np.ndarray:
    try:
        return np.asarray(mass, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(
            "`mass` expected None, a number, an array, a dict of these by variable name or a "
            f"`pmg.MonteCarloEM`, got {mass!r}."
        ) from None


def _checked_diagonal(mass: np.ndarray) -> np.ndarray:
    if not np.all(np.isfinite(mass)) or np.any(mass <= 0):
        raise ValueError(f"`mass` expected positive and finite entries, got {mass}.")
    return mass


_EXPECTED = {
    "number": "a number or one for each point",
    "diagonal": "a number or one for each entry",
}
_REASONS = {
    "number": "On a curved manifold a mass that differs between directions would turn velocities "
    "out of the tangent space.",
    "diagonal": "Its entries move independently, and a matrix would mix them.",
}


def require_kind(variable: SampledVariable, kind: MassKind, what: str) -> None:
    """Raise an error for a mass that would turn velocities out of the tangent space."""
    kinds, taken = get_args(MassKind), variable.manifold.mass
    if kinds.index(kind) <= kinds.index(taken):
        return
    raise ValueError(
        f"`mass` expected {_EXPECTED[taken]} for `{variable.name}`, which is on a "
        f"{variable.manifold.name.lower()}, got {what}. {_REASONS[taken]} Pass a dict with "
        f"{_EXPECTED[taken]} for it, or leave it out."
    )
