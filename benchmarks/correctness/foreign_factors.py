#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The posterior of ``election`` without its chains, which NUTS does not reach either.

Of so many rows the log likelihood is a quadratic function of coefficients and effects, which are
then integrated out exactly. What is left are the deviations of five factors, of which a walk over
their logarithms takes 200,000 steps.
"""

from __future__ import annotations

import numpy as np
import pymc as pm

from arviz_stats.base import array_stats
from pytensor.graph.traversal import ancestors
from pytensor.scalar.math import Sigmoid
from scipy import sparse
from scipy.linalg import solve_triangular
from scipy.special import expit

__all__ = ["election_draws"]

SIZES = {"a": 4, "b": 4, "c": 16, "d": 51, "e": 5}
# Of coefficients, and the largest deviation of a factor that its prior allows.
WIDE, MOST = 100.0, 100.0
N_COEFFICIENTS, N_NEWTON = 5, 8
N_CHAINS, N_STEPS, THIN, N_WEIGHTS = 8, 25_000, 5, 200


def design(model: pm.Model) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Return what multiplies coefficients and effects in each row, and the outcomes.

    The predictor is linear, so that its values at unit vectors are the columns.
    """
    y = model.rvs_to_values[model["y"]].data
    # The probability is the inverse logit of the predictor.
    predictor = next(
        x.owner.inputs[0]
        for x in ancestors([model["y"].owner.inputs[-1]])
        if x.owner is not None and isinstance(getattr(x.owner.op, "scalar_op", None), Sigmoid)
    )
    free = [model["beta"], *(model[name] for name in SIZES)]
    function = pm.compile(free, predictor, on_unused_input="ignore")
    columns = []
    for k, rv in enumerate(free):
        for i in range(rv.type.shape[0]):
            point = [np.zeros(x.type.shape[0]) for x in free]
            point[k][i] = 1.0
            columns.append(sparse.csc_matrix(function(*point)[:, None]))
    return sparse.hstack(columns).tocsr(), np.asarray(y, dtype=float)


def expansion(X: sparse.csr_matrix, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where the likelihood is largest, a wide prior included, and its curvature."""
    at, prior = np.zeros(X.shape[1]), np.full(X.shape[1], WIDE**-2.0)
    for _ in range(N_NEWTON):
        p = expit(X @ at)
        curvature = (X.T @ sparse.diags(p * (1 - p)) @ X).toarray()
        down = X.T @ (y - p) - prior * at
        at += np.linalg.solve(curvature + np.diag(prior), down)
    return at, curvature


class Marginal:
    """Coefficients and effects, integrated out for given deviations."""

    def __init__(self, X: sparse.csr_matrix, y: np.ndarray) -> None:
        at, self._curvature = expansion(X, y)
        self._linear = self._curvature @ at + X.T @ (y - expit(X @ at))

    def _solved(self, log_sigma: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        sigma = zip(SIZES.values(), np.exp(log_sigma), strict=True)
        sd = np.concatenate([np.full(N_COEFFICIENTS, WIDE), *(np.full(n, s) for n, s in sigma)])
        # In units of the prior, so that deviations near zero do no harm.
        inner = np.eye(len(sd)) + self._curvature * np.outer(sd, sd)
        lower = np.linalg.cholesky(inner)
        return sd, lower, solve_triangular(lower, sd * self._linear, lower=True)

    def __call__(self, log_sigma: np.ndarray) -> float:
        """Return the log density of the logarithms."""
        if np.any(np.exp(log_sigma) >= MOST):
            return -np.inf
        _, lower, half = self._solved(log_sigma)
        return float(0.5 * half @ half - np.log(np.diag(lower)).sum() + log_sigma.sum())

    def log_weight(self, X: sparse.csr_matrix, y: np.ndarray, at: np.ndarray) -> float:
        """Return the log likelihood less the quadratic function that stands for it."""
        predictor = X @ at
        exact = y @ predictor - np.logaddexp(0.0, predictor).sum()
        return float(exact - self._linear @ at + 0.5 * at @ self._curvature @ at)

    def drawn(self, log_sigma: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw coefficients and effects, given the logarithms."""
        sd, lower, half = self._solved(log_sigma)
        return sd * solve_triangular(lower.T, half + rng.standard_normal(len(sd)), lower=False)


def walk(marginal: Marginal, rng: np.random.Generator) -> np.ndarray:
    """Draw logarithms of deviations by a random walk whose shape is learned in its first fifth."""
    at = rng.normal(-3.0, 0.5, len(SIZES))
    now, draws, root = marginal(at), np.empty((N_STEPS, len(SIZES))), 0.8 * np.eye(len(SIZES))
    for i in range(N_STEPS):
        if i and i <= N_STEPS // 5 and i % 500 == 0:
            root = np.linalg.cholesky(np.cov(draws[i // 2 : i].T)) * 2.4 / np.sqrt(len(SIZES))
        there = at + root @ rng.standard_normal(len(SIZES))
        value = marginal(there)
        if np.log(rng.random()) < value - now:
            at, now = there, value
        draws[i] = at
    return draws[N_STEPS // 5 :: THIN]


def election_draws(model: pm.Model) -> tuple[dict[str, np.ndarray], float]:
    """Return draws of all variables of ``election``, and k-hat of their weights with all rows."""
    X, y = design(model)
    marginal, rng = Marginal(X, y), np.random.default_rng(1)
    draws = np.concatenate([walk(marginal, rng) for _ in range(N_CHAINS)])
    rest = np.array([marginal.drawn(log_sigma, rng) for log_sigma in draws])
    some = rest[:: len(rest) // N_WEIGHTS]
    k_hat = array_stats.psislw(np.array([-marginal.log_weight(X, y, at) for at in some]))[1]
    found, first = {"beta": rest[:, :N_COEFFICIENTS]}, N_COEFFICIENTS
    for i, (name, size) in enumerate(SIZES.items()):
        found[f"sigma_{name}"] = np.exp(draws[:, i])
        found[name] = rest[:, first : first + size]
        first += size
    return found, float(k_hat)
