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

By how much the noise of gradients changes from place to place.

Gradients of the same batches are compared at all places. Rows with outliers, which dominate the
noise of the few batches that are drawn, then weigh the same everywhere.
"""

from __future__ import annotations

import math

from collections.abc import Sequence
from copy import deepcopy
from functools import partial

import numpy as np

from pymc_geodesic.algorithms.demands import GradientNoise
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.manifolds import Product
from pymc_geodesic.mass.arrays import Mass, joined
from pymc_geodesic.tuning.noise import balanced_matrix
from pymc_geodesic.tuning.rare_entries import gradients_of_batches, in_frame

__all__ = ["paired_differences", "unbalanced_noise", "unevenness", "with_unbalanced"]


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
    measure = partial(_differences_at, gradient, points, mass=mass, rng=rng)
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
        :func:`paired_differences` at each of several points, of two
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


def unevenness(differences: np.ndarray, manifold: Product) -> float:
    r"""Estimate :math:`(E_x \lVert C(x) - \bar C \rVert^2)^{1/2} / \lVert \bar C \rVert`.

    :math:`\bar C` is the mean of the noise covariance C(x) over places. For independent pairs i and
    j of batches, :math:`(y_i(x)^\top y_j(x'))^2` has the mean :math:`\operatorname{tr} C(x) C(x')`.
    Tangent spaces of a curved manifold differ from place to place, so that there only the mean
    variance over the directions of a point is compared, :math:`|y_i|^2 |y_j|^2 / d` for d of them.

    Parameters
    ----------
    differences : ndarray, shape (place, pair, entry)
        Of pairs of gradients of different batches, which are the same at all places.
    manifold : Product
        Manifold of the entries.

    Returns
    -------
    float
        Zero for even noise and for a single place; NaN if a gradient is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from pymc_geodesic.manifolds import Euclidean, Product
    >>> from pymc_geodesic.tuning.unbalanced import unevenness
    >>> rows = np.random.default_rng(1).standard_normal((50, 3))
    >>> manifold = Product([Euclidean()], shapes=[(3,)])
    >>> round(unevenness(np.array([rows] * 50), manifold), 1)
    0.0
    >>> round(unevenness(np.array([scale * rows for scale in [0.5, 1.5] * 25]), manifold), 1)
    0.8
    """
    n_places, n_pairs, _ = differences.shape
    y = differences.reshape(n_places * n_pairs, -1).astype("float64")
    flat, sizes = _compared(y, manifold)
    of_others = np.tile(~np.eye(n_pairs, dtype=bool), (n_places, n_places))
    at_one = np.kron(np.eye(n_places, dtype=bool), np.ones((n_pairs, n_pairs), dtype=bool))
    if at_one.all():
        return 0.0
    whole = np.mean(((y @ y.T) ** 2)[at_one & of_others])
    even = np.mean(((flat @ flat.T) ** 2 + sizes @ sizes.T)[~at_one & of_others])
    # Even noise may have an estimate below zero.
    return float(np.sqrt(np.maximum(whole - even, 0) / even)) if even else 0.0


def _compared(y: np.ndarray, manifold: Product) -> tuple[np.ndarray, np.ndarray]:
    """Return the flat entries, and the square of each curved point divided by the root of d."""
    ends = np.cumsum([math.prod(shape) for shape in manifold.shapes])[:-1]
    flat, sizes = [y[:, :0]], [y[:, :0]]
    for part, factor, shape, dim in zip(
        np.split(y, ends, axis=1),
        manifold.factors,
        manifold.shapes,
        manifold.point_dims,
        strict=True,
    ):
        if factor.is_flat:
            flat.append(part)
        else:
            squares = factor.over_core(part.reshape(len(y), *shape) ** 2)
            sizes.append(squares.reshape(len(y), -1) / np.sqrt(dim))
    return np.concatenate(flat, axis=1), np.concatenate(sizes, axis=1)


# Pairs of batches at a point. Three of them leave an error of half of the noise in what friction
# leaves unbalanced.
N_PAIRS = 8


def _differences_at(
    gradient: HostGradient,
    points: Sequence[Sequence[np.ndarray]],
    *,
    mass: Mass,
    center: Sequence[np.ndarray] | None,
    rng: np.random.Generator,
    same_rows: bool,
) -> np.ndarray:
    """Return :func:`paired_differences` of gradients at several points, in the frame of a mass.

    Parameters
    ----------
    gradient : HostGradient
        Gradients of the model.
    points : sequence of sequence of ndarray
        Where to measure.
    mass : Mass
        Gives the frame.
    center : sequence of ndarray, optional
        Center of the control variates; without it gradients are plain.
    rng : numpy.random.Generator
        Draws the rows; copies are used, so that the chain's own draws do not depend on it.
    same_rows : bool
        Whether all points see the same batches.

    Returns
    -------
    ndarray, shape (point, pair, entry)
        The last of the arrays in the frame, components along directions, are left out.
    """
    found, own = [], deepcopy(rng)
    for point in points:
        own = deepcopy(rng) if same_rows else own
        n = 2 * N_PAIRS
        here, changes = gradients_of_batches(gradient, point, center=center, n=n, rng=own)
        in_frames = [in_frame(gradient, point, g, mass)[:-1] for g in changes or here]
        found.append(paired_differences(np.array([joined(arrays) for arrays in in_frames])))
    return np.array(found)


def paired_differences(samples: np.ndarray) -> np.ndarray:
    r"""Return :math:`(g_1 - g_2) / \sqrt 2` for pairs of gradients of different batches.

    They have the covariance of the noise and, unlike deviations from a mean, are independent.

    Parameters
    ----------
    samples : ndarray, shape (batch, entry)
        Gradients of batches at one point; an odd last one is left out.
    """
    n = len(samples) // 2 * 2
    return (samples[0:n:2] - samples[1:n:2]) / np.sqrt(2)
