#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Pairs of batches, whose gradients show the noise without its mean."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.mass.arrays import Mass, joined
from pymc_geodesic.tuning.noise import in_frame

__all__ = ["N_PAIRS", "differences_in_frame", "paired_differences"]

# Pairs of batches at a point. Three of them leave an error of half of the noise in what friction
# leaves unbalanced.
N_PAIRS = 8


def differences_in_frame(
    gradient: HostGradient,
    point: Sequence[np.ndarray],
    found: Sequence[Sequence[np.ndarray]],
    mass: Mass,
) -> np.ndarray:
    """Return the :func:`paired_differences` of gradients in the frame of a mass.

    Parameters
    ----------
    gradient : HostGradient
        Gives the tangent space.
    point : sequence of ndarray
        Where the gradients are.
    found : sequence of sequence of ndarray
        Gradients of batches.
    mass : Mass
        Gives the frame.
    """
    # The last of the arrays in the frame are components along the directions of the mass.
    return paired_differences(
        np.array([joined(in_frame(gradient, point, g, mass)[:-1]) for g in found])
    )


def paired_differences(samples: np.ndarray) -> np.ndarray:
    r"""Return :math:`(g_1 - g_2) / \sqrt 2` for pairs of gradients of different batches.

    They have the covariance of the noise and, unlike deviations from a mean, are independent.

    Parameters
    ----------
    samples : ndarray, shape (batch, entry)
        Gradients of batches at one point; an odd last one is left out.
    """
    n = len(samples) // 2 * 2
    return (samples[0:n:2] - samples[1:n:2]) / np.sqrt(2)
