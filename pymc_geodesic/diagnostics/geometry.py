#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Which variables of a posterior are unit vectors or probability vectors.

A run of this package records the manifold of every variable that it samples. For other draws,
such as those of NUTS or of Deterministics, the geometry is detected from the numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from pymc_geodesic.component_order import Geometry
from pymc_geodesic.manifolds import Circle, Euclidean, Manifold, Simplex, Sphere, Stiefel
from pymc_geodesic.manifolds.orthonormal import largest_overlap

__all__ = [
    "Geometry",
    "geometries",
    "geometry_manifold",
    "intrinsic_dimension",
    "require_geometry",
]

# Draws stored in single precision are on their manifold to fewer digits.
TOLERANCE = {4: 1e-4, 8: 1e-6}

SAMPLE_DIMS = ("chain", "draw")
# For vectors that the user declares to be on a manifold, which may have few digits.
CLAIMED_TOLERANCE = 2e-3


def geometries(
    draws: xr.Dataset,
    *,
    manifolds: Mapping[str, Manifold] | None = None,
    directions: Sequence[str] | None = None,
    compositions: Sequence[str] | None = None,
) -> dict[str, Geometry]:
    """Classify variables as directions, compositions, frames or plain.

    Parameters
    ----------
    draws : Dataset
        Draws of each variable.
    manifolds : mapping of str to Manifold, optional
        Manifolds of the variables for which a run has recorded them. Vectors with missing entries
        are plain.
    directions, compositions : sequence of str, optional
        Names of the variables that are unit vectors, or probability vectors. By default those that
        are recorded as such. Other variables are included if the last axis has two entries or more
        and, in all draws, a norm of one, or no negative entry and a sum of one.

    Returns
    -------
    dict
        For each variable "direction", "composition", "frame" or "plain". A vector with a single
        one and zeros is both a direction and a composition, and counts as a composition. A frame
        has orthonormal columns in its last two axes in all draws, and is not named in
        ``directions`` or ``compositions``.

    Raises
    ------
    ValueError
        If a name is not that of a variable with at least one axis, or its vectors are not unit
        vectors or probability vectors.
    """
    for argument, names in {"directions": directions, "compositions": compositions}.items():
        for name in names or ():
            if name not in draws or not _own_dims(draws[name]):
                raise ValueError(
                    f"`{argument}` expected names of variables with at least one axis, got "
                    f"{name!r}. The variables are {sorted(map(str, draws.data_vars))}."
                )
            values = draws[name].transpose(*SAMPLE_DIMS, ...).values
            geometry: Geometry = "direction" if argument == "directions" else "composition"
            require_geometry(argument, str(name), values, geometry=geometry)
    found: dict[str, Geometry] = {}
    for name, values in draws.data_vars.items():
        array = values.transpose(*SAMPLE_DIMS, ...).values
        has_axis = bool(_own_dims(values))
        manifold = (manifolds or {}).get(str(name))
        in_a_row = array.reshape(-1, *array.shape[len(SAMPLE_DIMS) :])
        seen = _geometry(in_a_row, manifold) if has_axis else "plain"
        named = name in (directions or ()) or name in (compositions or ())
        if seen == "frame" and not named:
            found[name] = "frame"
        elif name in compositions if compositions is not None else seen == "composition":
            found[name] = "composition"
        elif name in directions if directions is not None else seen == "direction":
            found[name] = "direction"
        else:
            found[name] = "plain"
    return found


def _geometry(array: np.ndarray, manifold: Manifold | None) -> Geometry:
    """Return the geometry of draws, along the first axis, by their manifold or their numbers."""
    if isinstance(manifold, Simplex):
        return "composition" if _fits(array, is_direction=False) else "plain"
    if isinstance(manifold, Sphere):
        return "direction" if _fits(array, is_direction=True) else "plain"
    if isinstance(manifold, Stiefel):
        return "frame" if _is_frame(array, CLAIMED_TOLERANCE) else "plain"
    if isinstance(manifold, Euclidean | Circle):
        return "plain"
    if _is_frame(array, TOLERANCE.get(array.dtype.itemsize, 1e-6)):
        return "frame"
    if _sums_to_one(array):
        return "composition"
    return "direction" if _has_unit_norm(array) else "plain"


def _fits(array: np.ndarray, *, is_direction: bool) -> bool:
    """Return whether vectors are on their declared manifold, within the tolerance."""
    sizes = np.linalg.norm(array, axis=-1) if is_direction else array.sum(axis=-1)
    is_one = bool(np.all(np.abs(sizes - 1) < CLAIMED_TOLERANCE))
    return is_one and (is_direction or bool(array.min() > -CLAIMED_TOLERANCE))


def intrinsic_dimension(values: xr.DataArray, geometry: Geometry) -> int:
    """Count the degrees of freedom of one draw: n - 1 per vector on a sphere or simplex."""
    return geometry_manifold(geometry).dim_of(values.shape[len(SAMPLE_DIMS) :])


def geometry_manifold(geometry: Geometry) -> Manifold:
    """Return the manifold of draws of a detected geometry."""
    found: dict[Geometry, Manifold] = {
        "direction": Sphere(),
        "composition": Simplex(),
        "frame": Stiefel(),
        "plain": Euclidean(),
    }
    return found[geometry]


def require_geometry(
    argument: str, name: str | None, array: np.ndarray, *, geometry: Geometry
) -> None:
    """Raise a ValueError if vectors do not have the geometry that the user declared.

    Parameters
    ----------
    argument : str
        The argument that declares it.
    name : str or None
        Label of the vectors, if they have one.
    array : ndarray, shape (..., n)
        The vectors.
    geometry : {"direction", "composition"}
        The geometry.
    """
    is_direction = geometry == "direction"
    if _fits(array, is_direction=is_direction):
        return
    sizes = np.linalg.norm(array, axis=-1) if is_direction else array.sum(axis=-1)
    off = np.abs(sizes - 1)
    kind, measure = ("unit", "length") if is_direction else ("probability", "sum")
    what = "vectors" if name is None else repr(name)
    raise ValueError(
        f"`{argument}` expected {kind} vectors, got {what} with a {measure} of "
        f"{sizes.flat[np.argmax(np.where(np.isnan(off), np.inf, off))]:.6g} and a smallest entry "
        f"of {array.min():.6g}. Leave it out, or divide its vectors by their {measure}s."
    )


def _own_dims(values: xr.DataArray) -> list[str]:
    return [dim for dim in values.dims if dim not in SAMPLE_DIMS]


def _sums_to_one(array: np.ndarray) -> bool:
    return _is_vector(array) and bool((array >= 0).all()) and _is_one(array.sum(axis=-1), array)


def _has_unit_norm(array: np.ndarray) -> bool:
    return _is_vector(array) and _is_one(np.linalg.norm(array, axis=-1), array)


def _is_frame(array: np.ndarray, tolerance: float) -> bool:
    if array.ndim < 3 or array.dtype.kind != "f":
        return False
    n, p = array.shape[-2:]
    return 1 <= p <= n and n > 1 and bool((largest_overlap(array) <= 2 * tolerance).all())


def _is_vector(array: np.ndarray) -> bool:
    return array.dtype.kind == "f" and array.shape[-1] > 1


def _is_one(values: np.ndarray, array: np.ndarray) -> bool:
    return bool((np.abs(values - 1) <= TOLERANCE.get(array.dtype.itemsize, 1e-6)).all())
