#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Curvature of the potential by differences of gradients, and the mass that fits it."""

from __future__ import annotations

import math

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import batched

import numpy as np

from pymc_geodesic.kernel.all_rows import gradients_along
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.mass.arrays import LARGEST_DENSE, JointMass, Mass, VariableMasses, joined, split

__all__ = [
    "curvature_mass",
    "frame_curvature",
    "largest_curvature",
    "second_derivatives",
    "tangent_curvature",
]

# Up to this number, entries are measured separately; more are measured by random directions.
LARGEST_EXACT = 300
N_PROBES = 64
N_DIRECTIONS = 8
N_POWER = 12
# Cube root of the rounding error, which balances rounding and curvature in central differences.
DIFFERENCE = 6e-6
# Curvatures below this share of the largest, or negative ones, are replaced by it: the posterior is
# then not Gaussian there, and only draws show its width.
SMALLEST_SHARE = 1e-8

# Directions whose gradients are evaluated at once: they take memory.
N_AT_ONCE = 32

Point = Sequence[np.ndarray]
Gradients = Callable[[Sequence[Point]], list[list[np.ndarray]]]
"""Gradients at several points."""


def curvature_mass(
    gradient: HostGradient,
    point: Sequence[np.ndarray],
    *,
    rows: Sequence[np.ndarray],
    rng: np.random.Generator,
    dense: bool = True,
) -> Mass:
    """Return the mass that gives the posterior near ``point`` unit curvature in its frame.

    Dense if ``dense`` and all manifolds take it, else diagonal, with a number for each point of a
    variable whose manifold takes no more.
    """
    at = _with_rows(gradient, rows)
    shapes = [np.shape(x) for x in point]
    dtype = point[0].dtype
    factors = gradient.manifold.factors
    if dense and all(factor.mass == "matrix" for factor in factors):
        matrix = _positive(second_derivatives(gradient, point, rows=rows))
        return JointMass(matrix, shapes=shapes, dtype=dtype.name)
    masses = [
        _mean_curvature(gradient, at, point, i, rng)
        if factor.mass == "number"
        else _diagonal(at, point, i, rng)
        for i, factor in enumerate(factors)
    ]
    return VariableMasses(masses, dense=[False] * len(masses), shapes=shapes, dtype=dtype.name)


def second_derivatives(
    gradient: HostGradient, point: Sequence[np.ndarray], *, rows: Sequence[np.ndarray]
) -> np.ndarray:
    """Return the second derivatives of the energy of the projected point, a matrix over entries.

    They are zero along directions across the manifold.
    """
    shapes = [np.shape(x) for x in point]
    size = sum(math.prod(shape) for shape in shapes)
    if size > LARGEST_DENSE and not gradient.interprets:
        return _of_many_entries(gradient, point, rows)
    directions = [split(unit, shapes) for unit in np.eye(size)]
    changes = _changes(_with_rows(gradient, rows), point, directions)
    return np.array([joined(change) for change in changes], dtype=float)


