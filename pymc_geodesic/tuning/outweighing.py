#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Whether batches have shown the noise, or a few rows that few batches hold outweigh all others.

Rows with extreme regressors have such weight. In a regression with a log-normal one, 192 batches of
200 of 50,000 rows found .06 to 1.6 times the noise that 6,400 found; friction for it left one
standard deviation 2.7 times too large.

The direction of a point along which the noise of its gradient is largest.

Entries of a gradient are correlated: pixels that are dark together, for instance, add to the noise
of one direction of a component's loadings. In 311 directions of orthonormal frames of digits, the
noisiest had 2.4 times the variance of the noisiest entry, and positions along it were 15 per cent
too wide with a friction for the entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import NamedTuple

import numpy as np

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.manifolds import Manifold
from pymc_geodesic.mass.arrays import Mass, joined
from pymc_geodesic.tuning.rare_entries import gradients_of_batches, in_frame

__all__ = [
    "LargeBatches",
    "has_directions",
    "is_known",
    "large_batches",
    "noisiest_direction",
    "relative_error",
    "rows_are_met",
    "total_noise",
]


# Relative error of the noise beyond which it is not known. In ordinary models 192 batches leave .02
# to .2, most of it because noise differs from entry to entry.
LARGEST_ERROR = 0.25
# Rows of great weight are looked for in two large batches at each place. These leave an error of a
# quarter, or a half where few places have most of the noise.
LARGE, N_LARGE, OUTWEIGHED = 4096, 2, 3.0
# How often batches draw each row, on average, before none is expected to be missed: a given row
# still is with a probability of exp(-4), 2 per cent.
OFTEN = 4


def rows_are_met(gradient: HostGradient, n_batches: int) -> bool:
    """Whether so many batches have met all rows, those of great weight included."""
    pairs = zip(gradient.n_rows, gradient.batch_sizes, strict=True)
    return all(n_batches * batch_size >= OFTEN * n_rows for n_rows, batch_size in pairs)


def is_known(samples: Sequence[Sequence[list[np.ndarray]]], of_large_batches: float) -> bool:
    """Whether gradients of batches have shown their noise.

    Parameters
    ----------
    samples : sequence of sequence of list of ndarray
        For each place the gradients of two batches or more, in the frame of a mass: one array for
        each variable, and at last the components along the mass's directions.
    of_large_batches : float
        Sum of the variances of all entries by :func:`large_batches` at the same places; zero if it
        was not measured.
    """
    if relative_error(samples) > LARGEST_ERROR:
        return False
    return not of_large_batches > OUTWEIGHED * total_noise(samples)


class LargeBatches(NamedTuple):
    """The noise of ordinary batches, as large ones show it.

    Attributes
    ----------
    plain, controlled : list of ndarray
        Variances of the entries of each variable in the frame, averaged over places, of gradients
        and of their changes from the center; without a center both are the same.
    in_embedding : list of ndarray
        The latter, not in the frame.
    n_rows : int
        Rows of all large batches together.
    """

    plain: list[np.ndarray]
    controlled: list[np.ndarray]
    in_embedding: list[np.ndarray]
    n_rows: int


