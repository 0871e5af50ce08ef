#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Tables as groups of rows."""

import numpy as np
import pandas as pd
import pymc as pm
import pytensor.tensor as pt
import pytest

from tables import columns, local_logistic, logistic_table, marginal_logistic

import pymc_geodesic as pmg

from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.potential.minibatch import find_batch_sources

TABLE = pd.DataFrame(
    {
        "user": ["b", "a", "b", "c", "b", "c"],
        "x": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
        "item": [3, 1, 2, 2, 1, 0],
        "clicked": [True, False, True, True, False, False],
    }
)


def values_of(*graphs):
    return Interpreted([], list(graphs))()


def rows_of_groups(packed, mask):
    return [list(row[here]) for row, here in zip(*values_of(packed, mask), strict=True)]


@pytest.mark.parametrize("table", [TABLE, {name: TABLE[name].to_numpy() for name in TABLE}])
def test_groups_hold_their_rows_in_order(table):
    rows = pmg.GroupedRows(table, by="user")
    assert (rows.n_groups, rows.n_rows, rows.width, len(rows)) == (3, 6, 3, 3)
    assert list(rows.labels) == ["a", "b", "c"]
    assert list(rows.sizes) == [1, 3, 2]
    assert rows_of_groups(rows["x"], rows.mask) == [[0.2], [0.1, 0.3, 0.5], [0.4, 0.6]]
    # Indices stay whole numbers.
    assert rows["item"].dtype == "int32"
    assert rows_of_groups(rows["item"], rows.mask) == [[1], [3, 2, 1], [2, 0]]
    assert rows_of_groups(rows["clicked"], rows.mask) == [[0], [1, 1, 0], [1, 0]]


def test_empty_places_repeat_the_last_row():
    rows = pmg.GroupedRows(TABLE, by="user")
    np.testing.assert_array_equal(values_of(rows["item"])[0][0], [1, 1, 1])


def test_a_batch_holds_groups_with_all_their_rows():
    rows = pmg.GroupedRows(logistic_table(200), by="user")
    [source] = find_batch_sources(marginal_logistic(rows, 7))
    assert (source.n_rows, source.batch_size) == (200, 7)
    some = np.array([4, 199, 4])
    taken = source.replacements(pt.constant(some))
    found = {x.dtype: values_of(taken[x])[0] for x in source.batches}
    whole = dict(
        zip(("bool", "int32", "float64"), values_of(rows.mask, rows["y"], rows["x"]), strict=True)
    )
    for dtype, values in whole.items():
        np.testing.assert_array_equal(found[dtype], values[some])


def test_classes_of_sizes_hold_all_groups_once():
    table = logistic_table(300, most=40)
    rows = pmg.GroupedRows(table, by="user")
    parts = rows.by_size(3)
    assert [int(part.width) for part in parts] == sorted(part.width for part in parts)
    assert sorted(np.concatenate([part.labels for part in parts])) == list(rows.labels)
    found = {
        label: values
        for part in parts
        for label, values in zip(part.labels, rows_of_groups(part["x"], part.mask), strict=True)
    }
    whole = rows_of_groups(rows["x"], rows.mask)
    assert all(found[label] == values for label, values in zip(rows.labels, whole, strict=True))
    places = sum(part.n_groups * part.width for part in parts)
    assert places < 0.8 * rows.n_groups * rows.width


def test_positions_of_labels():
    rows = pmg.GroupedRows(TABLE, by="user")
    assert list(rows.positions(["c", "a"])) == [2, 0]
    with pytest.raises(ValueError, match="got 1 that are not there, such as 'd'"):
        rows.positions(["a", "d"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"user": ["b", None, "b", "c", "b", "c"]}, "1 rows without, the first at row 1"),
        ({"x": [0.1, np.nan, 0.3, 0.4, 0.5, 0.6]}, "1 that are NaN, the first at row 1"),
        ({"x": list("abcdef")}, "expected numbers, got .*codes"),
        ({"x": [2**40] * 6}, "whole numbers of 32 bits"),
        ({"x": pd.array([1, None, 3, 4, 5, 6], dtype="Int64")}, "1 that are NaN"),
        ({"x": pd.date_range("2026-01-01", periods=6)}, "expected numbers, got datetime64"),
    ],
)
def test_bad_tables(change, message):
    with pytest.raises(ValueError, match=message):
        _ = pmg.GroupedRows(TABLE.assign(**change), by="user")["x"]


def test_other_bad_arguments():
    rows = pmg.GroupedRows(TABLE, by="user")
    with pytest.raises(ValueError, match=r"one of the columns .*got 'z'"):
        rows["z"]
    with pytest.raises(ValueError, match="got 'who'"):
        pmg.GroupedRows(TABLE, by="who")
    with pytest.raises(TypeError, match="DataFrame or a mapping"):
        pmg.GroupedRows(TABLE.to_numpy(), by="user")
    with pytest.raises(ValueError, match=r"entry in each of the 6 rows, got shape \(5,\)"):
        pmg.GroupedRows(dict(TABLE) | {"x": np.ones(5)}, by="user")["x"]
    with pytest.raises(NotImplementedError, match="Name those"):
        pm.Minibatch(rows, batch_size=2)


def test_total_size_is_the_number_of_groups():
    rows = pmg.GroupedRows(logistic_table(50), by="user")
    with pm.Model() as model:
        x, y, mask = columns(rows, ["x", "y"], 10)
        mu = pm.Normal("mu")
        effect = pm.Normal.dist(0, 1, shape=x.shape[0])
        each = pm.Bernoulli.dist(logit_p=mu + effect[:, None])
        pmg.MarginalLikelihood("y", each, effect, mask, observed=y, total_size=rows.n_rows)
        with pytest.raises(ValueError, match=r"`total_size`.*50"):
            pmg.SGNHT(step_size=0.01)
    del model, x


@pytest.mark.parametrize("most", [1, 6])
def test_a_likelihood_of_empty_places_is_refused(most):
    table = logistic_table(50, most=6)
    if most == 1:
        table = {
            name: np.asarray(column)[np.unique(table["user"], return_index=True)[1]]
            for name, column in table.items()
        }
    rows = pmg.GroupedRows(table, by="user")
    with pm.Model():
        x, y, _ = columns(rows, ["x", "y"], 10)
        pm.Bernoulli("y", logit_p=pm.Normal("mu") + x, observed=y, total_size=len(rows))
        if most == 1:
            # There are none.
            pmg.SGNHT(step_size=0.01)
        else:
            with pytest.raises(ValueError, match=r"empty places.*`pmg.GroupLikelihood"):
                pmg.SGNHT(step_size=0.01)


@pytest.mark.parametrize("make", [local_logistic, marginal_logistic])
def test_good_models_pass_all_checks(make):
    rows = pmg.GroupedRows(logistic_table(60), by="user")
    with make(rows, 10) as model:
        local = [v.name for v in model.free_RVs if v.name == "effect"]
        options = {"local": pmg.LocalGMC(local)} if local else {}
        pmg.SGNHT(["mu", "slope", "tau"], step_size=0.01, **options)
