#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Means and second moments of a posterior from draws with gradients: zero-variance estimates.

For coordinates y of a posterior :math:`\exp(-U)` with the force :math:`s = \nabla U - \Delta y`,
for any matrix B and any vector c, the averages of :math:`B s` and of :math:`(y - c) (B s)^\top - P
B^\top` are zero, P being the products of the gradients of the coordinates: one on flat space. So

.. math::

    E[y] = E[y - B s], \qquad
    E[(y - c) (y - c)^\top] = E[(y - c) (y - c - B s)^\top + P B^\top].

If the posterior is Gaussian, B its covariance and c its mean, both are the same at every draw: an
average over draws of whatever distribution is right. B is the regression of y on s. What it leaves
is regressed on products of y and s, whose averages are known too, up to the third degree where
coordinates are few.

Coefficients come from other chains than those that are averaged. So the averages are unbiased, and
their standard errors have the noise of the regression.

Mira, A., Solgi, R. and Imparato, D. (2013). Zero variance Markov chain Monte Carlo for Bayesian
estimators. Statistics and Computing 23.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from pymc_geodesic.monte_carlo import mcse
from pymc_geodesic.refinement.frame import MOST_PAIRED, Ridge

__all__ = ["Estimates", "SteinDraws", "corrected_moments", "folds_of"]

# Training draws for each feature of the second regression.
DRAWS_EACH = 3
FOLDS = 4


class SteinDraws(NamedTuple):
    """Draws with gradients, in coordinates about zero and of about unit variance.

    Attributes
    ----------
    y, force : ndarray, shape (chain, draw, coordinate)
        Coordinates, and the gradient of the potential energy less the Laplacian of coordinates.
    products : ndarray, shape (chain, draw, coordinate, coordinate), optional
        Inner products of the gradients of coordinates; by default those of flat space.
    """

    y: np.ndarray
    force: np.ndarray
    products: np.ndarray | None = None


class Estimates(NamedTuple):
    """Averages by regression on control variates.

    Attributes
    ----------
    mean, mean_error, mean_left : ndarray, shape (coordinate,)
        Means, their standard errors, and the share of the variance that the regression leaves.
    cov, cov_error, cov_left : ndarray, shape (coordinate, coordinate) or (coordinate,)
        The same of covariances; only of variances where coordinates are many.
    """

    mean: np.ndarray
    mean_error: np.ndarray
    mean_left: np.ndarray
    cov: np.ndarray
    cov_error: np.ndarray
    cov_left: np.ndarray


def corrected_moments(draws: SteinDraws) -> Estimates:
    """Estimate means and second moments of the posterior.

    Parameters
    ----------
    draws : SteinDraws
        Draws with gradients.

    Examples
    --------
    >>> import numpy as np
    >>> from pymc_geodesic.refinement.control_variates import SteinDraws, corrected_moments
    >>> x = np.random.default_rng(1).normal(0.2, 1.1, size=(4, 100, 2))
    >>> found = corrected_moments(SteinDraws(x, x))
    >>> bool(np.allclose(found.mean, 0) and np.allclose(found.cov, np.eye(2)))
    True
    """
    folds = list(folds_of(draws.y))
    slopes = [_slopes(draws, train) for train, _ in folds]
    e = np.empty_like(draws.y)
    for b, (_, test) in zip(slopes, folds, strict=True):
        e[test] = draws.y[test] - draws.force[test] @ b
    center = e.mean(axis=(0, 1))
    about = draws._replace(y=draws.y - center)
    d = draws.y.shape[-1]
    pairs = pairs_of(d)
    rest, rest_pairs = np.empty_like(e), np.empty((*e.shape[:2], len(pairs[0])))
    for b, (train, test) in zip(slopes, folds, strict=True):
        rest[test], rest_pairs[test] = _residuals(about, b, train, test, pairs)
    mean, mean_error, mean_left = _averaged(rest, about.y)
    found = _averaged(rest_pairs, about.y[..., pairs[0]] * about.y[..., pairs[1]])
    # The mean of the second regression is not quite the center.
    cov = [found[0] - mean[pairs[0]] * mean[pairs[1]], *found[1:]]
    if d <= MOST_PAIRED:
        cov = [_square(x, pairs, d) for x in cov]
    return Estimates(center + mean, mean_error, mean_left, *cov)


