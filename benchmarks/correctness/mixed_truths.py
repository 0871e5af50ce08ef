#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Posteriors of mixed models without chains: effects of groups are integrated out.

For normal outcomes that is exact, and so it is for logistic ones, by sums around the modes of
groups. The multinomial logit has thousands of rows for each effect, with which Laplace's
approximation is exact to a hundredth of a deviation. What is left are a few parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from scipy.special import expit, log_expit, log_softmax, logsumexp

from benchmarks.correctness.crossed_truths import Marginal, moments
from benchmarks.correctness.strangers_truths import Moments

__all__ = ["Coefficients", "Prior", "Truth", "logistic_slopes", "normal_effects", "softmax_effects"]

N_PAIRS = 1_000
# Of sums around a mode, in deviations: they are exact to 1e-8 for a normal density.
NODES = np.linspace(-6.0, 6.0, 13)
N_NEWTON, PRECISION = 50, 1e-10
# Of the logarithm of the multinomial logit's deviation, which is known to about .08.
LOG_SCALES = np.linspace(-0.5, 0.5, 33)


class Truth(NamedTuple):
    """Moments of parameters and of effects of groups."""

    parameters: Moments
    effects: Moments


class Prior(NamedTuple):
    """Parameters that are not integrated out.

    Parameters
    ----------
    start : ndarray
        Near their mode, unconstrained.
    natural : callable
        Turns them into those that are compared.
    log_density : callable
        Of the natural parameters, with the Jacobian of the unconstrained ones.
    """

    start: np.ndarray
    natural: Callable[[np.ndarray], np.ndarray]
    log_density: Callable[[np.ndarray], float]


class Coefficients(NamedTuple):
    """Normal coefficients and effects of groups for given parameters.

    Parameters
    ----------
    sigma : float
        Deviation of the rows.
    covariance : ndarray
        Of the effects of a group.
    deviations : ndarray
        Of the coefficients' prior, which has mean zero.
    """

    sigma: float
    covariance: np.ndarray
    deviations: np.ndarray


def _split(found: Moments, n: int) -> Truth:
    mean, sd = found
    return Truth(Moments(mean[:n], sd[:n]), Moments(mean[n:], sd[n:]))


def _sums(group: np.ndarray, rows: np.ndarray, y: np.ndarray, n: int) -> tuple[np.ndarray, ...]:
    """Return X'X and X'y of each group."""
    square = [[np.bincount(group, a * b, n) for a in rows.T] for b in rows.T]
    cross = [np.bincount(group, a * y, n) for a in rows.T]
    return np.moveaxis(np.array(square), -1, 0), np.array(cross).T


