#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Several starts for the search of a mode, and the best of them.

A model's own start puts all components of a mixture at the same point. Their gradients are then
equal, and a search from there never separates them.
"""

from __future__ import annotations

import math

from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import NamedTuple

import numpy as np

from pymc.model import Model

from pymc_geodesic.kernel.host_gradient import SUBSAMPLE, HostGradient
from pymc_geodesic.manifolds import Manifold
from pymc_geodesic.stages import stage
from pymc_geodesic.tuning.center import descend
from pymc_geodesic.tuning.curvature import curvature_mass
from pymc_geodesic.tuning.mixture_starts import mixture_starts

__all__ = ["best_starts", "default_start", "is_default", "jittered", "scattered"]

# Largest move on a manifold that is not flat, so that the weights of a simplex stay inside.
LARGEST_ANGLE = 0.5
# Rows and evaluations of a trial descent: enough to distinguish basins, fewer than the search.
N_ROWS, MOST_EVALUATIONS = 1_000, 60
# Subsamples with which a start must have a finite energy: a column of money overflows in few rows.
N_CHECKED = 2
# Random points, the farthest of which is nearly opposite to a point alone.
N_DRAWN = 8
# Jitter that separates coinciding components, but leaves them nearby.
NEARBY = 0.2
# If the first trials end at the energy of the model's own start, no others are made.
N_FIRST, N_TRIALS = 2, 16
# Trials from clusters that must end at the lowest energy to spare the others, up to this share of
# what clusters gain: a small one among thirty gains a thousandth.
N_LOWEST, LOWEST = 3, 1e-4
# Starts that are returned if they differ, as a long search needs.
N_STARTS = 4
# Share of the energy that a descent gains: modes this close explain the data equally well.
SAME = 1e-3
# Differences below one are ignored, whatever the gain.
LEAST_GAIN = 1.0


class Trial(NamedTuple):
    """The end of a short descent."""

    point: list[np.ndarray]
    energy: float


def default_start(
    model: Model, names: Sequence[str], *, point: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return the start of the variables for which the model gives no ``initval``.

    Parameters
    ----------
    model : Model
        The model.
    names : sequence of str
        Names of value variables.
    point : mapping
        The model's initial point.

    Returns
    -------
    dict of str to ndarray
        PyMC's values; variables with an ``initval`` are left out.
    """
    given = {
        model.rvs_to_values[rv].name
        for rv, value in model.rvs_to_initial_values.items()
        if value is not None and rv in model.rvs_to_values
    }
    return {name: np.asarray(point[name]) for name in names if name not in given}


def is_default(
    start: Mapping[str, np.ndarray], point: Mapping[str, np.ndarray], names: Sequence[str]
) -> list[bool]:
    """Return for each variable whether its start is PyMC's default rather than the user's."""
    return [name in start and np.array_equal(start[name], point[name]) for name in names]


def jittered(
    gradient: HostGradient,
    point: Sequence[np.ndarray],
    *,
    movable: Sequence[bool],
    rng: np.random.Generator,
    size: float = 1.0,
) -> list[np.ndarray]:
    """Move the variables that are ``movable`` in random directions, each on its manifold.

    Entries of flat space move by a uniform number between -1 and 1 times ``size``, as with PyMC's
    own jitter. Points of other manifolds move by up to half as much along a geodesic.
    """
    noise = [
        _move(x, factor, size, rng) if is_movable else np.zeros_like(x)
        for x, is_movable, factor in zip(point, movable, gradient.manifold.factors, strict=True)
    ]
    moves = gradient.to_tangent(*point, *noise)
    moved = gradient.geodesic(*point, *moves, np.asarray(1.0, point[0].dtype))[: len(point)]
    return _folded(gradient, moved)


def scattered(
    gradient: HostGradient,
    point: Sequence[np.ndarray],
    *,
    movable: Sequence[bool],
    rng: np.random.Generator,
) -> list[np.ndarray]:
    """Jitter a point, put coinciding points of a variable anywhere, and a point alone far away.

    A mean direction may be opposite to the model's own start. A regression can then turn it by
    slopes that are far too large, which is a mode of its own.
    """
    chosen = jittered(gradient, point, movable=movable, rng=rng)
    numbers = [
        i
        for i, (x, factor) in enumerate(zip(point, gradient.manifold.factors, strict=True))
        if movable[i] and not factor.is_flat and _coincide(x, factor)
    ]
    drawn = [_drawn(gradient, point, numbers, rng) for _ in range(N_DRAWN)]
    near = [gradient.representatives.of_point(one, point) for one in drawn]
    for i in numbers:
        chosen[i] = drawn[0][i]
        if gradient.manifold.factors[i].core_shape(point[i].shape) == point[i].shape:
            distances = [np.sum((x[i] - point[i]) ** 2) for x in near]
            chosen[i] = drawn[int(np.argmax(distances))][i]
    return _folded(gradient, chosen)


def _varied_alone(
    gradient: HostGradient, point: Sequence[np.ndarray], number: int, *, rng: np.random.Generator
) -> list[np.ndarray]:
    """Give one variable another value: anywhere on a curved manifold, nearby in flat space."""
    movable = [i == number for i in range(len(point))]
    if gradient.manifold.factors[number].is_flat:
        return jittered(gradient, point, movable=movable, rng=rng)
    drawn = _drawn(gradient, point, [number], rng)
    return [x if free else y for x, y, free in zip(drawn, point, movable, strict=True)]


