#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Moments of ordinary models that are known without sampling, for ``models.py``."""

from __future__ import annotations

import numpy as np

from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.special import softmax

# Points along tau and sigma, and how far they reach from the best in posterior deviations. The
# density is smooth, so that a sum over them is exact to rounding.
N_POINTS, REACH = 41, 7.0


# The same for the three deviations of crossed effects, each point of which takes a factorisation.
# Sums of a Gaussian at every 1.1 deviations are exact to 1e-6.
N_CROSSED, REACH_CROSSED = 9, 4.4
# Relative change of every variance from which the grid is taken to cover the posterior.
SETTLED, MOST_ROUNDS = 0.05, 8


def ridge_moments(
    design: np.ndarray, y: np.ndarray, *, scales: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray]:
    """Means and deviations of beta, tau and sigma, one after the other.

    y ~ N(X beta, sigma^2), beta ~ N(0, tau^2), with half-normal tau and sigma of these ``scales``.
    Given tau and sigma beta is Gaussian, independent along the eigenvectors of X'X; these two are
    integrated on a grid of their logarithms.
    """
    curvature, vectors = np.linalg.eigh(design.T @ design)
    along = vectors.T @ (design.T @ y)
    n, p = design.shape

    def log_density(tau, sigma):
        width = sigma**2 + tau**2 * curvature
        fit = np.sum(tau**2 * along**2 / width, axis=-1, keepdims=True)
        value = -(n - p) * np.log(sigma) - 0.5 * np.sum(np.log(width), axis=-1, keepdims=True)
        value -= 0.5 * (y @ y - fit) / sigma**2
        return value - 0.5 * ((tau / scales[0]) ** 2 + (sigma / scales[1]) ** 2)

    spread = (y - design @ (vectors @ (along / curvature))).std()
    # First widely, then around what was found.
    center, half = np.log([np.sqrt(np.mean((along / curvature) ** 2)), spread]), np.ones(2)
    for _ in range(4):
        grid = np.meshgrid(*np.linspace(center - half, center + half, N_POINTS).T)
        tau, sigma = (np.exp(axis).reshape(-1, 1) for axis in grid)
        # The density of the logarithms, which are what is spaced evenly.
        weight = softmax(log_density(tau, sigma) + np.log(tau * sigma), axis=0)
        logs = np.log(np.hstack([tau, sigma]))
        center = np.sum(weight * logs, axis=0)
        step = 2 * half / (N_POINTS - 1)
        half = REACH * np.sqrt(np.sum(weight * (logs - center) ** 2, axis=0) + step**2)
    width = sigma**2 + tau**2 * curvature
    means, variances = tau**2 * along / width, sigma**2 * tau**2 / width
    mean = np.sum(weight * means, axis=0)
    covariance = (weight * (means - mean)).T @ (means - mean)
    covariance += np.diag(np.sum(weight * variances, axis=0))
    variance = np.einsum("ij,jk,ik->i", vectors, covariance, vectors)
    two = np.hstack([tau, sigma])
    of_two = np.sum(weight * two, axis=0)
    deviations = np.sqrt(np.sum(weight * (two - of_two) ** 2, axis=0))
    return np.append(vectors @ mean, of_two), np.append(np.sqrt(variance), deviations)


