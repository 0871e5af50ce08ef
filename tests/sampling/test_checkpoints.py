#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A run that is written to disk goes on after a crash, to the last bit."""

import errno
import itertools
import os
import shutil
import subprocess
import sys

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pymc as pm
import pytest
import xarray as xr

import pymc_geodesic as pmg

from pymc_geodesic.runs import ChainError, CheckpointError, run_loop
from pymc_geodesic.runs.checkpoints import checkpoint as checkpoints
from pymc_geodesic.runs.checkpoints import store

pytest.importorskip("zarr")

sys.path.insert(0, str(Path(__file__).parents[1] / "regression"))

from cases import CASES

TUNE, DRAWS, EVERY = 20, 10, 5
RUN = {"draws": DRAWS, "tune": TUNE, "chains": 2, "random_seed": 1, "progressbar": False}
RUN |= {"compute_convergence_checks": False, "discard_tuned_samples": False}
# Between two checkpoints of the tuning phase, which is in the midst of measuring, and later.
CRASHES = (8, 23)


class Crash(BaseException):
    """Nobody expects it."""


@pytest.fixture
def segments(monkeypatch):
    """One draw a segment, and a checkpoint every few segments, whatever the time."""
    clock = itertools.count(1e9)
    monkeypatch.setattr(run_loop.InProcess, "seconds", 0.0)
    monkeypatch.setattr(run_loop, "STREAM_SEGMENTS", TUNE)
    fake = SimpleNamespace(perf_counter=lambda: next(clock))
    monkeypatch.setattr(checkpoints, "time", fake)


@pytest.fixture
def crash_after(monkeypatch, segments):
    """Let the segment after some draws of a call fail."""
    original = run_loop.run

    def set_crash(n_draws, error=Crash):
        def run(sampler, chains, n, **options):
            if chains[0].n_drawn >= n_draws:
                raise error
            return original(sampler, chains, n, **options)

        monkeypatch.setattr(run_loop, "run", run)

    return set_crash


def assert_same(found, expected, groups=None):
    for group in groups or expected.children:
        assert list(found[group].data_vars) == list(expected[group].data_vars)
        for name, x in expected[group].to_dataset().variables.items():
            assert found[group][name].dtype == x.dtype
            np.testing.assert_array_equal(found[group][name], x, err_msg=f"{group} {name}")


