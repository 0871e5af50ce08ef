#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""From a PyMC model to the gradient of its potential energy on manifolds."""

from pymc_geodesic.potential.estimator import (
    ControlVariateEstimator,
    HalvedEstimator,
    MinibatchEstimator,
)
from pymc_geodesic.potential.full_data import full_data
from pymc_geodesic.potential.local import LocalExpectation
from pymc_geodesic.potential.noise_models import FisherNoise, KnownNoise
from pymc_geodesic.potential.potential import Potential
from pymc_geodesic.potential.random_gradients import check_minibatch

__all__ = [
    "ControlVariateEstimator",
    "FisherNoise",
    "HalvedEstimator",
    "KnownNoise",
    "LocalExpectation",
    "MinibatchEstimator",
    "Potential",
    "check_minibatch",
    "full_data",
]
