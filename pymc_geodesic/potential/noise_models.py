#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Models of the noise of minibatch gradients: a known covariance, or the spread of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from numpy.typing import ArrayLike

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds import Point
from pymc_geodesic.potential.estimate import (
    PotentialEnergy,
    Spectrum,
    Variance,
    covariance_of_points,
    has_matrix_noise,
    in_tangent_space,
    matrix_shape,
)
from pymc_geodesic.potential.minibatch import BatchSource
from pymc_geodesic.potential.potential import Potential

__all__ = ["FisherNoise", "KnownNoise", "NoiseModel", "averaged", "share_left"]

# Least weight of a batch in the running mean of the empirical Fisher information. The estimates on
# the way from a poor start are then forgotten within a few thousand transitions.
FORGETTING = 1e-3


class NoiseModel(Protocol):
    """The variance of a minibatch gradient, and the memory needed to estimate it."""

    def initial(self) -> list[np.ndarray]:
        """Memory before the first transition."""
        ...

    def largest(self, memory: Sequence[np.ndarray]) -> float:
        """Largest variance of any coordinate, from the memory after a draw."""
        ...

    def update(
        self,
        memory: tuple[Array, ...],
        position: Point,
        indices: Sequence[Array],
        width: tuple[Array, ...],
        *,
        center: Point | None = None,
        potential: Any,
    ) -> tuple[Variance | Array, tuple[Array, ...]]:
        """Return the variance of every variable's gradient, and the memory afterwards.

        A matrix is the covariance between the entries of all variables. With a ``center`` the
        gradient is that relative to the center's.
        """
        ...


class KnownNoise:
    """Gradient noise of a given diagonal covariance.

    Parameters
    ----------
    potential : PotentialEnergy
        The potential whose gradient is noisy.
    variance : float, array or mapping of str to float or array, optional
        Variance of each gradient coordinate, in units of the gradient squared and in the embedding;
        a mapping gives one entry per variable by name, zero for the rest. None is no noise.

    Raises
    ------
    ValueError
        If a variance is negative or not finite, does not broadcast to its variable, or names a
        variable that is not sampled.
    """

    def __init__(
        self,
        potential: PotentialEnergy,
        *,
        variance: ArrayLike | Mapping[str, ArrayLike] | None = None,
    ) -> None:
        names = [variable.name for variable in potential.variables]
        given = variance if isinstance(variance, Mapping) else dict.fromkeys(names, variance)
        if unknown := set(given) - set(names):
            raise ValueError(
                f"`gradient_noise` expected variables among {names}, got {sorted(unknown)}."
            )
        self.variance = tuple(
            self._checked(variable, given.get(variable.name)) for variable in potential.variables
        )

    @staticmethod
    def _checked(variable: Any, variance: ArrayLike | None) -> np.ndarray | None:
        if variance is None:
            return None
        shape = variable.position.type.shape
        variance = np.asarray(variance, dtype=variable.position.dtype)
        if not np.all(np.isfinite(variance)) or np.any(variance < 0):
            raise ValueError(
                "`gradient_noise` expected finite variances of zero or more, got "
                f"{variance} for `{variable.name}`."
            )
        variance = np.asarray(variable.manifold.gradient_variance(variance, shape))
        try:
            np.broadcast_to(variance, shape)
        except ValueError:
            raise ValueError(
                f"`gradient_noise` of `{variable.name}` expected a number or an array that "
                f"broadcasts to shape {shape}, got shape {variance.shape}."
            ) from None
        return variance if np.any(variance) else None

    @property
    def is_zero(self) -> bool:
        """Whether there is none."""
        return all(v is None for v in self.variance)

    def initial(self) -> list[np.ndarray]:  # noqa: D102
        return []

    def largest(self, memory: Sequence[np.ndarray]) -> float:  # noqa: D102
        return max((float(np.max(v)) for v in self.variance if v is not None), default=0.0)

    def update(self, memory, position, indices, width, *, center=None, potential):  # noqa: D102
        return self.variance, memory


