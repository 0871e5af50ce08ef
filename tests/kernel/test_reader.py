#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Reading ahead of the sampler: the same rows whatever the timing of loaders and resets."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

from textwrap import dedent
from types import SimpleNamespace

import numpy as np
import pytest

from pymc.exceptions import SamplingError

from pymc_geodesic.kernel import reader as reader_module
from pymc_geodesic.kernel.reader import StreamCursor, StreamReader

SIZE, N_BATCHES = 2, 13
REPETITIONS = 50


class Loader:
    """Batches that each take a random time to come, and a count of who reads at once."""

    def __init__(self, delay=2e-4):
        self.delays = np.random.default_rng().uniform(0, delay, 1_000)
        self.n_open = self.most_open = 0

    def __iter__(self):
        self.n_open += 1
        self.most_open = max(self.most_open, self.n_open)
        try:
            for i in range(N_BATCHES):
                time.sleep(self.delays[i])
                yield np.array([[i], [i + 0.5]])
        finally:
            self.n_open -= 1


def make(loader=None):
    source = SimpleNamespace(
        check=None,
        name="batch",
        loader=loader or Loader(),
        n_rows=N_BATCHES * SIZE,
        batch_size=SIZE,
        row_shape=(1,),
        dtype="float64",
    )
    return StreamReader(source)


def taken(reader, cursor=None, n=40, *, seed=1):
    """Rows from a cursor on; from the beginning of the stream if none is given."""
    cursor = StreamCursor() if cursor is None else cursor
    return reader.take(cursor, np.random.default_rng(seed), n)


@pytest.fixture(autouse=True)
def small_buffers(monkeypatch):
    """Buffers that end within a pass, so that threads are asked often."""
    monkeypatch.setattr(reader_module, "BUFFER", 5)


def test_buffers_follow_the_loader_pass_after_pass():
    reader = make()
    cursor = StreamCursor()
    rows = taken(reader, cursor, 4 * 5)
    expected = (np.arange(4 * 5 * SIZE) % (N_BATCHES * SIZE)) / 2
    for buffer, whole in zip(rows.reshape(4, -1), expected.reshape(4, -1), strict=True):
        np.testing.assert_array_equal(np.sort(buffer), np.sort(whole))
        assert np.any(buffer != np.sort(buffer))
    assert cursor.n_read == (4 * 5) % N_BATCHES


class OneBuffer(Loader):
    """A loader that reads every block into the same memory, as ``np.copyto`` does."""

    def __init__(self, rows_per_block):
        self.rows_per_block = rows_per_block

    def __iter__(self):
        rows = np.arange(N_BATCHES * SIZE).reshape(-1, self.rows_per_block, 1) / 2
        buffer = np.empty(rows.shape[1:])
        for block in rows:
            np.copyto(buffer, block)
            yield buffer


@pytest.mark.parametrize("rows_per_block", [1, SIZE, 13])
def test_a_loader_may_use_one_buffer_for_all_blocks(rows_per_block):
    # Buffers and passes end together after five passes.
    found = taken(make(OneBuffer(rows_per_block)), n=5 * N_BATCHES)
    expected = np.repeat(np.arange(N_BATCHES * SIZE) / 2, 5)
    np.testing.assert_array_equal(np.sort(found.ravel()), expected)


class Endless:
    """A loader that begins again by itself."""

    def __iter__(self):
        while True:
            yield np.zeros((SIZE, 1))


def test_a_pass_without_an_end_is_refused():
    with pytest.raises(SamplingError, match=r"expected 26 rows per pass.*got more.*end after"):
        taken(make(Endless()))


class Empty:
    """A loader that gives some rows, and then none for ever."""

    def __init__(self, n_blocks):
        self.n_blocks = n_blocks

    def __iter__(self):
        for _ in range(self.n_blocks):
            yield np.zeros((1, 1))
        while True:
            yield np.zeros((0, 1))


