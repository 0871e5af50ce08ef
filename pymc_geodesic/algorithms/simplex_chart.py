#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Coordinates of the simplex for Riemannian Langevin dynamics: common parts, and step sizes.

For a log density :math:`\ell(\pi)` with respect to Lebesgue measure on the first K - 1 entries,
all formulas are in terms of the gradient in log coordinates, :math:`g_k = \pi_k \partial_k \ell`,
and of

.. math::

    h_k = g_k - \pi_k \sum_j g_j ,

so that nothing is divided by an entry near zero unless the metric requires it. The expanded
coordinates have a total :math:`r = \sum_k \theta_k` in addition to :math:`\pi`. It has the Gamma
distribution with shape s, which for a Dirichlet prior with total concentration s is the paper's
Gamma prior on :math:`\theta`. All arrays have K entries in the last axis, also in the reduced
coordinates, whose updates of the first K - 1 entries are written symmetrically.

Let :math:`\kappa` be the largest curvature relative to the Fisher metric, V the largest variance of
the gradient noise in units of the posterior, and b the tolerated relative error of a variance.
"""

from __future__ import annotations

import warnings

from abc import ABC, abstractmethod
from typing import Literal

import numpy as np

from pymc_geodesic import arrays
from pymc_geodesic.algorithms.demands import Demands
from pymc_geodesic.arrays import Array

__all__ = [
    "FLOOR",
    "Metric",
    "SimplexCoordinates",
    "cir_rule",
    "euler_rule",
    "floor_of",
    "log_folded_normal",
    "log_normal",
    "projection_of",
    "size_of",
    "total_of",
]


Metric = Literal["fisher", "identity"]

# The smallest entry of theta: a zero entry would stay zero, because its noise is zero too. The
# inverse still leaves room for counts of 1e15 before it overflows.
FLOOR = {"float64": 1e-290, "float32": 1e-30}


class SimplexCoordinates(ABC):
    r"""Coordinates :math:`\theta` of the simplex with a metric, and Euler's step in them.

    .. math::

        \theta^* = \operatorname{fold}\left(\theta + \tfrac{\epsilon}{2} [G^{-1} \nabla \log p
            + \operatorname{div} G^{-1}] + \sqrt{\epsilon}\, G^{-1/2} z\right)

    Parameters
    ----------
    shape : float or ndarray
        Shape s of the Gamma distribution of the total; only expanded coordinates have one.
    metric : {"fisher", "identity"}
        The metric G.
    """

    expanded: bool

    def __init__(self, *, shape: float | np.ndarray, metric: Metric = "fisher") -> None:
        self.shape = shape
        self.fisher = metric == "fisher"

    @abstractmethod
    def from_log(self, log_pi: Array, log_total: Array) -> Array:
        """Coordinates of a point given by log probabilities and the log of the total."""

    @abstractmethod
    def log_pi(self, theta: Array) -> Array:
        """Log probabilities, normalised."""

    def to_log(self, theta: Array) -> tuple[Array, Array]:
        """Log probabilities, and the log of the total; zero in reduced coordinates."""
        return self.log_pi(theta), arrays.zeros_like(theta[..., :1])

    @abstractmethod
    def move(self, theta: Array, g: Array, step_size: Array) -> tuple[Array, Array]:
        """Mean of Euler's step, and the standard deviation of every entry's own noise."""

    def noise(self, theta: Array, scale: Array, z: Array):
        """Noise with the covariance of the step, from standard normals."""
        return scale * z

    def fold(self, theta: Array) -> Array:
        """Bring a point that left the coordinates' domain back by reflection."""
        return theta

    def contains(self, theta: Array) -> Array:
        """Return whether a step needs no reflection that its proposal density does not include."""
        return np.array(True)

    @abstractmethod
    def log_density(self, theta: Array, log_pi_density: Array) -> Array:
        """Log density of the coordinates, from that of the probabilities; a scalar."""

    @abstractmethod
    def log_proposal(self, to: Array, mean: Array, scale: Array):
        """Log density of the folded step at ``to``, up to constants; a scalar."""


