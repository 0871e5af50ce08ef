#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""The gradient noise that a constant friction of every entry leaves unbalanced.

Noise whose covariance :math:`C(x)` changes from place to place, in size or in direction, heats
positions where it is larger than on average and leaves them cold elsewhere. Thermostats see only
averages, which are right. On a curved ridge, such as that of group effects which are written as
multiples of their scale, the posterior then comes out up to a quarter too narrow.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["paired_differences", "unbalanced_noise"]


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
        :func:`paired_differences` at each of several points, of two pairs or more each.
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
