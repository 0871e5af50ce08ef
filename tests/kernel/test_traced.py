#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What JAX has traced is kept for the next process, and used only where nothing has changed."""

import os

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pytensor.configdefaults import config
from pytensor.link.jax.dispatch import jax_funcify
from pytensor.tensor.math import Dot
from two_processes import outputs_of_two

from pymc_geodesic.kernel.jax import traced as module
from pymc_geodesic.kernel.jax.traced import traced

# It prints how many graphs PyTensor has written for JAX, and the draws.
SAMPLE = """
import numpy as np, pymc as pm, pymc_geodesic as pmg
from pymc_geodesic.kernel.jax import function
written, made = function._written, []
function._written = lambda *graph: made.append(1) or written(*graph)
rng = np.random.default_rng(1)
with pm.Model():
    slope = pmg.SphericalUniform("slope", shape=3)
    x, y = pm.Minibatch(rng.normal(size=(300, 3)), rng.normal(size=300), batch_size=20)
    pm.Normal("y", x @ slope, 1.0, observed=y, total_size=300)
    step = pmg.gSGNHT(step_size=0.05, diffusion=1.0)
    idata = pmg.sample(20, tune=20, step=step, chains=2, random_seed=1, progressbar=False)
print(len(made))
print(idata.posterior["slope"].values.tobytes().hex())
"""
FORMS = [jax.ShapeDtypeStruct((3,), jnp.float64)]
X = np.array([1.0, 2.0, 3.0])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_folder", lambda: tmp_path)
    return tmp_path


@pytest.fixture
def traces():
    """Write the same function anew, and count how often it was traced."""
    found = []

    def write():
        # JAX remembers what it has traced of one function.
        def function(x):
            found.append(x)
            return [2 * x, x.sum()]

        return function

    return write, found


def test_a_function_is_traced_once(folder, traces):
    write, found = traces
    for _ in range(3):
        doubled, total = traced(write(), FORMS, name="doubled")(X)
        np.testing.assert_array_equal(doubled, 2 * X)
        assert total == X.sum()
    assert len(found) == 1
    assert len(list(folder.iterdir())) == 1


@pytest.mark.parametrize("change", ["name", "shape", "dtype", "sources", "precision", "flag"])
def test_a_change_is_traced_anew(folder, traces, monkeypatch, change):
    write, found = traces
    traced(write(), FORMS, name="doubled")(X)
    forms, name, x = FORMS, "doubled", X
    if change == "name":
        name = "other"
    elif change == "shape":
        forms, x = [jax.ShapeDtypeStruct((2,), jnp.float64)], X[:2]
    elif change == "dtype":
        forms, x = [jax.ShapeDtypeStruct((3,), jnp.float32)], X.astype("float32")
    elif change == "sources":
        monkeypatch.setattr(module, "versions", lambda packages: "edited")
    if change == "precision":
        with jax.default_matmul_precision("highest"):
            traced(write(), forms, name=name)(x)
    elif change == "flag":
        with config.change_flags(floatX="float32"):
            traced(write(), forms, name=name)(x)
    else:
        traced(write(), forms, name=name)(x)
    assert len(found) == 2


def test_an_edited_source_is_another_version(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SOURCES", (tmp_path,))
    versions, packages = module.versions.__wrapped__, ("numpy",)
    source = tmp_path / "source.py"
    source.write_text("1")
    before = versions(packages)
    assert versions(packages) == before
    source.write_text("12")
    assert versions(packages) != before


def test_a_broken_file_is_written_anew(folder, traces):
    write, found = traces
    traced(write(), FORMS, name="doubled")(X)
    [path] = folder.iterdir()
    content = path.read_bytes()
    changed = content[:700] + b"x" + content[701:]
    for i, broken in enumerate((content[: len(content) // 2], b"", changed)):
        path.write_bytes(broken)
        for _ in range(2):
            np.testing.assert_array_equal(traced(write(), FORMS, name="doubled")(X)[0], 2 * X)
        assert len(found) == i + 2


def test_nothing_is_kept_without_a_name_or_a_folder(folder, traces, monkeypatch):
    write, found = traces
    for _ in range(2):
        traced(write(), FORMS, name=None)(X)
    monkeypatch.setattr(module, "_folder", lambda: None)
    for _ in range(2):
        traced(write(), FORMS, name="doubled")(X)
    assert len(found) == 4
    assert not list(folder.iterdir())


def test_nothing_is_kept_if_an_operation_is_written_in_another_way(folder, traces, monkeypatch):
    traced(traces[0](), FORMS, name="doubled")(X)
    before = jax_funcify.registry[Dot]
    jax_funcify.register(Dot)(lambda op, **_: jnp.dot)
    try:
        traced(traces[0](), FORMS, name="doubled")(X)
    finally:
        jax_funcify.register(Dot)(before)
    assert len(traces[1]) == 2


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path, traces, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(module, "_folder", lambda: tmp_path / "file" / "folder")
    np.testing.assert_array_equal(traced(traces[0](), FORMS, name="doubled")(X)[0], 2 * X)


def test_the_least_used_files_are_removed(folder, traces, monkeypatch):
    monkeypatch.setattr(module, "MOST_FILES", 3)
    paths = {}
    for i, name in enumerate("abcd"):
        traced(traces[0](), FORMS, name=name)(X)
        [new] = set(folder.iterdir()) - set(paths.values())
        paths[name] = new
        os.utime(new, (i, i))
        if name == "c":
            # Used again, and so newer than the others.
            traced(traces[0](), FORMS, name="a")(X)
    assert set(folder.iterdir()) == {paths[name] for name in "acd"}


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("jax_compilation_cache_dir", None, None),
        ("jax_compilation_cache_dir", "gs://bucket/folder", None),
        ("jax_compilation_cache_dir", "/folder", module.Path("/folder") / module.FOLDER),
        ("jax_enable_compilation_cache", False, None),
    ],
)
def test_settings_of_the_cache_of_jax_are_respected(name, value, expected):
    before = getattr(jax.config, name)
    jax.config.update(name, value)
    try:
        assert module._folder() == expected
    finally:
        jax.config.update(name, before)


@pytest.mark.slow
def test_a_second_process_writes_no_graph_and_draws_the_same(tmp_path):
    outputs = outputs_of_two(SAMPLE, tmp_path)
    (n_first, first), (n_second, second) = (output.split()[-2:] for output in outputs)
    assert (n_first, n_second) == ("1", "0")
    assert first == second
