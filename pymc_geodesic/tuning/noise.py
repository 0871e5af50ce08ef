#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Measuring the noise of minibatch gradients, plain and with control variates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.algorithms.tuning_rules import GradientNoise
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.manifolds import Product
from pymc_geodesic.mass.arrays import Mass

__all__ = ["measure_noise"]

# Batches at each point: a variance from eight points with so many is good to a tenth.
N_BATCHES = 24


def measure_noise(
    gradient: HostGradient,
    points: Sequence[Sequence[np.ndarray]],
    *,
    mass: Mass,
    center: Sequence[np.ndarray] | None,
    rng: np.random.Generator,
) -> tuple[GradientNoise, GradientNoise | None]:
    """Measure the noise at some points: plain, and relative to a center if there is one."""
    plain, controlled = [], []
    for point in points:
        here, changed = [], []
        for _ in range(N_BATCHES):
            rows = gradient.rows(rng)
            found = gradient(point, rows).gradient
            here.append(_in_frame(gradient, point, found, mass))
            if center is not None:
                there = gradient(gradient.nearest(*center, *point), rows).gradient
                change = [a - b for a, b in zip(found, there, strict=True)]
                changed.append(_in_frame(gradient, point, change, mass))
        plain.append(_variance(here))
        if center is not None:
            controlled.append(_variance(changed))
    manifold = gradient.manifold
    summary = _summary(plain, manifold)
    return summary, _summary(controlled, manifold) if center is not None else None


def _in_frame(gradient: HostGradient, point, vector, mass: Mass) -> list[np.ndarray]:
    return mass.force(gradient.to_tangent(*point, *vector))


def _variance(samples: Sequence[Sequence[np.ndarray]]) -> list[np.ndarray]:
    return [np.var(np.array(arrays), axis=0, ddof=1) for arrays in zip(*samples, strict=True)]


def _summary(variances, manifold: Product) -> GradientNoise:
    total, largest = 0.0, 0.0
    arrays_of = zip(*variances, strict=True)
    for arrays, factor, dim in zip(arrays_of, manifold.factors, manifold.point_dims, strict=True):
        entries = np.mean(np.array(arrays), axis=0)
        # A curved point has fewer directions than entries, and its mean is over the directions. An
        # entry has no more noise than the noisiest direction, but next to a facet of a simplex far
        # more than the mean.
        means = factor.over_core(entries) / dim
        total += float(entries.sum())
        largest = max(largest, float(np.max(means)), float(np.max(entries)))
    return GradientNoise(total / manifold.dim, largest)
