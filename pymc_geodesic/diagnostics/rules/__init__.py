#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The rules of the checks and means of draws for each manifold of the package, one file each.

Other manifolds register their own rules with ``stein_values`` of
:mod:`pymc_geodesic.diagnostics.harmonics`, ``kernel_factors`` of
:mod:`pymc_geodesic.diagnostics.kernel_factors` and ``located`` of
:mod:`pymc_geodesic.diagnostics.located`.
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
