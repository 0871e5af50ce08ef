#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Bayesian inference on curved spaces with big data, for PyMC."""

from importlib.metadata import version

# Comes first: with an older PyMC the other modules cannot be imported.
import pymc_geodesic.requirements  # noqa: F401

# isort: split
from pymc_geodesic import datasets
from pymc_geodesic import topic_models as topics
from pymc_geodesic.diagnostics import (
    RunningMoments,
    configurational_temperature,
    diagnose,
    kernel_stein_discrepancy,
    kinetic_temperature,
    stein_check,
    step_halving,
    summary,
    weighted,
)
from pymc_geodesic.distributions import (
    AngularCentralGaussian,
    Bingham,
    BivariateVonMises,
    Cardioid,
    Kent,
    LogisticNormal,
    PowerSpherical,
    ProjectedNormal,
    SphericalCauchy,
    SphericalUniform,
    SymmetricDirichlet,
    VonMisesFisher,
    Watson,
    WrappedCauchy,
    WrappedNormal,
    angles_to_vectors,
    fit_bingham,
    fit_kent,
    fit_von_mises_fisher,
    fit_watson,
    transforms,
    vectors_to_angles,
)
from pymc_geodesic.latents.gmc import LocalGMC
from pymc_geodesic.manifolds import (
    Circle,
    Euclidean,
    Manifold,
    ProjectiveSphere,
    Simplex,
    Sphere,
    manifold_of,
    register_manifold,
)
from pymc_geodesic.plots import (
    from_longitude_latitude,
    plot_rose,
    plot_simplex,
    plot_sphere,
    plot_thermostat,
    plot_torus,
    to_longitude_latitude,
)
from pymc_geodesic.potential import check_minibatch, full_data
from pymc_geodesic.run_record import install as install_run_record
from pymc_geodesic.schedules import ConstantSchedule, CyclicalSchedule, PolynomialSchedule
from pymc_geodesic.step_methods import (
    GMC,
    SGGMC,
    SGHMC,
    SGLD,
    SGNHT,
    SGNPHMC,
    SGRLD,
    GMCWithinGibbs,
    gSGNHT,
)
from pymc_geodesic.topic_models.bag_of_words import BagOfWords
from pymc_geodesic.topic_models.collapsed_mean_topics import CollapsedMeanTopics
from pymc_geodesic.topic_models.latent_dirichlet_allocation import LatentDirichletAllocation
from pymc_geodesic.topic_models.plot import plot_topics
from pymc_geodesic.topic_models.spherical_admixture import SphericalAdmixture
from pymc_geodesic.tuning.directions import initial_directions
from pymc_geodesic.tuning.monte_carlo_em import MonteCarloEM

__version__ = version("pymc_geodesic")

install_run_record()

__all__ = [
    "GMC",
    "SGGMC",
    "SGHMC",
    "SGLD",
    "SGNHT",
    "SGNPHMC",
    "SGRLD",
    "AngularCentralGaussian",
    "BagOfWords",
    "Bingham",
    "BivariateVonMises",
    "Cardioid",
    "Circle",
    "CollapsedMeanTopics",
    "ConstantSchedule",
    "CyclicalSchedule",
    "Euclidean",
    "GMCWithinGibbs",
    "Kent",
    "LatentDirichletAllocation",
    "LocalGMC",
    "LogisticNormal",
    "Manifold",
    "MonteCarloEM",
    "PolynomialSchedule",
    "PowerSpherical",
    "ProjectedNormal",
    "ProjectiveSphere",
    "RunningMoments",
    "Simplex",
    "Sphere",
    "SphericalAdmixture",
    "SphericalCauchy",
    "SphericalUniform",
    "SymmetricDirichlet",
    "VonMisesFisher",
    "Watson",
    "WrappedCauchy",
    "WrappedNormal",
    "angles_to_vectors",
    "check_minibatch",
    "configurational_temperature",
    "datasets",
    "diagnose",
    "fit_bingham",
    "fit_kent",
    "fit_von_mises_fisher",
    "fit_watson",
    "from_longitude_latitude",
    "full_data",
    "gSGNHT",
    "initial_directions",
    "kernel_stein_discrepancy",
    "kinetic_temperature",
    "manifold_of",
    "plot_rose",
    "plot_simplex",
    "plot_sphere",
    "plot_thermostat",
    "plot_topics",
    "plot_torus",
    "register_manifold",
    "stein_check",
    "step_halving",
    "summary",
    "to_longitude_latitude",
    "topics",
    "transforms",
    "vectors_to_angles",
    "weighted",
]
