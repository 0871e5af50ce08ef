#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Models of crossed factors and of many uneven groups, as their users write them.

Every model has all its rows, simulated, and nothing that would suit a sampler.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pymc as pm

from scipy.special import expit

__all__ = ["MODELS", "Crossed"]

CUTS = np.array([-2.0, -0.7, 0.6, 2.2])


class Crossed(NamedTuple):
    """A model, its true parameters and effects, and what a reference needs.

    Parameters
    ----------
    model : Model
        With all rows.
    truth : dict
        True values of variables, of effects too.
    factors : list of ndarray
        The level of each factor for each row, the factor with most levels first.
    design : ndarray, shape (row, coefficient)
        Columns of coefficients, an intercept among them if the model has one.
    outcome : ndarray
        What is observed.
    """

    model: pm.Model
    truth: dict[str, Any]
    factors: list[np.ndarray]
    design: np.ndarray
    outcome: np.ndarray


def zipf(rng: np.random.Generator, n_levels: int, n_rows: int) -> np.ndarray:
    """Draw levels whose sizes follow Zipf's law, each at least once."""
    shares = 1 / np.arange(1, n_levels + 1)
    more = rng.choice(n_levels, n_rows - n_levels, p=shares / shares.sum())
    return rng.permutation(np.append(np.arange(n_levels), more)).astype("int32")


def gaussian(n_a: int, n_b: int, n_rows: int) -> Crossed:
    """Ratings by users of items."""
    rng = np.random.default_rng(11)
    u, i = rng.integers(0, n_a, n_rows), rng.integers(0, n_b, n_rows)
    a, b = 0.5 * rng.standard_normal(n_a), 0.7 * rng.standard_normal(n_b)
    y = 3.5 + a[u] + b[i] + rng.standard_normal(n_rows)
    with pm.Model() as model:
        mu, sigma = pm.Normal("mu", 3.0, 1.0), pm.HalfNormal("sigma", 1.0)
        of_a, of_b = pm.HalfNormal("of_a", 1.0), pm.HalfNormal("of_b", 1.0)
        effect_a = pm.Normal("a", 0.0, of_a, shape=n_a)
        effect_b = pm.Normal("b", 0.0, of_b, shape=n_b)
        pm.Normal("y", mu + effect_a[u] + effect_b[i], sigma, observed=y)
    truth = {"mu": 3.5, "sigma": 1.0, "of_a": 0.5, "of_b": 0.7, "a": a, "b": b}
    return Crossed(model, truth, [u, i], np.ones((n_rows, 1)), y)


def logistic(n_a: int, n_b: int, n_rows: int) -> Crossed:
    """Answers of workers to tasks."""
    rng = np.random.default_rng(12)
    u, i = rng.integers(0, n_a, n_rows), rng.integers(0, n_b, n_rows)
    a, b = 0.6 * rng.standard_normal(n_a), 0.9 * rng.standard_normal(n_b)
    y = (rng.random(n_rows) < expit(0.5 + a[u] + b[i])).astype("int8")
    with pm.Model() as model:
        mu = pm.Normal("mu", 0.0, 1.5)
        of_a, of_b = pm.HalfNormal("of_a", 1.0), pm.HalfNormal("of_b", 1.0)
        effect_a = pm.Normal("a", 0.0, of_a, shape=n_a)
        effect_b = pm.Normal("b", 0.0, of_b, shape=n_b)
        pm.Bernoulli("y", logit_p=mu + effect_a[u] + effect_b[i], observed=y)
    truth = {"mu": 0.5, "of_a": 0.6, "of_b": 0.9, "a": a, "b": b}
    return Crossed(model, truth, [u, i], np.ones((n_rows, 1)), y)


