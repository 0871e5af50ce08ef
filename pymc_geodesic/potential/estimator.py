#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Minibatch gradients with their known noise: as they are, relative to a center, by halves.

Let :math:`g_1` and :math:`g_2` be the gradients that two halves of a batch estimate, and w the
share of the rows that the first has: one half, or a little less if their number is odd. Then

.. math::

    g = w g_1 + (1 - w) g_2, \qquad d = \sqrt{w (1 - w)} (g_1 - g_2), \qquad
    E\, d\, d^\top = \operatorname{cov} g

are the gradient of the batch and a vector with the covariance of its noise, at the cost of the
gradient. For Gaussian noise the two are independent. Rows are drawn with replacement. Points of
curved manifolds may take part alone: what is zero in d is not damped.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cached_property, partial
from typing import Any, Literal, Self

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds import Point, Product
from pymc_geodesic.potential.estimate import Estimate, PotentialEnergy
from pymc_geodesic.potential.minibatch import BatchSource
from pymc_geodesic.potential.noise_models import NoiseModel
from pymc_geodesic.potential.potential import Potential

__all__ = [
    "ControlVariateEstimator",
    "Halved",
    "HalvedEstimator",
    "MinibatchEstimator",
    "has_any_size",
    "has_halves",
]


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
    embedding and projected at x, like any gradient. That at the center is taken by PyMC's values of
    effects that move divided by their deviation.

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
        both = [align(x, self.center, position) for x in (self._at_center, self.center_gradient)]
        if self.potential.is_standardised:
            both = [self.potential.carried(x, self.center, position) for x in both]
        here = self.potential.gradient(position, self.indices, width=self.width)
        terms = zip(here, *both, strict=True)
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


HALF = 0.5

Halved = Literal["all", "curved"]
"""Variables whose noise the halves of a batch tell: all, or those on curved manifolds."""


class HalvedEstimator:
    """Estimate the gradient from two halves of a batch, with the difference between them.

    Parameters
    ----------
    whole : MinibatchEstimator
        Estimator of the whole batch, for energies.
    which : {"all", "curved"}
        Variables whose noise the difference tells; that of others is zero.

    Attributes
    ----------
    memory : tuple of array
        Memory after the transition.
    evaluation : tuple of Point or None
        The point at which the gradient was evaluated, and the gradient in the embedding.
    """

    def __init__(self, whole: MinibatchEstimator, *, which: Halved = "all") -> None:
        self.whole, self.which = whole, which
        self.energy, self.energy_change = whole.energy, whole.energy_change
        self.energy_and_gradient = whole.energy_and_gradient
        self.memory = whole.memory
        self.evaluation: tuple[Point, Point] | None = None

    def __call__(self, position: Point) -> Estimate:
        """Estimate the gradient, and how far the halves of the batch are apart."""
        (first, second), share = _halves(self.whole.indices)
        half = self.whole.of_rows(first)
        one = half(position)
        # Of the first half, which has compiled what both need.
        other_half = half.of_rows(second)
        other = other_half(position)
        mean = partial(_means, share=share)
        self.evaluation = position, mean(_evaluated(half), _evaluated(other_half))
        factors = self.whole.manifold.factors
        apart = tuple(
            arrays.zeros_like(a)
            if factor.is_flat and self.which == "curved"
            else _apart(a, b, share)
            for factor, a, b in zip(factors, one.gradient, other.gradient, strict=True)
        )
        return one._replace(
            gradient=mean(one.gradient, other.gradient),
            difference=self.whole.manifold.to_tangent(position, apart),
        )


def has_halves(potential: Potential, *, replacement: bool) -> bool:
    """Return whether the halves of a model's batches show the noise of its gradient.

    They do not if rows are drawn without replacement: the noise of the batches of a pass then sums
    up to zero, and friction for each of them would be too much. All sources must be divided in the
    same ratio, which is one half for even numbers of rows.

    Parameters
    ----------
    potential : Potential
        Gives the sources of minibatches.
    replacement : bool
        Whether rows are drawn with replacement.
    """
    sizes = [source.batch_size for source in potential.sources]
    shares = {x // 2 / x for x in sizes}
    is_divided = len(shares) == 1 and min(sizes) > 1
    return is_divided and has_any_size(potential, replacement=replacement)


def has_any_size(potential: Potential, *, replacement: bool) -> bool:
    """Return whether batches of a model may have any number of rows, all of them independent.

    Batches of streams have the length of the model's data, and draws of latent variables belong to
    the rows of a batch.

    Parameters
    ----------
    potential : Potential
        Gives the sources of minibatches.
    replacement : bool
        Whether rows are drawn with replacement.
    """
    sources = potential.sources
    return (
        bool(sources)
        and replacement
        and not potential.latents
        and all(isinstance(source, BatchSource) for source in sources)
    )


def _halves(indices: Sequence[Array]) -> tuple[list[list[Array]], float | Array]:
    """Divide the rows of each source; return the share that the first parts have."""
    sizes = [arrays.static_shape(index)[0] or index.shape[0] for index in indices]
    pairs = [(index, size // 2) for index, size in zip(indices, sizes, strict=True)]
    parts = [[rows[:n] for rows, n in pairs], [rows[n:] for rows, n in pairs]]
    return parts, sizes[0] // 2 / sizes[0]


def _evaluated(estimator: MinibatchEstimator) -> Point:
    assert estimator.evaluation is not None, "an estimator that was called"
    return estimator.evaluation[1]


def _means(one: Point, other: Point, *, share: float | Array) -> Point:
    if share == HALF:
        return tuple((a + b) / 2 for a, b in zip(one, other, strict=True))
    w = arrays.asarray(share)
    pairs = zip(one, other, strict=True)
    return tuple((w * a + (1 - w) * b).astype(a.dtype) for a, b in pairs)


def _apart(a: Array, b: Array, share: float | Array) -> Array:
    if share == HALF:
        return (a - b) / 2
    w = arrays.asarray(share)
    return (arrays.sqrt(w * (1 - w)) * (a - b)).astype(a.dtype)
