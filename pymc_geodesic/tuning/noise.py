#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Measurement of the noise of minibatch gradients, plain and with control variates."""

from __future__ import annotations

import math

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pymc_geodesic.algorithms.demands import GradientNoise
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.manifolds import Product
from pymc_geodesic.mass.arrays import Mass, joined
from pymc_geodesic.mass.low_rank import LowRankMass
from pymc_geodesic.stages import stage
from pymc_geodesic.tuning.outweighing import (
    LargeBatches,
    has_directions,
    is_known,
    large_batches,
    noisiest_direction,
    rows_are_met,
)
from pymc_geodesic.tuning.rare_entries import PairsOfBatches, gradients_of_batches, in_frame

__all__ = ["balanced_matrix", "expected_along", "measure_noise", "rebalanced"]

# Batches at all points together: they determine a variance over eight points to a tenth. Where a
# few rows outweigh all others, up to the largest number are drawn. If it is many, velocities at a
# few hundred draws, of which fewer still were hit by such rows, say less of the noise than batches.
N_BATCHES, MANY_BATCHES, MOST_BATCHES = 192, 768, 6144
# Numbers in the gradients of all batches: 160 megabytes.
MOST_NUMBERS = 20_000_000


class _Batches(NamedTuple):
    """Gradients of batches at some places, in the frame, and how pairs of them compare.

    Each of the lists has one of batches for every place. ``controlled`` has the changes from the
    center; it is empty at every place without one.
    """

    plain: list[list[list[np.ndarray]]]
    controlled: list[list[list[np.ndarray]]]
    pairs: PairsOfBatches

    @property
    def number(self) -> int:
        """Number of batches at all places together."""
        return sum(map(len, self.plain))


@stage("Measuring noise")
def measure_noise(
    gradient: HostGradient,
    points: Sequence[Sequence[np.ndarray]],
    *,
    mass: Mass,
    center: Sequence[np.ndarray] | None,
    rng: np.random.Generator,
) -> tuple[GradientNoise, GradientNoise | None]:
    """Measure the noise at some points, plain and, if there is a center, relative to it.

    More batches are drawn as long as the noise relative to the center, or the plain noise if there
    is none, is not known. Large batches tell whether they missed what few rows cause.
    """
    manifold, large = gradient.manifold, None
    # Rows of great weight are drawn often.
    are_met = gradient.weights is not None or rows_are_met(gradient, _first_number(points))
    if not are_met:
        large = large_batches(gradient, points, mass=mass, center=center, rng=rng)
    drawn = _drawn(
        gradient, points, mass=mass, center=center, rng=rng, are_met=are_met, large=large
    )
    is_outweighed = drawn.number >= MANY_BATCHES
    summaries = [
        _summary(of_points, manifold, mass)._replace(is_outweighed=is_outweighed)
        for of_points in ((drawn.plain,) if center is None else (drawn.plain, drawn.controlled))
    ]
    weight, of_large = 0.0, []
    if large is not None:
        weight = large.n_rows / (drawn.number * gradient.batch_sizes[0])
        of_large, are_rare = large.in_embedding, drawn.pairs.are_rare()
        both = zip(summaries, (large.plain, large.controlled), strict=False)
        summaries = [
            _with_large(*one, are_rare=are_rare, weight=weight, manifold=manifold) for one in both
        ]
    if center is None:
        return summaries[0], None
    rare = drawn.pairs.rare(points, of_large=of_large, weight=weight)
    return summaries[0], summaries[1]._replace(rare=rare)


