#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""When noise that changes from place to place is balanced by halves of batches, and how."""

from __future__ import annotations

import numpy as np

from pymc_geodesic.algorithms.demands import Demands, GradientNoise
from pymc_geodesic.algorithms.tuning_rules import BEST_FRICTION

__all__ = ["halved_rule", "unbalanced_share"]

# Largest heat of a transition that halves of batches balance, in units of b. With it the standard
# deviations of group effects that are multiples of their scale are on average 1.002 times those of
# NUTS; see ``benchmarks/correctness/ridges.py``.
LARGEST_HEAT = 2.0


def unbalanced_share(found: tuple[float, dict[str, float]], noise: GradientNoise) -> float:
    r"""Return the share of the heat that friction for every entry leaves unbalanced.

    It is :math:`\epsilon U / 2 \xi` for the unbalanced noise U. By so much temperatures of single
    directions and places are too high or too low, while all averages are right.

    Parameters
    ----------
    found : tuple
        Step size and diffusion, as rules return them.
    noise : GradientNoise
        The noise of the gradient, with what stays ``unbalanced``.
    """
    step_size, parameters = found
    friction = parameters["diffusion"] + 0.5 * step_size * noise.mean
    return 0.5 * step_size * noise.unbalanced / friction


def halved_rule(demands: Demands) -> tuple[float, dict[str, float]]:
    r"""Give the step size and the diffusion if halves of batches balance the noise.

    A difference of two halves damps one direction at a time, and all directions of the noise only
    on average over transitions. This is right up to the square of the heat of a transition,
    :math:`s = \epsilon^2 \operatorname{tr} V`. What remains heats the velocities, so that the
    thermostat cools all other directions by up to :math:`s^2 / 2 \epsilon \xi`.

    Parameters
    ----------
    demands : Demands
        The measurements of the tuning phase, with the ``total`` of the noise.

    Returns
    -------
    float, dict
        Step size in posterior scales, and the diffusion.
    """
    b, total = demands.variance_error, demands.noise.total
    step_size = min(demands.stable_step, 2 * np.sqrt(b))
    if total > 0:
        step_size = min(step_size, np.sqrt(LARGEST_HEAT * b / total))
    return float(step_size), {"diffusion": BEST_FRICTION}
