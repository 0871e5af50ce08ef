#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Indices lie within the length of what they index, and no array of all rows meets a batch."""

import time

import numpy as np
import pandas as pd
import pymc as pm
import pytensor.tensor as pt
import pytest

from pymc.exceptions import SamplingError

import pymc_geodesic as pmg

from pymc_geodesic.data_checks import DataChecks
from pymc_geodesic.kernel.reader import checked_batches
from pymc_geodesic.potential.minibatch import find_batch_sources
from pymc_geodesic.potential.stream import find_streams

N, BATCH = 600, 20
RNG = np.random.default_rng(1)
CODES = RNG.integers(0, 3, N)
OTHERS = RNG.integers(0, 4, N)
Y = CODES + RNG.normal(size=N)


def accept(model, data=None):
    """Do what a step does with data before it compiles anything; read a stream once."""
    sources = find_batch_sources(model) or find_streams(model, data)
    checks = DataChecks(model, sources, point=model.initial_point(), batches=True)
    for source in checks.sources if data else ():
        for _ in checked_batches(source):
            pass


def vectors():
    return pm.Normal("a", 0, 5, shape=3)


def normal(mu, y):
    return pm.Normal("y", mu, 1.0, observed=y, total_size=N)


def of_vector(c, d, y):
    normal(vectors()[c], y)


def of_product(c, d, y):
    normal(pm.Normal("mu") + pm.HalfNormal("s") * pm.Normal("a", shape=3)[c], y)


def of_deterministic(c, d, y):
    normal(pm.Deterministic("a", pt.exp(pm.Normal("z", shape=3)))[c], y)


def of_table(c, d, y):
    normal(pm.Normal("a", shape=(3, 4))[c, d], y)


def of_columns(c, d, y):
    normal(pm.Normal("a", shape=(4, 3))[:, c].sum(axis=0), y)


def by_take(c, d, y):
    normal(pt.take(vectors(), c), y)


def by_two_columns(c, d, y):
    normal(vectors()[pt.stack([c, c], axis=1)].sum(axis=1), y)


def by_expression(c, d, y):
    normal(vectors()[(d - d) + c], y)


def with_dims(c, d, y):
    pm.modelcontext(None).add_coord("g", range(3))
    normal(pm.Normal("a", dims="g")[c], y)


def of_constrained_effects(c, d, y):
    pm.modelcontext(None).add_coord("g", range(3))
    normal(pm.ZeroSumNormal("a", dims="g")[c], y)


def in_a_distribution(c, d, y):
    a = vectors()
    pm.CustomDist(
        "y",
        a,
        c,
        logp=lambda value, a, c: pm.logp(pm.Normal.dist(a[0][c.astype("int64")], 1.0), value),
        signature="(k),()->()",
        observed=y,
        total_size=N,
    )


def in_a_mixture(c, d, y):
    w = pm.Dirichlet("a", np.ones(2), shape=(3, 2))
    parts = pm.Normal.dist(0, 1), pm.Normal.dist(3, 1)
    pm.Mixture("y", w[c], list(parts), observed=y, total_size=N)


def as_steps(c, d, y):
    a = pm.HalfNormal("a", shape=3)
    normal(pt.zeros((1,)) + pt.cumsum(a)[c], y)


FORMS = [
    of_vector,
    of_product,
    of_deterministic,
    of_table,
    of_columns,
    by_take,
    by_two_columns,
    by_expression,
    with_dims,
    of_constrained_effects,
    in_a_distribution,
    in_a_mixture,
    as_steps,
]


def model_of(form, codes, *, as_data=False):
    with pm.Model() as model:
        given = pm.Data("codes", codes) if as_data else codes
        form(*pm.Minibatch(given, OTHERS, Y, batch_size=BATCH))
    return model


def with_one(codes, value, row=417):
    codes = codes.copy()
    codes[row] = value
    return codes


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", [-1, 3])
def test_one_code_out_of_range_is_refused(form, value):
    accept(model_of(form, CODES))
    advice = "pandas gives -1 to a missing category" if value < 0 else "Count codes from 0"
    message = (
        rf"`y` expected indices of .*`(a|z)`.* from 0 to 2, got {value} in argument 1 of "
        rf"`pm.Minibatch` \(row 417\)\. .*{advice}"
    )
    with pytest.raises(ValueError, match=message):
        accept(model_of(form, with_one(CODES, value)))


