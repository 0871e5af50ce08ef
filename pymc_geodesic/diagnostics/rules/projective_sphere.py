#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Stein identities of axes: those of the sphere that do not depend on the sign."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pymc_geodesic.diagnostics.axial import along_axis, principal_axes
from pymc_geodesic.diagnostics.harmonics import Identity, stein_values
from pymc_geodesic.diagnostics.kernel_factors import Factor, kernel_factors
from pymc_geodesic.diagnostics.located import located
from pymc_geodesic.manifolds import ProjectiveSphere, Sphere


@stein_values.register
def _(
    manifold: ProjectiveSphere, x: np.ndarray, gradient: np.ndarray, *, order: int
) -> Iterator[Identity]:
    """Take only products, whatever the order: a coordinate is not a function of an axis."""
    coordinates = {name for name, _ in stein_values(Sphere(), x, gradient, order=1)}
    for name, values in stein_values(Sphere(), x, gradient, order=2):
        if name not in coordinates:
            yield name, values


@kernel_factors.register
def _(manifold: ProjectiveSphere, x: np.ndarray, gradient: np.ndarray) -> Iterator[Factor]:
    """Give the axes random signs, which makes them draws of the same density on the sphere."""
    signs = np.random.default_rng(1).choice([-1.0, 1.0], size=(*x.shape[:-1], 1))
    return kernel_factors(Sphere(), signs * x, signs * gradient)


@located.register
def _(manifold: ProjectiveSphere, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give all axes the sign that is next to the principal axis."""
    axis = principal_axes(draws)[1][..., 0, :]
    return axis, along_axis(draws, axis)
