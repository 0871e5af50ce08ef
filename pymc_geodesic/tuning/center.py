#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A point of high posterior density, the center of control variates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pymc.exceptions import SamplingError

from pymc_geodesic.kernel.host_gradient import SUBSAMPLE, Evaluation, HostGradient
from pymc_geodesic.mass.arrays import Mass, joined, split
from pymc_geodesic.tuning.curvature import curvature_mass

__all__ = [
    "MOST_WHOLE",
    "Descent",
    "FarCenterError",
    "Mode",
    "Nearby",
    "descend",
    "descend_whole",
    "distance_from_mode",
    "find_center",
    "nearer_mode",
    "require_near_mode",
]

# In posterior standard deviations. A center this far from the mode costs nothing, because its
# distance from a draw is still that between draws.
TOLERANCE = 0.1
# In the same units, draws of the posterior have distance one. Control variates centered at distance
# ten have a hundred times the variance, and the curvature there is that of the tail.
FARTHEST = 10.0
# Evaluations of the energy of the subsample and of the whole data. The subsample gives a nearby
# start and the curvature, so that a few passes over the whole data are enough.
MOST_SUBSAMPLE, MOST_WHOLE = 300, 15
# Rows for each entry that tell a curvature of many entries to a tenth, if one in five matters; most
# products of a row and two entries, which take some seconds; and rounds of the search in its frame.
ROWS_EACH, MOST_PRODUCTS, MOST_ROUNDS = 50, 2 * 10**10, 3


class FarCenterError(SamplingError):
    """A center is far from where the posterior has mass."""


class Nearby(dict[str, Any]):
    """Values of a center that may be some deviations off: a search by all rows begins there."""


class Descent(NamedTuple):
    """Where a descent came to.

    Attributes
    ----------
    point : list of ndarray
        In the embedding.
    energy : float
        There.
    has_ended : bool
        Whether it ended by itself, and not because it had been long enough.
    """

    point: list[np.ndarray]
    energy: float
    has_ended: bool


class Mode(NamedTuple):
    """A mode that was searched for.

    Attributes
    ----------
    point : list of ndarray
        In the embedding.
    mass : Mass
        Mass of the curvature at the mode of a subsample of the rows.
    energy : float
        Of the subsample at its mode.
    has_ended : bool
        Whether the search ended by itself, so that it is the mode.
    """

    point: list[np.ndarray]
    mass: Mass
    energy: float
    has_ended: bool


def descend(
    evaluate: Callable[[list[np.ndarray]], Evaluation],
    start: Sequence[np.ndarray],
    *,
    project: Callable[..., list[np.ndarray]],
    mass: Mass | None = None,
    most: int,
) -> Descent:
    """Minimise the energy by L-BFGS from ``start``, in the coordinates in which ``mass`` is one.

    The energy is that of the projected point, so that the search may leave the manifold.
    """
    # Imported on first use, because it takes a quarter of a second to load.
    from scipy.optimize import minimize

    shapes = [np.shape(x) for x in start]
    rate, force = (mass.rate, mass.force) if mass is not None else (list, list)

    def point(z):
        moves = rate(split(z, shapes))
        return [np.asarray(x + move, x.dtype) for x, move in zip(start, moves, strict=True)]

    def objective(z):
        found = evaluate(point(z))
        with np.errstate(all="ignore"):
            gradient = joined(force(found.pulled_back)).astype(float)
        if not (np.isfinite(found.energy) and np.all(np.isfinite(gradient))):
            return np.inf, np.zeros_like(z)
        return found.energy, gradient

    begin = np.zeros(sum(np.size(x) for x in start))
    # Without a mass the scale is unknown, and the search stops by the energies alone.
    tolerance = TOLERANCE / np.sqrt(begin.size) if mass is not None else 0.0
    found = minimize(
        objective,
        begin,
        jac=True,
        method="L-BFGS-B",
        options={"maxfun": most, "maxiter": most, "gtol": tolerance, "ftol": 1e-12},
    )
    return Descent(list(project(*point(found.x))), float(found.fun), bool(found.success))