@pytest.mark.parametrize("axis", [0, 1])
def test_each_of_several_indices_is_compared_with_its_own_axis(axis):
    c, d = CODES + (axis == 0), OTHERS + (axis == 1)
    with pm.Model() as model:
        of_table(*pm.Minibatch(c, d, Y, batch_size=BATCH))
    message = rf"indices of axis {axis} of `a` from 0 to {2 + axis}, got {3 + axis} in argument "
    with pytest.raises(ValueError, match=message + str(axis + 1)):
        accept(model)


def test_codes_are_named_by_their_data():
    model = model_of(of_vector, CODES + 1, as_data=True)
    with pytest.raises(ValueError, match=r"from 0 to 2, got 3 in `codes` \(rows .*, and others\)"):
        accept(model)


def test_missing_categories_of_pandas_are_refused():
    labels = pd.Series(np.array(["a", "b", "c"])[CODES]).where(RNG.random(N) > 0.1)
    for codes in (labels.astype("category").cat.codes, pd.factorize(labels)[0]):
        with pytest.raises(ValueError, match=r"got -1 in argument 1 .*pandas gives -1 to a miss"):
            accept(model_of(of_vector, codes))


@pytest.mark.parametrize("centred", [True, False])
def test_codes_of_more_groups_than_rows_of_a_batch(centred):
    n_groups = 3 * BATCH
    codes = with_one(RNG.integers(0, n_groups, N), -1)
    with pm.Model() as model:
        scale = pm.HalfNormal("scale")
        a = pm.Normal("a", 0.0, scale if centred else 1.0, shape=n_groups)
        pm.Normal("y", (a if centred else scale * a)[codes], 1.0, observed=Y)
    with pytest.raises(ValueError, match=rf"indices of `a` from 0 to {n_groups - 1}, got -1 in"):
        pmg.minibatch(model, batch_size=BATCH)


def test_indices_of_data_whose_length_is_not_static():
    with pm.Model() as model:
        u = pm.Data("u", np.ones(3))
        codes, y = pm.Minibatch(CODES + 1, Y, batch_size=BATCH)
        normal(pm.Normal("b") * u[codes], y)
    with pytest.raises(ValueError, match=r"indices of `u` from 0 to 2, got 3"):
        accept(model)


def test_indices_that_count_from_the_end_on_purpose():
    with pm.Model() as model:
        codes, y = pm.Minibatch(with_one(CODES, -1), Y, batch_size=BATCH)
        a = vectors()
        around = a[np.arange(3) - 1]
        normal(a[codes % 3] + a[-1] + a[[-2, -1]].sum() + around[codes % 3], y)
    accept(model)


@pytest.mark.parametrize("form", [{"shape": 4}, {"dims": "states"}], ids=["shape", "dims"])
@pytest.mark.parametrize("value", [-1, 4])
def test_groups_of_groups(value, form):
    counties = with_one(RNG.integers(0, 4, 30), value, row=7)
    with pm.Model(coords={"states": range(4)}) as model:
        state = pm.Normal("state", **form)
        county = pm.Normal("county", state[counties], shape=30)
        rows, y = pm.Minibatch(RNG.integers(0, 30, N), Y, batch_size=BATCH)
        normal(county[rows], y)
    message = rf"model expected indices of `state` from 0 to 3, got {value} in an array of shape"
    with pytest.raises(ValueError, match=message):
        pmg.SGNHT(model=model)


def test_all_rows_at_once():
    with pm.Model() as model:
        pm.Normal("y", vectors()[with_one(CODES, -1)], 1.0, observed=Y)
    with pytest.raises(ValueError, match=r"`a` from 0 to 2, got -1 in an array of shape \(600,\)"):
        pmg.GMC(model=model)


