#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What the checks of draws know of each manifold that comes with the package, one file each.

A manifold elsewhere registers its own with ``stein_values`` of
:mod:`pymc_geodesic.diagnostics.harmonics` and ``kernel_factors`` of
:mod:`pymc_geodesic.diagnostics.kernel_factors`.
"""

from pymc_geodesic.diagnostics.rules import (
    circle,
    euclidean,
    projective_sphere,
    simplex,
    sphere,
    stiefel,
)

__all__ = ["circle", "euclidean", "projective_sphere", "simplex", "sphere", "stiefel"]
