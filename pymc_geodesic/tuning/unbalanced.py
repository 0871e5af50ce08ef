#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""The gradient noise that a constant friction of every entry leaves unbalanced.

Noise whose covariance :math:`C(x)` changes from place to place, in size or in direction, heats
positions where it is larger than on average and leaves them cold elsewhere. Thermostats see only
averages, which are right. On a curved ridge, such as that of group effects which are written as
multiples of their scale, the posterior then comes out up to a quarter too narrow.

On a Gaussian posterior the same error has no effect on variances to first order in :math:`C(x)`,
because the average over places is all that they depend on. So two quantities are measured: how much
of the noise in use stays unbalanced, and whether the noise of plain gradients, which is
proportional to the curvature that the data cause, is uneven.
"""

from __future__ import annotations

import math

from collections.abc import Sequence
from functools import partial

import numpy as np

from pymc_geodesic.algorithms.demands import GradientNoise
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.manifolds import Product
from pymc_geodesic.mass.arrays import Mass, joined
from pymc_geodesic.tuning.noise import balanced_matrix
from pymc_geodesic.tuning.pairs import differences_at
from pymc_geodesic.tuning.unevenness import unevenness

__all__ = ["unbalanced_noise", "with_unbalanced"]

# Entries up to which halves of batches can balance the noise.
MOST_ENTRIES = 100
# Noise, in the Frobenius norm, that does no harm: at the longest steps, .63, it is less than a
# fifth of the heat even if it is in one place and one direction alone.
HARMLESS = 0.6


def with_unbalanced(
    noise: GradientNoise,
    gradient: HostGradient,
    points: Sequence[Sequence[np.ndarray]],
    *,
    mass: Mass,
    center: Sequence[np.ndarray] | None,
    rng: np.random.Generator,
) -> GradientNoise:
    """Add to a noise what friction for every entry leaves of it unbalanced, where it may matter.

    Parameters
    ----------
    noise : GradientNoise
        Of the estimator in use.
    gradient : HostGradient
        Gradients of the model.
    points : sequence of sequence of ndarray
        Where to measure.
    mass : Mass
        Gives the frame.
    center : sequence of ndarray, optional
        Center of the control variates, if the estimator uses them.
    rng : numpy.random.Generator
        Draws the rows; copies are used, so that the chain's own draws do not depend on it.
    """
    manifold = gradient.manifold
    if sum(map(math.prod, manifold.shapes)) > MOST_ENTRIES:
        return noise
    balanced = balanced_matrix(noise, manifold, mass)
    if not np.linalg.norm(balanced) > HARMLESS:
        return noise
    measure = partial(differences_at, gradient, points, mass=mass, rng=rng)
    free = _directions_of_entries(manifold)
    found = measure(center=center, same_rows=False)
    unbalanced = unbalanced_noise(list(found), balanced, directions=free)
    if not unbalanced > HARMLESS:
        return noise
    uneven = unevenness(measure(center=None, same_rows=True), manifold)
    return noise._replace(unbalanced=unbalanced, uneven=uneven)


def _directions_of_entries(manifold: Product) -> np.ndarray:
    """Return the degrees of freedom of each entry, which those of a curved point share."""
    pairs = zip(manifold.dims, manifold.shapes, strict=True)
    return joined([np.full(shape, dim / math.prod(shape)) for dim, shape in pairs])


def unbalanced_noise(
    differences: Sequence[np.ndarray], balanced: np.ndarray, *, directions: np.ndarray
) -> float:
    r"""Estimate the root of :math:`E_x \lVert C(x) - F \rVert^2`, in the Frobenius norm.

    F is the noise that friction balances. With independent y of covariance C, products of two of
    them give :math:`E (y_1^\top y_2)^2 = \operatorname{tr} C^2` without bias, and
    :math:`E\, y^\top F y = \operatorname{tr} C F`.

    Parameters
    ----------
    differences : sequence of ndarray, shape (pair, entry)
        :func:`~pymc_geodesic.tuning.pairs.paired_differences` at each of several points, of two
        pairs or more each.
    balanced : ndarray, shape (entry, entry)
        F. It is a multiple of the identity for the entries of a point on a curved manifold.
    directions : ndarray, shape (entry,)
        Degrees of freedom of each entry: one on Euclidean space, and their mean over the entries of
        a point on a curved manifold.

    Returns
    -------
    float
        In units of a variance; NaN if a gradient is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from pymc_geodesic.tuning.unbalanced import unbalanced_noise
    >>> rng = np.random.default_rng(1)
    >>> even = [rng.standard_normal((50, 3)) for _ in range(50)]
    >>> uneven = [y * scale for y, scale in zip(even, [0.5, 1.5] * 25)]
    >>> round(unbalanced_noise(even, np.eye(3), directions=np.ones(3)), 1)
    0.0
    >>> round(unbalanced_noise(uneven, 1.25 * np.eye(3), directions=np.ones(3)), 1)
    1.7
    """
    entries = np.diag(balanced) ** 2
    of_balanced = np.sum(balanced**2) - entries @ (1 - directions)
    squares = []
    for y in differences:
        n = len(y)
        of_noise = np.sum(np.tril(y @ y.T, -1) ** 2) / (n * (n - 1) / 2)
        squares.append(of_noise - 2 * np.mean(np.sum((y @ balanced) * y, axis=1)) + of_balanced)
    # Without uneven noise the estimate is zero on average, and may be negative.
    mean = float(np.mean(squares))
    return float(np.sqrt(max(mean, 0.0))) if np.isfinite(mean) else np.nan