def normal_effects(
    group: np.ndarray,
    rows: np.ndarray,
    y: np.ndarray,
    maps: np.ndarray,
    *,
    prior: Prior,
    given: Callable[[np.ndarray], Coefficients],
    n_compared: int,
    has_means: bool,
) -> Truth:
    """Effects ``maps[g] @ coefficients + r[g]`` of the columns of ``rows``, with normal outcomes.

    Parameters
    ----------
    group, rows, y : ndarray
        Group, columns and outcome of each row.
    maps : ndarray, shape (group, column, coefficient)
        What coefficients say of effects.
    prior : Prior
        Of the parameters.
    given : callable
        What natural parameters say of coefficients and effects.
    n_compared : int
        Coefficients that are compared, after the parameters: the first.
    has_means : bool
        Whether the effects that are returned, group by group, those that vary, have what
        coefficients say of them.
    """
    n_groups, n_columns, _ = maps.shape
    square, cross = _sums(group, rows, y, n_groups)
    n_rows, total, unit = len(y), float(y @ y), np.eye(n_columns)
    turned = maps.swapaxes(1, 2)
    varies = np.diag(given(prior.natural(prior.start)).covariance) > 0

    def density(t: np.ndarray) -> Marginal:
        values = prior.natural(t)
        sigma, covariance, deviations = given(values)
        a, b = square / sigma**2, cross / sigma**2
        inner = unit + a @ covariance
        h = np.linalg.solve(inner, b[..., None])
        w = np.linalg.solve(inner, a)
        precision = np.diag(deviations**-2.0) + (turned @ w @ maps).sum(axis=0)
        pull = (turned @ h).sum(axis=0)[:, 0]
        spread = np.linalg.inv(precision)
        center = spread @ pull
        log_density = -n_rows * np.log(sigma) - 0.5 * np.linalg.slogdet(inner)[1].sum()
        log_density -= 0.5 * (total / sigma**2 - np.einsum("gi,ij,gj", b, covariance, h[..., 0]))
        log_density += 0.5 * pull @ center - np.log(deviations).sum()
        log_density -= 0.5 * np.linalg.slogdet(precision)[1]
        of_means = (unit * has_means - covariance @ w) @ maps
        effects = of_means @ center + h[..., 0] @ covariance
        variance = covariance - covariance @ w @ covariance
        variance += of_means @ spread @ of_means.swapaxes(1, 2)
        each = np.diagonal(variance, axis1=1, axis2=2)
        return Marginal(
            log_density + prior.log_density(values),
            np.append(center[:n_compared], effects[:, varies]),
            np.append(np.diag(spread)[:n_compared], each[:, varies]),
        )

    found = moments(density, prior.start, prior.natural, n_pairs=N_PAIRS)
    return _split(found, len(prior.start) + n_compared)


def logistic_slopes(
    group: np.ndarray,
    rows: np.ndarray,
    y: np.ndarray,
    *,
    prior: Prior,
    given: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
) -> Truth:
    """Effects of the two columns of ``rows``, less their mean, with logistic outcomes.

    Each group's likelihood is computed once, on a grid around the mode for the prior's start.

    Parameters
    ----------
    group, rows, y : ndarray
        Group, columns and outcome of each row.
    prior : Prior
        Of the parameters.
    given : callable
        Mean and covariance of the effects for natural parameters.
    """
    n = group.max() + 1
    mean, covariance = given(prior.natural(prior.start))
    at, precision = np.tile(mean, (n, 1)), np.linalg.inv(covariance)
    for _ in range(N_NEWTON):
        p = expit((rows * at[group]).sum(axis=1))
        bend, _ = _sums(group, rows * np.sqrt(p * (1 - p))[:, None], y, n)
        _, slope = _sums(group, rows, y - p, n)
        slope -= (at - mean) @ precision
        move = np.linalg.solve(bend + precision, slope[..., None])[..., 0]
        at = at + move
        if np.einsum("gi,gi", move, slope) < PRECISION:
            break
    factor = np.linalg.cholesky(np.linalg.inv(bend + precision))
    grid = np.stack(np.meshgrid(NODES, NODES), axis=-1).reshape(-1, 2)
    places = at + np.einsum("gij,mj->mgi", factor, grid)
    sign = np.where(y, 1.0, -1.0)
    signed = rows * sign[:, None]
    log_likelihood = np.array(
        [np.bincount(group, log_expit((signed * place[group]).sum(axis=1)), n) for place in places]
    )

    def density(t: np.ndarray) -> Marginal:
        values = prior.natural(t)
        mean, covariance = given(values)
        effects = places - mean
        whitened = effects @ np.linalg.inv(np.linalg.cholesky(covariance)).T
        terms = log_likelihood - 0.5 * (whitened**2).sum(axis=-1)
        log_density = logsumexp(terms, axis=0)
        weights = np.exp(terms - log_density)[..., None]
        center = (weights * effects).sum(axis=0)
        variance = (weights * effects**2).sum(axis=0) - center**2
        total = log_density.sum() - 0.5 * n * np.linalg.slogdet(covariance)[1]
        return Marginal(total + prior.log_density(values), center.ravel(), variance.ravel())

    found = moments(density, prior.start, prior.natural, n_pairs=N_PAIRS)
    return _split(found, len(prior.start))


