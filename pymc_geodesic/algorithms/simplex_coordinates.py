#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Coordinates of the probability simplex for Riemannian Langevin dynamics.

For a log density :math:`\ell(\pi)` with respect to Lebesgue measure on the first K - 1 entries,
all formulas are in terms of the gradient in log coordinates, :math:`g_k = \pi_k \partial_k \ell`,
and of

.. math::

    h_k = g_k - \pi_k \sum_j g_j ,

so that nothing is divided by an entry near zero unless the metric itself demands it. The expanded
coordinates have a total :math:`r = \sum_k \theta_k` beside :math:`\pi`; it is given the Gamma law
with shape s, which for a Dirichlet prior with total concentration s is the paper's Gamma prior on
:math:`\theta`. All arrays have K entries in the last axis, also in the reduced coordinates, whose
updates are those of the first K - 1 entries written symmetrically.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal

import numpy as np
import pytensor.tensor as pt

from pytensor.tensor import TensorVariable
from pytensor.tensor.special import log_softmax, softmax

__all__ = [
    "COORDINATES",
    "ExpandedMean",
    "ExpandedNatural",
    "Metric",
    "ReducedMean",
    "ReducedNatural",
    "SimplexCoordinates",
]

Metric = Literal["fisher", "identity"]

# The smallest entry of theta: an entry of zero would absorb, because its noise is zero too. The
# inverse still leaves room for counts of 1e15 before it overflows.
FLOOR = {"float64": 1e-290, "float32": 1e-30}


class SimplexCoordinates(ABC):
    r"""Coordinates :math:`\theta` of the simplex with a metric, and Euler's step in them.

    .. math::

        \theta^* = \operatorname{fold}\left(\theta + \tfrac{\epsilon}{2} [G^{-1} \nabla \log p
            + \operatorname{div} G^{-1}] + \sqrt{\epsilon}\, G^{-1/2} z\right)

    Parameters
    ----------
    shape : float
        Shape s of the Gamma law of the total; only expanded coordinates have one.
    metric : {"fisher", "identity"}
        The metric G.
    """

    expanded: bool

    def __init__(self, *, shape: float, metric: Metric = "fisher") -> None:
        self.shape = shape
        self.fisher = metric == "fisher"

    @abstractmethod
    def from_log(self, log_pi: TensorVariable, log_total: TensorVariable) -> TensorVariable:
        """Coordinates of a point given by log probabilities and the log of the total."""

    @abstractmethod
    def log_pi(self, theta: TensorVariable) -> TensorVariable:
        """Log probabilities, normalised."""

    def to_log(self, theta: TensorVariable) -> tuple[TensorVariable, TensorVariable]:
        """Log probabilities, and the log of the total; zero in reduced coordinates."""
        return self.log_pi(theta), pt.zeros_like(theta[..., :1])

    @abstractmethod
    def move(
        self, theta: TensorVariable, g: TensorVariable, step_size: TensorVariable
    ) -> tuple[TensorVariable, TensorVariable]:
        """Mean of Euler's step, and the standard deviation of every entry's own noise."""

    def noise(self, theta: TensorVariable, scale: TensorVariable, z: TensorVariable):
        """Noise with the covariance of the step, from standard normals."""
        return scale * z

    def fold(self, theta: TensorVariable) -> TensorVariable:
        """Bring a point that left the coordinates' domain back by reflection."""
        return theta

    def contains(self, theta: TensorVariable) -> TensorVariable:
        """Whether a step needs no reflection that its proposal density does not know of."""
        return pt.constant(np.array(True))

    @abstractmethod
    def log_density(self, theta: TensorVariable, log_pi_density: TensorVariable) -> TensorVariable:
        """Log density of the coordinates, from that of the probabilities; a scalar."""

    @abstractmethod
    def log_proposal(self, to: TensorVariable, mean: TensorVariable, scale: TensorVariable):
        """Log density of the folded step at ``to``, up to constants; a scalar."""


def _total(x: TensorVariable) -> TensorVariable:
    return x.sum(axis=-1, keepdims=True)