@pytest.mark.parametrize("n_blocks", [0, 1, N_BATCHES * SIZE - 1])
def test_empty_blocks_for_ever_are_refused(n_blocks):
    message = f"`.*` expected rows, got 10000 empty blocks .* after {n_blocks} rows"
    with pytest.raises(SamplingError, match=message):
        taken(make(Empty(n_blocks)))


class Sparse(Loader):
    """A loader whose filter leaves no rows in most blocks."""

    def __iter__(self):
        for batch in super().__iter__():
            yield from [batch[:0]] * 50
            yield batch


def test_some_empty_blocks_are_no_fault():
    np.testing.assert_array_equal(taken(make(Sparse())), taken(make()))


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ({"x": np.zeros((2, 1))}, r"expected arrays of rows, got a dict with the keys \['x'\]"),
        (np.ma.masked_equal([[1.0], [-9.0]], -9.0), "got masked entries after 0 rows"),
        (np.array([[1 + 2j], [3.0]]), "expected real numbers, got entries of type complex128"),
        (np.array([["1.5"], ["2"]]), "expected real numbers, got entries of type <U3"),
        (np.array([["a"], [2.0]], dtype=object), "expected real numbers, got entries of type obj"),
        (np.array([["2020-01-01"]], dtype="M8[D]"), r"got entries of type datetime64\[D\]"),
        (np.array([[1.0], [None]], dtype=object), "expected finite numbers, got NaN"),
    ],
)
def test_blocks_that_are_no_numbers_are_refused(block, message):
    with pytest.raises(SamplingError, match=message):
        make([block])


def test_blocks_may_be_masked_arrays_without_a_mask_and_objects_that_are_numbers():
    rows = np.arange(N_BATCHES * SIZE)[:, None]
    half = len(rows) // 2
    reader = make([np.ma.masked_equal(rows[:half], -9), rows[half:].astype(object)])
    found = np.sort(taken(reader, n=5 * N_BATCHES).ravel())
    np.testing.assert_array_equal(found, np.repeat(rows, 5))


def test_a_new_chain_gets_the_same_rows_every_time():
    expected = taken(make())
    reader = make()
    for n in range(REPETITIONS):
        # The thread is anywhere between two batches when another chain begins.
        taken(reader, n=n % 7 + 1, seed=n)
        if n % 3:
            time.sleep(1e-4 * (n % 5))
        np.testing.assert_array_equal(taken(reader), expected)


def test_a_restored_cursor_gives_the_same_rows_every_time():
    reader, other = make(), make()
    for n in range(REPETITIONS):
        cursor = StreamCursor()
        # Places in the first pass, at its end and in later ones.
        taken(reader, cursor, n % 31, seed=n)
        state = pickle.dumps(cursor)
        expected = taken(reader, cursor, seed=n)
        for target in (reader, other):
            np.testing.assert_array_equal(taken(target, pickle.loads(state), seed=n), expected)


def test_two_chains_in_turn_get_the_rows_that_each_gets_alone():
    reader, alone = make(), [taken(make(), n=30, seed=seed) for seed in (1, 2)]
    cursors, found = [StreamCursor(), StreamCursor()], [[], []]
    rngs = [np.random.default_rng(seed) for seed in (1, 2)]
    for _ in range(10):
        for i in (0, 1):
            found[i].append(reader.take(cursors[i], rngs[i], 3))
    for rows, expected in zip(found, alone, strict=True):
        np.testing.assert_array_equal(np.concatenate(rows), expected)


def test_a_loader_is_read_by_one_thread_at_a_time():
    loader = Loader()
    reader = make(loader)
    for n in range(REPETITIONS):
        cursor = StreamCursor()
        taken(reader, cursor, n % 11 + 1)
        # As the tuning phase of another chain does, which goes through the loader by itself.
        reader.settle([StreamCursor()])
        assert loader.n_open == 0
    assert loader.most_open == 1


def test_restoring_reads_only_the_present_pass():
    loader = Loader(delay=0.0)
    reader, cursor = make(loader), StreamCursor()
    taken(reader, cursor, 30 * N_BATCHES)
    assert cursor.n_read <= N_BATCHES
    state = pickle.dumps(cursor)
    expected = taken(reader, cursor)
    np.testing.assert_array_equal(taken(make(), pickle.loads(state)), expected)


