#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Updates by more data, beside what they would be without the draws before."""

import logging

import numpy as np
import pandas as pd
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.run_record import read_records
from pymc_geodesic.tuning import center, surroundings

N, NEW = 4_000, 40
RNG = np.random.default_rng(3)


def rows(n, rng=RNG, intercept=1.0):
    x = rng.standard_normal((n, 2))
    return x, intercept + x @ [0.5, -1.0] + rng.standard_normal(n)


X, Y = rows(N)


def regression(x=X, y=Y):
    with pm.Model() as model:
        x, y = pm.Data("x", x), pm.Data("observed", y)
        intercept = pm.Normal("intercept", 0.0, 10.0)
        beta = pm.Normal("beta", 0.0, 10.0, shape=2)
        pm.Normal("y", intercept + x @ beta, 1.0, observed=y)
    return model


def posterior(model):
    """Means and standard deviations of intercept and slopes, which are those of least squares."""
    x, y = (model[name].get_value() for name in ("x", "observed"))
    design = np.column_stack([np.ones(len(x)), x])
    precision = design.T @ design + np.eye(3) / 100
    covariance = np.linalg.inv(precision)
    return covariance @ design.T @ y, np.sqrt(np.diag(covariance))


def moments(idata):
    draws = [idata.posterior["intercept"].values[..., None], idata.posterior["beta"].values]
    draws = np.concatenate(draws, axis=-1).reshape(-1, 3)
    return draws.mean(axis=0), draws.std(axis=0)


def require_posterior(idata, model, tolerance):
    mean, sd = posterior(model)
    found, found_sd = moments(idata)
    assert np.abs((found - mean) / sd).max() < tolerance
    assert np.abs(found_sd / sd - 1).max() < tolerance


@pytest.fixture(scope="module")
def first():
    return pmg.sample(500, model=regression(), random_seed=1, progressbar=False)


def test_new_rows_are_appended_and_sampled(first):
    model = regression()
    x, y = rows(NEW)
    found = pmg.update(first, model, {"x": x, "observed": y}, random_seed=2, progressbar=False)
    assert model["x"].get_value().shape == (N + NEW, 2)
    assert found.posterior.sizes["chain"] == first.posterior.sizes["chain"]
    [record] = read_records(found)
    assert record.modes.not_looked == "an update begins where the earlier draws are"
    # Four standard errors of 2,000 independent draws, the fewest that these chains are worth.
    require_posterior(found, model, 4 / np.sqrt(2_000))


def test_a_model_with_all_rows_needs_no_new_ones(first):
    x, y = rows(NEW)
    model = regression(np.concatenate([X, x]), np.concatenate([Y, y]))
    found = pmg.update(first, model, random_seed=2, progressbar=False)
    require_posterior(found, model, 4 / np.sqrt(2_000))


# By 3, 8 and 130 standard deviations.
@pytest.mark.parametrize("intercept", [1.05, 1.12, 3.0])
def test_other_data(first, intercept):
    x, y = rows(N, np.random.default_rng(4), intercept=intercept)
    found = pmg.update(first, regression(x, y), random_seed=2, progressbar=False)
    require_posterior(found, regression(x, y), 4 / np.sqrt(1_000))


def test_what_does_not_fit_is_refused(first):
    x, _ = rows(NEW)
    with pytest.raises(ValueError, match=r"names of `pm.Data`.*got 'z'"):
        pmg.update(first, regression(), {"z": x})
    with pytest.raises(ValueError, match=r"rows of shape \(2,\) for `x`, got \(1,\)"):
        pmg.update(first, regression(), {"x": x[:, :1]})
    with pytest.raises(ValueError, match="expected 40 rows of `observed`, as of `x`, got 0"):
        pmg.update(first, regression(), {"x": x})
    with pm.Model() as other:
        pm.Normal("other")
    with pytest.raises(ValueError, match="other"):
        pmg.update(first, other)


# With numbers of rows, and as `dims` of data alone write them.
@pytest.mark.parametrize("coords", [{"row": range(N)}, {}], ids=["numbers", "no_coordinates"])
def test_dimensions_of_rows_are_lengthened(first, coords):
    with pm.Model(coords=coords) as model:
        x, y = pm.Data("x", X, dims=("row", "column")), pm.Data("observed", Y, dims="row")
        intercept, beta = pm.Normal("intercept", 0, 10), pm.Normal("beta", 0, 10, shape=2)
        pm.Normal("y", intercept + x @ beta, 1.0, observed=y, dims="row")
    x, y = rows(NEW)
    found = pmg.update(first, model, {"x": x, "observed": y}, random_seed=2, progressbar=False)
    assert model.coords["row"] == (tuple(range(N + NEW)) if coords else None)
    assert model.dim_lengths["row"].eval() == N + NEW
    require_posterior(found, model, 4 / np.sqrt(2_000))


def labelled(labels):
    with pm.Model(coords={"row": labels}) as model:
        x, y = pm.Data("x", X, dims=("row", "column")), pm.Data("observed", Y, dims="row")
        intercept, beta = pm.Normal("intercept", 0, 10), pm.Normal("beta", 0, 10, shape=2)
        pm.Normal("y", intercept + x @ beta, 1.0, observed=y, dims="row")
    return model


SHUFFLED = np.random.default_rng(1).permutation(N)