def descend_whole(gradient: HostGradient, start: Sequence[np.ndarray], mass: Mass) -> Descent:
    """Minimise the energy of all rows, whose minimum is near."""
    return descend(gradient.whole, start, project=gradient.project, mass=mass, most=MOST_WHOLE)


def distance_from_mode(gradient: Sequence[np.ndarray], mass: Mass) -> float:
    """Return by how many posterior standard deviations per entry a point is off the mode.

    Parameters
    ----------
    gradient : sequence of ndarray
        Gradient of the whole data's energy there, tangent to the manifold. For a normal posterior
        it is the curvature times the distance.
    mass : Mass
        Mass in whose frame the posterior has about unit curvature.
    """
    slope = joined(mass.force(list(gradient))).astype(float)
    return float(np.sqrt(np.mean(slope**2)))


def require_near_mode(gradient: Sequence[np.ndarray], mass: Mass) -> None:
    """Raise an error if a center is far from the posterior, where measurements are useless.

    Parameters are those of :func:`distance_from_mode`.

    Raises
    ------
    FarCenterError
        If the distance is more than :data:`FARTHEST` posterior standard deviations per entry.
    """
    distance = distance_from_mode(gradient, mass)
    # A gradient that is not finite is a different fault, which another check reports.
    if np.isfinite(distance) and distance > FARTHEST:
        raise FarCenterError(
            "`center` expected a point where the posterior has mass, such as `pm.find_MAP()` "
            f"returns; got one about {distance:.2g} posterior standard deviations from the mode. "
            "Leave out `center` to have it searched."
        )


def find_center(
    gradient: HostGradient,
    start: Sequence[np.ndarray],
    *,
    rows: Sequence[np.ndarray],
    curvature: Callable[[list[np.ndarray]], Mass],
) -> Mode:
    """Find a mode from ``start``: first of a subsample of the data, then of all data.

    Parameters
    ----------
    gradient : HostGradient
        Energies and gradients.
    start : sequence of ndarray
        Start in the embedding.
    rows : sequence of ndarray
        The subsample, for each source of minibatches.
    curvature : callable
        Returns the mass that fits the curvature at a point.

    Returns
    -------
    Mode
        The mode of all data, the mass at that of the subsample, and whether the first search ended.
    """
    near = descend(
        lambda x: gradient(x, rows), start, project=gradient.project, most=MOST_SUBSAMPLE
    )
    point, mass = near.point, curvature(near.point)
    if any(len(row) < n for row, n in zip(rows, gradient.n_rows, strict=True)):
        point = descend_whole(gradient, point, mass).point
    return Mode(point, mass, near.energy, near.has_ended)


def nearer_mode(
    gradient: HostGradient, point: Sequence[np.ndarray], *, rng: np.random.Generator
) -> tuple[list[np.ndarray], Mass]:
    """Find the mode of all rows where entries are many, and the mass of the curvature there.

    The mode of a subsample is then several deviations away, where the curvature is another.

    Parameters
    ----------
    gradient : HostGradient
        Energies and gradients.
    point : sequence of ndarray
        A point near it.
    rng : Generator
        Source of the rows that tell the curvature.
    """
    point, size = list(point), sum(map(np.size, point))
    n_rows = max(SUBSAMPLE, min(ROWS_EACH * size, MOST_PRODUCTS // size**2))
    for i in range(MOST_ROUNDS):
        rows = gradient.rows(rng, n_rows)
        mass = curvature_mass(gradient, point, rows=rows, rng=rng)
        slope = gradient.whole(point).pulled_back
        if i == MOST_ROUNDS - 1 or distance_from_mode(slope, mass) <= TOLERANCE:
            break
        point = descend_whole(gradient, point, mass).point
    return point, mass
