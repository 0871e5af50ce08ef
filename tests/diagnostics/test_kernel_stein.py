#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The Stein kernel against its definition, and what it says of draws."""

import numpy as np
import pytest

from draws import independent_draws, model

import pymc_geodesic as pmg

from pymc_geodesic.diagnostics.harmonics import FlatFactor, SphereFactor, kernel_factors
from pymc_geodesic.diagnostics.kernel_stein import _stein_kernel
from pymc_geodesic.manifolds import Euclidean, Simplex, Sphere

RNG = np.random.default_rng(1)


def by_definition(factors, length):
    """Write the operators as matrices in the joint embedding."""
    n = len(factors[0].points)
    blocks = []
    for f in factors:
        unit = f.spread * length if isinstance(f, SphereFactor) else length
        x, d = f.points / unit, f.points.shape[1]
        if isinstance(f, SphereFactor):
            b = unit * (f.score - (d - 1) * f.points)
            tangent = np.eye(d) - np.einsum("si,sj->sij", f.points, f.points)
        else:
            b, tangent = f.score * length, np.tile(np.eye(d), (n, 1, 1))
        blocks.append((x, b, tangent))
    sizes = [x.shape[1] for x, _, _ in blocks]
    ends = np.cumsum([0, *sizes])
    x, b = (np.concatenate([block[i] for block in blocks], axis=1) for i in (0, 1))
    tangents = np.zeros((n, ends[-1], ends[-1]))
    for (_, _, tangent), start, end in zip(blocks, ends[:-1], ends[1:], strict=True):
        tangents[:, start:end, start:end] = tangent
    result = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            d, p, q = x[i] - x[j], tangents[i], tangents[j]
            k = (1 + d @ d) ** -0.5
            mixed = k**3 * np.eye(len(d)) - 3 * k**5 * np.outer(d, d)
            result[i, j] = (
                b[i] @ b[j] * k
                + b[i] @ q @ d * k**3
                - b[j] @ p @ d * k**3
                + np.trace(p @ mixed @ q)
            )
    return result


def test_kernel_of_a_product_by_its_definition():
    points = RNG.normal(size=(7, 4))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    slope = RNG.normal(size=(7, 4))
    slope -= points * (points * slope).sum(axis=1, keepdims=True)
    flat = FlatFactor(RNG.normal(size=(7, 2)), RNG.normal(size=(7, 2)), 2)
    factors = [flat, SphereFactor(points, slope, 0.4)]
    distance = sum(factor.products(1.0).distance for factor in factors)
    length = np.sqrt(np.median(distance[np.triu_indices(7, 1)]))
    np.testing.assert_allclose(_stein_kernel(factors), by_definition(factors, length), rtol=1e-10)


def test_mean_is_zero_for_independent_draws():
    """The estimate has no bias: averages over many small sets of draws."""
    alpha, mu, n = np.array([0.3, 0.3, 2.0]), np.array([0.0, 0.6, 0.8]), 60
    squared = {"flat": [], "log": [], "simplex": [], "sphere": []}
    for _ in range(300):
        x, p = RNG.normal(size=(n, 2)), RNG.dirichlet(alpha, size=n)
        k = np.log(RNG.gamma(3.0, size=(n, 1)))
        u = RNG.normal(size=(n, 3))
        u /= np.linalg.norm(u, axis=1, keepdims=True)
        # A uniform law tilted by rejection: exp(mu.u).
        u = u[RNG.uniform(size=n) < np.exp(u @ mu - 1)]
        factors = {
            "flat": kernel_factors(Euclidean(), x, x),
            "log": kernel_factors(Euclidean(), k, np.exp(k) - 3),
            "simplex": kernel_factors(Simplex(), np.sqrt(p), (1 - 2 * alpha) / np.sqrt(p)),
            "sphere": kernel_factors(Sphere(), u, np.tile(-mu, (len(u), 1))),
        }
        for name, given in factors.items():
            stein = _stein_kernel(list(given))
            np.fill_diagonal(stein, 0)
            squared[name].append(stein.sum() / (len(stein) * (len(stein) - 1)))
    for name, values in squared.items():
        error = np.std(values) / np.sqrt(len(values))
        assert abs(np.mean(values)) < 4 * error, name


def test_draws_that_are_right_and_wrong():
    target, options = model(), {"random_seed": 1, "var_names": ["x", "u"]}
    right = pmg.kernel_stein_discrepancy(independent_draws(draws=100), model=target, **options)
    assert right.p_value > 0.01
    assert right.n_draws == 400
    assert "shows no difference" in str(right)
    hot = independent_draws(temperature=1.5, draws=100)
    wrong = pmg.kernel_stein_discrepancy(hot, model=target, **options)
    assert wrong.p_value < 0.01
    assert wrong.squared > right.squared
    assert "shows a difference" in str(wrong)


@pytest.mark.slow
def test_p_values_of_correlated_draws():
    """Autoregressive chains have the law of the posterior: few of them may be found out."""
    import arviz as az
    import pymc as pm

    with pm.Model() as target:
        pm.Normal("x")
    small = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x = np.empty((2, 300))
        x[:, 0] = rng.normal(size=2)
        for i in range(1, 300):
            x[:, i] = 0.7 * x[:, i - 1] + np.sqrt(1 - 0.49) * rng.normal(size=2)
        found = pmg.kernel_stein_discrepancy(
            az.from_dict({"posterior": {"x": x}}), model=target, random_seed=seed, max_draws=300
        )
        small += found.p_value < 0.05
    # Two in forty are expected; with probability 1e-4 more than nine.
    assert small <= 9
