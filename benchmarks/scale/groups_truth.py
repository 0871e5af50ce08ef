#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Random-intercept logistic regression: its data, and its posterior by quadrature in NumPy.

With very many groups the posterior of the three global parameters is normal around the mode of the
exact marginal likelihood. Nothing of the package is used here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["TRUE", "Table", "posterior", "simulate"]

# mu, slope, log tau.
TRUE = np.array([-0.5, 0.8, np.log(0.9)])
# Sizes of the groups are uniform from the first to the last.
SMALLEST, LARGEST = 5, 15
N_NODES = 15
CHUNK = 20_000
# Differences of parameters for second derivatives; slopes of the score at N groups are smooth.
STEP = 1e-3
# Of the priors: normal, normal, half-normal of tau.
PRIOR_SD = np.array([2.0, 2.0])
TAU_SCALE = 1.0


class Table(NamedTuple):
    """Rows, sorted by group."""

    user: np.ndarray
    x: np.ndarray
    y: np.ndarray


def simulate(n_groups: int, seed: int) -> Table:
    """Draw a table with about ten rows for each group."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(SMALLEST, LARGEST + 1, n_groups)
    user = np.repeat(np.arange(n_groups, dtype="int32"), sizes)
    x = rng.normal(size=len(user)).astype("float32")
    effect = rng.normal(0, np.exp(TRUE[2]), n_groups)
    logit = TRUE[0] + TRUE[1] * x + effect[user]
    y = rng.uniform(size=len(user)) < 1 / (1 + np.exp(-logit))
    return Table(user, x, y.astype("int8"))


def posterior(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """Return mode and covariance of mu, slope and log tau by Newton's method."""
    starts = np.flatnonzero(np.r_[True, table.user[1:] != table.user[:-1]])
    starts = np.r_[starts, len(table.user)]
    point = TRUE.copy()
    for _ in range(3):
        score = _score(table, starts, point)
        steps = STEP * np.eye(3)
        columns = [_score(table, starts, p) for p in (*(point + steps), *(point - steps))]
        hessian = np.array(
            [(a - b) / (2 * STEP) for a, b in zip(columns[:3], columns[3:], strict=True)]
        )
        hessian = 0.5 * (hessian + hessian.T)
        point = point - np.linalg.solve(hessian, score)
    return point, np.linalg.inv(-hessian)


def _score(table: Table, starts: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Gradient of the log posterior, with the Jacobian of log tau."""
    total = np.zeros(3)
    for first in range(0, len(starts) - 1, CHUNK):
        part = starts[first : first + CHUNK + 1]
        rows = slice(part[0], part[-1])
        x, y = table.x[rows].astype(float), table.y[rows]
        total += _score_of_groups(x, y, part - part[0], point)
    tau = np.exp(point[2])
    total[:2] -= point[:2] / PRIOR_SD**2
    total[2] += 1 - (tau / TAU_SCALE) ** 2
    return total


def _score_of_groups(x, y, starts, point) -> np.ndarray:
    mu, slope, tau = point[0], point[1], np.exp(point[2])
    group = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    base = mu + slope * x

    def summed(values):
        return np.add.reduceat(values, starts[:-1])

    mode = np.zeros(len(starts) - 1)
    for _ in range(8):
        s = 1 / (1 + np.exp(-(base + mode[group])))
        curvature = summed(s * (1 - s)) + tau**-2
        mode = mode + (summed(y - s) - mode / tau**2) / curvature
    zeros, weights = np.polynomial.hermite_e.hermegauss(N_NODES)
    log_terms, slopes = [], []
    for z, w in zip(zeros, weights, strict=True):
        u = mode + z / np.sqrt(curvature)
        logit = base + u[group]
        log_terms.append(
            np.log(w)
            + z**2 / 2
            - summed(np.logaddexp(0, -(2.0 * y - 1) * logit))
            - u**2 / (2 * tau**2)
        )
        rest = y - 1 / (1 + np.exp(-logit))
        slopes.append([summed(rest), summed(rest * x), u**2 / tau**2 - 1])
    log_terms = np.array(log_terms)
    share = np.exp(log_terms - log_terms.max(axis=0))
    share /= share.sum(axis=0)
    return np.einsum("qg,qkg->k", share, np.array(slopes))
