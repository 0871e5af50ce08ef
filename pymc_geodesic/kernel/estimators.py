#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The estimator of gradients that a kernel uses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from pymc_geodesic.kernel.interface import CenterArrays
from pymc_geodesic.manifolds import Product
from pymc_geodesic.potential import (
    ControlVariateEstimator,
    HalvedEstimator,
    MinibatchEstimator,
)
from pymc_geodesic.potential.estimate import PotentialEnergy
from pymc_geodesic.potential.estimator import Halved
from pymc_geodesic.potential.noise_models import NoiseModel

__all__ = ["MakeEstimator", "estimator_for"]

MakeEstimator = Callable[..., MinibatchEstimator | HalvedEstimator]
"""Makes an estimator from what changes between transitions: ``indices``, ``width``, ``memory``."""


def estimator_for(
    potential: PotentialEnergy,
    noise_model: NoiseModel,
    *,
    manifold: Product,
    center: CenterArrays,
    halves: Halved | None,
) -> MakeEstimator:
    """Return a function that makes the estimator of a transition.

    Parameters
    ----------
    potential : PotentialEnergy
        Gives energies and gradients.
    noise_model : NoiseModel
        Model of the gradient's noise.
    manifold : Product
        Gives the frame of velocities and gradients.
    center : CenterArrays
        The center of control variates; empty without.
    halves : {"all", "curved"} or None
        Variables whose noise is estimated, together with gradients, from the two halves of a batch.

    Returns
    -------
    callable
        See :data:`MakeEstimator`.
    """
    make: Callable[..., MinibatchEstimator] = MinibatchEstimator
    if center.point:
        point, at_center = (tuple(arrays) for arrays in center)
        make = partial(ControlVariateEstimator, center=point, center_gradient=at_center)
    make = partial(make, potential, noise_model, manifold=manifold)
    return make if halves is None else partial(_halved, make, halves)


def _halved(make: Callable[..., MinibatchEstimator], which: Halved, **batch) -> HalvedEstimator:
    return HalvedEstimator(make(**batch), which=which)
