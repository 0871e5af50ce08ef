#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Posteriors on curved manifolds whose first and second moments are known, four on each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from scipy.special import ive
from scipy.stats import vonmises_fisher

import pymc_geodesic as pmg

__all__ = ["POSTERIORS", "Exact", "pairs"]

# Points of quadrature on the circle, and in either direction on the sphere.
ON_CIRCLE, ON_SPHERE = 20_000, 800
# Weighted frames: errors of moments are below .002 deviations.
FRAMES = 1_000_000


class Exact(NamedTuple):
    """A model of batches, and means of coordinates and of their products, with errors."""

    model: pm.Model
    first: np.ndarray
    second: np.ndarray
    error: float = 0.0


def pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of the products."""
    return np.triu_indices(n)


def recorded(x: Any, n: int) -> None:
    """Add coordinates and their products to a model."""
    i, j = pairs(n)
    x = x.reshape((n,))
    pm.Deterministic("first", x)
    pm.Deterministic("second", x[i] * x[j])


def weighted(x: np.ndarray, log_weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Average points ``(point, coordinate)`` and their products."""
    w = np.exp(log_weights - log_weights.max())
    w /= w.sum()
    i, j = pairs(x.shape[1])
    return w @ x, np.einsum("n,ni,nj->ij", w, x, x, optimize=True)[i, j]


