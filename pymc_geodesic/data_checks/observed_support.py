#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A check for rows outside the support of the distribution of the observed variable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from pymc.distributions.mixture import MixtureRV
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.tensor import TensorVariable
from pytensor.tensor.random.type import RandomType

from pymc_geodesic.data_checks.indices import RowIndices
from pymc_geodesic.data_checks.row_density import NoRowDensity, Point, RowDensity
from pymc_geodesic.graph_inputs import called
from pymc_geodesic.manifolds import Manifold, manifold_of
from pymc_geodesic.potential.batch_structure import observed_rv
from pymc_geodesic.potential.minibatch import BatchSource

__all__ = ["StreamCheck", "Support", "describe", "impossible", "look_at"]

# Distances from the start, in unconstrained coordinates, at which to look for parameters that allow
# a row. A scale parameter is multiplied by up to about exp(20).
SPREADS = (0.1, 1.0, 3.0, 10.0)
# Number of rows shown in a message.
SHOWN = 3


def _wider_points(point: Point) -> Iterator[Point]:
    """Yield points at increasing distances from the first, in both directions, always the same."""
    rng = np.random.default_rng(1)
    floats = {
        name: np.asarray(x)
        for name, x in point.items()
        if np.issubdtype(np.asarray(x).dtype, np.floating)
    }
    for spread in SPREADS:
        away = {name: spread * rng.standard_normal(x.shape) for name, x in floats.items()}
        for sign in (1, -1):
            yield {**point, **{name: x + sign * away[name] for name, x in floats.items()}}


def impossible(density: RowDensity, point: Point, rows: np.ndarray) -> np.ndarray:
    """Return the indices of ``rows`` whose log density at a point is not finite."""
    if not len(rows):
        return np.arange(0)
    terms = density.by_row(point, rows)
    if terms is not None:
        return np.flatnonzero(~np.isfinite(terms).reshape(len(rows), -1).all(axis=1))
    if np.all(np.isfinite(density(point, rows))):
        return np.arange(0)
    # One term for all rows: search either half for the rows that make it infinite.
    half = len(rows) // 2
    if not half:
        return np.arange(1)
    parts = impossible(density, point, rows[:half]), impossible(density, point, rows[half:])
    return np.concatenate([parts[0], half + parts[1]])


class Support(NamedTuple):
    """Result of the check of some rows.

    Attributes
    ----------
    forbidden : str or None
        A message about rows that the distribution forbids for all parameters.
    possible : bool
        Whether all rows have a finite log density at the point itself.
    """

    forbidden: str | None
    possible: bool


def look_at(density: RowDensity, point: Point, rows: np.ndarray, *, first: int = 0) -> Support:
    """Look for rows that the distribution of the observed variable cannot have.

    Parameters
    ----------
    density : RowDensity
        Density of the observed variable.
    point : mapping
        Values of the free variables. If the log density of a row is not finite there, other
        points are tried, because the support of a distribution may depend on its parameters.
    rows : ndarray
        Indices of rows, or a block of a stream.
    first : int
        Index of the first row of a block.
    """
    values = density.values(rows)
    if bad := _off_support(density.rv, values):
        what, found = bad
        return Support(
            f"The observed variable `{density.name}` expected {what}: "
            f"{describe(density, rows, found, first=first)}. Correct the data before you build the "
            "model.",
            False,
        )
    if not density.has_density:
        return Support(None, True)
    try:
        found = impossible(density, point, rows)
        possible = not len(found)
        for other in _wider_points(point):
            found = found[impossible(density, other, rows[found])]
    except NoRowDensity:
        return Support(None, True)
    if not len(found):
        return Support(None, possible)
    return Support(
        f"The observed variable `{density.name}` expected rows that its distribution allows, got "
        f"{len(found)} rows whose log density is infinite or NaN for all parameters: "
        f"{describe(density, rows, found, first=first)}. Correct or drop them, or choose another "
        "distribution.",
        False,
    )


def describe(density: RowDensity, rows: np.ndarray, found: np.ndarray, *, first: int = 0) -> str:
    """Describe the first of the found rows and their values."""
    shown = found[:SHOWN]
    source = density.source
    in_memory = isinstance(source, BatchSource)
    names = ", ".join(str(name) for name in (rows[shown] if in_memory else first + shown))
    values = _shown(density.values(rows)[shown])
    rest = ", and others" if len(found) > SHOWN else ""
    where = _infinite_data(source, rows[found]) if isinstance(source, BatchSource) else ""
    return f"row{'s' if len(shown) > 1 else ''} {names} with {values}{rest}{where}"


def _infinite_data(source: BatchSource, rows: np.ndarray) -> str:
    """Name the data that are infinite in some rows, such as the logarithm of a zero."""
    names = [
        f"`{name}`" if (name := called(tensor)) else "an array"
        for tensor in source.tensors
        if isinstance(tensor, SharedVariable)
        and not np.isfinite(tensor.get_value(borrow=True)[rows]).all()
    ]
    return f"; {' and '.join(names)} is infinite there" if names else ""


def _shown(values: np.ndarray) -> str:
    with np.printoptions(precision=4, threshold=8, edgeitems=3):
        return ", ".join(f"{x:.4g}" if np.ndim(x) == 0 else str(x) for x in values)


def _off_support(rv: TensorVariable, values: np.ndarray) -> tuple[str, np.ndarray] | None:
    """Look for faults that a density does not reveal: points off a manifold, and rounded numbers.

    Return what was expected and got, and the indices of the rows.
    """
    base = observed_rv(rv)
    if base.dtype.startswith(("int", "uint", "bool")) and values.dtype.kind == "f":
        whole = (np.floor(values) == values).reshape(len(values), -1).all(axis=1)
        if not whole.all():
            found = np.flatnonzero(~whole)
            return f"whole numbers, got {len(found)} rows with others, which PyMC rounds", found
    manifold = _manifold_of_values(base)
    values = values.astype("float64")
    if (bad := manifold.check(values)) is None:
        return None
    rows = [i for i, value in enumerate(values) if manifold.check(value) is not None]
    return bad.removeprefix("expected "), np.array(rows, dtype="int64")


def _manifold_of_values(rv: TensorVariable) -> Manifold:
    """Return the manifold of a variable, or of the components of a mixture."""
    if not isinstance(rv.owner.op, MixtureRV):
        return manifold_of(rv)
    parts = [
        x
        for x in rv.owner.inputs
        if x.owner is not None
        and any(isinstance(y.type, RandomType) for y in x.owner.inputs)
        and x.ndim
    ]
    manifolds = [manifold_of(part) for part in parts]
    kinds = {type(manifold) for manifold in manifolds}
    return manifolds[0] if len(kinds) == 1 else manifold_of(rv)


class StreamCheck:
    """Check of the rows of a stream, made in its first complete pass.

    Parameters
    ----------
    densities : list of RowDensity
        Densities of the variables that observe the stream.
    point : mapping
        Values of the free variables.
    """

    def __init__(self, densities: list[RowDensity], point: Point) -> None:
        self.densities, self.point = densities, point
        self.indices = [RowIndices(density, point) for density in densities]
        self.complete = False

    def __call__(self, rows: np.ndarray, first: int) -> str | None:
        """Return why some rows cannot be observed, or None; ``first`` is the first row's index."""
        for density, indices in zip(self.densities, self.indices, strict=True):
            for start in range(0, len(rows), density.chunk):
                chunk = rows[start : start + density.chunk]
                if bad := indices.problem(chunk, first=first + start):
                    return bad
                found = look_at(density, self.point, chunk, first=first + start)
                if found.forbidden:
                    return found.forbidden
        return None
