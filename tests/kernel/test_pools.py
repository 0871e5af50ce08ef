#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Parquet in any order: random rows of all partitions, and passes that are summed by parts."""

import multiprocessing
import os
import pickle

from dataclasses import replace

import cloudpickle
import numpy as np
import pymc as pm
import pytest

from pymc.exceptions import SamplingError

import pymc_geodesic as pmg

from pymc_geodesic.kernel import pools
from pymc_geodesic.kernel.pools import PoolCursor, PoolReader

pa = pytest.importorskip("pyarrow")
dataset = pytest.importorskip("pyarrow.dataset")
parquet = pytest.importorskip("pyarrow.parquet")

# Partitions of very different sizes.
N_ROWS, CUTS, BATCH = 6_000, (10, 500, 4_000), 50


def table():
    """Rows sorted by the response, the last column; the one before numbers them."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(N_ROWS, 2)) * [1.0, 3.0]
    y = np.sort(x @ [1.0, -1.0] + rng.normal(size=N_ROWS))
    return np.column_stack([x, np.arange(N_ROWS), y])


NAMES = ["a", "b", "number", "y"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows")
    rows = table()
    for i, part in enumerate(np.split(rows, CUTS)):
        columns = dict(zip(NAMES, part.T, strict=True))
        parquet.write_table(pa.table(columns), path / f"{i}.parquet", row_group_size=1_000)
    return path


@pytest.fixture
def rows(folder):
    return pmg.ParquetRows(folder, columns=NAMES)


def test_rows_are_read_in_order(folder, rows):
    assert rows.n_rows == N_ROWS
    np.testing.assert_array_equal(np.concatenate(list(rows)), table())
    assert [part.first for part in rows.partitions] == [0, *CUTS]
    other = pmg.ParquetRows(folder, columns=["y", "a"])
    np.testing.assert_array_equal(np.concatenate(list(other)), table()[:, [3, 0]])
    one = pmg.ParquetRows([str(folder / "1.parquet")], columns=["y"])
    assert one.n_rows == CUTS[1] - CUTS[0]


def test_filters_count(folder):
    few = pmg.ParquetRows(folder, columns=NAMES, filter=dataset.field("a") > 0.5)
    expected = table()[table()[:, 0] > 0.5]
    assert few.n_rows == len(expected)
    np.testing.assert_array_equal(np.concatenate(list(few)), expected)
    sample = few.sample(np.random.default_rng(1), few.n_rows)
    np.testing.assert_array_equal(sample[np.argsort(sample[:, 2])], expected)


def test_urls_are_those_of_fsspec(folder):
    fsspec = pytest.importorskip("fsspec")
    fsspec.filesystem("memory").put(str(folder), "/rows", recursive=True)
    there = pmg.ParquetRows("memory://rows", columns=["number"])
    there = pickle.loads(pickle.dumps(there))
    assert sorted(np.concatenate(list(there))[:, 0]) == list(range(N_ROWS))


def test_every_row_is_as_likely(rows):
    n, times = 300, 200
    counts = np.zeros(N_ROWS)
    for seed in range(times):
        sample = rows.sample(np.random.default_rng(seed), n)
        numbers = sample[:, 2].astype(int)
        np.testing.assert_array_equal(sample, table()[numbers])
        assert len(set(numbers)) == n
        counts[numbers] += 1
    # Hypergeometric counts of each partition, and positions that do not follow the stored order.
    for part in np.split(counts, CUTS):
        expected = times * n * len(part) / N_ROWS
        assert abs(part.sum() - expected) < 4 * np.sqrt(expected)
    assert abs(np.corrcoef(numbers, np.arange(n))[0, 1]) < 4 / np.sqrt(n)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_reads_too(rows):
    expected = rows.sample(np.random.default_rng(1), 100)

    def read():
        np.testing.assert_array_equal(rows.sample(np.random.default_rng(1), 100), expected)

    for _ in range(3):
        process = multiprocessing.get_context("fork").Process(target=read)
        process.start()
        process.join(60)
        assert process.exitcode == 0


def test_rows_that_are_not_there(folder, tmp_path):
    with pytest.raises(
        ValueError, match="`columns` expected names of columns of every file, got 'z'"
    ):
        pmg.ParquetRows(folder, columns=["a", "z"])
    with pytest.raises(ValueError, match="`source` expected rows, got none"):
        pmg.ParquetRows(folder, columns=["a"], filter=dataset.field("a") > 1e9)


def model_of(total_size=N_ROWS):
    with pm.Model() as model:
        batch = pm.Data("batch", np.zeros((BATCH, 4)))
        slope = pm.Normal("slope", 0.0, 10.0, shape=2)
        pm.Normal("y", batch[:, :2] @ slope, 2.0, observed=batch[:, 3], total_size=total_size)
    return model


def test_the_model_has_the_rows_of_the_data(rows):
    with pytest.raises(ValueError, match=f"`total_size` expected the rows .*{N_ROWS}, got 7"):
        pmg.SGLD(data={"batch": rows}, model=model_of(7_000))


def reader_of(rows, monkeypatch, n_pool=1_000):
    step = pmg.SGLD(
        step_size=1e-6,
        variance_reduction=None,
        n_steps=1,
        data={"batch": rows},
        model=model_of(),
    )
    reader = step.sampler.calls.reader
    assert isinstance(reader, PoolReader)
    monkeypatch.setattr(reader, "_size", n_pool)
    return reader


@pytest.mark.parametrize("reuses", [False, True])
def test_batches_follow_from_the_cursor(rows, monkeypatch, reuses):
    monkeypatch.setattr(pools, "TURNS", 1)
    reader = reader_of(rows, monkeypatch)

    def taken(reader, cursor, rng, counts):
        return np.concatenate([reader.take(cursor, rng, n, reuses=reuses) for n in counts])

    whole = taken(reader, PoolCursor(), np.random.default_rng(1), [150] * 3)
    cursor, rng = PoolCursor(), np.random.default_rng(1)
    first = taken(reader, cursor, rng, [150])
    # In another process, where nothing has been read yet.
    reader, cursor, rng = pickle.loads(cloudpickle.dumps((reader, cursor, rng)))
    rest = taken(reader, cursor, rng, [150] * 2)
    np.testing.assert_array_equal(np.concatenate([first, rest]), whole)
    assert cursor.number > 1
    assert len(pickle.dumps(cursor)) < 500


def test_rows_are_used_once_or_again_and_again(rows, monkeypatch):
    reader = reader_of(rows, monkeypatch)
    numbers = reader.take(PoolCursor(), np.random.default_rng(1), 20)[..., 2].ravel()
    assert len(set(numbers)) == 1_000
    again = reader.take(PoolCursor(), np.random.default_rng(1), 2_000, reuses=True)[..., 2].ravel()
    assert len(set(again)) == 1_000


def test_passes_are_sums_of_partitions(rows):
    step = pmg.SGNHT(data={"batch": rows}, model=model_of())
    gradient = step.sampler.tuning.gradient
    data, point = table(), [np.array([0.9, -0.8])]
    found = gradient.whole(point)
    residual = data[:, 3] - data[:, :2] @ point[0]
    expected = -data[:, :2].T @ residual / 4 + point[0] / 100
    np.testing.assert_allclose(found.gradient[0], expected, rtol=1e-10)
    # Whoever sums them.
    asked = []

    def elsewhere(task, arguments):
        asked.append(task)
        twin = pickle.loads(cloudpickle.dumps(gradient))
        return [getattr(twin, task)(*given) for given in arguments]

    # The last evaluation is kept.
    gradient.whole([2 * point[0]])
    gradient.elsewhere = elsewhere
    np.testing.assert_array_equal(gradient.whole(point).gradient, found.gradient)
    [sample] = gradient.rows(np.random.default_rng(1), 1_000)
    assert asked == ["partition_sum", "partition_rows"]
    # A subsample of all partitions.
    assert abs(sample[:, 3].mean() - data[:, 3].mean()) < 0.1


def test_rows_of_a_partition_are_checked(tmp_path, monkeypatch):
    data = table()
    data[4_500, 3] = np.nan
    parquet.write_table(pa.table(dict(zip(NAMES, data.T, strict=True))), tmp_path / "1.parquet")
    good = pmg.ParquetRows(tmp_path, columns=NAMES, filter=~dataset.field("y").is_nan())
    assert good.n_rows == N_ROWS - 1
    step = pmg.SGNHT(data={"batch": good}, model=model_of(N_ROWS - 1))
    # The first rows are good, and those of another partition are not.
    bad = replace(good.partitions[0], filter=None, first=2_000, n_rows=N_ROWS)
    monkeypatch.setattr(good, "partitions", (bad,))
    with pytest.raises(SamplingError, match="NaN or infinity after 2000 rows"):
        step.sampler.tuning.gradient.whole([np.zeros(2)])


@pytest.mark.slow
def test_sorted_rows_give_the_posterior_of_all(rows, monkeypatch):
    data = table()
    precision = data[:, :2].T @ data[:, :2] / 4 + np.eye(2) / 100
    mean = np.linalg.solve(precision, data[:, :2].T @ data[:, 3] / 4)
    factor = np.linalg.cholesky(precision)
    # Pools of a sixth of the rows, so that several serve in a run.
    monkeypatch.setattr(pools, "POOL_BYTES", 32 * 1_000)
    monkeypatch.setattr(pools, "TURNS", 1)
    with model_of():
        step = pmg.SGNHT(data={"batch": rows})
        idata = pmg.sample(2_000, tune=500, step=step, random_seed=1, progressbar=False)
    scores = (idata.posterior["slope"].values - mean) @ factor
    batches = scores.reshape(80, -1, 2)
    for values, expected, slack in ((batches, 0.0, 0.05), (batches**2, 1.0, 0.1)):
        means = values.mean(axis=1)
        error = means.std(axis=0, ddof=1) / np.sqrt(len(means))
        assert (np.abs(means.mean(axis=0) - expected) < slack + 4 * error).all()