def insteval(share: float = 1.0) -> Crossed:
    """Evaluations of lecturers by students, of the size and with the estimates of lme4's data."""
    rng = np.random.default_rng(13)
    n_rows, n_s, n_d = (int(share * n) for n in (73_421, 2_972, 1_128))
    s, d = rng.integers(0, n_s, n_rows), zipf(rng, n_d, n_rows)
    department = rng.integers(0, 14, n_d)[d]
    service = (rng.random(n_rows) < 0.43).astype(float)
    true_s, true_d = 0.33 * rng.standard_normal(n_s), 0.52 * rng.standard_normal(n_d)
    true_p = 0.1 * rng.standard_normal(14)
    mean = 3.25 - 0.07 * service + true_s[s] + true_d[d] + true_p[department]
    y = mean + 1.18 * rng.standard_normal(n_rows)
    with pm.Model() as model:
        mu, slope = pm.Normal("mu", 3.0, 1.0), pm.Normal("slope", 0.0, 1.0)
        sigma = pm.HalfNormal("sigma", 2.0)
        of_s, of_d = pm.HalfNormal("of_s", 1.0), pm.HalfNormal("of_d", 1.0)
        of_p = pm.HalfNormal("of_p", 1.0)
        es, ed = pm.Normal("s", 0.0, of_s, shape=n_s), pm.Normal("d", 0.0, of_d, shape=n_d)
        ep = pm.Normal("p", 0.0, of_p, shape=14)
        mean = mu + slope * service + es[s] + ed[d] + ep[department]
        pm.Normal("y", mean, sigma, observed=y)
    truth = {"mu": 3.25, "slope": -0.07, "sigma": 1.18, "of_s": 0.33, "of_d": 0.52, "of_p": 0.1}
    truth |= {"s": true_s, "d": true_d}
    design = np.column_stack([np.ones(n_rows), service])
    return Crossed(model, truth, [s, d, department], design, y)


def ratings() -> Crossed:
    """Five ordered answers, of users about items."""
    rng, n_rows, n_a, n_b = np.random.default_rng(14), 120_000, 1_500, 400
    u, i = rng.integers(0, n_a, n_rows), rng.integers(0, n_b, n_rows)
    a, b = 0.8 * rng.standard_normal(n_a), 0.6 * rng.standard_normal(n_b)
    y = (a[u] + b[i] + rng.logistic(size=n_rows))[:, None] > CUTS
    y = y.sum(axis=1).astype("int8")
    ordered = pm.distributions.transforms.ordered
    with pm.Model() as model:
        of_a, of_b = pm.HalfNormal("of_a", 1.0), pm.HalfNormal("of_b", 1.0)
        effect_a = pm.Normal("a", 0.0, of_a, shape=n_a)
        effect_b = pm.Normal("b", 0.0, of_b, shape=n_b)
        first = np.linspace(-2.0, 2.0, 4)
        cuts = pm.Normal("cuts", 0.0, 3.0, shape=4, transform=ordered, initval=first)
        eta = effect_a[u] + effect_b[i]
        pm.OrderedLogistic("y", eta, cuts, compute_p=False, observed=y)
    truth = {"of_a": 0.8, "of_b": 0.6, "cuts": CUTS, "a": a, "b": b}
    return Crossed(model, truth, [u, i], np.zeros((n_rows, 0)), y)


def claims(n_rows: int = 600_000) -> Crossed:
    """Numbers of claims by exposure, with columns in the units of the insurer."""
    rng, n_r, n_v = np.random.default_rng(15), 22, 11
    region, brand = zipf(rng, n_r, n_rows), zipf(rng, n_v, n_rows)
    exposure = rng.beta(0.8, 0.6, n_rows).clip(0.003)
    age, power = rng.integers(18, 90, n_rows), rng.integers(4, 16, n_rows)
    malus = np.round(50 + 20 * rng.exponential(size=n_rows)).clip(50, 230)
    density = np.exp(rng.normal(6.0, 1.8, n_rows)).clip(1, 27_000).round()
    x = np.column_stack([age, power, malus, density]).astype(float)
    beta = np.array([-0.004, 0.015, 0.02, 1e-5])
    true_r = -3.8 + 0.25 * rng.standard_normal(n_r)
    true_v = 0.15 * rng.standard_normal(n_v)
    y = rng.poisson(exposure * np.exp(true_r[region] + true_v[brand] + x @ beta))
    with pm.Model() as model:
        mu, slopes = pm.Normal("mu", -3.0, 2.0), pm.Normal("slopes", 0.0, 1.0, shape=4)
        of_r, of_v = pm.HalfNormal("of_r", 0.5), pm.HalfNormal("of_v", 0.5)
        r = pm.Deterministic("r", mu + of_r * pm.Normal("z_r", shape=n_r))
        v = pm.Deterministic("v", of_v * pm.Normal("z_v", shape=n_v))
        rate = pm.math.exp(r[region] + v[brand] + x @ slopes)
        pm.Poisson("y", exposure * rate, observed=y)
    truth = {"mu": -3.8, "slopes": beta, "of_r": 0.25, "of_v": 0.15, "r": true_r, "v": true_v}
    design = np.column_stack([np.ones(n_rows), x, np.log(exposure)])
    return Crossed(model, truth, [region, brand], design, y)


