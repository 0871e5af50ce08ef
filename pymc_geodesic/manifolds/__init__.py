#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Manifolds: the geometry of one random variable each."""

from pymc_geodesic.manifolds.ball import Ball, Box
from pymc_geodesic.manifolds.base import Manifold
from pymc_geodesic.manifolds.cholesky import CholeskyCorr, CholeskyCov
from pymc_geodesic.manifolds.euclidean import Circle, Euclidean
from pymc_geodesic.manifolds.product import Point as Point
from pymc_geodesic.manifolds.product import Product
from pymc_geodesic.manifolds.registry import (
    manifold_named,
    manifold_of,
    manifolds_for,
    register_manifold,
)
from pymc_geodesic.manifolds.simplex import LogSimplex, Simplex
from pymc_geodesic.manifolds.sphere import ProjectiveSphere, Sphere
from pymc_geodesic.manifolds.stiefel import SpecialOrthogonal, Stiefel

__all__ = [
    "Ball",
    "Box",
    "CholeskyCorr",
    "CholeskyCov",
    "Circle",
    "Euclidean",
    "LogSimplex",
    "Manifold",
    "Product",
    "ProjectiveSphere",
    "Simplex",
    "SpecialOrthogonal",
    "Sphere",
    "Stiefel",
    "manifold_named",
    "manifold_of",
    "manifolds_for",
    "register_manifold",
]
