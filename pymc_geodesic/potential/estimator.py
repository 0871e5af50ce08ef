#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The minibatch gradient, with its known noise."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Self

from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds import Point, Product
from pymc_geodesic.potential.estimate import Estimate, PotentialEnergy
from pymc_geodesic.potential.noise_models import NoiseModel

__all__ = ["MinibatchEstimator"]


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
