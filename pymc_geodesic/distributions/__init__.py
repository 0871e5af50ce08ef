#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Distributions on manifolds, and their transforms."""

from pymc_geodesic.distributions import transforms
from pymc_geodesic.distributions.angles import WrappedNormal
from pymc_geodesic.distributions.bingham import Bingham
from pymc_geodesic.distributions.bivariate_von_mises import BivariateVonMises
from pymc_geodesic.distributions.coordinates import (
    angles_to_vectors,
    matrix_to_quaternion,
    quaternion_to_matrix,
    vectors_to_angles,
)
from pymc_geodesic.distributions.frames import UniformRotation
from pymc_geodesic.distributions.kent import Kent
from pymc_geodesic.distributions.kent_fit import fit_kent
from pymc_geodesic.distributions.logistic_normal import LogisticNormal
from pymc_geodesic.distributions.matrix_fisher import MatrixFisher
from pymc_geodesic.distributions.matrix_langevin import MatrixLangevin
from pymc_geodesic.distributions.maximum_likelihood import (
    fit_bingham,
    fit_von_mises_fisher,
    fit_watson,
)
from pymc_geodesic.distributions.probability_vectors import stick_breaking
from pymc_geodesic.distributions.projected_normal import AngularCentralGaussian, ProjectedNormal
from pymc_geodesic.distributions.spherical_cauchy import SphericalCauchy
from pymc_geodesic.distributions.spherical_uniform import SphericalUniform, UniformBall
from pymc_geodesic.distributions.symmetric_dirichlet import SymmetricDirichlet
from pymc_geodesic.distributions.uniform_stiefel import UniformStiefel
from pymc_geodesic.distributions.von_mises_fisher import PowerSpherical, VonMisesFisher
from pymc_geodesic.distributions.watson import Watson
from pymc_geodesic.distributions.wrapped_cauchy import Cardioid, WrappedCauchy

__all__ = [
    "AngularCentralGaussian",
    "Bingham",
    "BivariateVonMises",
    "Cardioid",
    "Kent",
    "LogisticNormal",
    "MatrixFisher",
    "MatrixLangevin",
    "PowerSpherical",
    "ProjectedNormal",
    "SphericalCauchy",
    "SphericalUniform",
    "SymmetricDirichlet",
    "UniformBall",
    "UniformRotation",
    "UniformStiefel",
    "VonMisesFisher",
    "Watson",
    "WrappedCauchy",
    "WrappedNormal",
    "angles_to_vectors",
    "fit_bingham",
    "fit_kent",
    "fit_von_mises_fisher",
    "fit_watson",
    "matrix_to_quaternion",
    "quaternion_to_matrix",
    "stick_breaking",
    "transforms",
    "vectors_to_angles",
]
