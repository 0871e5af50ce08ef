#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Reading the user's ``friction=``, if it is more than a number."""

from __future__ import annotations

import math

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pymc_geodesic.manifolds import Product
from pymc_geodesic.potential.noise_matrices import finite_array, read_entries
from pymc_geodesic.potential.variables import SampledVariable
from pymc_geodesic.validation import definite

__all__ = ["GivenFriction", "is_number", "read_friction"]


@dataclass(frozen=True)
class GivenFriction:
    """Frictions of the entries of Euclidean variables, and of points on curved manifolds.

    Attributes
    ----------
    entries : ndarray of shape (D,)
        Of the entries of all Euclidean variables in order; not used with a matrix.
    matrix : ndarray of shape (D, D) or None
        Over these entries.
    points : tuple of ndarray
        Of the points of each other variable, broadcastable to its velocity.
    """

    entries: np.ndarray
    matrix: np.ndarray | None
    points: tuple[np.ndarray, ...]

    def of_factors(self, manifold: Product) -> list[np.ndarray]:
        """Return one array for each factor, broadcastable to its velocity."""
        # Kernels may carry several scalar variables in one factor, in the same order.
        left, curved, found = self.entries, list(self.points), []
        for factor, shape in zip(manifold.factors, manifold.shapes, strict=True):
            size = math.prod(shape)
            if factor.is_flat:
                found.append(left[:size].reshape(shape))
                left = left[size:]
            else:
                found.append(curved.pop(0))
        return found

    @property
    def largest(self) -> float:
        """Largest friction in any direction."""
        flat = self.entries if self.matrix is None else np.linalg.eigvalsh(self.matrix)
        return float(max(np.max(part) for part in (flat, *self.points) if np.size(part)))


def is_number(friction: Any) -> bool:
    """Return whether one friction is given for everything, or left to the default."""
    return not isinstance(friction, Mapping) and np.ndim(friction) == 0


def read_friction(friction: Any, variables: Sequence[SampledVariable]) -> GivenFriction:
    """Return the frictions that the user gives for the entries of variables, or by name.

    Raises
    ------
    ValueError
        If they are not positive definite, have the wrong shape, are not given for all variables, or
        differ between directions of a point on a curved manifold.
    """
    dtype = variables[0].position.dtype
    flat = [variable for variable in variables if variable.is_flat]
    curved = [variable for variable in variables if not variable.is_flat]
    of_flat, points = friction, list[np.ndarray]()
    if isinstance(friction, Mapping):
        names = {variable.name for variable in curved}
        if absent := sorted(names - set(friction)):
            raise ValueError(
                f"`friction` expected a value for each variable, got none for {absent}."
            )
        of_flat = {name: value for name, value in friction.items() if name not in names}
        points = [_of_points(friction[v.name], v).astype(dtype) for v in curved]
    elif curved:
        listed = ", ".join(f"`{variable.name}`" for variable in curved)
        raise ValueError(
            f"`friction` expected a number, or a dict by variable name, because {listed} is not on "
            f"Euclidean space; got an array of shape {np.shape(friction)}."
        )
    entries = np.zeros(0)
    if flat or of_flat:
        entries = read_entries("friction", of_flat, flat, missing=None)
    for given in (entries, *(part.ravel() for part in points)):
        if given.size:
            definite("friction", given)
    entries = entries.astype(dtype)
    if entries.ndim == 1:
        return GivenFriction(entries, None, tuple(points))
    return GivenFriction(np.diag(entries), entries, tuple(points))


def _of_points(friction: Any, variable: SampledVariable) -> np.ndarray:
    manifold, array = variable.manifold, finite_array("friction", friction)
    shape = manifold.batch_shape(variable.shape)
    try:
        per_point = np.broadcast_to(array, shape)
    except ValueError:
        raise ValueError(
            f"`friction` of `{variable.name}` expected a number, or one for each point in shape "
            f"{shape}, because it is on a {manifold.name.lower()}, where a friction that differs "
            f"between directions would have to turn with the point; got shape {array.shape}."
        ) from None
    return manifold.along_core(per_point)