@pytest.mark.parametrize("value", [-1, 3])
def test_codes_of_streams_are_checked_as_they_come(value):
    def table(codes):
        return np.column_stack([codes, Y])

    with pm.Model() as model:
        batch = pm.Data("batch", np.zeros((BATCH, 2)))
        normal(vectors()[batch[:, 0].astype("int64")], batch[:, 1])
    accept(model, {"batch": [table(CODES)]})
    message = rf"stream `batch`.*`a` from 0 to 2, got {value} in `batch` \(row 417\)"
    loader = np.split(table(with_one(CODES, value)), 30)
    with pytest.raises(SamplingError, match=message):
        accept(model, {"batch": loader})


@pytest.mark.parametrize("value", [-1, 3])
def test_codes_of_rows_of_groups(value):
    def model_with(codes):
        rows = pmg.GroupedRows({"user": np.arange(N) // 6, "c": codes, "y": Y}, by="user")
        with pm.Model() as model:
            c, y, mask = pm.Minibatch(rows["c"], rows["y"], rows.mask, batch_size=10)
            each = pm.Normal.dist(vectors()[c.astype("int64")], 1.0)
            pmg.GroupLikelihood("y", each, mask, observed=y, total_size=len(rows))
        return model

    accept(model_with(CODES))
    message = rf"`a` from 0 to 2, got {value} in argument 1 of `pm.Minibatch` \(row {417 // 6}\)"
    with pytest.raises(ValueError, match=message):
        accept(model_with(with_one(CODES, value)))


@pytest.mark.parametrize("size", [1, 20])
@pytest.mark.parametrize("kind", ["array", "series", "data", "matrix", "transformed"])
def test_an_array_of_all_rows_beside_a_batch_is_refused(kind, size):
    with pm.Model() as model:
        y = pm.Minibatch(Y, batch_size=size)
        a = vectors()
        if kind == "matrix":
            mu, name = RNG.normal(size=(N, 3)) @ a, r"an array of shape \(600, 3\)"
        elif kind == "data":
            mu, name = a[pm.Data("codes", CODES)], "`codes`"
        elif kind == "transformed":
            mu, name = a[0] * pt.exp(pt.as_tensor(Y)), r"an array of shape \(600,\)"
        else:
            mu = a[pd.Series(CODES) if kind == "series" else CODES]
            name = "the index of `a`"
        normal(mu, y)
    message = (
        f"`y` expected {size} rows of a batch in all its data, got all 600 rows in {name}. Pass"
    )
    with pytest.raises(ValueError, match=message):
        accept(model)


def test_an_array_of_another_length_beside_a_batch_is_refused():
    with pm.Model() as model:
        normal(vectors()[CODES[:300]], pm.Minibatch(Y, batch_size=BATCH))
    with pytest.raises(
        ValueError, match=r"`y` expected a log density of any 20 rows.*error: .*300"
    ):
        accept(model)


def test_an_array_of_all_rows_beside_a_stream_is_refused():
    with pm.Model() as model:
        batch = pm.Data("batch", np.zeros(BATCH))
        normal(vectors()[CODES], batch)
    with pytest.raises(
        ValueError, match=r"got all 600 rows in the index of `a`\. Read them as col"
    ):
        accept(model, {"batch": [Y]})


def test_arrays_of_all_rows_that_batches_use_by_number():
    with pm.Model() as model:
        rows, y = pm.Minibatch(np.arange(N), Y, batch_size=BATCH)
        normal(vectors()[pt.as_tensor(CODES)[rows]] + Y.mean(), y)
    accept(model)


def test_a_million_rows_take_little_time():
    n = 1_000_000
    codes = np.arange(n) % 3
    with pm.Model() as model:
        c, y = pm.Minibatch(codes, np.zeros(n), batch_size=100)
        pm.Normal("y", vectors()[c], 1.0, observed=y, total_size=n)
    from pymc_geodesic.data_checks.indices import RowIndices
    from pymc_geodesic.data_checks.row_density import row_densities

    [density] = row_densities(model, find_batch_sources(model))
    indices = RowIndices(density, model.initial_point())
    indices.problem(np.arange(10), first=0)
    start = time.process_time()
    indices.require_in_range()
    assert time.process_time() - start < 0.1