def _size(theta: TensorVariable) -> TensorVariable:
    """Return the number of entries in the dtype of ``theta``: an integer would widen float32."""
    return theta.shape[-1].astype(theta.dtype)


def _projected(g: TensorVariable, pi: TensorVariable) -> TensorVariable:
    return g - pi * _total(g)


def _normal(to, mean, scale) -> TensorVariable:
    return (-0.5 * ((to - mean) / scale) ** 2 - pt.log(scale)).sum()


def _folded_normal(to, mean, scale) -> TensorVariable:
    """Log density of ``|x|`` for a normal x: the sum of the densities at ``to`` and ``-to``."""
    near, far = (-0.5 * ((sign * to - mean) / scale) ** 2 for sign in (1.0, -1.0))
    return (pt.logaddexp(near, far) - pt.log(scale)).sum()


def _floor(theta: TensorVariable) -> np.ndarray:
    return np.asarray(FLOOR[theta.dtype], dtype=theta.dtype)


class ExpandedMean(SimplexCoordinates):
    r"""Gamma variables: :math:`\pi = |\theta| / \sum |\theta|`.

    Metric :math:`\operatorname{diag}(\theta)^{-1}`.
    """

    expanded = True

    def from_log(self, log_pi, log_total):  # noqa: D102
        return pt.exp(log_pi + log_total)

    def log_pi(self, theta):  # noqa: D102
        return pt.log(theta / _total(theta))

    def to_log(self, theta):  # noqa: D102
        return self.log_pi(theta), pt.log(_total(theta))

    def move(self, theta, g, step_size):  # noqa: D102
        pi = theta / _total(theta)
        natural = _projected(g, pi) + (self.shape - _size(theta)) * pi
        if self.fisher:
            drift, scale = natural + 1 - theta, pt.sqrt(theta)
        else:
            drift, scale = natural / theta - 1, pt.ones_like(theta)
        return theta + 0.5 * step_size * drift, pt.sqrt(step_size) * scale

    def fold(self, theta):  # noqa: D102
        return pt.maximum(pt.abs(theta), _floor(theta))

    def log_density(self, theta, log_pi_density):  # noqa: D102
        total = _total(theta)
        weights = (self.shape - _size(theta)) * pt.log(total) - total
        return log_pi_density + weights.sum()

    def log_proposal(self, to, mean, scale):  # noqa: D102
        return _folded_normal(to, mean, scale)


class ExpandedNatural(SimplexCoordinates):
    r"""Logarithms: :math:`\pi = \operatorname{softmax}(\theta)`.

    Metric :math:`\operatorname{diag}(e^\theta)`.
    """

    expanded = True

    def from_log(self, log_pi, log_total):  # noqa: D102
        return log_pi + log_total

    def log_pi(self, theta):  # noqa: D102
        return log_softmax(theta, axis=-1)

    def to_log(self, theta):  # noqa: D102
        return self.log_pi(theta), pt.logsumexp(theta, axis=-1, keepdims=True)

    def move(self, theta, g, step_size):  # noqa: D102
        pi = softmax(theta, axis=-1)
        natural = _projected(g, pi) + (self.shape - _size(theta)) * pi
        if self.fisher:
            drift, scale = pt.exp(-theta) * natural - 1, pt.exp(-0.5 * theta)
        else:
            drift, scale = natural + 1 - pt.exp(theta), pt.ones_like(theta)
        return theta + 0.5 * step_size * drift, pt.sqrt(step_size) * scale

    def log_density(self, theta, log_pi_density):  # noqa: D102
        total = pt.logsumexp(theta, axis=-1, keepdims=True)
        weights = (self.shape - _size(theta)) * total - pt.exp(total)
        return log_pi_density + weights.sum() + theta.sum()

    def log_proposal(self, to, mean, scale):  # noqa: D102
        return _normal(to, mean, scale)


