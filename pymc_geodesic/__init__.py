#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Bayesian inference on curved spaces with big data, for PyMC."""

from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

# Comes first: with an older PyMC the other modules cannot be imported.
import pymc_geodesic.requirements  # noqa: F401

# isort: split
from pymc_geodesic.minibatch_guard import install as _install_guard

if TYPE_CHECKING:
    from pymc_geodesic import datasets
    from pymc_geodesic import topic_models as topics

    # Modules of the same names make mypy think that these are defined twice.
    from pymc_geodesic.diagnostics import (  # type: ignore[no-redef]
        configurational_temperature,
        diagnose,
        fold_components,
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
        MatrixFisher,
        MatrixLangevin,
        PowerSpherical,
        ProjectedNormal,
        SphericalCauchy,
        SphericalUniform,
        SymmetricDirichlet,
        UniformBall,
        UniformRotation,
        UniformStiefel,
        VonMisesFisher,
        Watson,
        WrappedCauchy,
        WrappedNormal,
        angles_to_vectors,
        fit_bingham,
        fit_kent,
        fit_von_mises_fisher,
        fit_watson,
        matrix_to_quaternion,
        quaternion_to_matrix,
        transforms,
        vectors_to_angles,
    )
    from pymc_geodesic.groups import (
        GroupedRows,
        GroupLikelihood,
        MarginalLikelihood,
        local_posterior,
    )
    from pymc_geodesic.latents.gmc import LocalGMC
    from pymc_geodesic.manifolds import (
        Ball,
        Box,
        CholeskyCorr,
        CholeskyCov,
        Circle,
        Euclidean,
        Manifold,
        ProjectiveSphere,
        Simplex,
        SpecialOrthogonal,
        Sphere,
        Stiefel,
        manifold_of,
        register_manifold,
    )
    from pymc_geodesic.mass import TangentMass
    from pymc_geodesic.parquet import ParquetRows
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
    from pymc_geodesic.runs import RunningMoments, read, resume, sample  # type: ignore[no-redef]
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

_install_guard()

_HOMES = {
    "diagnostics": (
        "configurational_temperature",
        "diagnose",
        "fold_components",
        "kernel_stein_discrepancy",
        "kinetic_temperature",
        "stein_check",
        "step_halving",
        "summary",
        "weighted",
    ),
    "distributions": (
        "AngularCentralGaussian",
        "Bingham",
        "BivariateVonMises",
        "Cardioid",
        "Kent",
        "PowerSpherical",
        "ProjectedNormal",
        "SphericalCauchy",
        "Watson",
        "WrappedCauchy",
        "WrappedNormal",
        "angles_to_vectors",
        "fit_bingham",
        "fit_kent",
        "fit_von_mises_fisher",
        "fit_watson",
        "vectors_to_angles",
        "LogisticNormal",
        "MatrixFisher",
        "MatrixLangevin",
        "SphericalUniform",
        "SymmetricDirichlet",
        "UniformBall",
        "UniformRotation",
        "UniformStiefel",
        "VonMisesFisher",
        "matrix_to_quaternion",
        "quaternion_to_matrix",
        "transforms",
    ),
    "groups": ("GroupLikelihood", "GroupedRows", "MarginalLikelihood", "local_posterior"),
    "latents.gmc": ("LocalGMC",),
    "manifolds": (
        "Ball",
        "Box",
        "CholeskyCorr",
        "CholeskyCov",
        "Circle",
        "ProjectiveSphere",
        "Euclidean",
        "Manifold",
        "Simplex",
        "SpecialOrthogonal",
        "Sphere",
        "Stiefel",
        "manifold_of",
        "register_manifold",
    ),
    "mass": ("TangentMass",),
    "parquet": ("ParquetRows",),
    "plots": (
        "from_longitude_latitude",
        "plot_rose",
        "plot_simplex",
        "plot_sphere",
        "plot_thermostat",
        "plot_torus",
        "to_longitude_latitude",
    ),
    "potential": ("check_minibatch", "full_data"),
    "runs": ("RunningMoments", "read", "resume", "sample"),
    "schedules": ("ConstantSchedule", "CyclicalSchedule", "PolynomialSchedule"),
    "step_methods": (
        "GMC",
        "SGGMC",
        "SGHMC",
        "SGLD",
        "SGNHT",
        "SGNPHMC",
        "SGRLD",
        "GMCWithinGibbs",
        "gSGNHT",
    ),
    "topic_models.bag_of_words": ("BagOfWords",),
    "topic_models.collapsed_mean_topics": ("CollapsedMeanTopics",),
    "topic_models.latent_dirichlet_allocation": ("LatentDirichletAllocation",),
    "topic_models.plot": ("plot_topics",),
    "topic_models.spherical_admixture": ("SphericalAdmixture",),
    "tuning.directions": ("initial_directions",),
    "tuning.monte_carlo_em": ("MonteCarloEM",),
}
"""Modules of public names, which are imported on first use."""

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name, or a subpackage, on first use."""
    if name in _HOME_OF:
        value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    else:
        module = f"{__name__}.{'topic_models' if name == 'topics' else name}"
        if name.startswith("_") or find_spec(module) is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = import_module(module)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


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
    "Ball",
    "Bingham",
    "BivariateVonMises",
    "Box",
    "Cardioid",
    "CholeskyCorr",
    "CholeskyCov",
    "Circle",
    "CollapsedMeanTopics",
    "ConstantSchedule",
    "CyclicalSchedule",
    "Euclidean",
    "GMCWithinGibbs",
    "GroupLikelihood",
    "GroupedRows",
    "Kent",
    "LatentDirichletAllocation",
    "LocalGMC",
    "LogisticNormal",
    "Manifold",
    "MarginalLikelihood",
    "MatrixFisher",
    "MatrixLangevin",
    "MonteCarloEM",
    "ParquetRows",
    "PolynomialSchedule",
    "PowerSpherical",
    "ProjectedNormal",
    "ProjectiveSphere",
    "RunningMoments",
    "Simplex",
    "SpecialOrthogonal",
    "Sphere",
    "SphericalAdmixture",
    "SphericalCauchy",
    "SphericalUniform",
    "Stiefel",
    "SymmetricDirichlet",
    "TangentMass",
    "UniformBall",
    "UniformRotation",
    "UniformStiefel",
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
    "fold_components",
    "from_longitude_latitude",
    "full_data",
    "gSGNHT",
    "initial_directions",
    "kernel_stein_discrepancy",
    "kinetic_temperature",
    "local_posterior",
    "manifold_of",
    "matrix_to_quaternion",
    "plot_rose",
    "plot_simplex",
    "plot_sphere",
    "plot_thermostat",
    "plot_topics",
    "plot_torus",
    "quaternion_to_matrix",
    "read",
    "register_manifold",
    "resume",
    "sample",
    "stein_check",
    "step_halving",
    "summary",
    "to_longitude_latitude",
    "topics",
    "transforms",
    "vectors_to_angles",
    "weighted",
]