def _drawn(
    gradient: HostGradient,
    point: Sequence[np.ndarray],
    numbers: Sequence[int],
    rng: np.random.Generator,
) -> list[np.ndarray]:
    """Draw variables with these numbers at random on their manifolds."""
    noise = [
        rng.standard_normal(x.shape).astype(x.dtype) if i in numbers else x
        for i, x in enumerate(point)
    ]
    return list(gradient.random_point(*noise))


def _folded(gradient: HostGradient, point: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Choose the representative without negative entries of a point of the simplex."""
    return list(gradient.to_points(*gradient.to_values(*point)))


@stage("Searching a start")
def best_starts(
    gradient: HostGradient,
    start: Sequence[np.ndarray],
    *,
    movable: Sequence[bool],
    rng: np.random.Generator,
) -> list[list[np.ndarray]]:
    """Return the most promising start for the search of a mode, and then others if they differ.

    Short descents on few rows begin at ``start``, and alternately at jittered starts around it and
    near the end of the first descent. There coinciding components have the width of all data, and
    separate as in annealing. If the first descents agree, ``start`` is kept. Otherwise the lowest
    energy wins, provided that by Laplace's approximation its mode has more probability than that of
    ``start``: a spike, such as that of a hierarchy with a vanishing scale, has a low energy but
    no probability.

    Parameters
    ----------
    gradient : HostGradient
        Energies and gradients.
    start : sequence of ndarray
        The model's start, in the embedding.
    movable : sequence of bool
        Whether each variable may move: those without a start given by the user.
    rng : Generator
        Generator of the chain.
    """
    start = list(start)
    if not any(movable):
        return [start]
    mixtures = mixture_starts(gradient)
    n_rows = N_ROWS if mixtures is None else mixtures.n_rows(start)
    rows = [row[:n_rows] for row in gradient.rows(rng, n_rows)]

    def tried(point):
        end = descend(
            lambda x: gradient(x, rows), point, project=gradient.project, most=MOST_EVALUATIONS
        ).point
        return Trial(end, _energy(gradient, end, rows))

    def varied(number):
        return _varied_alone(gradient, own.point, number, rng=rng)

    def another(number):
        if mixtures is not None:
            near = jittered(gradient, own.point, movable=movable, rng=rng, size=NEARBY)
            found = mixtures.start(near, rng)
            return [x if free else y for x, y, free in zip(found, start, movable, strict=True)]
        if number % 2:
            return scattered(gradient, start, movable=movable, rng=rng)
        return jittered(gradient, own.point, movable=movable, rng=rng, size=NEARBY)

    own = tried(start)
    if mixtures is not None:
        mixtures.look(own.point, rows=rows, varied=varied)
    gained = _energy(gradient, start, rows) - own.energy
    tolerance = max(LEAST_GAIN, SAME * gained) if np.isfinite(gained) else LEAST_GAIN
    trials: list[Trial] = []
    for number in range(N_TRIALS):
        trials.append(tried(another(number)))
        agree = all(abs(trial.energy - own.energy) <= tolerance for trial in trials)
        if agree and len(trials) == N_FIRST:
            return [start]
        if mixtures is not None and _is_found(trials, own):
            break
    other = deepcopy(rng)
    many = [gradient.rows(other, SUBSAMPLE) for _ in range(N_CHECKED)]
    found = sorted(trials, key=lambda trial: trial.energy)[:N_STARTS]
    found = [x for x in found if all(np.isfinite(_energy(gradient, x.point, y)) for y in many)]
    if not found:
        return [start]
    best = found[0]
    is_lower, score = best.energy < own.energy - tolerance, partial(_score, gradient, rows, rng)
    if is_lower and (not np.isfinite(own.energy) or score(best) < score(own)):
        return [trial.point for trial in found]
    return [start, *(trial.point for trial in found[: N_STARTS - 1])]


def _score(
    gradient: HostGradient, rows: Sequence[np.ndarray], rng: np.random.Generator, trial: Trial
) -> float:
    """Return minus the logarithm of the probability of a mode, by Laplace's approximation."""
    mass = curvature_mass(gradient, trial.point, rows=rows, rng=rng, dense=False)
    pairs = zip(mass.arrays, gradient.manifold.dims, strict=True)
    return trial.energy - sum(dim * float(np.mean(np.log(width))) for width, dim in pairs)


def _is_found(trials: Sequence[Trial], own: Trial) -> bool:
    """Return whether several trials have ended at the lowest energy of all."""
    energies = np.array([trial.energy for trial in trials])
    tolerance = max(LEAST_GAIN, LOWEST * (own.energy - energies.min()))
    return int(np.sum(energies <= energies.min() + tolerance)) >= N_LOWEST


def _energy(gradient: HostGradient, point, rows) -> float:
    energy = gradient(point, rows).energy
    return energy if np.isfinite(energy) else np.inf


def _move(x: np.ndarray, manifold: Manifold, size: float, rng: np.random.Generator) -> np.ndarray:
    noise = size * rng.uniform(-1, 1, x.shape)
    if not manifold.is_flat:
        noise *= LARGEST_ANGLE / np.sqrt(math.prod(manifold.core_shape(x.shape)))
    return noise.astype(x.dtype)


def _coincide(x: np.ndarray, manifold: Manifold) -> bool:
    """Return whether all points of a variable are equal, as one alone is."""
    points = x.reshape(-1, *manifold.core_shape(x.shape))
    return bool(np.all(points == points[0]))
