#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Conventions by which a field writes directions as angles in degrees, and their table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from numpy.typing import ArrayLike

from pymc_geodesic.validation import one_of

__all__ = ["CONVENTIONS", "Convention", "from_angles", "register_convention", "to_angles"]

# Rounding of angles that were computed, in degrees.
ROUNDING = 1e-6


@dataclass(frozen=True, kw_only=True)
class Convention:
    """How a field writes a direction as angles in degrees.

    Parameters
    ----------
    name : str
        Name of the convention.
    angles : tuple of str
        Names of its angles, in their order.
    ranges : tuple of (float, float) or None
        Smallest and largest value of each angle; None for one that goes all around, from 0 to 360
        degrees.
    vector : callable
        Computes the entries of unit vectors from the angles, in radians.
    inverse : callable
        Computes the angles, in radians, from the entries of unit vectors.
    axial : bool
        Whether the angles are those of an axis, such as the pole of a plane. Its lower end is then
        written.

    Examples
    --------
    >>> import numpy as np, pymc_geodesic as pmg
    >>> bearing = pmg.directions.Convention(
    ...     name="bearing",
    ...     angles=("bearing",),
    ...     ranges=(None,),
    ...     vector=lambda b: (np.sin(b), np.cos(b)),
    ...     inverse=lambda e, n: (np.arctan2(e, n),),
    ... )
    >>> [float(angle) for angle in bearing.of(np.array([1.0, 0.0]))]
    [90.0]
    """

    name: str
    angles: tuple[str, ...]
    ranges: tuple[tuple[float, float] | None, ...]
    vector: Callable[..., tuple[Any, ...]]
    inverse: Callable[..., tuple[Any, ...]]
    axial: bool = False

    @property
    def n_entries(self) -> int:
        """Number of entries of the vectors."""
        return len(self.vector(*np.zeros(len(self.angles))))

    def of(self, x: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the angles of unit vectors in degrees, at the end of an axis that is given.

        Parameters
        ----------
        x : ndarray, shape (..., n)
            The vectors.

        Returns
        -------
        tuple of ndarray
            The angles, each of shape (...).
        """
        # Adding zero removes the sign of a negative zero.
        found = np.rad2deg(self.inverse(*np.moveaxis(x, -1, 0))) + 0.0
        pairs = zip(found, self.ranges, strict=True)
        return tuple(np.mod(angle, 360) if limits is None else angle for angle, limits in pairs)


CONVENTIONS: dict[str, Convention] = {}
"""Conventions by name."""


def register_convention(convention: Convention) -> Convention:
    """Add a convention to those that :func:`from_angles` and :func:`summary` know.

    Parameters
    ----------
    convention : Convention
        The convention.

    Returns
    -------
    Convention
        The same.

    Examples
    --------
    >>> import numpy as np, pymc_geodesic as pmg
    >>> sky = pmg.directions.Convention(
    ...     name="horizontal coordinates",
    ...     angles=("azimuth", "altitude"),
    ...     ranges=(None, (-90.0, 90.0)),
    ...     vector=lambda a, h: (np.sin(a) * np.cos(h), np.cos(a) * np.cos(h), np.sin(h)),
    ...     inverse=lambda e, n, u: (np.arctan2(e, n), np.arctan2(u, np.hypot(e, n))),
    ... )
    >>> _ = pmg.directions.register_convention(sky)
    >>> pmg.directions.from_angles("horizontal coordinates", (90, 0)).round(6) + 0.0
    array([1., 0., 0.])
    """
    CONVENTIONS[convention.name] = convention
    return convention


def from_angles(convention: str, angles: Sequence[ArrayLike]) -> np.ndarray:
    """Return unit vectors from angles in degrees.

    Parameters
    ----------
    convention : str
        Name of a convention, such as ``"dip"``; see :func:`summary`.
    angles : sequence of array_like
        Its angles, in its order: numbers, lists, or columns of a table.

    Returns
    -------
    numpy.ndarray
        Of shape (..., 3); (..., 2) for azimuths.

    Raises
    ------
    ValueError
        If there is no such convention, or the angles are not numbers within their ranges.

    Examples
    --------
    >>> import pymc_geodesic as pmg
    >>> pmg.directions.from_angles("trend", ([0, 90], [0, 0])).round(6) + 0.0
    array([[0., 1., 0.],
           [1., 0., 0.]])
    """
    known = CONVENTIONS[one_of("convention", convention, CONVENTIONS)]
    if len(angles) != len(known.angles):
        raise ValueError(
            f"`{convention}` expected {' and '.join(known.angles)}, got {len(angles)} of them."
        )
    named = zip(known.angles, angles, known.ranges, strict=True)
    found = np.broadcast_arrays(*(_degrees(*each) for each in named))
    vectors = np.broadcast_arrays(*known.vector(*np.deg2rad(found)))
    return np.stack(vectors, axis=-1)


def to_angles(convention: str, x: ArrayLike) -> tuple[np.ndarray, ...]:
    """Return the angles of vectors in degrees.

    Parameters
    ----------
    convention : str
        Name of a convention, such as ``"dip"``; see :func:`summary`.
    x : array_like
        Vectors of shape (..., 3), or (..., 2) for azimuths. Their length does not matter.

    Returns
    -------
    tuple of numpy.ndarray
        The angles, each of shape (...). Those that go all around are from 0 to 360. Of an axis they
        are those of its lower end.

    Raises
    ------
    ValueError
        If there is no such convention, or the last axis has another length.

    Examples
    --------
    >>> import pymc_geodesic as pmg
    >>> [angle.tolist() for angle in pmg.directions.to_angles("trend", [0, 1, 0])]
    [0.0, 0.0]
    """
    known = CONVENTIONS[one_of("convention", convention, CONVENTIONS)]
    x = np.asarray(x, dtype=float)
    if x.ndim == 0 or x.shape[-1] != known.n_entries:
        raise ValueError(
            f"`x` expected vectors of shape (..., {known.n_entries}), got shape {x.shape}. The "
            "entries of a vector stand along the last axis."
        )
    return known.of(lower_end(x) if known.axial else x)


def lower_end(x: np.ndarray) -> np.ndarray:
    """Return the ends of axes that do not point up."""
    return np.where(x[..., -1:] > 0, -x, x)


def _degrees(name: str, angle: ArrayLike, limits: tuple[float, float] | None) -> np.ndarray:
    """Return an angle as numbers, if they are in their range."""
    try:
        values = np.asarray(angle, dtype=float)
    except (TypeError, ValueError):
        given = pd.Series(np.ravel(np.asarray(angle, dtype=object)))
        text = given[pd.to_numeric(given, errors="coerce").isna()].iloc[0]
        raise ValueError(f"`{name}` expected numbers in degrees, got {text!r}.") from None
    if not np.isfinite(values).all():
        raise ValueError(
            f"`{name}` expected numbers in degrees, got {(~np.isfinite(values)).sum()} that are "
            "missing or infinite. Leave out these rows."
        )
    least, most = (-np.inf, np.inf) if limits is None else limits
    off = values[(values < least - ROUNDING) | (values > most + ROUNDING)]
    if off.size:
        raise ValueError(
            f"`{name}` expected degrees from {least:g} to {most:g}, got {off.flat[0]:g}. Check the "
            "order of the arguments, and that angles are not in radians."
        )
    return values
