#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Rules that compute step size and friction from measurements.

In the frame of the mass the posterior has about unit variance. Let :math:`\lambda` be the largest
curvature there, V the variance of the gradient's noise, and :math:`b` twice the accuracy: the
tolerated relative error of a variance. It is split equally between two errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pymc.exceptions import SamplingError

__all__ = [
    "Demands",
    "GradientNoise",
    "Rule",
    "balanced_rule",
    "friction_rule",
    "langevin_rule",
    "require_step_size",
    "thermostat_rule",
]

# In the frame of the mass all frequencies are about one. With friction xi a coordinate has the
# autocorrelation time xi, and its square (1 + xi^2) / 2 xi: one is best for the worse of the two.
BEST_FRICTION = 1.0
# Share of the stability limit 2 / sqrt(curvature) of a step: curvature varies over the posterior,
# and nonlinear forces cause further errors.
LARGEST_STEP = 0.5
# Some noise must be injected for the thermostat to be ergodic.
LEAST_INJECTED = 0.05


class GradientNoise(NamedTuple):
    """Variance of a minibatch gradient in the frame of unit mass.

    Attributes
    ----------
    mean, largest : float
        Over the entries of all variables. For a point on a curved manifold the mean is over its
        directions, which are fewer than its entries.
    by_entry : tuple of ndarray
        Variance of each entry, for each variable. On a curved manifold it is the mean over the
        directions of a point, for all its entries.
    """

    mean: float
    largest: float
    by_entry: tuple[np.ndarray, ...] = ()


class Demands(NamedTuple):
    """The quantities that limit the step size.

    Attributes
    ----------
    noise : GradientNoise
        Noise of the estimator in use.
    curvature : float
        Largest curvature in the frame.
    accuracy : float
        Tolerated error, in posterior standard deviations.
    """

    noise: GradientNoise
    curvature: float
    accuracy: float

    @property
    def variance_error(self) -> float:
        """Tolerated relative error of a variance, b."""
        return 2 * self.accuracy

    @property
    def stable_step(self) -> float:
        """Step size that the curvature allows."""
        return LARGEST_STEP / np.sqrt(max(self.curvature, 1e-12))


Rule = Callable[[Demands], tuple[float, dict[str, float]]]
"""Maps measurements to a step size and parameters."""


def require_step_size(step_size: float, demands: Demands) -> None:
    """Raise an error if the step size follows from measurements that are not finite.

    Raises
    ------
    SamplingError
        If the step size is not a positive, finite number.
    """
    if not (np.isfinite(step_size) and step_size > 0):
        raise SamplingError(
            "The tuning phase expected a finite curvature and gradient noise around the start of "
            f"the chain, got a largest curvature of {demands.curvature:.3g} and a noise of "
            f"{demands.noise.largest:.3g} in units of the posterior. Pass other `initvals`, write "
            "scales and rates on the log scale, or pass a `step_size`."
        )


def thermostat_rule(demands: Demands) -> tuple[float, dict[str, float]]:
    r"""Give the step size, in posterior scales, and the diffusion of a thermostat.

    Its friction settles at :math:`\xi = A + \epsilon \bar V / 2`. Positions are too wide by
    :math:`(\xi \epsilon)^2 / 8`, and the noisiest direction is too hot by
    :math:`\epsilon (V_{max} - \bar V) / 2 \xi`. The limit of each error is b / 2.
    """
    b = demands.variance_error
    excess = max(demands.noise.largest - demands.noise.mean, 0.0)
    product = 2 * np.sqrt(b)
    # Friction needed at a step size: for its noise, for differences of the noise, and for mixing.
    per_step = max(excess / b, (0.5 + LEAST_INJECTED) * demands.noise.mean)
    step_size = min(demands.stable_step, product / BEST_FRICTION)
    if per_step > 0:
        step_size = min(step_size, np.sqrt(product / per_step))
    friction = max(BEST_FRICTION, per_step * step_size)
    diffusion = friction - 0.5 * step_size * demands.noise.mean
    return float(step_size), {"diffusion": float(diffusion)}


def balanced_rule(demands: Demands) -> tuple[float, dict[str, float]]:
    r"""Give the step size and the diffusion if friction balances the noise of each entry.

    Each entry has the friction :math:`\xi_i = A + \epsilon V_i / 2`, so that none is too hot. Only
    the correlations of the noise remain, which cause the share :math:`\epsilon V_i / 2 \xi_i` of
    the heat; the limit of its average is b. Variances are too large by :math:`\epsilon^2 / 4` in
    most directions, whose curvature is about one. Thousands of entries that are all slightly too
    wide change the scale of their distribution by much more than each of them changes, so the limit
    of this error is only a twentieth of b.
    """
    b, mean = demands.variance_error, demands.noise.mean
    step_size = min(demands.stable_step, np.sqrt(b / 5))
    if mean > 0:
        # If step size times friction exceeds one, a step forgets its velocity.
        step_size = min(step_size, np.sqrt(2 * b / mean))
    return float(step_size), {"diffusion": float(max(BEST_FRICTION, step_size * mean / (2 * b)))}


def friction_rule(demands: Demands) -> tuple[float, dict[str, float]]:
    r"""Give the step size, in posterior scales, and the friction if the noise is not known.

    The temperature is too high by :math:`\epsilon V_{max} / 2 C`. The limit of this error is b.
    """
    b = demands.variance_error
    per_step = 0.5 * demands.noise.largest / b
    step_size = min(demands.stable_step, 1 / BEST_FRICTION)
    if per_step > 0:
        # If step size times friction exceeds one, a step forgets its velocity and only diffuses.
        step_size = min(step_size, np.sqrt(1 / per_step))
    return float(step_size), {"friction": float(max(BEST_FRICTION, per_step * step_size))}


def langevin_rule(demands: Demands) -> tuple[float, dict[str, float]]:
    r"""Step size of first-order Langevin dynamics, in units of a variance.

    Its variances are too large by :math:`\epsilon \lambda / 4` and by :math:`\epsilon V_{max} / 4`.
    """
    b = demands.variance_error
    return float(2 * b / max(demands.curvature, demands.noise.largest, 1e-12)), {}