class FisherNoise:
    r"""Gradient noise estimated from the spread of the scores of single rows.

    For a batch of n rows out of N with scores :math:`g_i`,

    .. math::

        \hat V = \frac{N^2}{n} \operatorname{cov}_i(\Lambda g_i),

    averaged over transitions with weight ``max(1 / t, 1e-3)`` (Ahn, Korattikara and Welling 2012).
    Rows drawn without replacement, like those of streams, differ less between batches:
    then the variance is :math:`1 - n / N` times as large.
    A point of a curved manifold has the matrix :math:`\Lambda \hat V \Lambda` in its tangent space;
    points of more than 32 entries have the number :math:`\operatorname{tr}(\hat V) / m` instead. On
    flat space, whose points are its entries, this is the diagonal.

    Parameters
    ----------
    potential : Potential
        The potential whose rows are scored.
    replacement : bool, default True
        Whether the rows of a batch are drawn with replacement; rows of a stream never are.

    Raises
    ------
    ValueError
        If the model has no minibatch, or one of a single row.
    """

    def __init__(self, potential: Potential, *, replacement: bool = True) -> None:
        if not potential.sources:
            raise ValueError(
                "`gradient_noise='fisher'` expected a model with `pm.Minibatch` data, got a model "
                "without. Its gradient is exact: leave out `gradient_noise`."
            )
        if any(source.batch_size < 2 for source in potential.sources):
            raise ValueError(
                "`gradient_noise='fisher'` expected batches of two rows or more, because it "
                "measures the spread within a batch, got a batch of one row."
            )
        self._manifold = potential.manifold
        # Number of rows, if a batch draws each of them once.
        self.finite = [
            None if replacement and isinstance(source, BatchSource) else source.n_rows
            for source in potential.sources
        ]
        self._dtype = potential.variables[0].position.dtype
        pairs = list(zip(potential.manifold.factors, potential.manifold.shapes, strict=True))
        self._is_matrix = [has_matrix_noise(*pair) for pair in pairs]
        self._shapes = [
            matrix_shape(m, shape)
            if is_matrix
            else (*m.batch_shape(shape), *(1 for _ in m.core_shape(shape)))
            for (m, shape), is_matrix in zip(pairs, self._is_matrix, strict=True)
        ]

    def initial(self) -> list[np.ndarray]:
        """Return zero variances, a count of zero transitions, and the largest noise of points."""
        zeros = [np.zeros(shape, dtype=self._dtype) for shape in self._shapes]
        zero = np.asarray(0.0, dtype=self._dtype)
        return [*zeros, zero, *(zero for is_matrix in self._is_matrix if is_matrix)]

    def largest(self, memory: Sequence[np.ndarray]) -> float:
        """Largest variance of an entry or, of the points at the last gradient, of a direction."""
        means = zip(memory, self._is_matrix, strict=False)
        numbers = [mean for mean, is_matrix in means if not is_matrix]
        return max(float(np.max(x)) for x in [*numbers, *memory[len(self._shapes) + 1 :]])

    def update(self, memory, position, indices, width, *, center=None, potential):
        """Mix the batch's estimate into the running mean."""
        n = len(self._shapes)
        estimates = self.estimate(position, indices, width, center=center, potential=potential)
        means, count = averaged(memory[:n], estimates, memory[n])
        found: list[Array | Spectrum] = list(means)
        product = self._manifold
        for i, is_matrix in enumerate(self._is_matrix):
            if is_matrix:
                manifold, shape = product.factors[i], product.shapes[i]
                found[i] = in_tangent_space(manifold, position[i], means[i], shape=shape)
        largest = [x.values.max() for x in found if isinstance(x, Spectrum)]
        return tuple(found), (*means, count, *largest)

    def estimate(
        self,
        position: Point,
        indices: Sequence[Array],
        width: tuple[Array, ...],
        *,
        center: Point | None = None,
        potential: Any,
    ) -> Point:
        """Estimate the variance of the gradient, or of its change from a center, from one batch."""
        scores = self.scores(position, indices, width, center=center, potential=potential)
        per_source = [
            self._source_variance(position, source, n_rows)
            for source, n_rows in zip(scores, self.finite, strict=True)
        ]
        return tuple(sum(parts) for parts in zip(*per_source, strict=True))

    def scores(
        self,
        position: Point,
        indices: Sequence[Array],
        width: tuple[Array, ...],
        *,
        center: Point | None = None,
        potential: Any,
    ) -> tuple[Point, ...]:
        """Return the scores of the rows of each source, or their change from a center."""
        scores = potential.scores(position, indices, width=width)
        if center is not None:
            at_center = potential.scores(center, indices, width=width)
            align = self._manifold.align
            at_center = tuple(align(there, center, position) for there in at_center)
            scores = tuple(
                tuple(a - b for a, b in zip(here, there, strict=True))
                for here, there in zip(scores, at_center, strict=True)
            )
        return scores

    def _source_variance(self, position: Point, scores: Point, n_rows: int | None) -> Point:
        product = self._manifold
        variances = []
        for factor, shape, is_matrix, dim, x, score in zip(
            product.factors,
            product.shapes,
            self._is_matrix,
            product.point_dims,
            position,
            scores,
            strict=True,
        ):
            n = arrays.size_along(score, 0)
            if is_matrix:
                found = covariance_of_points(factor, score, shape=shape)
            else:
                tangent = factor.to_tangent(x, score)
                spread = ((tangent - tangent.mean(axis=0)) ** 2).sum(axis=0) / (n * (n - 1))
                found = factor.over_core(spread, keepdims=True) / dim
            variances.append(found * share_left(n, n_rows))
        return tuple(variances)


def averaged(
    means: Sequence[Array], estimates: Sequence[Array], count: Array
) -> tuple[tuple[Array, ...], Array]:
    """Mix estimates into running means of ``count`` estimates; return both."""
    count = count + 1
    weight = arrays.maximum(1 / count, np.asarray(FORGETTING, dtype=count.dtype))
    pairs = zip(means, estimates, strict=True)
    return tuple((m + weight * (x - m)).astype(m.dtype) for m, x in pairs), count


def share_left(n: Array, n_rows: int | None) -> Array | float:
    """Variance of a mean of n rows without replacement, relative to one with; 1 for None."""
    if n_rows is None:
        return 1.0
    # A batch may be longer than the data; it then contains rows more than once.
    return arrays.maximum(1 - n / n_rows, 0)
