#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""The noise of a minibatch gradient, shown by the difference between two halves of the batch.

Let :math:`g_1` and :math:`g_2` be the gradients that the two halves estimate, and w the share of
the rows that the first has: one half, or a little less if their number is odd. Then

.. math::

    g = w g_1 + (1 - w) g_2, \qquad d = \sqrt{w (1 - w)} (g_1 - g_2), \qquad
    E\, d\, d^\top = \operatorname{cov} g

are the gradient of the batch and a vector with the covariance of its noise, at the very place where
the gradient is taken, in all directions, and at the cost of the gradient. For Gaussian noise d and
the noise of the gradient are independent. Rows are drawn with replacement.
Points of curved manifolds may take part alone: what is zero in d is not damped.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds import Point
from pymc_geodesic.potential.estimate import Estimate
from pymc_geodesic.potential.estimator import MinibatchEstimator
from pymc_geodesic.potential.minibatch import BatchSource
from pymc_geodesic.potential.potential import Potential

__all__ = ["Halved", "HalvedEstimator", "has_any_size", "has_halves"]

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


def _halves(
    indices: Sequence[Array],
) -> tuple[list[list[Array]], float | Array]:
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
