#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Mixed models as tutorials write them: effects that are not centred, and all rows.

Nothing in them would suit a sampler of minibatches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pymc as pm
import pytensor.tensor as pt

from scipy.special import expit, softmax

from benchmarks.correctness.crossed_references import half_normal
from benchmarks.correctness.mixed_truths import (
    Coefficients,
    Prior,
    Truth,
    logistic_slopes,
    normal_effects,
    softmax_effects,
)

__all__ = ["MODELS", "Mixed"]


class Mixed(NamedTuple):
    """A model, its simulated values, and its exact posterior.

    Parameters
    ----------
    model : Model
        With all rows.
    compared : tuple of str
        Parameters, in the order of the reference.
    effects : tuple of str
        Effects of groups, in the order of the reference.
    truth : dict
        True values of both.
    reference : callable
        Returns the moments of both.
    """

    model: pm.Model
    compared: tuple[str, ...]
    effects: tuple[str, ...]
    truth: dict[str, Any]
    reference: Callable[[], Truth]

    def parameters_in(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the parameters side by side, of draws or of true values."""
        n = np.ndim(values[self.compared[0]]) - np.ndim(self.truth[self.compared[0]])
        arrays = [np.asarray(values[name]) for name in self.compared]
        return np.concatenate([x.reshape(*x.shape[:n], -1) for x in arrays], axis=-1)

    def effects_in(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the effects side by side, group by group."""
        together = np.stack([values[name] for name in self.effects], axis=-1)
        n = together.ndim - 1 - np.ndim(self.truth[self.effects[0]])
        return together.reshape(*together.shape[:n], -1)


def of_scales(start: list[float], widths: list[float]) -> Prior:
    """Half-normal deviations."""
    return Prior(np.log(start), np.exp, lambda values: half_normal(values, widths))


def slopes(outcome: str) -> Mixed:
    """Intercepts and slopes that vary together, ``z @ chol.T``: 1e5 rows, 500 groups."""
    rng, n, n_groups = np.random.default_rng(31), 100_000, 500
    group, x = rng.choice(n_groups, n, p=rng.dirichlet(np.full(n_groups, 5.0))), rng.normal(size=n)
    mu, sds, correlation = np.array([1.0, 0.7]), np.array([0.8, 0.5]), 0.3
    factor = sds[:, None] * np.linalg.cholesky([[1.0, correlation], [correlation, 1.0]])
    b = rng.normal(size=(n_groups, 2)) @ factor.T
    eta = mu[0] + mu[1] * x + b[group, 0] + b[group, 1] * x
    is_normal = outcome == "normal"
    y = rng.normal(eta, 1.5) if is_normal else rng.binomial(1, expit(eta))
    with pm.Model(coords={"group": np.arange(n_groups), "effect": ["intercept", "slope"]}) as model:
        chol, rho, _ = pm.LKJCholeskyCov(
            "chol", n=2, eta=2.0, sd_dist=pm.Exponential.dist(1.0, shape=2)
        )
        pm.Deterministic("correlation", rho[0, 1])
        z = pm.Normal("z", 0.0, 1.0, dims=("group", "effect"))
        effects = pm.Deterministic("b", z @ chol.T, dims=("group", "effect"))
        means = pm.Normal("mu", 0.0, 2.0, dims="effect")
        mean = means[0] + means[1] * x + effects[group, 0] + effects[group, 1] * x
        if is_normal:
            pm.Normal("y", mean, pm.HalfNormal("sigma", 2.0), observed=y)
        else:
            pm.Bernoulli("y", logit_p=mean, observed=y)
    truth = {"chol_stds": sds, "correlation": correlation, "mu": mu, "b": b}
    rows = np.column_stack([np.ones(n), x])

    def covariance(values: np.ndarray) -> np.ndarray:
        between = values[0] * values[1] * values[2]
        return np.array([[values[0] ** 2, between], [between, values[1] ** 2]])

    def log_prior(values: np.ndarray) -> float:
        # Exponential deviations, LKJ correlation, and the Jacobians of logarithms and atanh.
        return float(np.log(values[:2]).sum() - values[:2].sum() + 2 * np.log1p(-(values[2] ** 2)))

    start = np.r_[np.log(sds), np.arctanh(correlation)]
    if is_normal:
        truth["sigma"] = 1.5
        prior = Prior(
            np.append(start, np.log(1.5)),
            lambda t: np.r_[np.exp(t[:2]), np.tanh(t[2]), np.exp(t[3])],
            lambda values: log_prior(values) + half_normal(values[3:], 2.0),
        )
        reference = partial(
            normal_effects,
            *(group, rows, y, np.tile(np.eye(2), (n_groups, 1, 1))),
            prior=prior,
            given=lambda values: Coefficients(values[3], covariance(values), np.full(2, 2.0)),
            n_compared=2,
            has_means=False,
        )
        return Mixed(model, ("chol_stds", "correlation", "sigma", "mu"), ("b",), truth, reference)
    prior = Prior(
        np.append(start, mu),
        lambda t: np.r_[np.exp(t[:2]), np.tanh(t[2]), t[3:]],
        lambda values: log_prior(values) - 0.5 * float(np.sum((values[3:] / 2.0) ** 2)),
    )
    reference = partial(
        logistic_slopes,
        *(group, rows, y),
        prior=prior,
        given=lambda values: (values[3:], covariance(values)),
    )
    return Mixed(model, ("chol_stds", "correlation", "mu"), ("b",), truth, reference)


def nested() -> Mixed:
    """Counties within states, neither centred: 300,000 rows, 800 counties in 12 states."""
    rng, n, n_states, n_counties = np.random.default_rng(32), 300_000, 12, 800
    state = rng.integers(0, n_states, n_counties)
    county, x = rng.choice(n_counties, n, p=rng.dirichlet(np.ones(n_counties))), rng.normal(size=n)
    st = 2.0 + rng.normal(0.0, 0.6, n_states)
    ct = st[state] + rng.normal(0.0, 0.4, n_counties)
    y = rng.normal(ct[county] + 0.3 * x, 1.2)
    with pm.Model(coords={"state": range(n_states), "county": range(n_counties)}) as model:
        mu, ss, sc = pm.Normal("mu", 0, 5), pm.HalfNormal("ss", 1), pm.HalfNormal("sc", 1)
        zs, zc = pm.Normal("zs", dims="state"), pm.Normal("zc", dims="county")
        of_state = pm.Deterministic("st", mu + ss * zs, dims="state")
        of_county = pm.Deterministic("ct", of_state[state] + sc * zc, dims="county")
        b = pm.Normal("b")
        pm.Normal("y", of_county[county] + b * x, pm.HalfNormal("sigma", 2), observed=y)
    truth = {"ss": 0.6, "sc": 0.4, "sigma": 1.2, "mu": 2.0, "b": 0.3, "ct": ct}

    # Coefficients: mu, b, and what states add to mu. Their effects are the counties' intercepts,
    # and b, which does not vary.
    maps = np.zeros((n_counties, 2, 2 + n_states))
    maps[:, 0, 0] = maps[:, 1, 1] = maps[np.arange(n_counties), 0, 2 + state] = 1.0

    def given(values: np.ndarray) -> Coefficients:
        deviations = np.r_[5.0, 1.0, np.full(n_states, values[0])]
        return Coefficients(values[2], np.diag([values[1] ** 2, 0.0]), deviations)

    reference = partial(
        normal_effects,
        *(county, np.column_stack([np.ones(n), x]), y, maps),
        prior=of_scales([0.6, 0.4, 1.2], [1.0, 1.0, 2.0]),
        given=given,
        n_compared=2,
        has_means=True,
    )
    return Mixed(model, ("ss", "sc", "sigma", "mu", "b"), ("ct",), truth, reference)


def multinomial() -> Mixed:
    """A multinomial logit without a reference class, with effects of groups: 150,000 rows."""
    rng, n, n_classes, n_columns, n_groups = np.random.default_rng(33), 150_000, 4, 6, 30
    x, group = rng.normal(size=(n, n_columns)), rng.integers(0, n_groups, n)
    w, u = rng.normal(0, 0.6, (n_columns, n_classes)), rng.normal(0, 0.4, (n_groups, n_classes))
    shares = softmax(x @ w + u[group], axis=1).cumsum(axis=1)
    y = np.minimum((shares < rng.uniform(size=(n, 1))).sum(axis=1), n_classes - 1)
    coords = {"class": list("abcd"), "column": range(n_columns), "group": range(n_groups)}
    with pm.Model(coords=coords) as model:
        a = pm.Normal("a", 0, 1, dims="class")
        weights = pm.Normal("w", 0, 1, dims=("column", "class"))
        pm.Deterministic("contrasts", weights - weights.mean(axis=1, keepdims=True))
        s = pm.HalfNormal("s", 1)
        effects = pm.Normal("u", 0, s, dims=("group", "class"))
        pm.Categorical("y", logit_p=a + pt.dot(x, weights) + effects[group], observed=y)
    contrasts = w - w.mean(axis=1, keepdims=True)
    truth = {"s": 0.4, "a": np.zeros(n_classes), "w": w, "contrasts": contrasts, "u": u}
    reference = partial(softmax_effects, group, x, y, n_classes, scale=0.4)
    return Mixed(model, ("s", "a", "w", "contrasts"), ("u",), truth, reference)


def radon() -> Mixed:
    """Intercepts and slopes of counties, a predictor of counties, codes of pandas, 32 bits."""
    rng, n, n_counties = np.random.default_rng(34), 80_000, 85
    county = rng.choice(n_counties, n, p=rng.dirichlet(np.full(n_counties, 0.8)))
    uranium, floor = rng.normal(size=n_counties), rng.integers(0, 2, n)
    alpha = 1.3 + 0.7 * uranium + rng.normal(0, 0.3, n_counties)
    beta = -0.6 + rng.normal(0, 0.2, n_counties)
    frame = pd.DataFrame(
        {
            "county": pd.Categorical([f"c{c:02d}" for c in county]),
            "floor": floor,
            "uranium": uranium[county],
            "y": rng.normal(alpha[county] + beta[county] * floor, 0.75).astype("float32"),
        }
    )
    names = frame.county.cat.categories
    kept = [int(name[1:]) for name in names]
    codes = frame.county.cat.codes.to_numpy()
    of_county = frame.groupby("county", observed=False).uranium.first().to_numpy()
    with pm.Model(coords={"county": names, "row": frame.index}) as model:
        g, mb = pm.Normal("g", 0, 2, shape=2), pm.Normal("mb", 0, 2)
        sa, sb = pm.HalfNormal("sa", 1), pm.HalfNormal("sb", 1)
        za, zb = pm.Normal("za", dims="county"), pm.Normal("zb", dims="county")
        intercept = pm.Deterministic("alpha", g[0] + g[1] * of_county + sa * za, dims="county")
        slope = pm.Deterministic("beta", mb + sb * zb, dims="county")
        mean = intercept[codes] + slope[codes] * frame.floor.to_numpy()
        sigma = pm.HalfNormal("sigma", 1)
        pm.Normal("y", mean, sigma, observed=frame.y.to_numpy(), dims="row")
    truth = {"sa": 0.3, "sb": 0.2, "sigma": 0.75, "g": np.array([1.3, 0.7]), "mb": -0.6}
    truth |= {"alpha": alpha[kept], "beta": beta[kept]}

    maps = np.zeros((len(kept), 2, 3))
    maps[:, 0, 0], maps[:, 0, 1], maps[:, 1, 2] = 1.0, of_county, 1.0
    reference = partial(
        normal_effects,
        *(codes, np.column_stack([np.ones(n), floor]), frame.y.to_numpy(float), maps),
        prior=of_scales([0.3, 0.2, 0.75], [1.0, 1.0, 1.0]),
        given=lambda values: Coefficients(values[2], np.diag(values[:2] ** 2), np.full(3, 2.0)),
        n_compared=3,
        has_means=True,
    )
    compared = ("sa", "sb", "sigma", "g", "mb")
    return Mixed(model, compared, ("alpha", "beta"), truth, reference)


MODELS: dict[str, Callable[[], Mixed]] = {
    "slopes": partial(slopes, "normal"),
    "slopes, logistic": partial(slopes, "logistic"),
    "groups within groups": nested,
    "multinomial logit": multinomial,
    "radon": radon,
}
