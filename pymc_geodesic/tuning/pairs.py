#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Pairs of batches, whose gradients show the noise without its mean."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

import numpy as np

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.mass.arrays import Mass, joined
from pymc_geodesic.tuning.batch_gradients import gradients_of_batches, in_frame

__all__ = ["differences_at", "paired_differences"]

# Pairs of batches at a point. Three of them leave an error of half of the noise in what friction
# leaves unbalanced.
N_PAIRS = 8


def differences_at(
    gradient: HostGradient,
    points: Sequence[Sequence[np.ndarray]],
    *,
    mass: Mass,
    center: Sequence[np.ndarray] | None,
    rng: np.random.Generator,
    same_rows: bool,
) -> np.ndarray:
    """Return :func:`paired_differences` of gradients at several points, in the frame of a mass.

    Parameters
    ----------
    gradient : HostGradient
        Gradients of the model.
    points : sequence of sequence of ndarray
        Where to measure.
    mass : Mass
        Gives the frame.
    center : sequence of ndarray, optional
        Center of the control variates; without it gradients are plain.
    rng : numpy.random.Generator
        Draws the rows; copies are used, so that the chain's own draws do not depend on it.
    same_rows : bool
        Whether all points see the same batches.

    Returns
    -------
    ndarray, shape (point, pair, entry)
        The last of the arrays in the frame, components along directions, are left out.
    """
    found, own = [], deepcopy(rng)
    for point in points:
        own = deepcopy(rng) if same_rows else own
        n = 2 * N_PAIRS
        here, changes = gradients_of_batches(gradient, point, center=center, n=n, rng=own)
        in_frames = [in_frame(gradient, point, g, mass)[:-1] for g in changes or here]
        found.append(paired_differences(np.array([joined(arrays) for arrays in in_frames])))
    return np.array(found)


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
