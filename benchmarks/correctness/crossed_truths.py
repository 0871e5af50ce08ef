#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Posteriors of crossed effects without chains: effects and coefficients are integrated out.

For a Gaussian outcome that is exact. For others it is Laplace's approximation, with enough rows of
each level that its error is some hundredths; or, for a single factor, quadrature. What is left are
a few parameters, over whose values proposals around their mode are weighed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import numpy as np

from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.special import logsumexp

from benchmarks.correctness.strangers_truths import Moments

__all__ = ["N_PAIRS", "Latents", "Marginal", "Quadrature", "moments"]

type Rows = Callable[..., jax.Array]
"""Log likelihood of a row by its predictor, its outcome and the other parameters."""
# Steps of Newton's method, and its precision in the log density.
N_NEWTON, PRECISION = 30, 1e-4
# Distance for second derivatives, in deviations as the search for the mode has left them; pairs of
# proposals and their mirror images, and degrees of freedom of their tails.
STEP, N_PAIRS, TAILS = 0.5, 300, 8
N_HERMITE = 15


class Marginal(NamedTuple):
    """A log density, and means and covariance of what was integrated out of it."""

    log_density: float
    mean: np.ndarray
    variance: np.ndarray


class Latents:
    """Effects of factors and coefficients, integrated out.

    Parameters
    ----------
    rows : callable
        Log likelihood of a row.
    factors : list of ndarray
        Levels for each row; those of the first factor are eliminated.
    design : ndarray, shape (row, coefficient)
        Columns of coefficients.
    outcome : ndarray
        Observed values.
    prior : tuple of ndarray
        Means and deviations of the coefficients.
    offset : ndarray or float
        What the predictors have besides.
    """

    def __init__(
        self,
        rows: Rows,
        factors: Sequence[np.ndarray],
        design: np.ndarray,
        outcome: np.ndarray,
        *,
        prior: tuple[np.ndarray, np.ndarray],
        offset: np.ndarray | float = 0.0,
    ) -> None:
        self._rows = _with_derivatives(rows)
        first, *others = [_indicators(levels) for levels in factors]
        self._first = first
        self._rest = sparse.hstack([sparse.csr_matrix(design), *others]).tocsr()
        self._sizes = [first.shape[1], *(one.shape[1] for one in others)]
        self._y, self._offset = outcome, offset
        self._center, self._of_prior = prior
        self._a, self._b = np.zeros(first.shape[1]), np.zeros(self._rest.shape[1])
        self._b[: len(self._center)] = self._center

    def __call__(self, scales: np.ndarray, others: np.ndarray) -> Marginal:
        """Return the log density of the factors' deviations and the other parameters."""
        n, (a, b) = len(self._center), (self._a, self._b)
        prior_a = np.full(len(a), scales[0] ** -2.0)
        sizes = zip(scales[1:], self._sizes[1:], strict=True)
        prior_b = np.concatenate([self._of_prior**-2.0, *(np.full(k, s**-2.0) for s, k in sizes)])
        center = np.zeros_like(b)
        center[:n] = self._center

        def energy(a, b):
            eta = self._first @ a + self._rest @ b + self._offset
            value, slope, bend = self._rows(eta, self._y, others)
            there = value.sum() - 0.5 * prior_a @ a**2 - 0.5 * prior_b @ (b - center) ** 2
            return there, slope, bend

        value, slope, bend = energy(a, b)
        for _ in range(N_NEWTON):
            root = self._curvature(-bend, prior_a, prior_b)
            by_a, cross, factor = root
            down_a = self._first.T @ slope - prior_a * a
            down_b = self._rest.T @ slope - prior_b * (b - center)
            move_b = cho_solve(factor, down_b - cross.T @ (down_a / by_a))
            move_a = (down_a - cross @ move_b) / by_a
            gain, share = move_a @ down_a + move_b @ down_b, 1.0
            if gain < PRECISION:
                break
            while True:
                after = energy(a + share * move_a, b + share * move_b)
                if after[0] >= value or share < 1e-3:
                    break
                share /= 2
            a, b = a + share * move_a, b + share * move_b
            value, slope, bend = after
        self._a, self._b = a, b
        log_det = np.log(by_a).sum() + 2 * np.log(np.diag(factor[0])).sum()
        log_prior = np.log(prior_a).sum() + np.log(prior_b).sum()
        variance = np.diag(cho_solve(factor, np.eye(len(b))[:, :n]))
        return Marginal(value + 0.5 * (log_prior - log_det), b[:n].copy(), variance)

    def _curvature(self, weights, prior_a, prior_b):
        scaled = sparse.diags(weights) @ self._rest
        by_a = self._first.T @ weights + prior_a
        cross = (self._first.T @ scaled).toarray()
        inner = (self._rest.T @ scaled).toarray() + np.diag(prior_b)
        inner -= cross.T @ (cross / by_a[:, None])
        return by_a, cross, cho_factor(inner)


