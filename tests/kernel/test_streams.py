#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Random inputs follow from the chain's generator alone, and go on where they stopped."""

from copy import deepcopy
from types import SimpleNamespace

import numpy as np
import pytest

from scipy import stats

from pymc_geodesic.kernel import streams
from pymc_geodesic.kernel.jax.resident import ALIGNMENT
from pymc_geodesic.kernel.streams import BatchStream, draw_noise

SOURCES = [SimpleNamespace(n_rows=1000, batch_size=3), SimpleNamespace(n_rows=50, batch_size=4)]


def drawn(lengths, *, steps_per_batch, seed=1):
    stream = BatchStream(SOURCES, steps_per_batch=steps_per_batch)
    rng = np.random.default_rng(seed)
    parts = [stream.draw(rng, n) for n in lengths]
    return [np.concatenate(part) for part in zip(*parts, strict=True)]


def runs(rows):
    """Lengths of runs of equal batches."""
    changes = np.flatnonzero(np.any(np.diff(rows, axis=0) != 0, axis=1)) + 1
    return np.diff([0, *changes, len(rows)]).tolist()


@pytest.mark.parametrize("steps_per_batch", [1, 3])
def test_rows_have_the_shape_and_range_of_their_source(steps_per_batch):
    for rows, source in zip(drawn([200], steps_per_batch=steps_per_batch), SOURCES, strict=True):
        assert rows.shape == (200, source.batch_size)
        assert rows.dtype == np.int64
        assert rows.min() >= 0
        assert rows.max() < source.n_rows
    assert drawn([500], steps_per_batch=1)[1].max() == 49


def test_rows_are_uniform():
    rows = drawn([20_000], steps_per_batch=1)[1]
    counts = np.bincount(rows.ravel(), minlength=50)
    expected = rows.size / 50
    assert ((counts - expected) ** 2 / expected).sum() < 49 + 4 * np.sqrt(2 * 49)


@pytest.mark.parametrize("lengths", [[12], [5, 7], [1] * 12, [4, 1, 3, 4]], ids=str)
def test_batches_are_shared_by_their_number_of_transitions(lengths):
    for rows in drawn(lengths, steps_per_batch=4):
        assert runs(rows) == [4, 4, 4]


def test_a_fresh_batch_for_every_transition_by_default():
    assert runs(drawn([50], steps_per_batch=1)[0]) == [1] * 50


def test_sources_have_rows_of_their_own():
    stream = BatchStream([SOURCES[0], SOURCES[0]])
    first, second = stream.draw(np.random.default_rng(1), 20)
    assert np.any(first != second)


def test_chains_have_batches_of_their_own():
    first, second = (drawn([20], steps_per_batch=1, seed=seed)[0] for seed in (1, 2))
    assert np.mean(first == second) < 0.05


@pytest.mark.parametrize("steps_per_batch", [1, 4])
@pytest.mark.parametrize("stop", [3, 4, 6])
def test_state_goes_on_in_the_middle_of_a_batch(steps_per_batch, stop):
    stream = BatchStream(SOURCES, steps_per_batch=steps_per_batch)
    rng = np.random.default_rng(1)
    stream.draw(rng, stop)
    other, generator = deepcopy(stream), rng.bit_generator.state
    expected = stream.draw(rng, 9)
    rng.bit_generator.state = generator
    for a, b in zip(other.draw(rng, 9), expected, strict=True):
        np.testing.assert_array_equal(a, b)


MANY = (3, 100_000)


def many_normals(seed=1, dtype="float64"):
    [normals] = draw_noise(np.random.default_rng(seed), 1, [MANY], dtype)
    return normals


@pytest.mark.parametrize("n_threads", [1, 3])
def test_normals_do_not_depend_on_the_number_of_threads(n_threads, monkeypatch):
    expected = many_normals()
    monkeypatch.setattr(streams.os, "cpu_count", lambda: n_threads)
    np.testing.assert_array_equal(many_normals(), expected)


def test_state_of_the_generator_is_all_that_many_normals_depend_on():
    rng = np.random.default_rng(1)
    first = draw_noise(rng, 1, [MANY], "float64")[0]
    state = rng.bit_generator.state
    second = draw_noise(rng, 1, [MANY], "float64")[0]
    assert not np.any(first == second)
    other = np.random.default_rng(2)
    other.bit_generator.state = state
    np.testing.assert_array_equal(draw_noise(other, 1, [MANY], "float64")[0], second)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_many_normals(dtype):
    normals = many_normals(dtype=dtype)
    assert normals.shape == (1, *MANY)
    assert normals.dtype == dtype
    assert normals.ctypes.data % ALIGNMENT == 0
    assert np.unique(normals).size > (0.9 if dtype == "float32" else 0.9999) * normals.size
    assert stats.kstest(normals.ravel().astype("float64"), "norm").pvalue > 1e-4
    # Parts have generators of their own.
    flat = normals.ravel()
    correlation = np.corrcoef(flat[: streams.PART], flat[streams.PART : 2 * streams.PART])[0, 1]
    assert abs(correlation) < 4 / np.sqrt(streams.PART)


@pytest.mark.parametrize("steps_per_batch", [1, 2])
def test_rows_without_replacement_are_used_once_an_epoch(steps_per_batch):
    stream = BatchStream(SOURCES, steps_per_batch=steps_per_batch, replacement=False)
    rng = np.random.default_rng(1)
    # Calls that end inside an epoch, and batches of four that straddle the end of fifty rows.
    parts = [stream.draw(rng, n)[1] for n in (3, 20, 27)]
    rows = np.concatenate(parts)[::steps_per_batch].ravel()
    for epoch in range(rows.size // 50):
        assert sorted(rows[50 * epoch : 50 * (epoch + 1)]) == list(range(50))


def test_order_without_replacement_resumes():
    first = BatchStream(SOURCES, replacement=False)
    rng = np.random.default_rng(1)
    first.draw(rng, 5)
    second = deepcopy(first)
    other = np.random.default_rng()
    other.bit_generator.state = rng.bit_generator.state
    for a, b in zip(first.draw(rng, 30), second.draw(other, 30), strict=True):
        np.testing.assert_array_equal(a, b)
