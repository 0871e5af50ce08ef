#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Starts around the posterior, for other samplers."""

import numpy as np
import pymc as pm
import pymc.dims as dims
import pytest

import pymc_geodesic as pmg

N = 2_000


def mean_model(*, all_rows=False):
    x = np.random.default_rng(1).normal(3.0, 2.0, (N, 2))
    with pm.Model() as model:
        mean = pm.Normal("mean", 0.0, 10.0, shape=2)
        sd = pm.HalfNormal("sd", 10.0)
        rows = x if all_rows else pm.Minibatch(x, batch_size=50)
        total = {} if all_rows else {"total_size": N}
        pm.Normal("x", mean, sd, observed=rows, **total)
    return model, x


@pytest.mark.parametrize("all_rows", [False, True])
def test_starts_are_spread_like_the_posterior(all_rows):
    model, x = mean_model(all_rows=all_rows)
    starts = pmg.find_starts(model, chains=200, random_seed=1)
    means = np.array([start["mean"] for start in starts])
    widths = x.std(axis=0) / np.sqrt(N)
    # 200 starts: five standard errors of a mean and of a standard deviation.
    assert np.all(
        np.abs(means.mean(axis=0) - x.mean(axis=0)) < 5 * widths / np.sqrt(200) + 0.1 * widths
    )
    assert np.all(np.abs(means.std(axis=0) / widths - 1) < 5 / np.sqrt(400) + 0.1)
    assert all(start["sd"] > 0 for start in starts)


def test_starts_follow_from_the_seed():
    model, _ = mean_model()
    first, again, other = (pmg.find_starts(model, chains=2, random_seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first[1]["mean"], again[1]["mean"])
    assert not np.array_equal(first[1]["mean"], other[1]["mean"])
    assert not np.array_equal(first[0]["mean"], first[1]["mean"])


def test_pymc_takes_starts_of_all_kinds_of_variables():
    rng = np.random.default_rng(2)
    group, y = rng.integers(0, 10, N), rng.normal(size=N)
    with pm.Model() as model:
        axis = pmg.SphericalUniform("axis", shape=3)
        share = pm.Dirichlet("share", np.ones(3))
        spread, offset = pm.HalfNormal("spread", 1.0), pm.Normal("offset", shape=10)
        groups, rows = pm.Minibatch(group, y, batch_size=50)
        mean = spread * offset[groups] + axis[0] + share[0]
        pm.Normal("y", mean, 1.0, observed=rows, total_size=N)
    starts = pmg.find_starts(model, chains=2, random_seed=1)
    assert set(starts[0]) == {"axis", "share", "spread", "offset"}
    for start in starts:
        assert abs(np.linalg.norm(start["axis"]) - 1) < 1e-8
        assert abs(start["share"].sum() - 1) < 1e-8
    idata = pm.sample(
        5,
        tune=5,
        chains=2,
        cores=1,
        initvals=starts,
        model=pmg.full_data(model),
        progressbar=False,
        compute_convergence_checks=False,
    )
    assert idata.posterior["offset"].shape == (2, 5, 10)


def test_what_is_asked_for_is_checked():
    model, _ = mean_model()
    with pytest.raises(ValueError, match="`chains` expected"):
        pmg.find_starts(model, chains=0)
    with pm.Model() as discrete:
        pm.Normal("x", pm.Poisson("k", 3.0) + pm.Normal("mean"), 1.0, observed=np.zeros(50))
    with pytest.raises(ValueError, match="continuous variables only, got `k`"):
        pmg.find_starts(discrete)


def test_topics_have_starts_of_their_own():
    with pm.Model() as model:
        topics = pmg.SymmetricDirichlet("topics", 0.1, shape=(2, 3))
        batch = pm.Minibatch(pmg.BagOfWords(np.ones((20, 3))), batch_size=5)
        pmg.LatentDirichletAllocation("w", topics, 0.1, observed=batch, total_size=20)
    with pytest.raises(ValueError, match=r"closed form.*`pmg.sample` finds a start of topics"):
        pmg.find_starts(model)


@pytest.mark.parametrize("is_named", [False, True])
def test_variables_that_are_integrated_out_have_no_start(is_named):
    rng = np.random.default_rng(3)
    y = 1.0 + rng.normal(0, 0.8, N) + rng.normal(0, 0.3, N)
    kind = dims if is_named else pm
    with pm.Model(coords={"row": range(N)}) as model:
        mean = kind.Normal("mean", 0.0, 2.0)
        latent = kind.Normal("latent", mean, 0.8, dims="row")
        rows = pm.Data("rows", y, dims="row") if not is_named else dims.Data("rows", y, dims="row")
        kind.Normal("y", latent, 0.3, observed=rows, **({} if is_named else {"dims": "row"}))
    [start] = pmg.find_starts(model, chains=1, random_seed=1)
    assert list(start) == ["mean"]
    assert abs(start["mean"] - y.mean()) < 6 * y.std() / np.sqrt(N)
