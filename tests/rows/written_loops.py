#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Models with loops: rows are the steps, or stand beside each other in every step."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt

from written_models import base, model


@model()
def scan_without_memory(n=72):
    rng, X, _g = base(n)
    y = rng.standard_normal(n)
    with pm.Model() as m:
        b = pm.Normal("b", shape=3)
        mu = pytensor.map(
            lambda x, b: pt.dot(x, b),
            sequences=[pt.as_tensor(X)],
            non_sequences=[b],
            return_updates=False,
        )
        pm.Normal("y", mu, 1, observed=y)
    return m


@model()
def scan_over_rows_of_different_lengths(n=72):
    """As in pymc-marketing's model of purchases at fixed occasions."""
    rng = np.random.default_rng(1)
    occasions = rng.integers(0, 7, n)

    def step(left, y, a):
        places = pt.arange(left + 1)
        residuals = y - a * places[:, None] * np.array([1.0, 0.3])
        return pt.logsumexp(-(residuals**2).sum(axis=1)), places.sum()

    with pm.Model() as m:
        a, b = pm.Normal("a"), pm.Normal("b")
        terms, totals = pytensor.scan(
            step,
            sequences=[pt.as_tensor(occasions), pt.as_tensor(rng.standard_normal(n))],
            outputs_info=[None, None],
            non_sequences=[a],
            return_updates=False,
        )
        pm.Potential("terms", terms)
        pm.Normal("y", b * totals, 1, observed=rng.standard_normal(n))
    return m


@model("through `scan_fn`")
def scan_over_rows_whose_lengths_are_unknown(n=72):
    rng = np.random.default_rng(1)
    with pm.Model() as m:
        a = pm.HalfNormal("a")
        terms = pytensor.map(
            lambda x, a: pt.arange(x + a).sum(),
            sequences=[pt.as_tensor(rng.integers(0, 7, n))],
            non_sequences=[a],
            return_updates=False,
        )
        pm.Normal("y", terms, 1, observed=rng.standard_normal(n))
    return m


@model()
def scan_over_time_of_rows_beside_each_other(n=72):
    """States with one and two lags, an output without memory, and constants of the rows."""
    rng, X, g = base(n)
    y = rng.standard_normal((n, 5))
    covariates = rng.standard_normal((5, n))

    def step(x, first, before, last, a, effect, z):
        first = a * first + effect * x
        return first, a * last + 0.3 * before + z, pt.tanh(first - last)

    with pm.Model() as m:
        a, effect = pm.Beta("a", 2, 2), pm.Normal("effect", shape=7)
        first, second, third = pytensor.scan(
            step,
            sequences=[pt.as_tensor(covariates)],
            outputs_info=[pt.zeros(n), {"initial": pt.ones((2, n)), "taps": [-2, -1]}, None],
            non_sequences=[a, effect[g], pt.as_tensor(X[:, 0])],
            return_updates=False,
        )
        pm.Normal("y", first.T + second.T * third.T, 1, observed=y)
        pm.Normal("last", first[-1], 1, observed=y[:, -1])
    return m


@model()
def forward_algorithm_of_hidden_states(n=72):
    y = np.random.default_rng(1).standard_normal((n, 5))

    def forward(x, p, transition, means):
        p = pt.dot(p, transition) * pt.exp(-0.5 * (x[:, None] - means) ** 2)
        total = p.sum(axis=1, keepdims=True)
        return p / total, pt.log(total[:, 0])

    with pm.Model() as m:
        transition = pm.Dirichlet("transition", np.ones((2, 2)))
        means = pm.Normal("means", [-1.0, 1.0], 1.0)
        _, terms = pytensor.scan(
            forward,
            sequences=[pt.as_tensor(y.T)],
            outputs_info=[0.5 * pt.ones((n, 2)), None],
            non_sequences=[transition, means],
            return_updates=False,
        )
        pm.Potential("y", terms.sum())
    return m


@model("through `Sum`")
def scan_with_a_mean_over_rows(n=72):
    y = np.random.default_rng(1).standard_normal((n, 5))
    with pm.Model() as m:
        a = pm.Beta("a", 2, 2)
        mu = pytensor.scan(
            lambda x, last, a: a * last.mean() + x,
            sequences=[pt.as_tensor(y.T)],
            outputs_info=[pt.zeros(n)],
            non_sequences=[a],
            return_updates=False,
        )
        pm.Normal("y", mu.T, 1, observed=y)
    return m
