#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Stein identities of flat space."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pymc_geodesic.diagnostics.harmonics import Identity, labels_of, pairs_of, stein_values
from pymc_geodesic.diagnostics.kernel_factors import Factor, FlatFactor, kernel_factors, positive
from pymc_geodesic.manifolds import Euclidean


@stein_values.register
def _(
    manifold: Euclidean, x: np.ndarray, gradient: np.ndarray, *, order: int
) -> Iterator[Identity]:
    """Take coordinates, -g_i, and centred products, delta_ij - (x_i g_j + x_j g_i) / 2."""
    labels = labels_of(x.shape[2:])
    x, g = (array.reshape(*array.shape[:2], -1) for array in (x, gradient))
    x = x - x.mean(axis=(0, 1))
    for i, label in enumerate(labels):
        yield f"{{}}{label}", -g[..., i]
    if order < 2:
        return
    for i, label in enumerate(labels):
        yield f"{{}}{label}^2", 1 - x[..., i] * g[..., i]
    for i, j in pairs_of(len(labels)):
        value = -0.5 * (x[..., i] * g[..., j] + x[..., j] * g[..., i])
        yield f"{{}}{labels[i]} {{}}{labels[j]}", value


@kernel_factors.register
def _(manifold: Euclidean, x: np.ndarray, gradient: np.ndarray) -> Iterator[Factor]:
    """Standardise every entry by its own standard deviation."""
    x, g = (array.reshape(len(array), -1) for array in (x, gradient))
    sd = positive(x.std(axis=0))
    yield FlatFactor((x - x.mean(axis=0)) / sd, -g * sd, x.shape[1])
