#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Draws of a cluster are those of one process, whatever happens to its workers."""

import _thread
import contextlib
import os
import signal
import threading
import time
import traceback

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.runs import ChainError
from pymc_geodesic.runs.cluster import on_workers
from pymc_geodesic.runs.cluster.on_workers import OnWorkers

distributed = pytest.importorskip("distributed")

N_ROWS = 400
RUN = {"draws": 30, "tune": 40, "chains": 4, "random_seed": 1, "progressbar": False}
RUN |= {"compute_convergence_checks": False, "discard_tuned_samples": False}

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
        return model, pmg.gSGNHT(step_size=0.02, n_steps=2, backend="jax")


@contextlib.contextmanager
def cluster_of(n_workers, *, processes=True, **options):
    options |= {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": "CRITICAL"}
    with (
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


@pytest.mark.parametrize(("method", "atol"), [("sequential", 0.0), ("vectorized", 1e-8)])
def test_draws_are_those_of_one_process(made, client, method, atol):
    model, step = made
    options = RUN | {"chain_method": method}
    expected = pmg.sample(model=model, step=step, **options)
    found = pmg.sample(model=model, step=step, client=client, **options)
    assert_same(found, expected, atol=atol)
    plugins = client.run(lambda dask_worker: list(dask_worker.plugins))
    assert not [name for names in plugins.values() for name in names if "geodesic" in name]


@pytest.mark.slow
def test_chains_are_tuned_together(client):
    with regression() as model:
        step = pmg.gSGNHT(n_steps=5, backend="jax")
    options = RUN | {"chain_method": "sequential"}
    expected = pmg.sample(model=model, step=step, **options)
    assert_same(pmg.sample(model=model, step=step, client=client, **options), expected)


def kill_a_worker(client):
    """Kill a worker process; return its id."""
    pid = next(iter(client.run(os.getpid).values()))
    os.kill(pid, signal.SIGKILL)
    return pid


@pytest.mark.slow
@pytest.mark.parametrize("n_kills", [5])
def test_workers_that_die_change_nothing(made, n_kills, monkeypatch):
    model, step = made
    monkeypatch.setattr(OnWorkers, "seconds", 0.5)
    options = RUN | {"chain_method": "sequential", "draws": 20_000}
    expected = pmg.sample(model=model, step=step, **options)
    killed, done = [], threading.Event()

    def kill(client):
        while len(killed) < n_kills and not done.wait(4.0):
            with contextlib.suppress(StopIteration, OSError):
                killed.append(kill_a_worker(client))

    with cluster_of(2) as client:
        killer = threading.Thread(target=kill, args=(client,), daemon=True)
        killer.start()
        found = pmg.sample(model=model, step=step, client=client, **options)
        done.set()
        killer.join()
        pids = [*client.run(os.getpid).values(), *killed]
    assert len(killed) == n_kills
    assert_same(found, expected)
    time.sleep(1.0)
    assert not [pid for pid in pids if os.path.exists(f"/proc/{pid}")]


def test_a_worker_that_dies_changes_nothing(made, client, monkeypatch):
    model, step = made
    options = RUN | {"chain_method": "sequential"}
    expected = pmg.sample(model=model, step=step, **options)
    killed = []

    def watch(self, chains, n_draws, statistics):
        if not killed and chains.start:
            killed.append(kill_a_worker(client))

    monkeypatch.setattr("pymc_geodesic.runs.progress.Progress.watch", watch)
    found = pmg.sample(model=model, step=step, client=client, **options)
    assert killed
    assert_same(found, expected)
    client.wait_for_workers(2, timeout=60)


def test_a_run_goes_on_elsewhere(made, one_worker, tmp_path):
    pytest.importorskip("zarr")
    model, step = made
    options = RUN | {"chain_method": "sequential", "checkpoint_every": 0.01}
    expected = pmg.sample(model=model, step=step, **RUN | {"chain_method": "sequential"})
    path = tmp_path / "run.zarr"
    pmg.sample(model=model, step=step, checkpoint=path, **options | {"draws": 10})
    found = pmg.resume(path, model=model, client=one_worker, draws=30, progressbar=False)
    assert_same(found, expected)


def test_errors_come_with_the_traceback_of_the_worker(made, client, monkeypatch):
    model, step = made
    monkeypatch.setattr(step.sampler, "draw", failing_after(step.sampler.draw, 50))
    with pytest.raises(ChainError, match=r"Chain [02] failed: The sky fell\.") as caught:
        pmg.sample(model=model, step=step, client=client, **RUN)
    assert caught.value.idata["warmup_posterior"].sizes["draw"] == 40
    frames = "".join(traceback.format_exception(caught.value.__cause__))
    assert "fall_from_the_sky" in frames


def failing_after(draw, n_draws):
    """Make draws up to some number."""

    def fall_from_the_sky():
        raise RuntimeError("The sky fell.")

    def failing(chain):
        if chain.n_drawn >= n_draws:
            fall_from_the_sky()
        return (yield from draw(chain))

    return failing


def test_ctrl_c_returns_what_is_there(made, one_worker, monkeypatch, request):
    model, step = made
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    monkeypatch.setattr(OnWorkers, "seconds", 0.1)
    segments = []

    def watch(self, chains, n_draws, statistics):
        segments.append(n_draws)
        if len(segments) == 5:
            threading.Timer(0.05, _thread.interrupt_main).start()

    monkeypatch.setattr("pymc_geodesic.runs.progress.Progress.watch", watch)
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
        pytest.raises(ValueError, match="its own process, got 2 workers in 1"),
    ):
        pmg.sample(model=model, step=step, client=client, **RUN)
