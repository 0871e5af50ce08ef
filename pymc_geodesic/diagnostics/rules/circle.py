#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Stein identities of angles."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pymc_geodesic.diagnostics.direction_statistics import about_mean
from pymc_geodesic.diagnostics.harmonics import Identity, labels_of, stein_values
from pymc_geodesic.diagnostics.kernel_factors import Factor, kernel_factors
from pymc_geodesic.diagnostics.located import located
from pymc_geodesic.manifolds import Circle, Sphere
from pymc_geodesic.validation import TURNS


@stein_values.register
def _(manifold: Circle, x: np.ndarray, gradient: np.ndarray, *, order: int) -> Iterator[Identity]:
    r"""Take :math:`\cos k x` and :math:`\sin k x`, whose Laplacians are -k^2 times themselves."""
    labels = labels_of(x.shape[2:])
    x, g = (array.reshape(*array.shape[:2], -1) for array in (x, gradient))
    for i, label in enumerate(labels):
        for k in range(1, order + 1):
            angle, times = k * x[..., i], "" if k == 1 else f"{k} "
            cosine, sine = np.cos(angle), np.sin(angle)
            yield f"cos {times}{{}}{label}", -(k**2) * cosine + k * sine * g[..., i]
            yield f"sin {times}{{}}{label}", -(k**2) * sine - k * cosine * g[..., i]


@kernel_factors.register
def _(manifold: Circle, x: np.ndarray, gradient: np.ndarray) -> Iterator[Factor]:
    """Treat every angle as a unit vector in the plane."""
    vectors = np.stack([np.cos(x), np.sin(x)], axis=-1)
    tangents = np.stack([-np.sin(x), np.cos(x)], axis=-1)
    return kernel_factors(Sphere(), vectors, gradient[..., None] * tangents)


@located.register
def _(manifold: Circle, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Write angles within half a turn of the mean direction, which need not be their mean."""
    draws = about_mean(draws, TURNS["radians"])
    angles = np.arctan2(np.sin(draws).mean(axis=0), np.cos(draws).mean(axis=0))
    return angles, draws