def inflated() -> Crossed:
    """Overdispersed counts with too many zeros, in groups of Zipf's sizes."""
    rng, n_rows, n_groups = np.random.default_rng(16), 25_000, 600
    group, x = zipf(rng, n_groups, n_rows), rng.standard_normal((n_rows, 3))
    level, beta = 1.0 + 0.5 * rng.standard_normal(n_groups), np.array([0.4, -0.3, 0.0])
    mean = np.exp(level[group] + x @ beta)
    y = rng.negative_binomial(1.5, 1.5 / (1.5 + mean)) * (rng.random(n_rows) < 0.7)
    with pm.Model() as model:
        mu, tau = pm.Normal("mu", 0.0, 2.0), pm.HalfNormal("tau", 1.0)
        slopes, alpha = pm.Normal("slopes", 0.0, 1.0, shape=3), pm.Exponential("alpha", 1.0)
        psi = pm.Beta("psi", 1.0, 1.0)
        effect = pm.Normal("effect", mu, tau, shape=n_groups)
        rate = pm.math.exp(effect[group] + x @ slopes)
        pm.ZeroInflatedNegativeBinomial("y", psi=psi, mu=rate, alpha=alpha, observed=y)
    truth = {"mu": 1.0, "tau": 0.5, "slopes": beta, "alpha": 1.5, "psi": 0.7, "effect": level}
    return Crossed(model, truth, [group], np.column_stack([np.ones(n_rows), x]), y)


def slopes(n_groups: int, n_rows: int) -> Crossed:
    """Intercept and slope of groups of Zipf's sizes, of a numeric outcome."""
    rng = np.random.default_rng(17)
    group, x = zipf(rng, n_groups, n_rows), rng.standard_normal(n_rows)
    own = rng.multivariate_normal([1.0, 0.5], [[0.64, 0.12], [0.12, 0.25]], n_groups)
    y = own[group, 0] + own[group, 1] * x + rng.standard_normal(n_rows)
    with pm.Model() as model:
        mu, sigma = pm.Normal("mu", 0.0, 1.5, shape=2), pm.HalfNormal("sigma", 1.0)
        deviations = pm.Exponential.dist(1.0, shape=2)
        factor, _, _ = pm.LKJCholeskyCov("factor", n=2, eta=2.0, sd_dist=deviations)
        effect = pm.MvNormal("effect", mu, chol=factor, shape=(n_groups, 2))
        pm.Normal("y", effect[group, 0] + effect[group, 1] * x, sigma, observed=y)
    truth = {"mu": np.array([1.0, 0.5]), "sigma": 1.0, "effect": own}
    return Crossed(model, truth, [group], np.column_stack([np.ones(n_rows), x]), y)


MODELS: dict[str, Callable[[], Crossed]] = {
    "crossed": lambda: gaussian(3_000, 500, 40_000),
    "InstEval": insteval,
    "InstEval, a fifth": lambda: insteval(0.2),
    "ratings": ratings,
    "claims": claims,
    "claims, a tenth": lambda: claims(60_000),
    "inflated counts": inflated,
    "5e5 rows": lambda: gaussian(7_000, 600, 500_000),
    "5e5 rows, logistic": lambda: logistic(7_000, 600, 500_000),
    "5e6 rows": lambda: gaussian(23_000, 2_000, 5_000_000),
    "5e6 rows, logistic": lambda: logistic(23_000, 2_000, 5_000_000),
    "1e5 groups": lambda: slopes(100_000, 1_000_000),
    "1e6 groups": lambda: slopes(1_000_000, 10_000_000),
}
