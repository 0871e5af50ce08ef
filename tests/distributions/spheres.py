#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Distributions of unit vectors with asymmetric parameters, and integrals over spheres."""

from typing import Any, NamedTuple

import numpy as np

import pymc_geodesic as pmg

ROTATION = np.linalg.qr(np.array([[1.0, 2.0, -0.5], [0.3, -1.0, 2.0], [1.5, 0.4, 1.0]]))[0]
MU = ROTATION[:, 0]
MATRIX = (ROTATION * [7.0, 3.0, -2.0]) @ ROTATION.T
COV = (ROTATION * [0.2, 1.0, 4.0]) @ ROTATION.T


class Case(NamedTuple):
    """A distribution on the sphere in three dimensions, and whether x and -x are the same."""

    distribution: Any
    parameters: dict[str, Any]
    axial: bool


CASES = {
    "vMF": Case(pmg.VonMisesFisher, {"mu": MU, "kappa": 4.0}, False),
    "Watson": Case(pmg.Watson, {"mu": MU, "kappa": 3.0}, True),
    "Watson-girdle": Case(pmg.Watson, {"mu": MU, "kappa": -6.0}, True),
    "Bingham": Case(pmg.Bingham, {"A": MATRIX}, True),
    "ACG": Case(pmg.AngularCentralGaussian, {"cov": COV}, True),
    "PowerSpherical": Case(pmg.PowerSpherical, {"mu": MU, "kappa": 5.0}, False),
    "SphericalCauchy": Case(pmg.SphericalCauchy, {"mu": MU, "rho": 0.6}, False),
    "Kent": Case(pmg.Kent, {"frame": ROTATION, "kappa": 6.0, "beta": 2.0}, False),
    "Kent-bimodal": Case(pmg.Kent, {"frame": ROTATION, "kappa": 3.0, "beta": 5.0}, False),
    "ProjectedNormal": Case(pmg.ProjectedNormal, {"mu": 1.5 * MU, "cov": COV}, False),
}


def sphere_points(n_heights=120, n_angles=160):
    """Points and weights of a product rule over the sphere in three dimensions."""
    t, weights = np.polynomial.legendre.leggauss(n_heights)
    angles = np.arange(n_angles) * 2 * np.pi / n_angles
    radius = np.sqrt(1 - t**2)[:, None]
    x = np.stack(
        [radius * np.cos(angles), radius * np.sin(angles), np.repeat(t[:, None], n_angles, 1)], -1
    )
    weights = np.repeat(weights[:, None], n_angles, 1) * 2 * np.pi / n_angles
    return x.reshape(-1, 3), weights.ravel()


def circle_points(n=400):
    """Points of the circle and the weight of each."""
    angles = (np.arange(n) + 0.25) * 2 * np.pi / n
    return np.stack([np.cos(angles), np.sin(angles)], -1), 2 * np.pi / n
