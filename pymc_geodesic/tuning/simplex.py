#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Measurements on the probability simplex, for Langevin dynamics in coordinates of their own.

A posterior with a sparse prior has no mode: its density is infinite at corners. It has a mean,
where the drift of the Fisher metric is zero. With :math:`g_k = \pi_k \partial_k U` the drift is

.. math::

    D_k = a_k - \pi_k \sum_j a_j, \qquad a_k = 1 - g_k .

For multinomial counts the :math:`a_k` are the concentrations of the posterior, and the mean is
:math:`a_k / \sum_j a_j`. The curvature :math:`\kappa` is the largest eigenvalue of
:math:`-\partial D / \partial \pi`, relative to the metric: :math:`\sum_j a_j` for counts, and less
if labels are missing. Around its mean the posterior is about Dirichlet(:math:`\kappa \pi`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.algorithms.demands import GradientNoise
from pymc_geodesic.algorithms.simplex_chart import FLOOR, SMALLEST_SHAPE
from pymc_geodesic.kernel.host_gradient import HostGradient

__all__ = ["find_mean", "largest_curvature", "measure_noise", "near", "scattered"]

Point = Sequence[np.ndarray]

# One step finds the mean of counts. Where labels are missing, steps shrink the distance by the
# share of the information that is missing.
MOST_STEPS, STEPS_PER_CURVATURE = 200, 10
# Distance from the mean at which the search ends, in posterior standard deviations.
NEAR_ENOUGH = 0.1
# Power iteration, as for other manifolds.
N_POWER = 12
# Batches at all points together: they determine a variance over eight points to a tenth.
N_BATCHES = 192


def find_mean(
    gradient: HostGradient,
    start: Point,
    *,
    rows: Sequence[np.ndarray],
    rng: np.random.Generator,
) -> tuple[list[np.ndarray], float]:
    """Follow the drift to where it is zero: on a subsample, then on all rows.

    Returns
    -------
    point : list of ndarray
        Log probabilities of the mean.
    curvature : float
        Largest curvature there, relative to the Fisher metric.
    """
    point = [np.maximum(x, np.log(FLOOR[x.dtype.name])) for x in start]
    curvature = 1.0
    for i in range(MOST_STEPS):
        if i % STEPS_PER_CURVATURE == 0:
            curvature = largest_curvature(gradient, [point], rows=rows, rng=rng)
        point, distance = _stepped(point, gradient(point, rows).gradient, curvature)
        if distance < NEAR_ENOUGH:
            break
    # A subsample determines the mean of a million rows to ten standard deviations only.
    for _ in range(2 if gradient.n_rows else 0):
        point, _ = _stepped(point, gradient.whole(point).gradient, curvature)
    return point, largest_curvature(gradient, [point], rows=rows, rng=rng)


def _stepped(point: Point, slopes: Point, curvature: float) -> tuple[list[np.ndarray], float]:
    """Take a step of the drift, and return its length in posterior standard deviations."""
    moved, farthest = [], 0.0
    for x, g in zip(point, slopes, strict=True):
        pi = np.exp(x)
        # With counts a longer step would go beyond the mean. A corner shows no curvature.
        rate = np.maximum(curvature, np.abs(1 - g).sum(axis=-1, keepdims=True))
        change = _drift(x, g) / rate
        new = np.maximum(pi + change, 0.25 * pi)
        new = new / new.sum(axis=-1, keepdims=True)
        squares = 4 * rate * (np.sqrt(new) - np.sqrt(pi)) ** 2
        farthest = max(farthest, float(np.sqrt(np.max(squares.mean(axis=-1)))))
        moved.append(np.log(np.maximum(new, FLOOR[x.dtype.name])).astype(x.dtype))
    return moved, farthest


def _drift(x: np.ndarray, slope: np.ndarray) -> np.ndarray:
    shapes = 1 - slope
    return shapes - np.exp(x) * shapes.sum(axis=-1, keepdims=True)


def largest_curvature(
    gradient: HostGradient,
    points: Sequence[Point],
    *,
    rows: Sequence[np.ndarray],
    rng: np.random.Generator,
) -> float:
    """Largest curvature at some points relative to the Fisher metric, by power iteration."""
    return max(_curvature_at(gradient, point, rows, rng) for point in points)


def _curvature_at(gradient: HostGradient, point: Point, rows, rng: np.random.Generator) -> float:
    roots = [np.exp(0.5 * x.astype(float)) for x in point]
    # Entries so small that a difference over them would be below the rounding of the others.
    least = np.finfo(point[0].dtype).eps ** 0.25
    vector = [np.where(r > least, rng.standard_normal(r.shape), 0.0) for r in roots]
    value = 0.0
    for _ in range(N_POWER):
        # Directions of unit vectors of square roots, tangent to the sphere.
        pairs = zip(vector, roots, strict=True)
        vector = [v - r * (v * r).sum(axis=-1, keepdims=True) for v, r in pairs]
        length = np.sqrt(sum(float(np.sum(v**2)) for v in vector))
        if not (np.isfinite(length) and length > least):
            break
        vector = [v / length for v in vector]
        logs = [_ratio(v, r, least) for v, r in zip(vector, roots, strict=True)]
        largest = max(float(np.max(np.abs(t))) for t in logs)
        width = np.cbrt(np.finfo(point[0].dtype).eps) / largest
        ends = [
            [np.asarray(x + sign * width * t, x.dtype) for x, t in zip(point, logs, strict=True)]
            for sign in (1, -1)
        ]
        ahead, behind = ([_drift(*pair) for pair in _at(gradient, end, rows)] for end in ends)
        change = [(b - a) / (2 * width) for a, b in zip(ahead, behind, strict=True)]
        vector = [_ratio(c, r, least) for c, r in zip(change, roots, strict=True)]
        value = np.sqrt(sum(float(np.sum(v**2)) for v in vector))
    return value


def _ratio(vector: np.ndarray, root: np.ndarray, least: float) -> np.ndarray:
    return np.where(root > least, vector / np.maximum(root, least), 0.0)


def _at(gradient: HostGradient, end: Point, rows) -> list[tuple[np.ndarray, np.ndarray]]:
    """Log probabilities, normalised, and the gradient there."""
    projected = [np.asarray(x) for x in gradient.project(*end)]
    return list(zip(projected, gradient(projected, rows).gradient, strict=True))


def near(point: Point, curvature: float, rng: np.random.Generator) -> list[np.ndarray]:
    """Draw from the Dirichlet distributions that have the mean and the curvature."""
    drawn = []
    for x in point:
        floor = FLOOR[x.dtype.name]
        shapes = np.maximum(curvature * np.exp(x), SMALLEST_SHAPE)
        gammas = np.maximum(rng.gamma(shapes), floor)
        drawn.append(np.log(gammas / gammas.sum(axis=-1, keepdims=True)).astype(x.dtype))
    return drawn


def scattered(start: Point, movable: Sequence[bool], rng: np.random.Generator) -> list[np.ndarray]:
    """Replace starts that nobody has given by uniform draws, so that components differ."""
    uniform = [
        np.log(gammas / gammas.sum(axis=-1, keepdims=True)).astype(x.dtype)
        for x in start
        for gammas in [rng.standard_exponential(x.shape)]
    ]
    pairs = zip(start, uniform, movable, strict=True)
    return [drawn if is_movable else x for x, drawn, is_movable in pairs]


def measure_noise(
    gradient: HostGradient,
    points: Sequence[Point],
    *,
    curvature: float,
    center: Point | None,
    rng: np.random.Generator,
) -> tuple[GradientNoise, GradientNoise | None]:
    r"""Measure the noise of the drift in units of a point, :math:`V_k / \max(\kappa \pi_k, a_k)`.

    Plain, and relative to a center if there is one. Near zero the noise of labels vanishes, and
    that of their difference from the center does not.
    """
    n_batches = max(2, N_BATCHES // len(points))
    plain: list[list[np.ndarray]] = []
    controlled: list[list[np.ndarray]] = []
    for point in points:
        rows = [gradient.rows(rng) for _ in range(n_batches)]
        here = [one.gradient for one in gradient.many([point] * n_batches, rows)]
        units = [
            np.maximum(np.maximum(curvature * np.exp(x), 1 - g), SMALLEST_SHAPE)
            for x, g in zip(point, _means(here), strict=True)
        ]
        plain.append(_variances(point, here, units))
        if center is not None:
            there = [one.gradient for one in gradient.many([center] * n_batches, rows)]
            changes = [
                [a - b for a, b in zip(*both, strict=True)]
                for both in zip(here, there, strict=True)
            ]
            controlled.append(_variances(point, changes, units))
    return _noise_of(plain), _noise_of(controlled) if center is not None else None


def _means(points: Sequence[Point]) -> list[np.ndarray]:
    return [np.mean(np.array(arrays), axis=0) for arrays in zip(*points, strict=True)]


def _variances(point: Point, slopes: Sequence[Point], units: Point) -> list[np.ndarray]:
    drifts = [[_drift(*pair) for pair in zip(point, one, strict=True)] for one in slopes]
    columns = zip(zip(*drifts, strict=True), units, strict=True)
    return [np.var(np.array(arrays), axis=0, ddof=1) / unit for arrays, unit in columns]


def _noise_of(shares: Sequence[Point]) -> GradientNoise:
    found = _means(shares)
    # The sum over entries of V / pi has a direction less than there are entries.
    mean = float(np.mean([np.mean(v.sum(axis=-1) / (v.shape[-1] - 1)) for v in found]))
    return GradientNoise(mean, max(float(np.max(v)) for v in found))
