#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Coordinates of the simplex for Riemannian Langevin dynamics: common parts.

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
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal

import numpy as np

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array

__all__ = [
    "FLOOR",
    "SMALLEST_SHAPE",
    "Metric",
    "SimplexCoordinates",
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
# A concentration below it is one that was not estimated well.
SMALLEST_SHAPE = 0.01


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
