#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Diagnostics and summaries of the draws of stochastic-gradient samplers."""

from pymc_geodesic.diagnostics.directional import (
    angles_to,
    angles_to_axis,
    angular_sd,
    cap_radius,
    mean_direction,
    mean_resultant_length,
    principal_axes,
)
from pymc_geodesic.diagnostics.findings import Diagnosis, Finding
from pymc_geodesic.diagnostics.fold import fold_components
from pymc_geodesic.diagnostics.frames import align_frames, column_angles, mean_frame
from pymc_geodesic.diagnostics.kernel_stein import KernelSteinDiscrepancy, kernel_stein_discrepancy
from pymc_geodesic.diagnostics.stein import SteinCheck, stein_check
from pymc_geodesic.diagnostics.step_halving import StepHalving, step_halving
from pymc_geodesic.diagnostics.summary import summary
from pymc_geodesic.diagnostics.temperature import configurational_temperature, kinetic_temperature
from pymc_geodesic.diagnostics.uniformity import (
    UniformityTest,
    bingham_test,
    rayleigh_test,
    watson_test,
)
from pymc_geodesic.diagnostics.verdict import diagnose
from pymc_geodesic.diagnostics.weighted import weighted

__all__ = [
    "Diagnosis",
    "Finding",
    "KernelSteinDiscrepancy",
    "SteinCheck",
    "StepHalving",
    "UniformityTest",
    "align_frames",
    "angles_to",
    "angles_to_axis",
    "angular_sd",
    "bingham_test",
    "cap_radius",
    "column_angles",
    "configurational_temperature",
    "diagnose",
    "fold_components",
    "kernel_stein_discrepancy",
    "kinetic_temperature",
    "mean_direction",
    "mean_frame",
    "mean_resultant_length",
    "principal_axes",
    "rayleigh_test",
    "stein_check",
    "step_halving",
    "summary",
    "watson_test",
    "weighted",
]
