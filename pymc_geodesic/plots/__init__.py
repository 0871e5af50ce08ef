#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Plots of draws on manifolds and of sampler statistics."""

from pymc_geodesic.plots.circle import plot_rose, plot_torus
from pymc_geodesic.plots.frames import plot_frames
from pymc_geodesic.plots.simplex import plot_simplex
from pymc_geodesic.plots.sphere import plot_sphere
from pymc_geodesic.plots.sphere_mesh import from_longitude_latitude, to_longitude_latitude
from pymc_geodesic.plots.stereonet import plot_stereonet
from pymc_geodesic.plots.thermostat import plot_thermostat, temperature_band

__all__ = [
    "from_longitude_latitude",
    "plot_frames",
    "plot_rose",
    "plot_simplex",
    "plot_sphere",
    "plot_stereonet",
    "plot_thermostat",
    "plot_torus",
    "temperature_band",
    "to_longitude_latitude",
]
