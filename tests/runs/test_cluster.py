#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Draws of a cluster are those of one process, whatever happens to its workers."""

import _thread
import contextlib
import os
import signal
import subprocess
import sys
import threading
import traceback

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pymc as pm
import pytest

from whole_models import linear

import pymc_geodesic as pmg

from pymc_geodesic.runs import ChainError
from pymc_geodesic.runs.cluster import on_workers
from pymc_geodesic.runs.cluster.on_workers import OnWorkers
from pymc_geodesic.runs.cluster.worker import keep_freed_memory

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

N_ROWS = 400
RUN = {"draws": 30, "tune": 40, "chains": 4, "random_seed": 1, "progressbar": False}
RUN |= {"compute_convergence_checks": False, "discard_tuned_samples": False, "refine": False}

# Dask opens files in its own time.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


def regression():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(N_ROWS, 2))
    y = x @ [1.0, -1.0] + rng.normal(size=N_ROWS)
    with pm.Model() as model:
        xb, yb = pm.Minibatch(x, y, batch_size=20)
        slope = pm.Normal("slope", 0.0, 2.0, shape=2)
        p = pm.Dirichlet("p", np.ones(3))
        pm.Normal("y", xb @ slope, 0.5 + p[0], observed=yb, total_size=N_ROWS)
    return model


@pytest.fixture(scope="module")
def made():
    """A model, and a step for it."""
    with regression() as model:
        return model, pmg.gSGNHT(step_size=0.02, diffusion=0.5, n_steps=2)


