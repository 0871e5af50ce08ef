#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Minibatch gradients with their known noise, as they are and relative to a fixed center."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cached_property
from typing import Any, Self

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds import Point, Product
from pymc_geodesic.potential.estimate import Estimate, PotentialEnergy
from pymc_geodesic.potential.noise_models import NoiseModel

__all__ = ["ControlVariateEstimator", "MinibatchEstimator"]


class MinibatchEstimator:
    """Estimate energy and gradient from rows of the data, with the noise of a noise model.

    Created anew for each transition, which evaluates the gradient once.

    Parameters
    ----------
    potential : PotentialEnergy
        Gives energies and gradients.
    noise : NoiseModel
        Model of the gradient's noise.
    manifold : Product
        Gives the frame of velocities and gradients.
    indices : sequence of array
        Rows of each source of minibatches.
    width : tuple of array
        Length of a step of each variable, over which poles of the density are softened.
    memory : tuple of array
        Memory of the noise model.

    Attributes
    ----------
    memory : tuple of array
        Memory after the transition.
    evaluation : tuple of Point or None
        The point at which the gradient was evaluated, and the gradient in the embedding.
    """

    def __init__(
        self,
        potential: PotentialEnergy,
        noise: NoiseModel,
        *,
        manifold: Product,
        indices: Sequence[Array],
        width: tuple[Array, ...],
        memory: tuple[Array, ...],
    ) -> None:
        self.potential, self.noise, self.manifold = potential, noise, manifold
        self.indices, self.width, self.memory = indices, width, memory
        self.evaluation: tuple[Point, Point] | None = None

    def of_rows(self, indices: Sequence[Array]) -> Self:
        """Return the same estimator for other rows."""
        other = copy(self)
        other.indices = indices
        return other

    def __call__(self, position: Point) -> Estimate:
        """Estimate the gradient and its variance."""
        gradient = self.potential.gradient(position, self.indices, width=self.width)
        return self._in_frame(gradient, position)

    def _in_frame(self, gradient: Point, position: Point, *, center=None) -> Estimate:
        self.evaluation = position, gradient
        variance, self.memory = self.noise.update(
            self.memory, position, self.indices, self.width, center=center, potential=self.potential
        )
        in_frame = self.manifold.to_frame(gradient)
        if isinstance(variance, tuple):
            return Estimate(in_frame, self.manifold.variance_to_frame(variance))
        # Steps raise an error for a mass with it, so that the frame is the embedding.
        return Estimate(in_frame, (None,) * len(gradient), covariance=variance)

    def energy(self, position: Point) -> Array:
        """Estimate the potential energy from the same rows."""
        return self.potential.energy(position, self.indices)

    def energy_change(self, start: Point, end: Point) -> Array:
        """Estimate the change of the energy between two positions from the same rows."""
        return self.energy(end) - self.energy(start)

    def energy_and_gradient(self, position: Point) -> tuple[Array, Point]:
        """Return the potential energy and its gradient in the embedding, for exact tests."""
        return self.potential.energy_and_gradient(position, self.indices)


class ControlVariateEstimator(MinibatchEstimator):
    r"""Correct the minibatch gradient by the gradient of the same minibatch at a center c.

    .. math::

        \nabla \tilde U(x) - \nabla \tilde U(c) + \nabla U(c).

    It is unbiased for every center. Its noise is that of the change of the gradient from c to x,
    which shrinks with the posterior as the data grow. On a manifold the estimate is formed in the
    embedding and projected at x, like any gradient.

    Baker, J., Fearnhead, P., Fox, E. B. and Nemeth, C. (2019). Control variates for stochastic
    gradient MCMC. Statistics and Computing 29.

    Parameters
    ----------
    potential, noise, manifold, indices, width, memory
        See :class:`~pymc_geodesic.potential.estimator.MinibatchEstimator`.
    center, center_gradient : tuple of array
        c, and the gradient of the whole data there, in the embedding.
    """

    def __init__(self, *arguments: Any, center: Point, center_gradient: Point, **keywords: Any):
        super().__init__(*arguments, **keywords)
        self.center, self.center_gradient = center, center_gradient

    def of_rows(self, indices: Sequence[Array]) -> Self:  # noqa: D102
        other = super().of_rows(indices)
        other.__dict__.pop("_at_center", None)
        return other

    def __call__(self, position: Point) -> Estimate:
        """Estimate the gradient and its variance."""
        # If points have several representatives, use those of the center nearest to the position.
        align = self.potential.manifold.align
        at_center = align(self._at_center, self.center, position)
        whole_gradient = align(self.center_gradient, self.center, position)
        terms = zip(
            self.potential.gradient(position, self.indices, width=self.width),
            at_center,
            whole_gradient,
            strict=True,
        )
        gradient = tuple(here - there + whole for here, there, whole in terms)
        return self._in_frame(gradient, position, center=self.center)

    def energy_change(self, start: Point, end: Point) -> Array:
        """Correct the change by that of the energy's linear part at the center."""
        terms = zip(start, end, self._at_center, self.center_gradient, strict=True)
        linear = sum(((whole - there) * (b - a)).sum() for a, b, there, whole in terms)
        return super().energy_change(start, end) + linear

    @cached_property
    def _at_center(self) -> tuple[Array, ...]:
        # Without softened poles, because the gradient of the whole data at the center has none.
        widths = [arrays.zeros_like(width) for width in self.width]
        return self.potential.gradient(self.center, self.indices, width=tuple(widths))
