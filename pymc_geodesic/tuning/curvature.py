#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Curvature of the potential by differences of gradients, and the mass that fits it."""

from __future__ import annotations

import math

from collections.abc import Callable, Sequence

import numpy as np

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.mass.arrays import JointMass, Mass, VariableMasses, joined, split
from pymc_geodesic.mass.form import LARGEST_DENSE

__all__ = ["curvature_mass", "frame_curvature", "largest_curvature", "tangent_curvature"]

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

Gradient = Callable[[Sequence[np.ndarray]], list[np.ndarray]]


def curvature_mass(
    gradient: HostGradient,
    point: Sequence[np.ndarray],
    *,
    rows: Sequence[np.ndarray],
    rng: np.random.Generator,
    dense: bool = True,
) -> Mass:
    """Return the mass that gives the posterior near ``point`` unit curvature in its frame.

    Dense if ``dense``, all manifolds take it and entries are not too many, else diagonal, with a
    number for each point of a variable whose manifold takes no more.
    """

    def at(x):
        return gradient(x, rows).pulled_back

    shapes = [np.shape(x) for x in point]
    dtype = point[0].dtype
    size = sum(math.prod(shape) for shape in shapes)
    factors = gradient.manifold.factors
    if dense and all(factor.mass == "matrix" for factor in factors) and size <= LARGEST_DENSE:
        columns = [
            joined(_change(at, point, split(direction, shapes))) for direction in np.eye(size)
        ]
        return JointMass(_positive(np.array(columns)), shapes=shapes, dtype=dtype.name)
    masses = [
        _mean_curvature(gradient, at, point, i, rng)
        if factor.mass == "number"
        else _diagonal(at, point, i, rng)
        for i, factor in enumerate(factors)
    ]
    return VariableMasses(masses, dense=[False] * len(masses), shapes=shapes, dtype=dtype.name)


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

    def at(x):
        return gradient(x, rows).pulled_back

    vector = [rng.standard_normal(np.shape(x)) for x in point]
    value = 0.0
    for _ in range(N_POWER):
        length = np.linalg.norm(joined(vector))
        if not np.isfinite(length) or length == 0:
            return value
        vector = [v / length for v in vector]
        moves = [np.asarray(d, x.dtype) for d, x in zip(mass.rate(vector), point, strict=True)]
        rates = gradient.to_tangent(*point, *moves)
        change = mass.force(_change(at, point, rates, step=half_width))
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

    def at(x):
        return gradient(x, rows).pulled_back

    x = point[i].astype(float)
    across = np.eye(len(x)) - np.outer(x, x)
    columns = [_change(at, point, _only(point, i, unit))[i] for unit in np.eye(len(x))]
    matrix = across @ np.array(columns, dtype=float) @ across
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

    def at(x):
        return gradient(x, rows).pulled_back

    def change(direction):
        return _change(at, point, _only(point, i, direction))[i]

    x = point[i].astype(float)
    pairs = []
    for a, b in zip(*np.triu_indices(x.shape[1], 1), strict=True):
        turn = np.zeros_like(x)
        turn[:, b], turn[:, a] = x[:, a], -x[:, b]
        pairs.append(np.sum(change(turn) * turn))
    total, squares = np.zeros(x.shape[1]), np.zeros(x.shape[1])
    for _ in range(N_DIRECTIONS):
        noise = rng.standard_normal(x.shape)
        out = noise - x @ (x.T @ noise)
        total += (change(out) * out).sum(axis=0)
        squares += (out**2).sum(axis=0)
    return total / squares, np.array(pairs)


def _change(at: Gradient, point, direction, *, step: float | None = None) -> list[np.ndarray]:
    """Differentiate the gradient along ``direction`` by a central difference."""
    largest = max(float(np.max(np.abs(d), initial=0.0)) for d in direction)
    if largest == 0:
        return [np.zeros_like(x) for x in point]
    size = max(1.0, *(float(np.max(np.abs(x), initial=0.0)) for x in point))
    step = DIFFERENCE * size / largest if step is None else step
    ahead, behind = (
        at([np.asarray(x + s * d, x.dtype) for x, d in zip(point, direction, strict=True)])
        for s in (step, -step)
    )
    return [(a - b) / (2 * step) for a, b in zip(ahead, behind, strict=True)]


def _diagonal(at: Gradient, point, i: int, rng: np.random.Generator) -> np.ndarray:
    shape, size = np.shape(point[i]), np.size(point[i])
    is_exact = size <= LARGEST_EXACT
    probes: np.ndarray = np.eye(size) if is_exact else rng.choice([-1.0, 1.0], (N_PROBES, size))
    total = np.zeros(shape)
    for probe in probes.reshape(-1, *shape):
        found = probe * _change(at, point, _only(point, i, probe))[i]
        total += found if is_exact else found / N_PROBES
    return _floored(total)


def _only(point, i: int, probe: np.ndarray) -> list[np.ndarray]:
    return [probe if j == i else np.zeros_like(x) for j, x in enumerate(point)]


def _mean_curvature(
    gradient: HostGradient, at: Gradient, point, i: int, rng: np.random.Generator
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
        ahead, behind = (
            gradient.geodesic(*point, *direction, np.asarray(s, point[i].dtype))
            for s in (DIFFERENCE, -DIFFERENCE)
        )
        slopes = [
            factor.over_core(at(moved[:n])[i] * moved[n:][i], keepdims=True).astype(float)
            for moved in (ahead, behind)
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
