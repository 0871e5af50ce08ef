#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Measuring the noise of minibatch gradients, plain and with control variates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.algorithms.tuning_rules import GradientNoise
from pymc_geodesic.kernel.host_gradient import HostGradient
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
    flat: Sequence[bool],
    point_dims: Sequence[int],
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
                there = gradient(center, rows).gradient
                change = [a - b for a, b in zip(found, there, strict=True)]
                changed.append(_in_frame(gradient, point, change, mass))
        plain.append(_variance(here))
        if center is not None:
            controlled.append(_variance(changed))
    summary = _summary(plain, flat, point_dims)
    return summary, _summary(controlled, flat, point_dims) if center is not None else None


def _in_frame(gradient: HostGradient, point, vector, mass: Mass) -> list[np.ndarray]:
    return mass.force(gradient.to_tangent(*point, *vector))


def _variance(samples: Sequence[Sequence[np.ndarray]]) -> list[np.ndarray]:
    return [np.var(np.array(arrays), axis=0, ddof=1) for arrays in zip(*samples, strict=True)]


def _summary(variances, flat: Sequence[bool], point_dims: Sequence[int]) -> GradientNoise:
    total, size, largest = 0.0, 0, 0.0
    for arrays, is_flat, dim in zip(zip(*variances, strict=True), flat, point_dims, strict=True):
        entries = np.mean(np.array(arrays), axis=0)
        # A curved point has fewer directions than entries, and its mean is over the directions. An
        # entry has no more noise than the noisiest direction, but next to a facet of a simplex far
        # more than the mean.
        means = entries if is_flat else entries.sum(axis=-1) / dim
        total, size = total + float(entries.sum()), size + means.size * (1 if is_flat else dim)
        largest = max(largest, float(np.max(means)), float(np.max(entries)))
    return GradientNoise(total / size, largest)
