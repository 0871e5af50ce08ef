#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Parquet columns are numbers in every file, or a sentence says what they are."""

import datetime
import pickle

from decimal import Decimal

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

pa = pytest.importorskip("pyarrow")
ds = pytest.importorskip("pyarrow.dataset")
pq = pytest.importorskip("pyarrow.parquet")

N = 12
X = np.arange(N) / 4
KINDS = {
    "x": X,
    "whole": np.arange(N),
    "flag": np.arange(N) % 2 == 0,
    "half": X.astype("float16"),
    "money": pa.array([Decimal("1.25")] * N),
    "when": pa.array([datetime.datetime(2020, 1, 1)] * N),
    "day": pa.array([datetime.date(2020, 1, 1)] * N),
    "took": pa.array([datetime.timedelta(1)] * N),
    "word": ["a", "b"] * (N // 2),
    "category": pa.array(["a", "b"] * (N // 2)).dictionary_encode(),
    "nothing": pa.nulls(N),
    "list": [[1.0]] * N,
    "holes": pa.array([None, *X[1:]]),
    "holes_of_codes": pa.array([*range(N - 2), None, None]),
}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("kinds") / "rows.parquet"
    pq.write_table(pa.table(KINDS), path, row_group_size=5)
    return path


@pytest.fixture
def by_year(tmp_path):
    kind = ds.partitioning(pa.schema([("year", pa.int32())]), flavor="hive")
    years = np.repeat([2000, 2001, 2002], 4)
    table = pa.table({"x": X, "year": years})
    ds.write_dataset(table, tmp_path / "years", format="parquet", partitioning=kind)
    return tmp_path / "years", np.column_stack([years, X])


def test_numbers_of_any_kind(path):
    rows = pmg.ParquetRows(path, columns=["whole", "flag", "half", "money", "x"])
    expected = [np.arange(N), np.arange(N) % 2 == 0, X, np.full(N, 1.25), X]
    np.testing.assert_array_equal(np.concatenate(list(rows)), np.column_stack(expected))


def test_columns_that_the_names_of_folders_give(by_year):
    folder, expected = by_year
    rows = pickle.loads(pickle.dumps(pmg.ParquetRows(folder, columns=["year", "x"])))
    np.testing.assert_array_equal(np.concatenate(list(rows)), expected)
    sample = rows.sample(np.random.default_rng(1), N)
    np.testing.assert_array_equal(sample[np.argsort(sample[:, 1])], expected)
    late = pmg.ParquetRows(folder, columns=["year", "x"], filter=ds.field("year") > 2000)
    assert late.n_rows == 8
    np.testing.assert_array_equal(np.concatenate(list(late)), expected[4:])


def test_folders_behind_urls_give_columns_too(by_year):
    fsspec = pytest.importorskip("fsspec")
    folder, expected = by_year
    fsspec.filesystem("memory").put(str(folder), "/years", recursive=True)
    rows = pmg.ParquetRows("memory://years", columns=["year", "x"])
    np.testing.assert_array_equal(np.concatenate(list(rows)), expected)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("when", r"'when' of type timestamp\[us\] in .*rows.parquet. Store times as numbers"),
        ("day", r"'day' of type date32\[day\].*Store times"),
        ("took", r"'took' of type duration\[us\].*Store times"),
        ("word", "'word' of type string .*Store categories as codes"),
        ("category", "'category' of type dictionary.*Store categories as codes"),
        ("nothing", "'nothing' of type null"),
        ("list", "'list' of type list"),
    ],
)
def test_columns_that_are_no_numbers(path, name, message):
    with pytest.raises(ValueError, match="`columns` expected columns of numbers, got " + message):
        pmg.ParquetRows(path, columns=["x", name])


@pytest.mark.parametrize(("name", "n"), [("holes", 1), ("holes_of_codes", 2)])
def test_missing_values(path, name, n):
    message = (
        f"`columns` expected numbers in all rows, got {n} missing values of '{name}' in .*is_v"
    )
    with pytest.raises(ValueError, match=message):
        pmg.ParquetRows(path, columns=["x", name])
    without = ds.field(name).is_valid()
    rows = pmg.ParquetRows(path, columns=[name], filter=without)
    assert rows.n_rows == N - n
    with pytest.raises(ValueError, match=message):
        pmg.ParquetRows(path, columns=[name], filter=ds.field("x") >= 0)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("xy", r"`columns` expected a list of names, got 'xy'\. Pass `\['xy'\]`"),
        ([], r"`columns` expected a list of names, got \[\]"),
        ([0], r"`columns` expected a list of names, got \[0\]"),
        (None, "`columns` expected a list of names, got None"),
        (["x", "x"], r"`columns` expected different names, got \['x', 'x'\]"),
        (["x", "y"], "`columns` expected names of columns of every file, got 'y', which is not"),
    ],
)
def test_names_that_are_wrong(path, columns, message):
    with pytest.raises(ValueError, match=message):
        pmg.ParquetRows(path, columns=columns)


@pytest.mark.parametrize("names", [("0", "1"), ("1", "0")])
def test_a_file_that_lacks_a_column_or_has_another_kind(tmp_path, names):
    pq.write_table(pa.table({"x": X, "y": X}), tmp_path / f"{names[0]}.parquet")
    pq.write_table(pa.table({"x": ["a"] * N}), tmp_path / f"{names[1]}.parquet")
    with pytest.raises(ValueError, match=rf"every file, got 'y', which.*{names[1]}\.parquet"):
        pmg.ParquetRows(tmp_path, columns=["y"])
    with pytest.raises(ValueError, match=rf"got 'x' of type string in .*{names[1]}\.parquet"):
        pmg.ParquetRows(tmp_path, columns=["x"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("x > 1", "`filter` expected a `pyarrow.dataset.Expression`, such as .* got 'x > 1'"),
        (ds.field("z") > 1, r"`filter` expected an expression of the columns \['x'"),
        (ds.field("word") > 1, "`filter` expected an expression of the columns"),
    ],
)
def test_filters_that_are_wrong(path, given, message):
    with pytest.raises(ValueError, match=message):
        pmg.ParquetRows(path, columns=["x"], filter=given)


def test_a_folder_without_files(tmp_path):
    with pytest.raises(ValueError, match="`source` expected rows, got none"):
        pmg.ParquetRows(tmp_path, columns=["x"])


def test_a_batch_with_more_rows_than_the_files(path):
    with pm.Model() as model:
        batch = pm.Data("batch", np.zeros((20, 1)))
        pm.Normal("y", pm.Normal("m"), observed=batch[:, 0], total_size=N)
    with pytest.raises(ValueError, match=r"`batch` expected a batch of 1 to 12 rows, .* got 20"):
        pmg.SGNHT(data={"batch": pmg.ParquetRows(path, columns=["x"])}, model=model)
