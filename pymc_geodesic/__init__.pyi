#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The public names, for type checkers and editors; ``__init__.py`` imports them on first use."""

from pymc_geodesic import datasets as datasets
from pymc_geodesic import directions as directions
from pymc_geodesic import topic_models as topic_models
from pymc_geodesic.calibration import calibrate as calibrate
from pymc_geodesic.diagnostics import (
    configurational_temperature as configurational_temperature,
    diagnose as diagnose,
    fold_components as fold_components,
    kernel_stein_discrepancy as kernel_stein_discrepancy,
    kinetic_temperature as kinetic_temperature,
    stein_check as stein_check,
    step_halving as step_halving,
    summary as summary,
    weighted as weighted,
)
from pymc_geodesic.diagnostics.leave_one_out import loo as loo
from pymc_geodesic.distributions import (
    AngularCentralGaussian as AngularCentralGaussian,
    Bingham as Bingham,
    BivariateVonMises as BivariateVonMises,
    Cardioid as Cardioid,
    Kent as Kent,
    LogisticNormal as LogisticNormal,
    MatrixFisher as MatrixFisher,
    MatrixLangevin as MatrixLangevin,
    PowerSpherical as PowerSpherical,
    ProjectedNormal as ProjectedNormal,
    SphericalCauchy as SphericalCauchy,
    SphericalUniform as SphericalUniform,
    SymmetricDirichlet as SymmetricDirichlet,
    UniformBall as UniformBall,
    UniformRotation as UniformRotation,
    UniformStiefel as UniformStiefel,
    VonMisesFisher as VonMisesFisher,
    Watson as Watson,
    WrappedCauchy as WrappedCauchy,
    WrappedNormal as WrappedNormal,
    angles_to_vectors as angles_to_vectors,
    fit_bingham as fit_bingham,
    fit_kent as fit_kent,
    fit_von_mises_fisher as fit_von_mises_fisher,
    fit_watson as fit_watson,
    matrix_to_quaternion as matrix_to_quaternion,
    quaternion_to_matrix as quaternion_to_matrix,
    stick_breaking as stick_breaking,
    transforms as transforms,
    vectors_to_angles as vectors_to_angles,
)
from pymc_geodesic.groups import (
    GroupedRows as GroupedRows,
    GroupLikelihood as GroupLikelihood,
    MarginalLikelihood as MarginalLikelihood,
)
from pymc_geodesic.latents.gmc import LocalGMC as LocalGMC
from pymc_geodesic.manifolds import (
    Ball as Ball,
    Box as Box,
    CholeskyCorr as CholeskyCorr,
    CholeskyCov as CholeskyCov,
    Circle as Circle,
    Euclidean as Euclidean,
    Manifold as Manifold,
    ProjectiveSphere as ProjectiveSphere,
    Simplex as Simplex,
    SpecialOrthogonal as SpecialOrthogonal,
    Sphere as Sphere,
    Stiefel as Stiefel,
    manifold_of as manifold_of,
    register_manifold as register_manifold,
)
from pymc_geodesic.mass import FrameMass as FrameMass
from pymc_geodesic.mass import TangentMass as TangentMass
from pymc_geodesic.parquet import ParquetRows as ParquetRows
from pymc_geodesic.plots import (
    from_longitude_latitude as from_longitude_latitude,
    plot_frames as plot_frames,
    plot_rose as plot_rose,
    plot_simplex as plot_simplex,
    plot_sphere as plot_sphere,
    plot_stereonet as plot_stereonet,
    plot_thermostat as plot_thermostat,
    plot_torus as plot_torus,
    to_longitude_latitude as to_longitude_latitude,
)
from pymc_geodesic.potential import check_minibatch as check_minibatch, full_data as full_data
from pymc_geodesic.predictions import membership as membership, predict as predict
from pymc_geodesic.rows import minibatch as minibatch
from pymc_geodesic.runs import (
    RunningMoments as RunningMoments,
    find_starts as find_starts,
    local_posterior as local_posterior,
    read as read,
    refine as refine,
    resume as resume,
    sample as sample,
    save as save,
    update as update,
)
from pymc_geodesic.schedules import (
    ConstantSchedule as ConstantSchedule,
    CyclicalSchedule as CyclicalSchedule,
    PolynomialSchedule as PolynomialSchedule,
)
from pymc_geodesic.step_methods import (
    GMC as GMC,
    SGGMC as SGGMC,
    SGHMC as SGHMC,
    SGLD as SGLD,
    SGNHT as SGNHT,
    SGNPHMC as SGNPHMC,
    SGRLD as SGRLD,
    GMCWithinGibbs as GMCWithinGibbs,
    gSGNHT as gSGNHT,
)
from pymc_geodesic.topic_models.bag_of_words import BagOfWords as BagOfWords
from pymc_geodesic.topic_models.collapsed_mean_topics import (
    CollapsedMeanTopics as CollapsedMeanTopics,
)
from pymc_geodesic.topic_models.latent_dirichlet_allocation import (
    LatentDirichletAllocation as LatentDirichletAllocation,
)
from pymc_geodesic.topic_models.plot import plot_topics as plot_topics
from pymc_geodesic.topic_models.spherical_admixture import SphericalAdmixture as SphericalAdmixture
from pymc_geodesic.tuning.directions import initial_directions as initial_directions
from pymc_geodesic.tuning.monte_carlo_em import MonteCarloEM as MonteCarloEM

__version__: str
topics = topic_models