def large_batches(
    gradient: HostGradient,
    points: Sequence[Sequence[np.ndarray]],
    *,
    mass: Mass,
    center: Sequence[np.ndarray] | None,
    rng: np.random.Generator,
) -> LargeBatches | None:
    """Measure the noise of ordinary batches by large ones, which hold far more rows.

    Parameters
    ----------
    gradient : HostGradient
        Gradients of the model.
    points : sequence of sequence of ndarray
        Where to measure.
    mass : Mass
        Gives the frame.
    center : sequence of ndarray or None
        Center of the control variates.
    rng : numpy.random.Generator
        Draws the rows; a copy is used, so that the chain's own draws do not depend on it.

    Returns
    -------
    LargeBatches or None
        None if the data come in a stream, of which only a sample is at hand, or in several sizes,
        or if batches are as large.
    """
    if len({*zip(gradient.n_rows, gradient.batch_sizes, strict=True)}) != 1 or gradient.is_stream:
        return None
    n_rows, batch_size = gradient.n_rows[0], gradient.batch_sizes[0]
    size = min(LARGE, n_rows // 4)
    if size <= batch_size:
        return None
    # Rows that are all different vary less.
    of_different_rows = 1 - (size - 1) / (n_rows - 1)
    factor = size / batch_size / of_different_rows / len(points)
    found = LargeBatches([], [], [], N_LARGE * size * len(points))
    own = deepcopy(rng)
    for point in points:
        here, changes = gradients_of_batches(
            gradient, point, center=center, n=N_LARGE, rng=own, size=size
        )
        changes = changes or here
        framed = [[in_frame(gradient, point, g, mass)[:-1] for g in x] for x in (here, changes)]
        for sums, gradients in zip(found[:3], (*framed, changes), strict=True):
            variances = [factor * np.var(x, axis=0, ddof=1) for x in zip(*gradients, strict=True)]
            sums[:] = map(np.add, sums, variances) if sums else variances
    return found


def relative_error(samples: Sequence[Sequence[list[np.ndarray]]]) -> float:
    """Estimate the relative error of :func:`total_noise`.

    Parameters
    ----------
    samples : sequence of sequence of list of ndarray
        As for :func:`is_known`.

    Returns
    -------
    float
        Zero without noise, and if a gradient is not finite.
    """
    squares = _squares(samples)
    total = sum(float(x.sum()) for x in squares)
    variance = sum(len(x) * float(x.var(ddof=1)) for x in squares)
    return float(np.sqrt(variance) / total) if np.isfinite(variance) and total > 0 else 0.0


def total_noise(samples: Sequence[Sequence[list[np.ndarray]]]) -> float:
    """Return the sum of the variances of all entries, averaged over places.

    Parameters
    ----------
    samples : sequence of sequence of list of ndarray
        As for :func:`is_known`.
    """
    return float(np.mean([x.sum() / (len(x) - 1) for x in _squares(samples)]))


def _squares(samples: Sequence[Sequence[list[np.ndarray]]]) -> list[np.ndarray]:
    """Square the distances of gradients from their mean at each place."""
    found = []
    for at_point in samples:
        # The last of the arrays are components along directions.
        gradients = np.array([joined(arrays[:-1]) for arrays in at_point])
        found.append(np.sum((gradients - gradients.mean(axis=0)) ** 2, axis=1))
    return found


# Entries of a variable up to which its directions are compared: a fifth of a second.
MOST_ENTRIES = 20_000


def has_directions(samples: np.ndarray, manifold: Manifold) -> bool:
    """Whether to compare the directions of a variable's points.

    On flat variables the noise of a stiff direction is large without making any entry too wide.
    """
    is_small = samples[0].size <= MOST_ENTRIES
    return not manifold.is_flat and manifold.ndim_core > 0 and is_small


def noisiest_direction(samples: Sequence[np.ndarray], ndim_core: int) -> float:
    r"""Return the largest variance along a direction, of any point of a variable.

    The largest eigenvalue of a sample covariance is too large, by far where there are more
    directions than samples. So half of the samples gives the direction u, its principal axis, and
    the other half the variance :math:`u^\top C u`, which is at most the largest one; then the other
    way round, for the mean of both.

    Parameters
    ----------
    samples : sequence of ndarray, shape (batch, ...)
        Gradients of four batches or more at each place where they were measured.
    ndim_core : int
        Number of the last axes that a point has.

    Returns
    -------
    float
        The variance; NaN if a gradient is not finite.
    """
    if not all(np.all(np.isfinite(x)) for x in samples):
        return np.nan
    one, other = [_deviations([x[i::2] for x in samples], ndim_core) for i in range(2)]
    found = 0.5 * (_variance_along(one, other) + _variance_along(other, one))
    return float(np.max(found))


def _deviations(samples: Sequence[np.ndarray], ndim_core: int) -> np.ndarray:
    """Deviations from the means, of shape (point, sample, entry), over their degrees of freedom."""
    centered = np.concatenate([x - x.mean(axis=0) for x in samples])
    n_free = len(centered) - len(samples)
    n_points = int(np.prod(centered.shape[1 : centered.ndim - ndim_core]))
    by_point = centered.reshape(len(centered), n_points, -1).swapaxes(0, 1)
    return by_point / np.sqrt(n_free)


def _variance_along(axes: np.ndarray, judged: np.ndarray) -> np.ndarray:
    """Variance, in each point, of ``judged`` along the principal axis of ``axes``."""
    directions = np.linalg.svd(axes, full_matrices=False)[2][:, :1]
    return np.sum((judged @ directions.swapaxes(1, 2)) ** 2, axis=(1, 2))