def _first_number(points: Sequence[Sequence[np.ndarray]]) -> int:
    return max(2, N_BATCHES // len(points)) * len(points)


def _drawn(
    gradient: HostGradient,
    points: Sequence[Sequence[np.ndarray]],
    *,
    mass: Mass,
    center: Sequence[np.ndarray] | None,
    rng: np.random.Generator,
    are_met: bool,
    large: LargeBatches | None,
) -> _Batches:
    """Draw batches at all places until they have met all rows or shown their noise."""
    n_batches, drawn = _first_number(points), _Batches([], [], PairsOfBatches(gradient.manifold))
    for samples in drawn[:2]:
        samples.extend([] for _ in points)
    most = min(MOST_BATCHES, MOST_NUMBERS // sum(map(math.prod, gradient.manifold.shapes)))
    of_large = 0.0 if large is None else sum(float(x.sum()) for x in large.controlled)
    while True:
        for point, here, there in zip(points, drawn.plain, drawn.controlled, strict=True):
            plain, changes = gradients_of_batches(
                gradient, point, center=center, n=n_batches // len(points), rng=rng
            )
            drawn.pairs.add(changes or plain)
            here += [in_frame(gradient, point, g, mass) for g in plain]
            there += [in_frame(gradient, point, c, mass) for c in changes]
        n_batches = drawn.number
        known = drawn.plain if center is None else drawn.controlled
        if 2 * n_batches > most or are_met or is_known(known, of_large):
            return drawn


def _with_large(
    noise: GradientNoise,
    of_large: Sequence[np.ndarray],
    *,
    are_rare: Sequence[np.ndarray],
    weight: float,
    manifold: Product,
) -> GradientNoise:
    """Average the noise of entries that few batches concern over ordinary and large ones."""
    *entries, excess = noise.by_entry
    new, total, largest = [], noise.total, noise.largest
    dims = manifold.point_dims
    for ours, theirs, is_rare, dim in zip(entries, of_large, are_rare, dims, strict=True):
        mended = ours
        if np.any(is_rare):
            mended = np.where(is_rare, (ours + weight * theirs) / (1 + weight), ours)
        new.append(np.asarray(mended, dtype=ours.dtype))
        total += dim * float(np.sum(mended - ours))
        largest = max(largest, float(np.max(mended)))
    return noise._replace(
        mean=total / manifold.dim, largest=largest, by_entry=(*new, excess), total=total
    )


def _summary(
    samples_at: Sequence[Sequence[Sequence[np.ndarray]]], manifold: Product, mass: Mass
) -> GradientNoise:
    total, largest, by_entry = 0.0, 0.0, []
    for i, (factor, dim) in enumerate(zip(manifold.factors, manifold.point_dims, strict=True)):
        samples = [np.array([x[i] for x in at_point]) for at_point in samples_at]
        entries = np.mean([np.var(x, axis=0, ddof=1) for x in samples], axis=0)
        # A curved point has fewer directions than entries; its mean is over the directions. The
        # noise of an entry is at most that of the noisiest direction, but next to a facet of a
        # simplex far more than the mean.
        means = factor.over_core(entries) / dim
        total += float(entries.sum())
        by_entry.append(np.reshape(means, np.shape(means) + (1,) * factor.ndim_core))
        largest = max(largest, float(np.max(means)), float(np.max(entries)))
        if directed := [x for x in samples if has_directions(x, factor)]:
            largest = max(largest, noisiest_direction(directed, factor.ndim_core))
    along = [np.var([x[-1] for x in at_point], axis=0, ddof=1) for at_point in samples_at]
    excess = np.mean(along, axis=0) - expected_along(by_entry, manifold.shapes, mass)
    return GradientNoise(total / manifold.dim, largest, (*by_entry, excess), total=total)


def expected_along(
    by_entry: Sequence[np.ndarray], shapes: Sequence[tuple[int, ...]], mass: Mass | None
) -> np.ndarray:
    """Return the variances along the directions of a mass for independent entries."""
    if not isinstance(mass, LowRankMass):
        return np.zeros(0)
    return _of_all_entries(by_entry, shapes) @ mass.directions**2


def balanced_matrix(noise: GradientNoise, manifold: Product, mass: Mass | None) -> np.ndarray:
    r"""Return the noise that friction for every entry balances, as a matrix of all entries.

    It is :math:`\operatorname{diag}(V) + U \operatorname{diag}(e) U^\top` for the variances V of
    entries, and what exceeds them by e along the directions U of the mass.
    """
    *entries, excess = noise.by_entry
    balanced = np.diag(_of_all_entries(entries, manifold.shapes))
    if isinstance(mass, LowRankMass):
        balanced = balanced + mass.directions * excess @ mass.directions.T
    return balanced


def _of_all_entries(
    by_entry: Sequence[np.ndarray], shapes: Sequence[tuple[int, ...]]
) -> np.ndarray:
    pairs = zip(by_entry, shapes, strict=True)
    return joined([np.broadcast_to(v, shape) for v, shape in pairs])


def rebalanced(
    noise: Sequence[np.ndarray],
    temperatures: Sequence[np.ndarray],
    *,
    of_rows: Sequence[np.ndarray],
    mass: Mass | None,
    shapes: Sequence[tuple[int, ...]],
    weight: float,
    friction: float,
    step_size: float,
) -> tuple[np.ndarray, ...]:
    r"""Correct the noise of every entry by the temperature of its velocity.

    An entry of friction :math:`\xi_i = \xi + \epsilon V_i / 2` and temperature :math:`T_i` needs
    the friction :math:`\xi_i T_i`, and so

    .. math::

        V_i \leftarrow V_i + 2 \xi_i (T_i - 1) / \epsilon .

    The same holds for the covariances that the entries of rows have in common, with the mean
    product of two velocities in place of :math:`T_i - 1`.

    Parameters
    ----------
    noise : sequence of ndarray
        Variances V in use, then covariances within rows, and at last what variances along the
        directions of the mass exceed the entries by.
    temperatures : sequence of ndarray
        Mean squares of the velocities of entries and along directions, one for each of these.
    of_rows : sequence of ndarray
        Mean products of the velocities of a row's entries, one matrix for each variable with rows.
    mass : Mass or None
        Mass with the directions.
    shapes : sequence of tuple of int
        Shape of each variable.
    weight : float
        Weight of the correction.
    friction : float
        :math:`\xi`, which all entries share.
    step_size : float
        :math:`\epsilon`.
    """
    shared = max(friction, 0.0)

    def corrected(variance: np.ndarray, temperature: np.ndarray) -> np.ndarray:
        own = shared + 0.5 * step_size * variance
        change = 2 * own * weight * (temperature - 1) / step_size
        return np.asarray(np.maximum(variance + change, 0), dtype=variance.dtype)

    *hot, hot_along = temperatures
    entries, covariances, excess = noise[: len(hot)], noise[len(hot) : -1], noise[-1]
    typical = shared + 0.5 * step_size * float(np.mean(_of_all_entries(entries, shapes)))
    per_product = 2 * typical * weight / step_size
    between = [
        np.asarray(k + per_product * (products - np.diag(np.diag(products))), dtype=k.dtype)
        for k, products in zip(covariances, of_rows, strict=True)
    ]
    new = [corrected(v, t) for v, t in zip(entries, hot, strict=True)]
    # A column of zeros is not a direction, and has no velocity.
    is_used = hot_along > 0
    along = corrected(
        excess + expected_along(entries, shapes, mass), np.where(is_used, hot_along, 1.0)
    )
    return (*new, *between, (along - expected_along(new, shapes, mass)).astype(excess.dtype))
