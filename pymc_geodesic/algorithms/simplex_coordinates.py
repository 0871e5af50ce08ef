#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Four coordinates of the probability simplex; :mod:`.simplex_chart` has their common parts."""

from __future__ import annotations

import numpy as np

from pymc_geodesic import arrays
from pymc_geodesic.algorithms.simplex_chart import (
    SimplexCoordinates,
    floor_of,
    log_folded_normal,
    log_normal,
    projection_of,
    size_of,
    total_of,
)
from pymc_geodesic.arrays import Array

__all__ = ["COORDINATES", "ExpandedMean", "ExpandedNatural", "ReducedMean", "ReducedNatural"]


class ExpandedMean(SimplexCoordinates):
    r"""Gamma variables: :math:`\pi = |\theta| / \sum |\theta|`.

    Metric :math:`\operatorname{diag}(\theta)^{-1}`.
    """

    expanded = True

    def from_log(self, log_pi, log_total):  # noqa: D102
        return arrays.exp(log_pi + log_total)

    def log_pi(self, theta):  # noqa: D102
        return arrays.log(theta / total_of(theta))

    def to_log(self, theta):  # noqa: D102
        return self.log_pi(theta), arrays.log(total_of(theta))

    def move(self, theta, g, step_size):  # noqa: D102
        pi = theta / total_of(theta)
        natural = projection_of(g, pi) + (self.shape - size_of(theta)) * pi
        if self.fisher:
            drift, scale = natural + 1 - theta, arrays.sqrt(theta)
        else:
            drift, scale = natural / theta - 1, arrays.ones_like(theta)
        return theta + 0.5 * step_size * drift, arrays.sqrt(step_size) * scale

    def fold(self, theta):  # noqa: D102
        return arrays.maximum(arrays.abs(theta), floor_of(theta))

    def log_density(self, theta, log_pi_density):  # noqa: D102
        total = total_of(theta)
        weights = (self.shape - size_of(theta)) * arrays.log(total) - total
        return log_pi_density + weights.sum()

    def log_proposal(self, to, mean, scale):  # noqa: D102
        return log_folded_normal(to, mean, scale)


class ExpandedNatural(SimplexCoordinates):
    r"""Logarithms: :math:`\pi = \operatorname{softmax}(\theta)`.

    Metric :math:`\operatorname{diag}(e^\theta)`.
    """

    expanded = True

    def from_log(self, log_pi, log_total):  # noqa: D102
        return log_pi + log_total

    def log_pi(self, theta):  # noqa: D102
        return arrays.log_softmax(theta, axis=-1)

    def to_log(self, theta):  # noqa: D102
        return self.log_pi(theta), arrays.logsumexp(theta, axis=-1, keepdims=True)

    def move(self, theta, g, step_size):  # noqa: D102
        pi = arrays.softmax(theta, axis=-1)
        natural = projection_of(g, pi) + (self.shape - size_of(theta)) * pi
        if self.fisher:
            drift, scale = arrays.exp(-theta) * natural - 1, arrays.exp(-0.5 * theta)
        else:
            drift, scale = natural + 1 - arrays.exp(theta), arrays.ones_like(theta)
        return theta + 0.5 * step_size * drift, arrays.sqrt(step_size) * scale

    def log_density(self, theta, log_pi_density):  # noqa: D102
        total = arrays.logsumexp(theta, axis=-1, keepdims=True)
        weights = (self.shape - size_of(theta)) * total - arrays.exp(total)
        return log_pi_density + weights.sum() + theta.sum()

    def log_proposal(self, to, mean, scale):  # noqa: D102
        return log_normal(to, mean, scale)


class ReducedMean(SimplexCoordinates):
    r"""The first K - 1 probabilities.

    Metric :math:`\operatorname{diag}(\pi)^{-1} + 11^\top / \pi_K`.

    A step that leaves the simplex is reflected entry by entry and normalised; with a Metropolis
    test it is rejected.
    """

    expanded = False

    def from_log(self, log_pi, log_total):  # noqa: D102
        return arrays.exp(log_pi)

    def log_pi(self, theta):  # noqa: D102
        return arrays.log(theta)

    def move(self, theta, g, step_size):  # noqa: D102
        if self.fisher:
            drift = projection_of(g, theta) + 1 - size_of(theta) * theta
            return theta + 0.5 * step_size * drift, arrays.sqrt(step_size * theta)
        gradient = g / theta
        drift = _closed(gradient[..., :-1] - gradient[..., -1:])
        return theta + 0.5 * step_size * drift, arrays.sqrt(step_size) * arrays.ones_like(theta)

    def noise(self, theta, scale, z):  # noqa: D102
        if self.fisher:
            # Covariance diag(pi) - pi pi', the inverse metric, on all K entries.
            return scale * z - theta * total_of(scale * z)
        return _closed((scale * z)[..., :-1])

    def fold(self, theta):  # noqa: D102
        folded = arrays.maximum(arrays.abs(theta), floor_of(theta))
        return folded / total_of(folded)

    def contains(self, theta):  # noqa: D102
        return arrays.all(theta > 0)

    def log_density(self, theta, log_pi_density):  # noqa: D102
        return log_pi_density

    def log_proposal(self, to, mean, scale):  # noqa: D102
        if self.fisher:
            return log_normal(to, mean, scale)
        return log_normal(to[..., :-1], mean[..., :-1], scale[..., :-1])


class ReducedNatural(SimplexCoordinates):
    r"""Log ratios :math:`\log(\pi_k / \pi_K)`.

    Inverse metric :math:`\operatorname{diag}(\pi)^{-1} + 11^\top / \pi_K`.
    """

    expanded = False

    def from_log(self, log_pi, log_total):  # noqa: D102
        return log_pi - log_pi[..., -1:]

    def log_pi(self, theta):  # noqa: D102
        return arrays.log_softmax(theta, axis=-1)

    def move(self, theta, g, step_size):  # noqa: D102
        pi = arrays.softmax(theta, axis=-1)
        h = projection_of(g, pi)
        if self.fisher:
            drift, scale = h / pi, 1 / arrays.sqrt(pi)
        else:
            drift, scale = h + 1 - size_of(theta) * pi, arrays.ones_like(theta)
            drift = _without_last(drift)
        moved = theta + 0.5 * step_size * drift
        return moved - moved[..., -1:], arrays.sqrt(step_size) * scale

    def noise(self, theta, scale, z):  # noqa: D102
        if self.fisher:
            return scale * z - (scale * z)[..., -1:]
        return _without_last(scale * z)

    def log_density(self, theta, log_pi_density):  # noqa: D102
        log_pi = theta - arrays.logsumexp(theta, axis=-1, keepdims=True)
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
        return (-0.5 * (squares - cross)).sum() - arrays.log(scale).sum()


def _without_last(x: Array) -> Array:
    """Replace the last entry by zero."""
    n = arrays.static_shape(x)[-1]
    return arrays.where(np.arange(n) < n - 1, x, 0)


def _closed(first: Array) -> Array:
    """Append the entry that makes changes of probabilities sum to zero."""
    return arrays.concatenate([first, -total_of(first)], axis=-1)


COORDINATES: dict[str, type[SimplexCoordinates]] = {
    "expanded_mean": ExpandedMean,
    "expanded_natural": ExpandedNatural,
    "reduced_mean": ReducedMean,
    "reduced_natural": ReducedNatural,
}
