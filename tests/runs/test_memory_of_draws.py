#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Whether draws fit is known before anything is sampled."""

import logging
import subprocess
import sys

from types import SimpleNamespace

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.runs import memory, memory_limits
from pymc_geodesic.runs.deterministics import Traced
from pymc_geodesic.runs.memory import available_bytes, bytes_of_draw, in_units

ROWS = np.random.default_rng(1).normal(3.0, 2.0, 500)
RUN = {
    "tune": 10,
    "draws": 20,
    "chains": 2,
    "random_seed": 1,
    "progressbar": False,
    "compute_convergence_checks": False,
}


@pytest.fixture
def model():
    """A model with 800 bytes in a free variable and 8,000 in a Deterministic."""
    with pm.Model() as model:
        mu, a = pm.Normal("mu", 0, 10), pm.HalfNormal("a", shape=100)
        pm.Deterministic("fitted", mu + np.arange(1000.0))
        pm.Deterministic("size", a.sum())
        pm.Normal("y", mu, 2.0, observed=pm.Minibatch(ROWS, batch_size=50), total_size=500)
    return model


def never():
    raise AssertionError("Nothing is sampled.")


def step():
    return pmg.SGNHT(step_size=0.005)


def test_bytes_are_those_of_the_result(model):
    idata = pmg.sample(model=model, step=step, discard_tuned_samples=False, **RUN)
    found = Traced(model, None).n_bytes
    assert found == {"mu": 8, "a": 800, "fitted": 8000, "size": 8}
    for name, n in found.items():
        assert idata.posterior[name].nbytes == 2 * 20 * n
        assert idata.warmup_posterior[name].nbytes == 2 * 10 * n


def test_bytes_of_shapes_that_are_computed():
    with pm.Model(coords={"g": range(3)}) as model:
        x = pm.Normal("x", dims="g")
        pm.Deterministic("twice", pm.math.concatenate([x, x]))
    assert bytes_of_draw(model, Traced(model, None).variables) == {"x": 24, "twice": 48}


def test_a_deterministic_that_does_not_fit_is_left_out(model, monkeypatch, caplog):
    caplog.set_level(logging.WARNING, logger="pymc")
    # The free variable and its value on the whole line are 64 kB, and 320 kB more are needed.
    monkeypatch.setattr(memory_limits, "available_bytes", lambda: 300_000)
    idata = pmg.sample(model=model, step=step, **RUN)
    assert list(idata.posterior.data_vars) == ["mu", "a", "size"]
    assert (
        "`fitted` is left out of the result: its draws would take 320 kB, and 300 kB" in caplog.text
    )
    some = idata.posterior.isel(draw=slice(None, None, 10))
    found = pm.compute_deterministics(some, model=model, var_names=["fitted"], progressbar=False)
    assert found["fitted"].sizes["draw"] == 2
    with pytest.raises(
        MemoryError, match=r"got 2 chains of 20 draws, which take 320 kB, 320 kB of"
    ):
        pmg.sample(model=model, step=never, var_names=["fitted"], **RUN)


@pytest.mark.parametrize(
    ("options", "n_bytes"),
    [
        ({}, 64_320),
        ({"discard_tuned_samples": False}, 96_480),
        ({"thin": 2}, 32_160),
        ({"keep": {"a": 5}, "var_names": ["mu"]}, 11_520),
    ],
)
def test_free_variables_that_do_not_fit_are_refused(model, monkeypatch, options, n_bytes):
    """With values on the whole line 1,608 bytes a draw; with moments 3 draws of each chain more."""
    monkeypatch.setattr(memory_limits, "available_bytes", lambda: 9_000)
    with pytest.raises(MemoryError, match="fit into the 9 kB that are free") as caught:
        pmg.sample(model=model, step=never, **RUN | options)
    assert f"which take {in_units(n_bytes)}" in str(caught.value)
    monkeypatch.setattr(memory_limits, "available_bytes", lambda: n_bytes)
    with pytest.raises(AssertionError, match="Nothing is sampled"):
        pmg.sample(model=model, step=never, **RUN | options)


def test_what_to_do_is_said(model, monkeypatch):
    monkeypatch.setattr(memory_limits, "available_bytes", lambda: 9_000)
    text = (
        r"by `keep={\"a\": \"mean\"}`. Keep fewer draws by `thin=8`, or all draws on disk by `check"
    )
    with pytest.raises(MemoryError, match=text):
        pmg.sample(model=model, step=never, **RUN)
    pmg.sample(model=model, step=step, keep={"a": "mean"}, var_names=["mu"], **RUN)
    pmg.sample(model=model, step=step, var_names=["mu", "a"], **RUN | {"thin": 10})


def test_draws_on_disk_are_compared_with_the_disk(model, monkeypatch, tmp_path):
    monkeypatch.setattr(memory_limits, "available_bytes", lambda: 9_000)
    path = tmp_path / "run.zarr"
    usage = SimpleNamespace(free=9_000)
    with monkeypatch.context() as patch:
        patch.setattr(memory.shutil, "disk_usage", lambda path: usage)
        with pytest.raises(
            MemoryError, match=r"Keep fewer draws by `thin=4`, or take a larger disk"
        ):
            pmg.sample(model=model, step=never, checkpoint=path, **RUN)
    assert not path.exists()
    idata = pmg.sample(model=model, step=step, checkpoint=path, **RUN)
    assert "fitted" in idata.posterior


def test_topics_are_refused_before_they_are_tuned():
    """The default run on as many words as abstracts have needs more than most machines."""
    counts = np.random.default_rng(1).poisson(0.01, (100, 10_472))
    with pm.Model() as model:
        topics = pmg.SymmetricDirichlet("topics", 0.01, shape=(100, 10_472))
        batch = pm.Minibatch(pmg.BagOfWords(counts), batch_size=20)
        pmg.LatentDirichletAllocation("w", topics, 0.1, observed=batch, total_size=100)
    found = Traced(model, None)
    assert 4 * 1000 * found.n_bytes["topics"] == 33_510_400_000
    with pytest.raises(MemoryError, match=r'got 4 chains .* `keep={"topics": "mean"}`'):
        pmg.sample(draws=100_000, step=never, model=model, progressbar=False)


def test_memory_is_that_of_this_machine():
    n = available_bytes()
    assert n is None or 2**20 < n < 2**50


@pytest.mark.skipif(sys.platform != "linux", reason="needs the files of Linux")
def test_the_limit_of_a_process_counts():
    code = (
        "import resource; from pymc_geodesic.runs.memory import available_bytes;"
        "n = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize() + 2**28;"
        "resource.setrlimit(resource.RLIMIT_AS, (n, n)); print(available_bytes())"
    )
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert 0 < int(shown.stdout) <= 2**28


def test_the_limit_of_a_container_counts(monkeypatch):
    files = {
        "/proc/meminfo": "MemTotal: 9 kB\nMemAvailable:   8000000 kB\n",
        "/sys/fs/cgroup/memory.max": "3000000\n",
        "/sys/fs/cgroup/memory.current": "2000000\n",
        "/sys/fs/cgroup/memory.stat": "anon 1500000\nfile 500000\n",
    }
    monkeypatch.setattr(memory, "_text", lambda path: files.get(path, ""))
    assert available_bytes() == 1_500_000
    files["/sys/fs/cgroup/memory.max"] = "max\n"
    assert available_bytes() == 8_192_000_000