def total_of(x: Array) -> Array:
    """Sum over the last axis, which stays."""
    return x.sum(axis=-1, keepdims=True)


def size_of(theta: Array) -> Array:
    """Return the number of entries in the dtype of ``theta``: an integer would widen float32."""
    return arrays.size_along(theta, -1)


def projection_of(g: Array, pi: Array) -> Array:
    """Subtract the mean under the probabilities from a gradient."""
    return g - pi * total_of(g)


def log_normal(to, mean, scale) -> Array:
    """Log density of independent normals, up to a constant."""
    return (-0.5 * ((to - mean) / scale) ** 2 - arrays.log(scale)).sum()


def log_folded_normal(to, mean, scale) -> Array:
    """Log density of ``|x|`` for a normal x: the sum of the densities at ``to`` and ``-to``."""
    near, far = (-0.5 * ((sign * to - mean) / scale) ** 2 for sign in (1.0, -1.0))
    return (arrays.logaddexp(near, far) - arrays.log(scale)).sum()


def floor_of(theta: Array) -> np.ndarray:
    """Smallest entry that coordinates of this type may have."""
    return np.asarray(FLOOR[np.dtype(theta.dtype).name], dtype=theta.dtype)


# Reflection at zero moves the mean of an entry of concentration a by this number times rate^a of
# its standard deviations: a fit to simulated posteriors, a from 0.1 to 1, rates from 0.01 to 0.1.
REFLECTED = 0.7
# Slower chains would take thousands of transitions for a draw.
SLOWEST_RATE = 1e-3
# Errors of a mean in standard deviations above which the user is told.
TOLD_ABOVE = 0.15


def euler_rule(demands: Demands, *, total: float) -> tuple[float, dict[str, float]]:
    r"""Step size of Euler's method in expanded-mean coordinates.

    A transition brings a probability nearer to its mean by the share :math:`\rho = \epsilon \kappa
    / 2 r`, where r is the total of the coordinates. Its variance is too large by
    the share :math:`\rho (1 + V) / 2`; the limit is b. Reflection at zero moves the mean of an
    entry near zero by :math:`0.7 \rho^a` standard deviations, where a is its concentration; the
    limit is b too. Concentrations below 0.3 would need steps too small to be of use.

    Parameters
    ----------
    demands : Demands
        The measurements.
    total : float
        Smallest shape of the Gamma distributions of the totals.

    Returns
    -------
    step_size : float
        :math:`\epsilon`.
    parameters : dict
        Empty.
    """
    b, shape = demands.variance_error, max(demands.smallest_shape, 1e-3)
    rate = 2 * b / (1 + demands.noise.largest)
    if np.isfinite(shape):
        rate = min(rate, max((b / REFLECTED) ** (1 / shape), SLOWEST_RATE))
        if (error := REFLECTED * rate**shape) > TOLD_ABOVE:
            warnings.warn(
                "`SGRLD` with `dynamics='euler'` moves the means of probabilities near zero by "
                f"about {error:.1g} of their standard deviations at any useful step size, because "
                f"their smallest concentration is {shape:.2g}. Use `dynamics='cir'`.",
                UserWarning,
                stacklevel=2,
            )
    # One over the mean of 1 / r, for r with a Gamma distribution of this shape.
    typical = max(total - 1, 1.0)
    return float(2 * rate * typical / demands.curvature), {}


def cir_rule(demands: Demands) -> tuple[float, dict[str, float]]:
    r"""Step size of exact Cox-Ingersoll-Ross transitions.

    Gradient noise makes the variance of a Gamma coordinate too large by the share :math:`V \tanh
    (h / 2)`. The counts are those at the start of a step: if a share f of the information is
    missing, as in mixtures, the variance is too small by :math:`f (1 - e^{-h}) / 2`. The limit of
    both is b.
    """
    # In units of the entries' own concentrations, if they were measured.
    largest = [float(np.max(v)) for v in demands.noise.by_entry]
    b, noise = demands.variance_error, max(largest, default=demands.noise.largest)
    longest = 2 * b
    if noise > b:
        longest = min(longest, 2 * np.arctanh(b / noise))
    return float(longest), {}