def softmax_effects(
    group: np.ndarray, x: np.ndarray, y: np.ndarray, n_classes: int, *, scale: float
) -> Truth:
    """Deviation of effects, intercepts, weights, those less their mean over classes; effects.

    Without a reference class the prior alone determines means over classes, and the data the rest.
    Priors are standard normal.

    Parameters
    ----------
    group, x, y : ndarray
        Group, columns and class of each row.
    n_classes : int
        Number of classes, none of which is a reference.
    scale : float
        Near the deviation of effects.
    """
    order = np.argsort(group, kind="stable")
    group, y = group[order], y[order]
    rows, chosen = np.column_stack([np.ones(len(y)), x[order]]), np.eye(n_classes)[y]
    begins = np.flatnonzero(np.diff(group, prepend=-1))
    n_columns, n_groups = rows.shape[1], len(begins)
    n = n_columns * n_classes
    contrasts = np.kron(np.eye(n_columns), np.eye(n_classes) - 1 / n_classes)[n_classes:]
    at = np.zeros((n_columns + n_groups, n_classes))
    found = []
    for s in scale * np.exp(LOG_SCALES):
        precision = np.r_[np.ones(n), np.full(at.size - n, s**-2.0)]
        for _ in range(N_NEWTON):
            logs = log_softmax(rows @ at[:n_columns] + at[n_columns + group], axis=1)
            p = np.exp(logs)
            left = chosen - p
            slope = np.append(rows.T @ left, np.add.reduceat(left, begins)) - precision * at.ravel()
            bend = _softmax_curvature(rows, p, begins) + np.diag(precision)
            move = np.linalg.solve(bend, slope)
            if move @ slope < PRECISION * len(move):
                break
            at = at + move.reshape(at.shape)
        log_density = (logs * chosen).sum() - 0.5 * precision @ at.ravel() ** 2
        log_density += 0.5 * (np.log(precision).sum() - np.linalg.slogdet(bend)[1])
        # Of the logarithm of the deviation, which is half-normal.
        log_density += np.log(s) - 0.5 * s**2
        covariance = np.linalg.inv(bend)
        variances = np.diag(covariance)
        of_contrasts = np.einsum("ci,ij,cj->c", contrasts, covariance[:n, :n], contrasts)
        mean = np.r_[s, at.ravel()[:n], contrasts @ at.ravel()[:n], at.ravel()[n:]]
        variance = np.r_[0.0, variances[:n], of_contrasts, variances[n:]]
        found.append((log_density, mean, variance))
    log_densities, means, variances = map(np.array, zip(*found, strict=True))
    weights = np.exp(log_densities - logsumexp(log_densities))
    mean = weights @ means
    sd = np.sqrt(weights @ ((means - mean) ** 2 + variances))
    return _split(Moments(mean, sd), 1 + n + len(contrasts))


def _softmax_curvature(rows: np.ndarray, p: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """Return the curvature by column or group, and class."""
    n_columns, n_groups, n_classes = rows.shape[1], len(begins), p.shape[1]
    size = n_columns + n_groups
    found = np.zeros((size, n_classes, size, n_classes))
    groups = np.arange(n_columns, size)
    for k in range(n_classes):
        for m in range(n_classes):
            weights = p[:, k] * ((k == m) - p[:, m])
            weighted = weights[:, None] * rows
            found[:n_columns, k, :n_columns, m] = rows.T @ weighted
            sums = np.add.reduceat(weighted, begins)
            found[n_columns:, k, :n_columns, m] = sums
            found[:n_columns, k, n_columns:, m] = sums.T
            # The first column is one.
            found[groups, k, groups, m] = sums[:, 0]
    return found.reshape(size * n_classes, -1)
