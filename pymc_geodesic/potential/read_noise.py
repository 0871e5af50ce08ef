#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Reading the user's ``gradient_noise=``."""

from __future__ import annotations

from typing import Any

from pymc_geodesic.potential.noise_matrices import (
    FISHER_MATRIX,
    FisherMatrix,
    KnownCovariance,
    is_noise_matrix,
)
from pymc_geodesic.potential.noise_models import FisherNoise, KnownNoise, NoiseModel
from pymc_geodesic.potential.potential import Potential

__all__ = ["noise_model"]


def noise_model(
    potential: Potential, gradient_noise: Any, *, replacement: bool = True
) -> NoiseModel:
    """Return the noise model: of variances or a covariance, known or from scores."""
    if isinstance(gradient_noise, str):
        if gradient_noise not in ("fisher", FISHER_MATRIX):
            raise ValueError(
                "`gradient_noise` expected None, a number, an array, a mapping, 'fisher' or "
                f"'{FISHER_MATRIX}', got {gradient_noise!r}."
            )
        model = FisherMatrix if gradient_noise == FISHER_MATRIX else FisherNoise
        return model(potential, replacement=replacement)
    if is_noise_matrix(gradient_noise, potential.variables):
        return KnownCovariance(potential.variables, covariance=gradient_noise)
    return KnownNoise(potential, variance=gradient_noise)