class Quadrature:
    """Effects of one factor, integrated out by quadrature around their modes.

    Parameters
    ----------
    rows : callable
        Log likelihood of a row.
    levels : ndarray
        Levels for each row.
    outcome : ndarray
        Observed values.
    """

    def __init__(self, rows: Rows, levels: np.ndarray, outcome: np.ndarray) -> None:
        self._rows, self._y = _with_derivatives(rows), outcome
        self._levels, self._n = levels, levels.max() + 1
        self._effects = np.zeros(self._n)

    def __call__(self, scale: float, others: np.ndarray, offset: np.ndarray) -> float:
        """Return the log density of the factor's deviation and what else there is."""
        a, levels, n = self._effects, self._levels, self._n
        for _ in range(N_NEWTON):
            _, slope, bend = self._rows(a[levels] + offset, self._y, others)
            curvature = np.bincount(levels, -bend, n) + scale**-2.0
            curvature = np.maximum(curvature, scale**-2.0)
            move = (np.bincount(levels, slope, n) - a / scale**2) / curvature
            a = a + move
            if np.abs(move).max() < 1e-6:
                break
        self._effects = a
        nodes, weights = np.polynomial.hermite_e.hermegauss(N_HERMITE)
        terms = []
        for node, weight in zip(nodes, weights, strict=True):
            at = a + node / np.sqrt(curvature)
            value, _, _ = self._rows(at[levels] + offset, self._y, others)
            total = np.bincount(levels, value, n) - 0.5 * (at / scale) ** 2 + 0.5 * node**2
            terms.append(total + np.log(weight))
        found = logsumexp(terms, axis=0) - 0.5 * np.log(curvature) - np.log(scale)
        return float(found.sum())


def _with_derivatives(rows: Rows) -> Callable:
    first = jax.grad(rows)
    each = [jax.vmap(f, (0, 0, None)) for f in (rows, first, jax.grad(first))]
    compiled = jax.jit(lambda *given: [f(*given) for f in each])

    def evaluate(*given):
        with jax.enable_x64(True):
            return [np.asarray(x) for x in compiled(*map(np.asarray, given))]

    return evaluate


def _indicators(levels: np.ndarray) -> sparse.csr_matrix:
    n = len(levels)
    return sparse.csr_matrix((np.ones(n), (np.arange(n), levels)), (n, int(levels.max()) + 1))


def moments(
    density: Callable[[np.ndarray], Marginal],
    start: np.ndarray,
    natural: Callable[[np.ndarray], np.ndarray],
    *,
    n_pairs: int = N_PAIRS,
) -> Moments:
    """Means and deviations: of natural parameters first, then of what was integrated out.

    Parameters
    ----------
    density : callable
        Log density of unconstrained parameters, the Jacobian included.
    start : ndarray
        Near their mode.
    natural : callable
        Turns them into those that are compared.
    n_pairs : int
        Pairs of proposals.
    """
    options = {"gtol": 0.05, "eps": 1e-4}
    found = minimize(lambda t: -density(t).log_density, start, method="BFGS", options=options)
    mode, n = found.x, len(start)
    scale = np.sqrt(np.diag(found.hess_inv))
    at = {}

    def value(*moves):
        key = tuple(np.sum(moves, axis=0).round(9))
        if key not in at:
            at[key] = density(mode + scale * key).log_density
        return at[key]

    unit, zero, h = np.eye(n), np.zeros(n), STEP
    curvature = np.empty((n, n))
    for i in range(n):
        for j in range(i + 1):
            a, b = h * unit[i], h * unit[j]
            if i == j:
                bend = (2 * value(zero) - value(a) - value(-a)) / h**2
            else:
                bend = (value(a, -b) + value(-a, b) - value(a, b) - value(-a, -b)) / (4 * h**2)
            curvature[i, j] = curvature[j, i] = bend
    root = np.linalg.cholesky(np.linalg.inv(curvature))
    rng = np.random.default_rng(9)
    z = rng.normal(size=(n_pairs, n))
    z /= np.sqrt(rng.chisquare(TAILS, (n_pairs, 1)) / TAILS)
    z = np.concatenate([z, -z])
    draws = mode + scale * (z @ root.T)
    each = [density(t) for t in draws]
    log_weights = np.array([one.log_density for one in each])
    log_weights += 0.5 * (TAILS + n) * np.log1p((z**2).sum(axis=1) / TAILS)
    weights = np.exp(log_weights - logsumexp(log_weights))
    inner = np.array([one.mean for one in each])
    values = np.column_stack([[natural(t) for t in draws], inner])
    own = np.zeros(values.shape[1])
    own[values.shape[1] - inner.shape[1] :] = weights @ [one.variance for one in each]
    mean = weights @ values
    return Moments(mean, np.sqrt(weights @ (values - mean) ** 2 + own))
