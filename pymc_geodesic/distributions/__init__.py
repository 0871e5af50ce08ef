#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Distributions on manifolds, and their transforms."""

from pymc_geodesic.distributions import transforms
from pymc_geodesic.distributions.logistic_normal import LogisticNormal
from pymc_geodesic.distributions.matrix_fisher import MatrixFisher
from pymc_geodesic.distributions.matrix_langevin import MatrixLangevin
from pymc_geodesic.distributions.quaternions import matrix_to_quaternion, quaternion_to_matrix
from pymc_geodesic.distributions.spherical_uniform import SphericalUniform
from pymc_geodesic.distributions.symmetric_dirichlet import SymmetricDirichlet
from pymc_geodesic.distributions.uniform_rotation import UniformRotation
from pymc_geodesic.distributions.uniform_stiefel import UniformStiefel
from pymc_geodesic.distributions.von_mises_fisher import VonMisesFisher

__all__ = [
    "LogisticNormal",
    "MatrixFisher",
    "MatrixLangevin",
    "SphericalUniform",
    "SymmetricDirichlet",
    "UniformRotation",
    "UniformStiefel",
    "VonMisesFisher",
    "matrix_to_quaternion",
    "quaternion_to_matrix",
    "transforms",
]
