#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What may be missing or full: JAX, memory for the data, the folder for compiled functions."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import warnings

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest

from numba.core.caching import IndexDataCacheFile

import pymc_geodesic as pmg

from pymc_geodesic.kernel.backend import Backend


def test_a_missing_jax_gets_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    with pm.Model():
        pm.Normal("x")
        with pytest.raises(ImportError, match=r'`pip install "pymc_geodesic\[jax\]"`'):
            pmg.GMC(backend="jax")


def test_jax_is_given_the_data_once(monkeypatch):
    import jax

    x = pytensor.shared(np.random.default_rng(1).normal(size=(500, 3)), shape=(500, 3))
    rows = pt.tensor("rows", dtype="int64", shape=(7,))
    put, copied = jax.device_put, []
    monkeypatch.setattr(jax, "device_put", lambda value: copied.append(value) or put(value))
    functions = [
        Backend.resolve("jax", None).compile([rows], [f(x[rows])]) for f in (pt.exp, pt.sin)
    ]
    for function, expected in zip(functions, (np.exp, np.sin), strict=True):
        [found] = function(np.arange(7))
        assert [type(array) for array in function._on_device] == [type(jax.numpy.zeros(1))]
        assert found.dtype == "float64"
        np.testing.assert_allclose(found, expected(x.get_value()[:7]), rtol=1e-14)
    assert len(copied) == 1


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "bool"])
def test_constants_become_arrays_of_jax(dtype):
    table = np.arange(6).reshape(2, 3).astype(dtype)
    x = pt.vector("x", shape=(3,))
    function = Backend.resolve("jax", None).compile([x], [x[None] * pt.constant(table)])
    [found] = function(np.ones(3))
    np.testing.assert_array_equal(found, table)


MEMORY = """
import resource, sys
import numpy as np, pymc as pm, pymc_geodesic as pmg, jax
n = int(sys.argv[1])
data = np.random.default_rng(1).standard_normal((n, 25), dtype="float32")
with pm.Model():
    x = pm.Minibatch(data, batch_size=100)
    pm.Normal("x", pm.Normal("mu", shape=25), 1, observed=x, total_size=n)
    step = pmg.SGNHT(backend="jax", step_size=1e-4, diffusion=100.0, variance_reduction=None)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3)
"""


@pytest.mark.slow
def test_data_is_in_memory_twice_with_jax():
    """Once as the user's array and once on the device; as a constant it was there nine times."""
    environment = os.environ | {"PYTENSOR_FLAGS": "floatX=float32"}
    peaks = [
        float(
            subprocess.run(
                [sys.executable, "-W", "ignore", "-c", MEMORY, str(n)],
                env=environment,
                check=True,
                capture_output=True,
                text=True,
            ).stdout.splitlines()[-1]
        )
        for n in (10_000, 1_510_000)
    ]
    # 150 MB of data more. Half of it more is for looking at all of it once.
    assert (peaks[1] - peaks[0]) / 150 < 2.6


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EROFS])
def test_a_folder_that_cannot_be_written_to_gets_one_warning(monkeypatch, tmp_path, number):
    from pymc_geodesic.kernel.numba import cache as numba_cache

    def save(self, key, data):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(IndexDataCacheFile, "save", save)
    monkeypatch.setattr(IndexDataCacheFile, "load", lambda self, key: None)
    original = numba_cache.Cache.save_overload.__wrapped__
    monkeypatch.setattr(numba_cache.Cache, "save_overload", numba_cache.save_if_possible(original))
    x = pt.vector("x")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function = Backend.resolve("numba", None).compile([x], [(x * x).sum() + number])
        [found] = function(np.array([3.0, 4.0]))
    assert found == 25 + number
    [message] = [str(w.message) for w in caught if "cache of compiled functions" in str(w.message)]
    assert os.strerror(number) in message
    assert "PYTENSOR_FLAGS=base_compiledir=FOLDER" in message


FULL = """
import shutil
import numpy as np, pymc as pm, pymc_geodesic as pmg
from pytensor.link.numba.cache import NUMBA_CACHE_PATH
# Nothing can be written to a folder that is not there, whoever runs this.
shutil.rmtree(NUMBA_CACHE_PATH)
data = np.random.default_rng(1).normal(size=(200, 3))
with pm.Model():
    mu = pm.Normal("mu", 0, 10, shape=3)
    pm.Normal("x", mu, 1, observed=pm.Minibatch(data, batch_size=20), total_size=200)
    step = pmg.SGNHT(step_size=1e-3, diffusion=10.0, backend="numba", rng=1)
    trace = pm.sample(5, tune=5, step=step, chains=1, progressbar=False)
print(np.isfinite(trace.posterior["mu"]).all().item())
"""


@pytest.mark.slow
def test_sampling_goes_on_where_nothing_can_be_kept(tmp_path):
    flags = f"{os.environ.get('PYTENSOR_FLAGS', '')},base_compiledir={tmp_path}".lstrip(",")
    run = subprocess.run(
        [sys.executable, "-c", FULL],
        env=os.environ | {"PYTENSOR_FLAGS": flags},
        check=False,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1] == "True"
    assert run.stderr.count("The functions stay in memory") == 1


@pytest.mark.parametrize("name", ["jax", "numba"])
def test_a_graph_in_single_precision_is_compiled_in_it(name, caplog):
    """Rewrites write the quotient of two integers anew, in the precision of that moment."""
    pytest.importorskip(name)
    with pytensor.config.change_flags(floatX="float32"):
        x, rows = pt.vector("x", dtype="float32", shape=(3,)), pt.scalar("rows", dtype="int64")
        sums = pytensor.scan(
            lambda total, x, rows: total + x * (pt.constant(9) / rows),
            outputs_info=[pt.zeros(3, dtype="float32")],
            non_sequences=[x, rows],
            n_steps=4,
            return_updates=False,
        )
    function = Backend.resolve(name, None).compile([x, rows], [sums[-1]])
    [found] = function(np.ones(3, dtype="float32"), np.asarray(3))
    assert not [record for record in caplog.records if "Rewrite failure" in record.getMessage()]
    assert found.dtype == "float32"
    np.testing.assert_allclose(found, 12.0)
