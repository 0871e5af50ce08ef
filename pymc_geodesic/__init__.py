#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Bayesian inference on curved spaces with big data, for PyMC."""

from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

# Comes first: with an older PyMC the other modules cannot be imported.
import pymc_geodesic.requirements  # noqa: F401

# isort: split
from pymc_geodesic.minibatch_guard import install as _install_guard

__version__ = version("pymc_geodesic")

_install_guard()

_HOMES = {
    "calibration": ("calibrate",),
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
    "diagnostics.leave_one_out": ("loo",),
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
        "stick_breaking",
        "transforms",
    ),
    "groups": ("GroupLikelihood", "GroupedRows", "MarginalLikelihood"),
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
    "mass": ("FrameMass", "TangentMass"),
    "parquet": ("ParquetRows",),
    "plots": (
        "from_longitude_latitude",
        "plot_frames",
        "plot_rose",
        "plot_simplex",
        "plot_sphere",
        "plot_stereonet",
        "plot_thermostat",
        "plot_torus",
        "to_longitude_latitude",
    ),
    "potential": ("check_minibatch", "full_data"),
    "predictions": ("membership", "predict"),
    "rows": ("minibatch",),
    "runs": (
        "RunningMoments",
        "find_starts",
        "local_posterior",
        "read",
        "refine",
        "resume",
        "sample",
        "save",
        "update",
    ),
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

__all__ = sorted([*_HOME_OF, "datasets", "directions", "topics"])


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