@contextlib.contextmanager
def cluster_of(n_workers, *, processes=True, **options):
    # A busy machine needs longer than 15 s to start a worker again.
    patient = dask.config.set({"distributed.deploy.lost-worker-timeout": "10 minutes"})
    options |= {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": "CRITICAL"}
    with (
        patient,
        distributed.LocalCluster(n_workers=n_workers, processes=processes, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client():
    """Two worker processes."""
    with cluster_of(2) as client:
        yield client


@pytest.fixture
def one_worker():
    """A worker in this process, whose objects the tests can change."""
    with cluster_of(1, processes=False) as client:
        yield client


def assert_same(found, expected, *, atol=0.0):
    for group in ("warmup_posterior", "posterior"):
        for name, x in expected[group].to_dataset().data_vars.items():
            np.testing.assert_allclose(found[group][name], x, rtol=0, atol=atol, err_msg=name)


def compiles_in_its_own_folder(dask_worker):
    from pytensor.configdefaults import config

    return str(config.base_compiledir).startswith(dask_worker.local_directory)


@pytest.mark.parametrize(("method", "atol"), [("sequential", 0.0), ("vectorized", 1e-8)])
def test_draws_are_those_of_one_process(made, client, method, atol):
    model, step = made
    options = RUN | {"chain_method": method}
    expected = pmg.sample(model=model, step=step, **options)
    found = pmg.sample(model=model, step=step, client=client, **options)
    assert_same(found, expected, atol=atol)
    # Each worker compiles in a folder of its own, and nothing of the run stays behind.
    folders = client.run(compiles_in_its_own_folder)
    assert all(folders.values())
    plugins = client.run(lambda dask_worker: list(dask_worker.plugins))
    assert not [name for names in plugins.values() for name in names if "geodesic" in name]


def test_a_model_of_all_rows(client):
    model, *_ = linear()
    options = {"model": model, "step": pmg.SGLD, "batch_size": 50, **RUN}
    found = pmg.sample(client=client, **options)
    assert_same(found, pmg.sample(**options), atol=1e-8)
    assert list(found.posterior.data_vars) == ["beta", "twice", "middle"]


@pytest.mark.slow
def test_chains_are_tuned_together(client):
    with regression() as model:
        step = pmg.gSGNHT(n_steps=5)
    options = RUN | {"chain_method": "sequential"}
    expected = pmg.sample(model=model, step=step, **options)
    assert_same(pmg.sample(model=model, step=step, client=client, **options), expected)


@pytest.mark.slow
def test_passes_over_parquet_are_shared_out(client, tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(1)
    y = np.sort(rng.normal(1.0, 2.0, 3_000))
    for i, part in enumerate(np.split(y, [10, 2_000])):
        parquet.write_table(pa.table({"y": part}), tmp_path / f"{i}.parquet")
    rows = pmg.ParquetRows(tmp_path, columns=["y"])
    with pm.Model():
        batch = pm.Data("batch", np.zeros((30, 1)))
        mean, scale = pm.Normal("mean", 0.0, 10.0), pm.HalfNormal("scale", 10.0)
        pm.Normal("y", mean, scale, observed=batch[:, 0], total_size=rows.n_rows)
        step = pmg.SGNHT(data={"batch": rows}, n_steps=5)
        options = RUN | {"chain_method": "sequential", "draws": 300}
        expected = pmg.sample(step=step, **options)
        found = pmg.sample(step=step, client=client, **options)
    assert_same(found, expected)
    assert abs(found.posterior["mean"].mean() - y.mean()) < 0.4 * y.std() / np.sqrt(len(y))


@pytest.mark.slow
def test_the_example_of_a_laptop():
    example = Path(__file__).parents[2] / "examples" / "cluster" / "laptop.py"
    subprocess.run([sys.executable, str(example)], check=True, timeout=500)


def killing(monkeypatch, client, after):
    """Kill a worker after each of some numbers of segments; return the ids of those killed."""
    killed, n_segments = [], 0

    def watch(self, chains, n_draws, statistics):
        nonlocal n_segments
        n_segments += 1
        if len(killed) < len(after) and n_segments >= after[len(killed)]:
            # One that has just died cannot be asked.
            with contextlib.suppress(OSError, StopIteration):
                pid = next(iter(client.run(os.getpid).values()))
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

    monkeypatch.setattr("pymc_geodesic.step_methods.progress.Progress.watch", watch)
    return killed


def test_a_worker_that_dies_changes_nothing(made, client, monkeypatch):
    model, step = made
    options = RUN | {"chain_method": "sequential"}
    expected = pmg.sample(model=model, step=step, **options)
    killed = killing(monkeypatch, client, [3])
    found = pmg.sample(model=model, step=step, client=client, **options)
    assert len(killed) == 1
    assert_same(found, expected)
    client.wait_for_workers(2, timeout=60)


@pytest.mark.slow
def test_workers_that_die_again_and_again_change_nothing(made, monkeypatch):
    model, step = made
    monkeypatch.setattr(OnWorkers, "seconds", 0.1)
    options = RUN | {"chain_method": "sequential", "draws": 2_000}
    expected = pmg.sample(model=model, step=step, **options)
    with cluster_of(2) as client:
        killed = killing(monkeypatch, client, [3, 8, 16, 24, 32])
        found = pmg.sample(model=model, step=step, client=client, **options)
        pids = [*client.run(os.getpid).values(), *killed]
    assert len(killed) == 5
    assert_same(found, expected)
    # Nobody is left alone.
    assert not [pid for pid in pids if os.path.exists(f"/proc/{pid}")]


def test_a_run_goes_on_elsewhere(made, one_worker, tmp_path):
    pytest.importorskip("zarr")
    model, step = made
    options = RUN | {"chain_method": "sequential", "checkpoint_every": 0.01}
    expected = pmg.sample(model=model, step=step, **RUN | {"chain_method": "sequential"})
    path = tmp_path / "run.zarr"
    pmg.sample(model=model, step=step, checkpoint=path, **options | {"draws": 10})
    quiet = {"refine": False, "progressbar": False}
    found = pmg.resume(path, model=model, client=one_worker, draws=30, **quiet)
    assert_same(found, expected)


def test_errors_come_with_the_traceback_of_the_worker(made, client, monkeypatch):
    model, step = made
    calls = step.sampler.calls
    monkeypatch.setattr(calls, "randomness", failing_after(calls.randomness, 50))
    monkeypatch.setattr(step.sampler, "draws_at_once", lambda chain: 1)
    with pytest.raises(ChainError, match=r"Chain [02] failed: The sky fell\.") as caught:
        pmg.sample(model=model, step=step, client=client, **RUN)
    assert caught.value.idata["warmup_posterior"].sizes["draw"] == 40
    frames = "".join(traceback.format_exception(caught.value.__cause__))
    assert "fall_from_the_sky" in frames


def failing_after(randomness, n_drawn):
    """Draw noise and rows up to some draw."""

    def fall_from_the_sky():
        raise RuntimeError("The sky fell.")

    def failing(chain, length):
        if chain.n_drawn >= n_drawn:
            fall_from_the_sky()
        return randomness(chain, length)

    return failing


def test_ctrl_c_returns_what_is_there(made, one_worker, monkeypatch, request):
    model, step = made
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    monkeypatch.setattr(OnWorkers, "seconds", 0.1)
    segments = []

    def watch(self, chains, n_draws, statistics):
        segments.append(n_draws)
        # At most four of them are of the tuning phase.
        if len(segments) == 10:
            threading.Timer(0.05, _thread.interrupt_main).start()

    monkeypatch.setattr("pymc_geodesic.step_methods.progress.Progress.watch", watch)
    options = RUN | {"draws": 1_000_000, "tune": 4}
    idata = pmg.sample(model=model, step=step, client=one_worker, **options)
    assert 0 < idata.posterior.sizes["draw"] < 1_000_000
    assert np.isfinite(idata.posterior["slope"]).all()


def test_progress_is_shown_by_chain(made, one_worker, capsys, monkeypatch):
    model, step = made
    monkeypatch.setenv("COLUMNS", "100")
    pmg.sample(model=model, step=step, client=one_worker, **RUN | {"progressbar": True})
    lines = [line.split() for line in capsys.readouterr().err.splitlines() if "chain" in line]
    assert len(lines) == 4
    assert all("70/70" in line for line in lines)


def test_clients_that_will_not_do(made, monkeypatch):
    model, step = made
    with pytest.raises(TypeError, match=r"expected a `distributed.Client`.*got 'tcp"):
        pmg.sample(model=model, step=step, client="tcp://host", **RUN)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
        pytest.raises(ValueError, match="expected workers with one thread"),
    ):
        pmg.sample(model=model, step=step, client=client, **RUN)
    monkeypatch.setattr(on_workers, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install \"pymc_geodesic\[cluster\]\""):
        on_workers.require_client(None)


def test_two_workers_of_one_process_are_refused(made):
    model, step = made
    with (
        cluster_of(2, processes=False) as client,
        pytest.raises(ValueError, match="processes of their own, got 2 in 1"),
    ):
        pmg.sample(model=model, step=step, client=client, **RUN)


@pytest.mark.parametrize(("set_to", "needed"), [("65536", True), ("1000000", False), (None, False)])
def test_only_the_default_of_dask_is_overridden(monkeypatch, set_to, needed):
    """Of the allocator of workers: what their owner has chosen stays."""
    options = []
    library = SimpleNamespace(mallopt=lambda *given: options.append(given))
    monkeypatch.setattr("ctypes.CDLL", lambda name: library)
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    if set_to is not None:
        monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", set_to)
    assert keep_freed_memory() is needed
    assert bool(options) is needed


def test_other_c_libraries_are_left_alone(monkeypatch):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    monkeypatch.setattr("ctypes.CDLL", lambda name: SimpleNamespace())
    assert not keep_freed_memory()