class ReducedMean(SimplexCoordinates):
    r"""The first K - 1 probabilities.

    Metric :math:`\operatorname{diag}(\pi)^{-1} + 11^\top / \pi_K`.

    A step that leaves the simplex is reflected entry by entry and normalised; with a Metropolis
    test it is rejected.
    """

    expanded = False

    def from_log(self, log_pi, log_total):  # noqa: D102
        return pt.exp(log_pi)

    def log_pi(self, theta):  # noqa: D102
        return pt.log(theta)

    def move(self, theta, g, step_size):  # noqa: D102
        if self.fisher:
            drift = _projected(g, theta) + 1 - _size(theta) * theta
            return theta + 0.5 * step_size * drift, pt.sqrt(step_size * theta)
        gradient = g / theta
        drift = _closed(gradient[..., :-1] - gradient[..., -1:])
        return theta + 0.5 * step_size * drift, pt.sqrt(step_size) * pt.ones_like(theta)

    def noise(self, theta, scale, z):  # noqa: D102
        if self.fisher:
            # Covariance diag(pi) - pi pi', the inverse metric, on all K entries.
            return scale * z - theta * _total(scale * z)
        return _closed((scale * z)[..., :-1])

    def fold(self, theta):  # noqa: D102
        folded = pt.maximum(pt.abs(theta), _floor(theta))
        return folded / _total(folded)

    def contains(self, theta):  # noqa: D102
        return pt.all(theta > 0)

    def log_density(self, theta, log_pi_density):  # noqa: D102
        return log_pi_density

    def log_proposal(self, to, mean, scale):  # noqa: D102
        if self.fisher:
            return _normal(to, mean, scale)
        return _normal(to[..., :-1], mean[..., :-1], scale[..., :-1])


class ReducedNatural(SimplexCoordinates):
    r"""Log ratios :math:`\log(\pi_k / \pi_K)`.

    Inverse metric :math:`\operatorname{diag}(\pi)^{-1} + 11^\top / \pi_K`.
    """

    expanded = False

    def from_log(self, log_pi, log_total):  # noqa: D102
        return log_pi - log_pi[..., -1:]

    def log_pi(self, theta):  # noqa: D102
        return log_softmax(theta, axis=-1)

    def move(self, theta, g, step_size):  # noqa: D102
        pi = softmax(theta, axis=-1)
        h = _projected(g, pi)
        if self.fisher:
            drift, scale = h / pi, 1 / pt.sqrt(pi)
        else:
            drift, scale = h + 1 - _size(theta) * pi, pt.ones_like(theta)
            drift = pt.set_subtensor(drift[..., -1], 0.0)
        moved = theta + 0.5 * step_size * drift
        return moved - moved[..., -1:], pt.sqrt(step_size) * scale

    def noise(self, theta, scale, z):  # noqa: D102
        if self.fisher:
            return scale * z - (scale * z)[..., -1:]
        return pt.set_subtensor((scale * z)[..., -1], 0.0)

    def log_density(self, theta, log_pi_density):  # noqa: D102
        log_pi = theta - pt.logsumexp(theta, axis=-1, keepdims=True)
        return log_pi_density + log_pi.sum()

    def log_proposal(self, to, mean, scale):  # noqa: D102
        difference = (to - mean)[..., :-1]
        if not self.fisher:
            return -0.5 * ((difference / scale[..., :-1]) ** 2).sum()
        # The inverse covariance is (diag(pi) - pi pi') / eps; with pi = scale^-2 * eps the step
        # size drops out of all but the second term.
        precision = scale[..., :-1] ** -2
        squares = (precision * difference**2).sum(axis=-1)
        cross = (precision * difference).sum(axis=-1) ** 2 / (scale**-2).sum(axis=-1)
        return (-0.5 * (squares - cross)).sum() - pt.log(scale).sum()


def _closed(first: TensorVariable) -> TensorVariable:
    """Append the entry that makes changes of probabilities sum to zero."""
    return pt.concatenate([first, -_total(first)], axis=-1)


COORDINATES: dict[str, type[SimplexCoordinates]] = {
    "expanded_mean": ExpandedMean,
    "expanded_natural": ExpandedNatural,
    "reduced_mean": ReducedMean,
    "reduced_natural": ReducedNatural,
}