def table(index):
    x, y = rows(NEW)
    found = pd.DataFrame(x, index=index).assign(y=y)
    return {"x": found[[0, 1]], "observed": found["y"]}


# Of a table that was shuffled, filtered or split, and of rows with names.
@pytest.mark.parametrize(
    ("before", "new", "after"),
    [
        (SHUFFLED, None, N + np.arange(NEW)),
        (SHUFFLED, np.arange(NEW)[::-1], N + np.arange(NEW)),
        (SHUFFLED, 2 * N - np.arange(NEW), 2 * N - np.arange(NEW)),
        ([f"row {i}" for i in range(N)], [f"new {i}" for i in range(NEW)], None),
    ],
)
def test_rows_are_rows_whatever_their_labels(first, before, new, after):
    model = labelled(before)
    given = table(new)
    if new is None:
        given = {name: np.asarray(x) for name, x in given.items()}
    found = pmg.update(first, model, given, random_seed=2, progressbar=False)
    expected = [*before, *(new if after is None else after)]
    assert list(model.coords["row"]) == expected
    require_posterior(found, model, 4 / np.sqrt(2_000))


def test_names_of_rows_cannot_be_made_up(first):
    given = {name: np.asarray(x) for name, x in table(None).items()}
    with pytest.raises(ValueError, match="labels of its own for the dimension `row`"):
        pmg.update(first, labelled([f"row {i}" for i in range(N)]), given)


@pytest.mark.parametrize("array", ["response", "column"])
def test_rows_that_are_no_data_are_refused_before_the_model_changes(first, array):
    with pm.Model() as model:
        z = X[:, 1] if array == "column" else 0.0
        x, y = pm.Data("x", X, dims=("row", "column")), Y
        if array == "column":
            y = pm.Data("observed", Y, dims="row")
        intercept, beta = pm.Normal("intercept", 0, 10), pm.Normal("beta", 0, 10, shape=2)
        pm.Normal("y", intercept + x @ beta + z, 1.0, observed=y, dims="row")
    new = dict(zip(["x", "observed"], rows(NEW), strict=True))
    message = "all `pm.Data`, got an array of 4,000 rows on which `y` depends. Write it as"
    with pytest.raises(ValueError, match=message):
        pmg.update(first, model, {name: new[name] for name in new if name in model.named_vars})
    assert model["x"].get_value().shape == X.shape


def test_a_center_is_improved_where_the_mean_is_far_from_all_draws():
    """The mean of a scale and of effects in its units lies off the ridge that draws follow."""
    rng = np.random.default_rng(6)
    group = rng.integers(0, 20, N)
    y = rng.standard_normal(20)[group] + 0.3 * rng.standard_normal(N)

    def effects(n):
        with pm.Model() as model:
            scale, offset = pm.HalfNormal("scale"), pm.Normal("offset", shape=20)
            pm.Normal("y", (scale * offset)[group[:n]], 0.3, observed=y[:n])
        return model

    before = pmg.sample(500, model=effects(N - NEW), random_seed=1, progressbar=False)
    found = pmg.update(before, effects(N), random_seed=2, progressbar=False)
    # The mean itself is nine deviations off, and steps were a tenth as long.
    assert found.sample_stats["step_size"].values[0, -1] > 0.1


def test_directions(caplog):
    vectors = np.random.default_rng(7).normal([2.0, 0.0, 0.0], 1.0, (N, 3))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)

    def directions(n):
        with pm.Model() as model:
            mu = pmg.VonMisesFisher("mu", mu=[1.0, 0.0, 0.0], kappa=0.0)
            pmg.VonMisesFisher("x", mu=mu, kappa=3.0, observed=vectors[:n])
        return model

    before = pmg.sample(250, tune=500, model=directions(N - NEW), random_seed=1, progressbar=False)
    with caplog.at_level(logging.INFO):
        found = pmg.update(before, directions(N), random_seed=2, progressbar=False)
    assert "no start" not in caplog.text
    mean = found.posterior["mu"].mean(("chain", "draw")).values
    mode = vectors.sum(axis=0) / np.linalg.norm(vectors.sum(axis=0))
    # A deviation is a hundredth.
    assert np.abs(mean / np.linalg.norm(mean) - mode).max() < 0.002


def test_another_posterior_is_sampled_without_the_draws(first, monkeypatch, caplog):
    def far(gradient, mass):
        raise center.FarCenterError("It is far.")

    monkeypatch.setattr(surroundings, "require_near_mode", far)
    with caplog.at_level(logging.INFO):
        found = pmg.update(first, regression(), random_seed=2, progressbar=False)
    assert "The earlier draws are no start: It is far." in caplog.text
    require_posterior(found, regression(), 4 / np.sqrt(2_000))


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_a_hundred_updates_do_not_drift(first):
    model, found = regression(), first
    rng = np.random.default_rng(5)
    for i in range(100):
        x, y = rows(NEW, rng)
        # Draws matter to the next update by their mean alone.
        found = pmg.update(
            found,
            model,
            {"x": x, "observed": y},
            draws=1000 if i == 99 else 100,
            tune=300 if i == 99 else 100,
            chains=4 if i == 99 else 2,
            random_seed=i,
            progressbar=False,
            compute_convergence_checks=False,
        )
    require_posterior(found, model, 0.1)