def _of_many_entries(
    gradient: HostGradient, point: Sequence[np.ndarray], rows: Sequence[np.ndarray]
) -> np.ndarray:
    shapes = [np.shape(x) for x in point]
    size = sum(math.prod(shape) for shape in shapes)
    # Zeros after the last unit vector: another number of them would compile anew.
    units = np.eye(-(-size // N_AT_ONCE) * N_AT_ONCE, size)
    blocks = [
        gradients_along(gradient, point, split(some, shapes), rows)
        for some in units.reshape(-1, N_AT_ONCE, size)
    ]
    found = [np.concatenate([x.reshape(N_AT_ONCE, -1) for x in one], axis=1) for one in blocks]
    return np.concatenate(found)[:size].astype(float)


def largest_curvature(
    gradient: HostGradient,
    point: Sequence[np.ndarray],
    *,
    rows: Sequence[np.ndarray],
    mass: Mass,
    rng: np.random.Generator,
    half_width: float | None = None,
) -> float:
    """Largest curvature at ``point`` in the frame of ``mass``, by power iteration.

    Computed by differences over an infinitesimal distance, or over ``half_width`` to both sides, in
    units of the frame.
    """
    at = _with_rows(gradient, rows)
    vector = [rng.standard_normal(np.shape(x)) for x in point]
    value = 0.0
    for _ in range(N_POWER):
        length = np.linalg.norm(joined(vector))
        if not np.isfinite(length) or length == 0:
            return value
        vector = [v / length for v in vector]
        moves = [np.asarray(d, x.dtype) for d, x in zip(mass.rate(vector), point, strict=True)]
        rates = gradient.to_tangent(*point, *moves)
        [moved] = _changes(at, point, [rates], step=half_width)
        change = mass.force(moved)
        value = float(sum(np.sum(v * c) for v, c in zip(vector, change, strict=True)))
        vector = change
    return abs(value)


def tangent_curvature(
    gradient: HostGradient,
    point: Sequence[np.ndarray],
    i: int,
    *,
    rows: Sequence[np.ndarray],
) -> np.ndarray:
    """Second derivatives along great circles through a unit vector, the variable of number ``i``.

    A symmetric matrix over its entries, zero along the vector itself.
    """
    x = point[i].astype(float)
    across = np.eye(len(x)) - np.outer(x, x)
    directions = [_only(point, i, unit) for unit in np.eye(len(x))]
    found = _changes(_with_rows(gradient, rows), point, directions)
    matrix = across @ np.array([change[i] for change in found], dtype=float) @ across
    return 0.5 * (matrix + matrix.T)


def frame_curvature(
    gradient: HostGradient,
    point: Sequence[np.ndarray],
    i: int,
    *,
    rows: Sequence[np.ndarray],
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Second derivatives of the parts in which a frame moves, the variable of number ``i``.

    For each column the mean over random directions across the space of all columns, shape ``(p,)``,
    and for each pair of columns that along their rotation in their plane.
    """
    x = point[i].astype(float)
    turns = []
    for a, b in zip(*np.triu_indices(x.shape[1], 1), strict=True):
        turn = np.zeros_like(x)
        turn[:, b], turn[:, a] = x[:, a], -x[:, b]
        turns.append(turn)
    noises = (rng.standard_normal(x.shape) for _ in range(N_DIRECTIONS))
    outs = [noise - x @ (x.T @ noise) for noise in noises]
    directions = [_only(point, i, direction) for direction in [*turns, *outs]]
    changes = [found[i] for found in _changes(_with_rows(gradient, rows), point, directions)]
    pairs = [np.sum(change * turn) for change, turn in zip(changes, turns, strict=False)]
    across = np.array(changes[len(turns) :])
    means = np.sum(across * outs, axis=(0, 1)) / np.sum(np.square(outs), axis=(0, 1))
    return means, np.array(pairs)


def _with_rows(gradient: HostGradient, rows: Sequence[np.ndarray]) -> Gradients:
    def at(points: Sequence[Point]) -> list[list[np.ndarray]]:
        return [found.pulled_back for found in gradient.many(points, [rows] * len(points))]

    return at


def _changes(
    at: Gradients, point: Point, directions: Iterable[Point], *, step: float | None = None
) -> Iterator[list[np.ndarray]]:
    """Differentiate the gradient along each direction by a central difference."""
    size = max(1.0, *(float(np.max(np.abs(x), initial=0.0)) for x in point))
    for some in batched(directions, N_AT_ONCE):
        lengths = [max(float(np.max(np.abs(d), initial=0.0)) for d in one) for one in some]
        # Nothing changes along a direction that is zero, whatever the step.
        steps = [
            DIFFERENCE * size / (length or 1.0) if step is None else step for length in lengths
        ]
        ends = [
            [np.asarray(x + s * d, x.dtype) for x, d in zip(point, one, strict=True)]
            for one, half in zip(some, steps, strict=True)
            for s in (half, -half)
        ]
        found = at(ends)
        for ahead, behind, half in zip(found[::2], found[1::2], steps, strict=True):
            yield [(a - b) / (2 * half) for a, b in zip(ahead, behind, strict=True)]


def _diagonal(at: Gradients, point, i: int, rng: np.random.Generator) -> np.ndarray:
    shape, size = np.shape(point[i]), np.size(point[i])
    is_exact = size <= LARGEST_EXACT
    probes: np.ndarray = np.eye(size) if is_exact else rng.choice([-1.0, 1.0], (N_PROBES, size))
    total = np.zeros(shape)
    shaped = probes.reshape(-1, *shape)
    changes = _changes(at, point, (_only(point, i, probe) for probe in shaped))
    for probe, change in zip(shaped, changes, strict=True):
        found = probe * change[i]
        total += found if is_exact else found / N_PROBES
    return _floored(total)


def _only(point, i: int, probe: np.ndarray) -> list[np.ndarray]:
    return [probe if j == i else np.zeros_like(x) for j, x in enumerate(point)]


def _mean_curvature(
    gradient: HostGradient, at: Gradients, point, i: int, rng: np.random.Generator
) -> np.ndarray:
    """Average over tangent directions of the second derivative along geodesics, for each point.

    Points move together, each in a direction of its own, so that what one does to another cancels.
    """
    n, manifold = len(point), gradient.manifold
    factor = manifold.factors[i]
    total = np.zeros(factor.mass_shape(np.shape(point[i])))
    for _ in range(N_DIRECTIONS):
        noise = rng.standard_normal(np.shape(point[i]))
        direction = gradient.to_tangent(*point, *_only(point, i, noise))
        both = [
            gradient.geodesic(*point, *direction, np.asarray(s, point[i].dtype))
            for s in (DIFFERENCE, -DIFFERENCE)
        ]
        slopes = [
            factor.over_core(found[i] * moved[n:][i], keepdims=True).astype(float)
            for found, moved in zip(at([moved[:n] for moved in both]), both, strict=True)
        ]
        total += (slopes[0] - slopes[1]) / (2 * DIFFERENCE)
    mean = _floored(total / (N_DIRECTIONS * manifold.point_dims[i]))
    # The size of a compact one is a scale of its own: a flat density must not send a point around
    # in no time.
    return np.maximum(mean, 1.0) if factor.is_compact else mean


def _floored(curvature: np.ndarray) -> np.ndarray:
    largest = float(np.max(np.abs(curvature), initial=0.0))
    if not np.isfinite(largest) or largest == 0:
        return np.ones_like(curvature)
    return np.maximum(np.abs(curvature), SMALLEST_SHARE * largest)


def _positive(matrix: np.ndarray) -> np.ndarray:
    if not np.all(np.isfinite(matrix)):
        return np.eye(len(matrix))
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    return (vectors * _floored(values)) @ vectors.T
