#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A checkpoint is read as it was written, or not at all; other folders are left alone."""

import json
import shutil

from types import SimpleNamespace

import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

from pymc_geodesic.runs import ChainError, CheckpointError
from pymc_geodesic.runs.checkpoints.folder import folder_of
from pymc_geodesic.runs.checkpoints.store import STATES, RunStore

zarr = pytest.importorskip("zarr")

RUN = {"draws": 10, "tune": 20, "chains": 2, "random_seed": 1, "progressbar": False}
RUN |= {"compute_convergence_checks": False}


def sample(path, *names):
    with pm.Model():
        for name in names or ("x",):
            pm.Normal(name, shape=2)
        return pmg.sample(step=pmg.SGHMC(step_size=0.1, friction=0.1), checkpoint=path, **RUN)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "run.zarr"
    return SimpleNamespace(path=path, found=sample(path))


@pytest.fixture
def copy(made, tmp_path):
    path = tmp_path / "copy.zarr"
    shutil.copytree(made.path, path)
    return path


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 4
    path.write_bytes(content)


def chunks(path, group):
    return [x for x in sorted((path / group).rglob("*")) if x.is_file() and x.name != "zarr.json"]


@pytest.mark.parametrize("place", [0, 17, -1])
@pytest.mark.parametrize("again", [False, True])
def test_a_flipped_bit_of_the_draws_is_named(copy, place, again):
    [chunk] = chunks(copy, "posterior/x")
    flip(chunk, place)
    with pytest.raises(CheckpointError, match=r"its file 'posterior/x/c/0/0/0' has changed\. Rest"):
        (sample(copy) if again else pmg.read(copy)).posterior["x"].load()


@pytest.mark.parametrize("group", ["posterior", "sample_stats", STATES])
def test_a_missing_chunk_is_named(copy, group):
    for chunk in chunks(copy, group):
        content = chunk.read_bytes()
        chunk.unlink()
        for use in (pmg.read, sample):
            with pytest.raises((CheckpointError, ChainError), match=f"'{group}/.* is missing"):
                use(copy)
        chunk.write_bytes(content)


def test_a_damaged_state_is_named(copy):
    for chunk in chunks(copy, STATES):
        flip(chunk, 100)
    with pytest.raises((CheckpointError, ChainError), match=rf"'{STATES}/.* has changed"):
        sample(copy)


def test_damaged_metadata_are_named(copy):
    path = copy / "zarr.json"
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(CheckpointError, match=r"'zarr\.json' cannot be read"):
        pmg.read(copy)


def test_draws_that_are_all_zero_are_not_missing(tmp_path):
    """Zarr leaves out chunks that have only zeros, unless it is told to write them."""
    path = tmp_path / "run.zarr"
    found = sample(path)
    np.testing.assert_array_equal(pmg.read(path).sample_stats["diverging"], False)
    assert not found.sample_stats["diverging"].any()


def test_codecs_that_a_run_does_not_write_are_refused(copy):
    path = copy / "zarr.json"
    root = json.loads(path.read_text())
    array = root["consolidated_metadata"]["metadata"]["posterior/x"]
    array["codecs"].append({"name": "numcodecs.pickle", "configuration": {}})
    path.write_text(json.dumps(root))
    with pytest.raises(ValueError, match=r"got 'numcodecs\.pickle' in 'posterior/x'.*do not use"):
        pmg.read(copy)


def test_an_older_format_is_refused(copy, tmp_path):
    root = zarr.open_group(tmp_path / "old.zarr", mode="w", zarr_format=2)
    root.create_group(STATES)
    with pytest.raises(ValueError, match="got something else"):
        pmg.read(tmp_path / "old.zarr")
    path = copy / "zarr.json"
    root = json.loads(path.read_text())
    root["consolidated_metadata"]["metadata"]["posterior/x"]["zarr_format"] = 2
    path.write_text(json.dumps(root))
    with pytest.raises(ValueError, match="expected Zarr 3, got another format"):
        pmg.read(copy)


def test_folders_beside_it_are_left_alone(tmp_path):
    (tmp_path / "run.zarr.partial").mkdir()
    (tmp_path / "run.zarr.partial" / "thesis.txt").write_text("mine")
    sample(tmp_path / "run.zarr")
    assert (tmp_path / "run.zarr.partial" / "thesis.txt").read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 2


def test_of_two_that_begin_one_is_told(tmp_path, monkeypatch):
    path = tmp_path / "run.zarr"
    RunStore.create(path, {}, b"first").close()
    with pytest.raises(CheckpointError, match="expected no other process that writes to it"):
        RunStore.create(path, {}, b"second")
    store = RunStore(path)
    assert store.state() == b"first"
    store.close()
    assert list(tmp_path.iterdir()) == [path]


def test_a_variable_may_have_the_name_of_a_temporary_file(tmp_path):
    path = tmp_path / "run.zarr"
    found = sample(path, "x.partial")
    again = sample(path, "x.partial")
    np.testing.assert_array_equal(again.posterior["x.partial"], found.posterior["x.partial"])


def test_the_home_directory_is_meant(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    found = sample("~/run.zarr")
    assert (tmp_path / "run.zarr").is_dir()
    np.testing.assert_array_equal(pmg.read("~/run.zarr").posterior["x"], found.posterior["x"])


@pytest.mark.parametrize("path", ["s3://bucket/run.zarr", "https://example.org/run.zarr", ""])
def test_other_machines_are_refused(path):
    with pytest.raises(ValueError, match="`checkpoint` expected a folder of this machine, got"):
        folder_of(path)
    with pytest.raises(ValueError, match="expected a folder of this machine"):
        sample(path)
