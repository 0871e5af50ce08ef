#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Which centred effects data say too little of, and how little."""

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

SIZES = {"real": 12, "none": 40, "few": 4}
DEVIATIONS = {"real": 0.5, "none": 0.0, "few": 0.8}


def shares_of(n_rows, scale):
    """Return the exponents that a step of three crossed factors has measured."""
    rng = np.random.default_rng(4)
    index = {name: rng.integers(0, size, n_rows) for name, size in SIZES.items()}
    effects = {name: rng.normal(0, DEVIATIONS[name], size) for name, size in SIZES.items()}
    mean = sum(effects[name][index[name]] for name in SIZES)
    y = rng.random(n_rows) < 1 / (1 + np.exp(0.4 - mean))
    with pm.Model():
        columns = pm.Minibatch(*index.values(), y.astype("int32"), batch_size=100)
        eta = pm.Normal("intercept", 0.0, 5.0)
        for (name, size), rows in zip(SIZES.items(), columns[:-1], strict=True):
            eta = eta + pm.Normal(name, 0.0, scale(f"sigma_{name}"), shape=size)[rows]
        pm.Bernoulli("y", logit_p=eta, observed=columns[-1], total_size=n_rows)
        return pmg.SGNHT().sampler.problem._centering


@pytest.mark.parametrize(
    "scale",
    [
        lambda name: pm.HalfNormal(name),
        # Far from the truth at the start.
        lambda name: pm.Uniform(name, 0.0, 100.0),
        lambda name: pm.math.exp(pm.Normal(name, 0.0, 2.0)),
    ],
    ids=["half normal", "flat", "log"],
)
# To ten thousand rows of a hundred thousand, the noise of estimates looks like effects of 0.15.
@pytest.mark.parametrize("n_rows", [8_000, 100_000])
def test_only_a_factor_without_an_effect_is_moved(scale, n_rows):
    found = shares_of(n_rows, scale)
    assert list(found) == ["none"]
    assert np.max(found["none"]) < 0.1


def test_a_deviation_for_each_column_is_judged_by_itself():
    rng = np.random.default_rng(5)
    group, x = rng.integers(0, 30, 6_000), rng.standard_normal(6_000)
    intercepts = rng.standard_normal(30)
    y = intercepts[group] + rng.standard_normal(6_000)
    with pm.Model():
        g, column, outcome = pm.Minibatch(group, x, y, batch_size=100)
        sigma = pm.HalfNormal("sigma", shape=2)
        effects = pm.Normal("effects", pm.Normal("mu", shape=2), sigma, shape=(30, 2))
        mean = effects[g, 0] + effects[g, 1] * column
        pm.Normal("y", mean, 1.0, observed=outcome, total_size=6_000)
        found = pmg.SGNHT().sampler.problem._centering
    assert list(found) == ["effects"]
    assert np.all(found["effects"][:, 0] == 1)
    assert np.max(found["effects"][:, 1]) < 0.2


def test_many_small_groups_with_a_well_known_deviation_stay_centred():
    rng = np.random.default_rng(6)
    group = rng.integers(0, 600, 3_000)
    y = 0.7 * rng.standard_normal(600)[group] + rng.standard_normal(3_000)
    with pm.Model():
        g, outcome = pm.Minibatch(group, y, batch_size=100)
        effects = pm.Normal("effects", pm.Normal("mu"), pm.HalfNormal("sigma"), shape=600)
        pm.Normal("y", effects[g], 1.0, observed=outcome, total_size=3_000)
        assert not any(v.coordinate for v in pmg.SGNHT().sampler.problem.variables)


def test_effects_beside_a_column_of_money_are_judged_where_they_fit():
    """A fixed distance from the start, the density of such a coefficient is not finite."""
    rng = np.random.default_rng(7)
    group, money = rng.integers(0, 30, 20_000), np.exp(rng.normal(11.0, 1.2, 20_000)).round()
    mean = np.exp(6.8 + 2e-7 * money + rng.normal(0.0, 0.2, 30)[group])
    paid = rng.gamma(0.9, mean / 0.9)
    with pm.Model():
        g, x, outcome = pm.Minibatch(group, money, paid, batch_size=300)
        effects = pm.Normal("effects", 0.0, pm.HalfNormal("sigma"), shape=30)
        log_mean = pm.Normal("intercept", 0.0, 10.0) + effects[g] + pm.Normal("slope") * x
        beta = 0.9 / pm.math.exp(log_mean)
        pm.Gamma("paid", 0.9, beta, observed=outcome, total_size=20_000)
        assert not any(v.coordinate for v in pmg.SGNHT().sampler.problem.variables)