def crossed_moments(
    user: np.ndarray, item: np.ndarray, y: np.ndarray, *, prior_mean: float
) -> tuple[np.ndarray, np.ndarray]:
    """Means and deviations of mu and of the deviations of users, items and errors.

    y ~ N(mu + a[user] + b[item], s^2) with a ~ N(0, s_a^2), b ~ N(0, s_b^2), mu ~ N(prior_mean, 1)
    and standard half-normal deviations. Given these the effects are integrated in closed form; the
    deviations are integrated on a grid of their logarithms, along the axes of the posterior.
    """
    density = _crossed_density(user, item, y - prior_mean)
    # Differences of a number as large as the rows are many need longer steps than the default's.
    best = minimize(lambda logs: -density(logs)[0], np.full(3, -0.4), options={"eps": 1e-4})
    center, covariance = best.x, np.linalg.inv(_curvature(density, best.x))
    places = np.linspace(-REACH_CROSSED, REACH_CROSSED, N_CROSSED)
    cube = np.stack(np.meshgrid(*[places] * 3), axis=-1).reshape(-1, 3)
    # The posterior is not quite Gaussian: the curvature at the mode is a first guess.
    for _ in range(MOST_ROUNDS):
        before = np.diag(covariance)
        logs = center + cube @ np.linalg.cholesky(covariance).T
        log_weight, mean, variance = np.array([density(point) for point in logs]).T
        weight = softmax(log_weight)
        center = weight @ logs
        covariance = (weight[:, None] * (logs - center)).T @ (logs - center)
        if np.all(np.abs(np.log(np.diag(covariance) / before)) < SETTLED):
            break
    else:
        raise ArithmeticError(
            "The grid over the deviations of crossed effects expected variances that settle in "
            f"{MOST_ROUNDS} rounds; got {before} and then {np.diag(covariance)}. Add rows."
        )
    draws = np.column_stack([mean + prior_mean, np.exp(logs)])
    mean_of_draws = weight @ draws
    spread = weight @ (draws - mean_of_draws) ** 2
    spread[0] += weight @ variance
    return mean_of_draws, np.sqrt(spread)


def _curvature(density, logs: np.ndarray, step: float = 0.005) -> np.ndarray:
    """Negative second derivatives of a log density, by differences."""
    steps = step * np.eye(len(logs))

    def second(i: np.ndarray, j: np.ndarray) -> float:
        values = [density(logs + a * i + b * j)[0] * a * b for a in (1, -1) for b in (1, -1)]
        return -sum(values) / (4 * step**2)

    return np.array([[second(i, j) for j in steps] for i in steps])


def _crossed_density(user: np.ndarray, item: np.ndarray, y: np.ndarray):
    """Make the log density of the logarithms of deviations, with mean and variance of mu."""
    n_users, n_items = user.max() + 1, item.max() + 1
    # Of a user: ratings in all, and of each item. These are the products of indicators.
    ones, places = np.ones(2 * len(y)), np.concatenate([item + 1, np.zeros_like(item)])
    # Users have few ratings: dense products of all users and items would take most of the time.
    of_user = sparse.csr_array((ones, (np.tile(user, 2), places)), (n_users, n_items + 1))
    n_of_user, of_item = np.bincount(user, minlength=n_users), of_user.sum(axis=0)
    products = np.diag(of_item)
    products[0, :] = products[:, 0] = of_item
    sums_user = np.bincount(user, y, n_users)
    sums = np.append(y.sum(), np.bincount(item, y, n_items))

    def density(logs: np.ndarray) -> tuple[float, float, float]:
        a, b, s = np.exp(logs)
        precision_user = n_of_user / s**2 + 1 / a**2
        weighted = sparse.diags_array(s**-4 / precision_user) @ of_user
        precision = products / s**2 - (of_user.T @ weighted).toarray()
        precision += np.diag(np.append(1.0, np.full(n_items, b**-2)))
        factor = cho_factor(precision, lower=True)
        right = sums / s**2 - weighted.T @ sums_user
        fit = cho_solve(factor, right)
        value = -len(y) * logs[2] - n_users * logs[0] - n_items * logs[1]
        value -= 0.5 * np.log(precision_user).sum() + np.log(np.diag(factor[0])).sum()
        value -= 0.5 * (y @ y / s**2 - np.sum(sums_user**2 / precision_user) / s**4)
        value += 0.5 * right @ fit - 0.5 * np.sum(np.exp(2 * logs)) + logs.sum()
        return value, fit[0], cho_solve(factor, np.eye(n_items + 1)[0])[0]

    return density