def directions(n: int, size: int, noise: float) -> Exact:
    """Normal rows about a direction, whose posterior is von Mises-Fisher."""
    rng = np.random.default_rng(n)
    rows = np.eye(n)[0] * 0.6 + np.eye(n)[1] * 0.8 + noise * rng.normal(size=(size, n))
    with pm.Model() as model:
        mu = pmg.SphericalUniform("mu", shape=n)
        y = pm.Minibatch(rows, batch_size=size // 10)
        pm.Normal("y", mu, noise, observed=y, total_size=(size, n))
        recorded(mu, n)
    pull = rows.sum(axis=0) / noise**2
    kappa = np.linalg.norm(pull)
    mean = pull / kappa
    share = ive(n / 2, kappa) / ive(n / 2 - 1, kappa)
    along = np.outer(mean, mean)
    second = share / kappa * (np.eye(n) - along) + (1 - (n - 1) * share / kappa) * along
    return Exact(model, share * mean, second[pairs(n)])


def slopes() -> Exact:
    """A direction as the slopes of a regression: a Fisher-Bingham posterior, by quadrature."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(1_000, 3)) * [0.7, 2.0, 1.0]
    noise, truth = 15.0, np.array([0.48, 0.6, 0.64])
    rows = x @ truth + noise * rng.normal(size=len(x))
    with pm.Model() as model:
        mu = pmg.SphericalUniform("mu", shape=3)
        covariates, y = pm.Minibatch(x, rows, batch_size=100)
        pm.Normal("y", covariates @ mu, noise, observed=y, total_size=len(x))
        recorded(mu, 3)
    height, of_height = np.polynomial.legendre.leggauss(ON_SPHERE)
    angle = 2 * np.pi * np.arange(ON_SPHERE) / ON_SPHERE
    root = np.sqrt(1 - height**2)[:, None]
    on_grid = root * np.cos(angle), root * np.sin(angle), height[:, None] + 0 * angle
    points = np.stack(on_grid, axis=-1).reshape(-1, 3)
    squares = np.einsum("ni,ij,nj->n", points, x.T @ x, points) - 2 * points @ (x.T @ rows)
    log_weights = -0.5 * squares / noise**2 + np.repeat(np.log(of_height), ON_SPHERE)
    return Exact(model, *weighted(points, log_weights))


def frames(n: int, noise: tuple[float, float]) -> Exact:
    """Normal rows about a frame of two columns, whose posterior is matrix Langevin.

    The first column is drawn alone and the second one given the first: what is left are weights.
    """
    rng = np.random.default_rng(n)
    size = 500
    rows = np.eye(n)[:, :2] + np.array(noise) * rng.normal(size=(size, n, 2))
    with pm.Model() as model:
        x = pmg.UniformStiefel("x", n, 2)
        y = pm.Minibatch(rows, batch_size=size // 10)
        pm.Normal("y", x, np.array(noise), observed=y, total_size=(size, n, 2))
        recorded(x, 2 * n)
    pull = rows.sum(axis=0) / np.array(noise) ** 2
    kappa = np.linalg.norm(pull[:, 0])
    one = vonmises_fisher(pull[:, 0] / kappa, kappa).rvs(FRAMES, random_state=rng)
    # On the sphere of the complement, along what is left of the pull and across it.
    left = pull[:, 1] - one * (one @ pull[:, 1])[:, None]
    strength = np.linalg.norm(left, axis=1)
    along = left / strength[:, None]
    across = rng.normal(size=one.shape)
    for axis in (one, along):
        across -= axis * np.sum(axis * across, axis=1, keepdims=True)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    if n == 3:
        cosine = np.cos(rng.vonmises(0.0, strength))
        log_weights = np.log(ive(0, strength)) + strength
    else:
        u = rng.uniform(size=FRAMES)
        cosine = 1 + np.log(u + (1 - u) * np.exp(-2 * strength)) / strength
        log_weights = strength + np.log(-np.expm1(-2 * strength) / strength)
    two = cosine[:, None] * along + np.sqrt(1 - cosine**2)[:, None] * across
    both = np.stack([one, two], axis=-1).reshape(FRAMES, -1)
    w = np.exp(log_weights - log_weights.max())
    # In standard deviations, those of the weights included.
    error = float(np.sqrt(np.sum(w**2)) / w.sum())
    return Exact(model, *weighted(both, log_weights), error)


def shares(concentration: np.ndarray, truth: np.ndarray, size: int, each: int) -> Exact:
    """Counts of outcomes, whose posterior is a Dirichlet distribution."""
    n = len(truth)
    rows = np.random.default_rng(n).multinomial(each, truth, size=size)
    with pm.Model() as model:
        p = pm.Dirichlet("p", concentration)
        y = pm.Minibatch(rows.astype("int32"), batch_size=size // 10)
        pm.Multinomial("y", each, p, observed=y, total_size=size)
        recorded(p, n)
    a = concentration + rows.sum(axis=0)
    total = a.sum()
    second = (np.outer(a, a) + np.diag(a)) / total / (total + 1)
    return Exact(model, a / total, second[pairs(n)])


def angle(
    rows: np.ndarray, write: Callable[..., Any], log_density: Callable[..., np.ndarray]
) -> Exact:
    """An angle that columns of ``rows`` tell, by quadrature."""
    with pm.Model() as model:
        a = pm.VonMises("a", 0.0, 1e-6)
        batch = pm.Minibatch(*rows, batch_size=rows.shape[1] // 10)
        write(a, *(batch if len(rows) > 1 else [batch]), total_size=rows.shape[1])
        recorded(pt.stack([pt.cos(a), pt.sin(a)]), 2)
    grid = 2 * np.pi * np.arange(ON_CIRCLE) / ON_CIRCLE
    log_weights = np.zeros(ON_CIRCLE)
    for row in rows.T:
        log_weights += log_density(grid, *row)
    return Exact(model, *weighted(np.stack([np.cos(grid), np.sin(grid)], axis=1), log_weights))


def von_mises(size: int, kappa: float) -> Exact:
    """Angles about an angle."""
    rows = np.random.default_rng(size).vonmises(2.5, kappa, size=(1, size))

    def write(a: Any, y: Any, **given: Any) -> None:
        pm.VonMises("y", a, kappa, observed=y, **given)

    return angle(rows, write, lambda a, y: kappa * np.cos(y - a))


def wrapped_cauchy() -> Exact:
    """Angles with far outliers."""
    rho, rows = 0.15, np.random.default_rng(3).vonmises(1.0, 0.3, size=(1, 300))

    def write(a: Any, y: Any, **given: Any) -> None:
        pmg.WrappedCauchy("y", a, rho, observed=y, **given)

    return angle(rows, write, lambda a, y: -np.log1p(rho**2 - 2 * rho * np.cos(y - a)))


def phase() -> Exact:
    """The phase of a wave at uneven times, whose posterior has a second harmonic."""
    rng, noise = np.random.default_rng(4), 8.0
    t = rng.vonmises(0.5, 1.5, size=400)
    rows = np.stack([t, np.cos(t - 2.0) + noise * rng.normal(size=len(t))])

    def write(a: Any, t: Any, y: Any, **given: Any) -> None:
        pm.Normal("y", pt.cos(t - a), noise, observed=y, **given)

    return angle(rows, write, lambda a, t, y: -0.5 * ((y - np.cos(t - a)) / noise) ** 2)


EVEN = np.full(5, 0.2)
POSTERIORS: dict[str, Callable[[], Exact]] = {
    "sphere, 3": lambda: directions(3, 1_000, 10.0),
    "sphere, 3, slopes": slopes,
    "sphere, 5": lambda: directions(5, 1_000, 6.0),
    "sphere, 10": lambda: directions(10, 2_000, 4.0),
    "Stiefel, 3 x 2, wide": lambda: frames(3, (9.0, 9.0)),
    "Stiefel, 3 x 2": lambda: frames(3, (2.0, 5.0)),
    "Stiefel, 4 x 2, wide": lambda: frames(4, (6.0, 9.0)),
    "Stiefel, 4 x 2": lambda: frames(4, (3.0, 3.0)),
    "simplex, 3, few counts": lambda: shares(np.ones(3), np.array([0.7, 0.25, 0.05]), 20, 1),
    "simplex, 5": lambda: shares(np.full(5, 2.0), np.array([0.4, 0.3, 0.2, 0.09, 0.01]), 300, 5),
    "simplex, 10": lambda: shares(np.ones(10), np.arange(1, 11) / 55, 50, 5),
    "simplex, 5, sparse prior": lambda: shares(EVEN, np.array([0.6, 0.3, 0.1, 0, 0]), 100, 3),
    "circle": lambda: von_mises(500, 1.0),
    "circle, wide": lambda: von_mises(400, 0.2),
    "circle, outliers": wrapped_cauchy,
    "circle, uneven times": phase,
}
