#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Maximum likelihood of distributions of unit vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytensor
import pytensor.tensor as pt

from numpy.typing import ArrayLike
from pytensor.compile.mode import Mode
from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.distributions.bessel import bessel_ratio
from pymc_geodesic.distributions.bingham_constant import bingham_log_normalizer
from pymc_geodesic.distributions.validation import check_unit_vectors
from pymc_geodesic.distributions.watson import watson_log_normalizer

__all__ = [
    "BinghamFit",
    "VonMisesFisherFit",
    "WatsonFit",
    "as_rows",
    "fit_bingham",
    "fit_von_mises_fisher",
    "fit_watson",
    "increasing_root",
    "second_moments",
    "with_gradient",
]


# Above it the data are a point up to rounding, and a concentration is meaningless.
LARGEST_KAPPA = 1e12


def as_rows(X: ArrayLike) -> np.ndarray:
    """Return unit vectors as the rows of a matrix, or raise a ValueError."""
    X = np.asarray(X, dtype=float)
    if X.ndim != 2 or len(X) < 2:
        raise ValueError(
            "`X` expected a matrix of two or more unit vectors, one per row; got an array of shape "
            f"{X.shape}."
        )
    check_unit_vectors(X, "X", "maximum likelihood")
    return X


def second_moments(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues of the second moments, the smallest first, and their vectors."""
    shares, vectors = np.linalg.eigh(X.T @ X / len(X))
    if shares[0] <= 1e-12:
        raise ValueError(
            "`X` expected rows that span the space, got a smallest share of the second moments of "
            f"{shares[0]:.3g}: the rows lie in a subspace. Leave out constant coordinates, or add "
            "rows."
        )
    return shares, vectors


def increasing_root(function: Callable[[float], float], known: float, start: float) -> float:
    """Find the zero of an increasing function on the side of ``known`` where ``start`` is."""
    # Imported on first use, because it takes long.
    from scipy.optimize import brentq

    far = start
    while abs(far) < LARGEST_KAPPA and np.sign(function(far)) != np.sign(far):
        far *= 2
    # Rounding may make the function zero, or change its sign, at the known end.
    if np.sign(function(known)) in (0, np.sign(far)):
        return known
    return float(brentq(function, known, far, xtol=1e-14, rtol=1e-13))


def with_gradient(
    graph: Callable[[TensorVariable], TensorVariable], shape: tuple[int, ...] = ()
) -> Callable:
    """Make a function of a graph with one input, a number or an array, and its gradient.

    It is interpreted, not compiled, because it is called only tens of times.
    """
    x = pt.tensor("x", dtype="float64", shape=shape)
    value = graph(x)
    mode = Mode(linker="py", optimizer="fast_compile")
    return pytensor.function([x], [value, pt.grad(value, x)], mode=mode)


class VonMisesFisherFit(NamedTuple):
    """Parameters of :class:`~pymc_geodesic.VonMisesFisher`.

    Attributes
    ----------
    mu : ndarray
        Mean direction, a unit vector.
    kappa : float
        Concentration.
    """

    mu: np.ndarray
    kappa: float


class WatsonFit(NamedTuple):
    """Parameters of :class:`~pymc_geodesic.Watson`.

    Attributes
    ----------
    mu : ndarray
        Axis, a unit vector.
    kappa : float
        Concentration: positive for vectors near the axis, negative for a girdle.
    """

    mu: np.ndarray
    kappa: float


class BinghamFit(NamedTuple):
    """Parameter of :class:`~pymc_geodesic.Bingham`.

    Attributes
    ----------
    A : ndarray
        Symmetric matrix of the quadratic form, whose largest eigenvalue is zero.
    """

    A: np.ndarray


def fit_von_mises_fisher(X: ArrayLike) -> VonMisesFisherFit:
    r"""Fit a von Mises-Fisher distribution: :math:`A_n(\kappa) = |\bar x|`.

    Parameters
    ----------
    X : array_like, shape (N, n)
        Unit vectors, one per row.

    Returns
    -------
    VonMisesFisherFit
        ``mu`` and ``kappa``; the maximum of the likelihood.

    Raises
    ------
    ValueError
        If the rows are not unit vectors, cancel, or are all the same.

    References
    ----------
    Mardia, K. V. and Jupp, P. E. (2000). Directional Statistics, section 10.3.1.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> X = pm.draw(pmg.VonMisesFisher.dist([0.0, 0.6, 0.8], 20.0, size=1000), random_seed=1)
    >>> fit = pmg.fit_von_mises_fisher(X)
    >>> x = pmg.VonMisesFisher.dist(**fit._asdict())
    """
    X = as_rows(X)
    mean = X.mean(axis=0)
    length = float(np.linalg.norm(mean))
    if not 0 < length < 1 - 1e-12:
        raise ValueError(
            "`X` expected rows that differ and have a mean direction, got a mean of length "
            f"{length:.6g}. For rows around both ends of an axis use `pmg.fit_watson`."
        )
    n = X.shape[1]
    ratio = with_gradient(lambda kappa: bessel_ratio(n, kappa))
    kappa = increasing_root(
        lambda kappa: float(ratio(kappa)[0]) - length, 0.0, n * length / (1 - length)
    )
    return VonMisesFisherFit(mean / length, kappa)


def fit_watson(X: ArrayLike) -> WatsonFit:
    r"""Fit a Watson distribution, bipolar or girdle, whichever is more likely.

    The axis is the first or the last eigenvector of :math:`\frac1N \sum_i x_i x_i^\top`, and the
    mean of :math:`(\mu^\top x)^2` is its eigenvalue.

    Parameters
    ----------
    X : array_like, shape (N, n)
        Unit vectors, one per row, of any signs.

    Returns
    -------
    WatsonFit
        ``mu``, with its entry of largest magnitude positive, and ``kappa``.

    Raises
    ------
    ValueError
        If the rows are not unit vectors, or all lie on one axis or one great circle.

    References
    ----------
    Mardia, K. V. and Jupp, P. E. (2000). Directional Statistics, section 10.3.2.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> X = pm.draw(pmg.Watson.dist([0.0, 0.6, 0.8], -20.0, size=1000), random_seed=1)
    >>> fit = pmg.fit_watson(X)
    """
    X = as_rows(X)
    n = X.shape[1]
    shares, vectors = second_moments(X)
    log_c = with_gradient(lambda kappa: watson_log_normalizer(n, kappa))
    fits = []
    for i in (-1, 0):
        tau = float(shares[i])
        # If the other entries share the rest equally, the limits of large concentrations of either
        # sign: 1 - tau = (n - 1) / (2 kappa) and tau = -1 / (2 kappa).
        start = 0.5 * (n - 1) / (1 - tau) if tau > 1 / n else -0.5 / tau

        def excess(kappa: float, tau: float = tau) -> float:
            return -float(log_c(kappa)[1]) - tau

        kappa = increasing_root(excess, 0.0, start)
        fits.append((kappa * tau + float(log_c(kappa)[0]), i, kappa))
    _, i, kappa = max(fits)
    mu = vectors[:, i]
    return WatsonFit(mu * np.sign(mu[np.argmax(np.abs(mu))]), kappa)


def fit_bingham(X: ArrayLike) -> BinghamFit:
    r"""Fit a Bingham distribution.

    A has the eigenvectors of :math:`\frac1N \sum_i x_i x_i^\top`, and second moments equal to it.

    Parameters
    ----------
    X : array_like, shape (N, n)
        Unit vectors, one per row, of any signs; n from 2 to 100.

    Returns
    -------
    BinghamFit
        ``A``, symmetric, with largest eigenvalue zero.

    Raises
    ------
    ValueError
        If the rows are not unit vectors, or lie in a subspace.
    RuntimeError
        If the equations were not solved.

    References
    ----------
    Mardia, K. V. and Jupp, P. E. (2000). Directional Statistics, section 10.3.3.

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> X = pm.draw(pmg.Bingham.dist(np.diag([0.0, -5.0, -20.0]), size=1000), random_seed=1)
    >>> fit = pmg.fit_bingham(X)
    """
    # Imported on first use, because it takes long.
    from scipy.optimize import root

    X = as_rows(X)
    shares, vectors = second_moments(X)
    n = len(shares)
    log_c = with_gradient(lambda theta: bingham_log_normalizer(pt.diag(-theta)), (n,))

    def mismatch(log_theta):
        theta = np.append(np.expm1(np.abs(log_theta)), 0.0)
        return np.log(log_c(theta)[1][:-1] / shares[:-1])

    # The limit of large concentrations, minus its value for equal shares.
    start = np.maximum(0.5 / shares[:-1] - 0.5 / shares[-1], 0.1)
    solved = root(mismatch, np.log1p(start), method="hybr", options={"xtol": 1e-12})
    if np.abs(solved.fun).max() > 1e-6:
        raise RuntimeError(
            "`fit_bingham` expected second moments within 1e-6 of those of the data, got "
            f"{np.abs(solved.fun).max():.3g}. If the smallest shares are nearly equal, use "
            f"`pmg.fit_watson`; the shares are {shares}."
        )
    theta = np.append(np.expm1(np.abs(solved.x)), 0.0)
    return BinghamFit((vectors * -theta) @ vectors.T)
