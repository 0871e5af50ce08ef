#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Control variates: minibatch gradients relative to those at a fixed center."""

from __future__ import annotations

from collections.abc import Sequence

from pytensor.tensor import TensorVariable

from pymc_geodesic.dynamics.state import Estimate
from pymc_geodesic.manifolds import Point, Product
from pymc_geodesic.potential.estimator import MinibatchEstimator, NoiseModel
from pymc_geodesic.potential.potential import Potential

__all__ = ["ControlVariateEstimator"]


class ControlVariateEstimator(MinibatchEstimator):
    r"""Correct the minibatch gradient by what the same minibatch gives at a center c.

    .. math::

        \nabla \tilde U(x) - \nabla \tilde U(c) + \nabla U(c).

    Without bias wherever the center is; its noise is that of the change of the gradient from c to
    x, which shrinks with the posterior as the data grows (Baker, Fearnhead, Fox and Nemeth 2019).
    On a manifold the estimate is formed in the embedding and projected at x, as any gradient is.

    Parameters
    ----------
    potential, noise, indices, width, manifold
        As for :class:`~pymc_geodesic.potential.estimator.MinibatchEstimator`.
    center, center_gradient : tuple of TensorVariable
        c, and the gradient of the whole data there, in the embedding.
    """

    def __init__(
        self,
        potential: Potential,
        noise: NoiseModel,
        indices: Sequence[TensorVariable],
        *,
        width: TensorVariable,
        manifold: Product,
        center: Point,
        center_gradient: Point,
    ) -> None:
        super().__init__(potential, noise, indices, width=width, manifold=manifold)
        self.center, self.center_gradient = center, center_gradient

    def __call__(self, position: Point, memory: tuple[TensorVariable, ...]) -> Estimate:
        """Estimate the gradient and its variance."""
        here = self.potential.gradient(position, self.indices, width=self.width)
        there = self.potential.gradient(self.center, self.indices, width=self.width)
        gradient = tuple(
            g - at_center + whole
            for g, at_center, whole in zip(here, there, self.center_gradient, strict=True)
        )
        return self._in_frame(gradient, position, memory, center=self.center)
