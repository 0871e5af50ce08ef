#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Tests of uniformity for directions, axes and angles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numpy.typing import ArrayLike
from scipy.stats import chi2

from pymc_geodesic.validation import Unit, radians

__all__ = ["UniformityTest", "bingham_test", "rayleigh_test", "watson_test"]

# Below, a larger statistic has a probability of one to 1e-25, and its alternating series needs more
# terms the smaller the statistic is.
LEAST_WATSON = 0.002
# Of the norms of unit vectors, which may have been written with three digits.
LARGEST_ERROR = 2e-3


class UniformityTest(NamedTuple):
    """Result of a test of uniformity.

    Attributes
    ----------
    statistic : float
        Of the test.
    p_value : float
        Probability of a larger statistic if the data are uniform.
    """

    statistic: float
    p_value: float


def rayleigh_test(X: ArrayLike) -> UniformityTest:
    r"""Test unit vectors for a mean direction.

    :math:`S = n N |\bar x|^2` is chi square with n degrees of freedom for uniform data; the
    statistic is :math:`(1 - \frac{1}{2N}) S + \frac{S^2}{2N(n + 2)}`, whose error is of order
    :math:`1 / N^2`.

    Parameters
    ----------
    X : array_like, shape (N, n)
        Independent unit vectors, one per row.

    Returns
    -------
    UniformityTest
        ``statistic`` and ``p_value``.

    Raises
    ------
    ValueError
        If ``X`` is not a matrix, or its rows are not unit vectors.

    References
    ----------
    Mardia, K. V. and Jupp, P. E. (2000). Directional Statistics, sections 6.3.1 and 10.4.1.

    Examples
    --------
    >>> round(rayleigh_test([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]).p_value, 6)
    1.0
    """
    X = _matrix(X)
    n_rows, n = X.shape
    plain = n * n_rows * float((X.mean(axis=0) ** 2).sum())
    statistic = (1 - 1 / (2 * n_rows)) * plain + plain**2 / (2 * n_rows * (n + 2))
    return UniformityTest(statistic, float(chi2(n).sf(statistic)))


def bingham_test(X: ArrayLike) -> UniformityTest:
    r"""Test axes for uniformity; signs do not matter.

    :math:`S = \frac{n (n + 2)}{2} N (\operatorname{tr} T^2 - \frac1n)` with the second moments T is
    chi square with (n - 1)(n + 2) / 2 degrees of freedom for many uniform axes.

    Parameters
    ----------
    X : array_like, shape (N, n)
        Independent unit vectors of any signs, one per row.

    Returns
    -------
    UniformityTest
        ``statistic`` and ``p_value``.

    Raises
    ------
    ValueError
        If ``X`` is not a matrix, or its rows are not unit vectors.

    References
    ----------
    Mardia, K. V. and Jupp, P. E. (2000). Directional Statistics, section 10.7.1.

    Examples
    --------
    >>> round(bingham_test(np.eye(3)).p_value, 6)
    1.0
    """
    X = _matrix(X)
    n_rows, n = X.shape
    second = X.T @ X / n_rows
    statistic = 0.5 * n * (n + 2) * n_rows * float((second**2).sum() - 1 / n)
    return UniformityTest(statistic, float(chi2((n - 1) * (n + 2) // 2).sf(statistic)))


def watson_test(angles: ArrayLike, *, unit: Unit = "radians") -> UniformityTest:
    r"""Test angles for uniformity by Watson's U^2, which also detects several modes.

    With sorted :math:`u_i = \theta_i / 2 \pi` in [0, 1),

    .. math::

        U^2 = \sum_i \left( u_i - \bar u - \tfrac{2i - 1}{2N} + \tfrac12 \right)^2 + \frac{1}{12 N}.

    The statistic is modified for small N as in Stephens, and its probability is that of the limit.

    Parameters
    ----------
    angles : array_like, shape (N,)
        Independent angles.
    unit : {"radians", "degrees"}
        Unit of the angles.

    Returns
    -------
    UniformityTest
        ``statistic`` and ``p_value``.

    Raises
    ------
    ValueError
        If there are fewer than two angles, or some are missing or larger than a whole turn.

    References
    ----------
    Mardia, K. V. and Jupp, P. E. (2000). Directional Statistics, section 6.3.3.

    Examples
    --------
    >>> watson_test(np.arange(100) * 2 * np.pi / 100).p_value > 0.99
    True
    """
    x = np.ravel(radians("angles", angles, unit=unit))
    if n_missing := int(np.isnan(x).sum()):
        raise ValueError(
            f"`angles` expected finite angles, got {n_missing} that are missing. Leave them out."
        )
    n = len(x)
    if n < 2:
        raise ValueError(f"`angles` expected two or more angles, got {n}.")
    u = np.sort(np.mod(x, 2 * np.pi)) / (2 * np.pi)
    steps = (2 * np.arange(1, n + 1) - 1) / (2 * n)
    plain = float(((u - u.mean() - steps + 0.5) ** 2).sum()) + 1 / (12 * n)
    statistic = (plain - 0.1 / n + 0.1 / n**2) * (1 + 0.8 / n)
    if statistic < LEAST_WATSON:
        return UniformityTest(statistic, 1.0)
    m = np.arange(1, 51)
    tail = 2 * float(((-1.0) ** (m - 1) * np.exp(-2 * (m * np.pi) ** 2 * statistic)).sum())
    return UniformityTest(statistic, float(np.clip(tail, 0, 1)))


def _matrix(X: ArrayLike) -> np.ndarray:
    X = np.asarray(X, dtype=float)
    if X.ndim != 2 or len(X) < 1:
        raise ValueError(
            f"`X` expected a matrix of unit vectors, one per row; got an array of shape {X.shape}. "
            "`pmg.angles_to_vectors` makes unit vectors of angles."
        )
    norms = np.linalg.norm(X, axis=1)
    if not np.all(np.abs(norms - 1) <= LARGEST_ERROR):
        raise ValueError(
            f"`X` expected unit vectors in its rows, got norms in [{norms.min():.6g}, "
            f"{norms.max():.6g}]. Divide each row by its norm."
        )
    return X