def test_a_pass_lives_in_one_thread():
    threads = []

    class Connection(Loader):
        def __iter__(self):
            opened_by = threading.get_ident()
            for block in super().__iter__():
                threads.append((opened_by, threading.get_ident()))
                yield block

    reader = make(Connection())
    taken(reader, n=3 * N_BATCHES)
    assert all(opened == read for opened, read in threads)


def test_threads_end_with_their_readers():
    before = threading.active_count()
    for _ in range(5):
        taken(make(), n=3)
    deadline = time.monotonic() + 10
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() == before


def test_an_error_of_the_loader_is_raised_again_until_the_loader_is_mended():
    class Breaks(Loader):
        fails = False

        def __iter__(self):
            for i, block in enumerate(super().__iter__()):
                if self.fails and i == 7:
                    raise OSError("the disk is gone")
                yield block

    loader = Breaks()
    reader = make(loader)
    expected, cursor = taken(reader), StreamCursor()
    loader.fails = True
    for _ in range(2):
        with pytest.raises(OSError, match="the disk is gone"):
            taken(reader, cursor)
    loader.fails = False
    np.testing.assert_array_equal(taken(reader), expected)


def test_a_loader_that_exits_does_not_leave_the_sampler_waiting():
    class Exits(Loader):
        def __iter__(self):
            yield from list(super().__iter__())[:7]
            raise SystemExit

    with pytest.raises(SystemExit):
        taken(make(Exits()))


def test_rows_are_counted_in_every_pass():
    class Shrinks(Loader):
        n_passes = 0

        def __iter__(self):
            self.n_passes += 1
            blocks = list(super().__iter__())
            yield from blocks if self.n_passes < 3 else blocks[:-2]

    with pytest.raises(SamplingError, match="expected 26 rows per pass"):
        taken(make(Shrinks()), n=5 * N_BATCHES)


def _put_rows(queue, reader, cursor):
    queue.put(taken(reader, cursor))


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_reads_for_itself():
    """Both from the beginning and from the middle of a pass that the parent has begun."""
    context = multiprocessing.get_context("fork")
    for begun in (False, True):
        reader, cursor = make(), StreamCursor()
        taken(reader, cursor, 7)
        cursor = cursor if begun else StreamCursor()
        queue = context.Queue()
        workers = [
            context.Process(target=_put_rows, args=(queue, reader, cursor)) for _ in range(2)
        ]
        for worker in workers:
            worker.start()
        rows = [queue.get(timeout=30) for _ in workers]
        for worker in workers:
            worker.join(timeout=30)
            assert worker.exitcode == 0
        expected = taken(reader, cursor)
        for found in rows:
            np.testing.assert_array_equal(found, expected)


BLOCKED = """
    import signal, sys, time
    from types import SimpleNamespace
    import numpy as np
    from pymc_geodesic.kernel.reader import StreamCursor, StreamReader

    # A shell that runs the tests in the background has them ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    class Blocks:
        n = 0
        def __iter__(self):
            self.n += 1
            yield np.zeros((2, 1))
            if self.n > 1:
                print("blocked", flush=True)
                time.sleep(1_000)

    source = SimpleNamespace(
        check=None,
        name="batch", loader=Blocks(), n_rows=10, batch_size=2, row_shape=(1,), dtype="float64"
    )
    reader = StreamReader(source)
    try:
        reader.take(StreamCursor(), np.random.default_rng(1), 3)
    except KeyboardInterrupt:
        sys.exit(3)
"""


def test_a_loader_that_blocks_does_not_keep_the_process():
    process = subprocess.Popen(
        [sys.executable, "-c", dedent(BLOCKED)], stdout=subprocess.PIPE, text=True
    )
    with process:
        try:
            assert process.stdout.readline() == "blocked\n"
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=10) == 3
        finally:
            process.kill()