@pytest.mark.parametrize(
    "name",
    [
        "mixed-gSGNHT-tuned",
        pytest.param("vector-SGNHT-tuned", marks=pytest.mark.slow),
        pytest.param("vector-SGHMC-mass", marks=pytest.mark.slow),
        pytest.param("vector-SGNHT-without-replacement", marks=pytest.mark.slow),
        pytest.param("local-SGNHT", marks=pytest.mark.slow),
        pytest.param("stream-gSGNHT-tuned", marks=pytest.mark.slow),
        pytest.param("lda-SGRLD", marks=pytest.mark.slow),
        pytest.param("sphere-GMC", marks=pytest.mark.slow),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_a_run_with_crashes_is_that_without(name, tmp_path, crash_after):
    case = CASES[name]
    options = dict(case.options)
    if options.get("mass") == "em":
        options["mass"] = pmg.MonteCarloEM()
    model, path = case.model(), tmp_path / "run.zarr"
    with model:
        steps = [case.step(**options) for _ in range(2)]
    whole = pmg.sample(step=steps[0], **RUN)
    for crash in CRASHES:
        crash_after(crash)
        with pytest.raises(Crash):
            # Once a step that has sampled before, then one that is new.
            pmg.sample(step=steps.pop(), checkpoint=path, checkpoint_every=EVERY, **RUN)
        part = pmg.read(path)
        n_warmup = part["warmup_posterior"].sizes["draw"]
        n_drawn = n_warmup + ("posterior" in part and part["posterior"].sizes["draw"])
        assert 0 < n_drawn <= crash
    crash_after(np.inf)
    with model:
        step = case.step(**options)
    resumed = pmg.sample(step=step, checkpoint=path, checkpoint_every=EVERY, **RUN)
    assert_same(resumed, whole)
    assert_same(pmg.read(path), whole)


def small(scale=1.0, shift=0.0, extra=False):
    data = np.random.default_rng(1).normal(size=(60, 2)) + shift
    with pm.Model(coords={"axis": ["a", "b"]}) as model:
        x = pm.Normal("x", 0.0, scale, dims="axis")
        pm.HalfNormal("s")
        pm.Deterministic("twice", 2 * x)
        if extra:
            pm.Normal("extra")
        batch = pm.Minibatch(data, batch_size=6)
        pm.Normal("y", x, 1.0, observed=batch, total_size=60)
    return model


def step_of(model, **options):
    given = {"step_size": 0.05, "diffusion": 0.2, "n_steps": 2}
    return pmg.SGNHT(model=model, **given | options)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run on disk, its model and its step, and the same run in memory."""
    path, model = tmp_path_factory.mktemp("run") / "run.zarr", small()
    step = step_of(model)
    found = pmg.sample(step=step, checkpoint=path, **RUN)
    return SimpleNamespace(path=path, model=model, step=step, found=found)


@pytest.fixture
def copy(made, tmp_path):
    path = tmp_path / "copy.zarr"
    shutil.copytree(made.path, path)
    return path


def test_a_checkpoint_does_not_change_what_is_returned(made):
    whole = pmg.sample(step=made.step, **RUN)
    assert_same(made.found, whole)
    assert set(made.found.children) == set(whole.children)
    for group in whole.children:
        assert made.found[group].attrs.keys() == whole[group].attrs.keys()
    # What is on disk is read when it is used.
    fresh = pmg.read(made.path)
    assert not fresh["posterior"]["x"].variable._in_memory


def test_others_can_open_it(made):
    tree = xr.open_datatree(made.path, engine="zarr")
    np.testing.assert_array_equal(tree["posterior"]["x"], made.found["posterior"]["x"])


def test_more_draws_go_on(made, copy):
    longer = pmg.sample(step=made.step, checkpoint=copy, **RUN | {"draws": 2 * DRAWS})
    assert longer.posterior.sizes["draw"] == 2 * DRAWS
    first = longer.isel(draw=slice(DRAWS))
    np.testing.assert_array_equal(first["posterior"]["x"], made.found["posterior"]["x"])
    np.testing.assert_array_equal(longer["posterior"]["draw"], np.arange(2 * DRAWS))
    again = pmg.resume(copy, model=small(), progressbar=False, compute_convergence_checks=False)
    assert_same(again, longer)
    with pytest.raises(ValueError, match="`draws` expected at least 20, which the checkpoint hol"):
        pmg.sample(step=made.step, checkpoint=copy, **RUN)


def test_without_a_seed_that_of_the_checkpoint_is_meant(made, copy):
    run = RUN | {"random_seed": None, "draws": DRAWS + 2}
    found = pmg.sample(step=made.step, checkpoint=copy, **run)
    seeded = pmg.sample(step=made.step, **RUN | {"draws": DRAWS + 2})
    np.testing.assert_array_equal(found["posterior"]["x"], seeded["posterior"]["x"])


@pytest.mark.parametrize(
    ("model", "options", "run", "message"),
    [
        (small(extra=True), {}, {}, "the model: "),
        (small(scale=2.0), {}, {}, "the data, or arrays of the priors: "),
        (small(shift=1e-12), {}, {}, "the data, or arrays of the priors: "),
        (small(), {"step_size": 0.1}, {}, r"the step's `step_size`: 0.05 there, 0.1 here\."),
        (small(), {}, {"random_seed": 2}, r"the seeds: \['1/0', '1/1'\] there"),
        (small(), {}, {"tune": 30}, r"`tune`: 20 there, 30 here\."),
        (small(), {}, {"chain_method": "sequential"}, "`chain_method`: vectorized there"),
        (small(), {}, {"initvals": {"x": [1.0, 1.0]}}, "`initvals`: "),
    ],
)
def test_another_run_is_refused(made, model, options, run, message):
    step = step_of(model, **options)
    with pytest.raises(
        ValueError, match=rf"run that it holds, got a run that differs in {message}"
    ):
        pmg.sample(step=step, checkpoint=made.path, **RUN | run)
    # It is still there.
    assert_same(pmg.read(made.path), made.found)


def test_another_version_is_refused(made, monkeypatch):
    from pymc_geodesic.runs.checkpoints import identity

    monkeypatch.setattr(identity, "version", lambda package: "7.0")
    with pytest.raises(ValueError, match=r"the version of pymc_geodesic: .* there, 7\.0 here;"):
        pmg.sample(step=made.step, checkpoint=made.path, **RUN)


def test_what_is_no_checkpoint_is_left_alone(made, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match=r"Expected the checkpoint of a run at .*, got something"):
        pmg.sample(step=made.step, checkpoint=tmp_path, **RUN)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    with pytest.raises(FileNotFoundError, match="got nothing"):
        pmg.read(tmp_path / "nothing.zarr")


def test_zarr_is_named_where_it_is_missing(made, tmp_path, monkeypatch):
    monkeypatch.setattr(store, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"Install it with `pip install \"pymc_geodesic\[chec"):
        pmg.sample(step=made.step, checkpoint=tmp_path / "run.zarr", **RUN)


@pytest.mark.parametrize("n_files", [0, 9, 31, 52])
def test_a_full_disk_leaves_the_last_checkpoint(made, copy, monkeypatch, n_files):
    """Whichever file is the first that cannot be written."""
    from zarr.storage import _local

    original, n_written = _local._put, 0

    def put(*arguments, **options):
        nonlocal n_written
        n_written += 1
        if n_written > n_files:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return original(*arguments, **options)

    longer = RUN | {"draws": 2 * DRAWS}
    with monkeypatch.context() as patch:
        patch.setattr(_local, "_put", put)
        with pytest.raises(ChainError, match=r"could not be written: No space left") as caught:
            pmg.sample(step=made.step, checkpoint=copy, **longer)
    assert isinstance(caught.value.__cause__, CheckpointError)
    assert_same(pmg.read(copy), made.found)
    found = pmg.sample(step=made.step, checkpoint=copy, **longer)
    # With the draws that were not written.
    assert_same(caught.value.idata, found)
    assert f"{2 * DRAWS} of {2 * DRAWS} draws of each chain are" in str(caught.value)
    assert_same(found, pmg.sample(step=made.step, **longer))


def test_ctrl_c_loses_nothing(made, tmp_path, crash_after):
    path = tmp_path / "run.zarr"
    crash_after(TUNE + 4, KeyboardInterrupt)
    part = pmg.sample(step=made.step, checkpoint=path, checkpoint_every=1e6, **RUN)
    np.testing.assert_array_equal(part["posterior"]["x"], made.found["posterior"]["x"][:, :4])
    crash_after(np.inf)
    assert_same(pmg.sample(step=made.step, checkpoint=path, **RUN), made.found)


def test_one_process_writes_and_others_read(made, tmp_path, segments, monkeypatch):
    path, seen = tmp_path / "run.zarr", []
    put = checkpoints.Checkpoint.put

    def looking(self, phase, values, statistics, chains):
        put(self, phase, values, statistics, chains)
        if chains[0].n_drawn in (TUNE // 2, TUNE + 6):
            code = "import sys, pymc_geodesic as pmg; t = pmg.read(sys.argv[1])"
            code += "; print([t[g].sizes['draw'] for g in sorted(t.children) if 'post' in g])"
            shown = subprocess.run(
                [sys.executable, "-c", code, path], check=True, capture_output=True, text=True
            )
            seen.append(eval(shown.stdout))
            with pytest.raises(
                CheckpointError, match="expected no other process that writes to it"
            ):
                store.RunStore(path)

    monkeypatch.setattr(checkpoints.Checkpoint, "put", looking)
    found = pmg.sample(step=made.step, checkpoint=path, checkpoint_every=EVERY, **RUN)
    assert_same(found, made.found)
    [[n_warmup], [n_draws, n_all]] = seen
    assert 0 < n_warmup <= TUNE // 2
    assert 0 < n_draws <= 6
    assert n_all == TUNE