def pairs_of(d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of the second moments that are estimated."""
    return np.triu_indices(d) if d <= MOST_PAIRED else (np.arange(d), np.arange(d))


def folds_of(x: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield masks ``(chain, draw)`` of training draws and of the others; each is once an other.

    Chains are kept together where there are enough of them, else stretches of chains.
    """
    n_chains, n_draws = x.shape[:2]
    if n_chains >= FOLDS:
        number = np.broadcast_to((np.arange(n_chains) % FOLDS)[:, None], (n_chains, n_draws))
    else:
        number = np.broadcast_to(np.arange(n_draws) * FOLDS // n_draws, (n_chains, n_draws))
    for k in range(FOLDS):
        yield number != k, number == k


def _slopes(draws: SteinDraws, train: np.ndarray) -> np.ndarray:
    """Regress coordinates on forces; without information, B is one, as the variances are."""
    linear = Ridge(draws.force[train]).fit((draws.y - draws.force)[train])
    return np.eye(draws.y.shape[-1]) + linear.coefficients


def _residuals(
    draws: SteinDraws,
    b: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
    pairs: tuple[np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """Return what control variates leave of coordinates and products at the draws of one fold."""
    y, s = draws.y, draws.force
    found = []
    for some in (train, test):
        e = y[some] - s[some] @ b
        products = _products(draws, some)
        square = _symmetric(y[some], e, pairs) + _known(products, b, pairs)
        found.append((e, square, _features(y[some], s[some], products, int(train.sum()))))
    (e, square, features), (e_test, square_test, features_test) = found
    targets = np.concatenate([e, square], axis=1)
    fitted = Ridge(features).fit(targets).coefficients
    rest = np.concatenate([e_test, square_test], axis=1) - features_test @ fitted
    return rest[:, : y.shape[-1]], rest[:, y.shape[-1] :]


def _products(draws: SteinDraws, some: np.ndarray) -> np.ndarray | None:
    return None if draws.products is None else draws.products[some]


def _symmetric(x: np.ndarray, z: np.ndarray, pairs: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    i, j = pairs
    return 0.5 * (x[:, i] * z[:, j] + x[:, j] * z[:, i])


def _known(
    products: np.ndarray | None, b: np.ndarray, pairs: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Return the symmetric part of P B at the pairs."""
    found = b if products is None else products @ b
    i, j = pairs
    return 0.5 * (found[..., i, j] + found[..., j, i])


def _features(
    y: np.ndarray, s: np.ndarray, products: np.ndarray | None, n_train: int
) -> np.ndarray:
    r"""Return the control variates of the second regression, as many as draws determine.

    They are the operator :math:`\nabla f \cdot \nabla U - \Delta f` of monomials f.
    """
    d, most = y.shape[1], n_train / DRAWS_EACH
    n_squares = d * (d + 1) // 2
    if 2 * d > most:
        return np.zeros((len(y), 0))
    pairs = (np.arange(d), np.arange(d)) if d + n_squares > most else np.triu_indices(d)
    found = [s, _symmetric(y, s, pairs) - _known(products, np.eye(d), pairs)]
    if d + n_squares + n_squares * (d + 2) // 3 <= most:
        found.append(_cubic(y, s, np.eye(d) if products is None else products))
    return np.concatenate(found, axis=1)


def _cubic(y: np.ndarray, s: np.ndarray, products: np.ndarray) -> np.ndarray:
    """Return the operator of products of three coordinates."""
    triples = combinations_with_replacement(range(y.shape[1]), 3)
    return np.stack(
        [
            sum(
                y[:, i] * y[:, j] * s[:, k] - 2 * products[..., i, j] * y[:, k]
                for i, j, k in ((a, b, c), (b, c, a), (c, a, b))
            )
            for a, b, c in triples
        ],
        axis=1,
    )


def _averaged(rest: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return means, standard errors and shares of the variance of what is left of ``f``."""
    independent = rest.std(axis=(0, 1)) / np.sqrt(rest.shape[0] * rest.shape[1])
    variance = np.maximum(f.var(axis=(0, 1)), np.finfo(float).tiny)
    share = rest.var(axis=(0, 1)) / variance
    return rest.mean(axis=(0, 1)), np.fmax(mcse(rest), independent), share


def _square(x: np.ndarray, pairs: tuple[np.ndarray, np.ndarray], d: int) -> np.ndarray:
    found = np.zeros((d, d))
    found[pairs] = x
    return found + np.triu(found, 1).T
