#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Functions of JAX: their data, their precision, and a folder in which nothing can be kept."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

from pymc_geodesic.kernel.jax.function import JAXFunction


def test_jax_is_given_the_data_once(monkeypatch):
    import jax

    x = pytensor.shared(np.random.default_rng(1).normal(size=(500, 3)), shape=(500, 3))
    rows = pt.tensor("rows", dtype="int64", shape=(7,))
    put, copied = jax.device_put, []
    monkeypatch.setattr(jax, "device_put", lambda value: copied.append(value) or put(value))
    functions = [JAXFunction([rows], [f(x[rows])]) for f in (pt.exp, pt.sin)]
    for function, expected in zip(functions, (np.exp, np.sin), strict=True):
        [found] = function(np.arange(7))
        [arrays] = function._on_device.values()
        assert [type(array) for array in arrays] == [type(jax.numpy.zeros(1))]
        assert found.dtype == "float64"
        np.testing.assert_allclose(found, expected(x.get_value()[:7]), rtol=1e-14)
    assert len(copied) == 1


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "bool"])
def test_constants_become_arrays_of_jax(dtype):
    table = np.arange(6).reshape(2, 3).astype(dtype)
    x = pt.vector("x", shape=(3,))
    function = JAXFunction([x], [x[None] * pt.constant(table)])
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
    step = pmg.SGNHT(step_size=1e-4, diffusion=100.0, variance_reduction=None)
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


FULL = """
import numpy as np, pymc as pm, pymc_geodesic as pmg
with pm.Model():
    mu = pm.Normal("mu", 0, 10, shape=3)
    idata = pmg.sample(
        5, step=pmg.GMC, tune=5, chains=1, random_seed=1, progressbar=False
    )
print(np.isfinite(idata.posterior["mu"]).all().item())
"""


def test_sampling_goes_on_where_nothing_can_be_kept(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", FULL],
        # Nothing can be written below a file, whoever runs this.
        env=os.environ | {"JAX_COMPILATION_CACHE_DIR": f"{__file__}/cache"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1] == "True"


def test_a_graph_in_single_precision_is_compiled_in_it(caplog):
    """Rewrites write the quotient of two integers anew, in the precision of that moment."""
    with pytensor.config.change_flags(floatX="float32"):
        x, rows = pt.vector("x", dtype="float32", shape=(3,)), pt.scalar("rows", dtype="int64")
        sums = pytensor.scan(
            lambda total, x, rows: total + x * (pt.constant(9) / rows),
            outputs_info=[pt.zeros(3, dtype="float32")],
            non_sequences=[x, rows],
            n_steps=4,
            return_updates=False,
        )
    function = JAXFunction([x, rows], [sums[-1]])
    [found] = function(np.ones(3, dtype="float32"), np.asarray(3))
    assert not [record for record in caplog.records if "Rewrite failure" in record.getMessage()]
    assert found.dtype == "float32"
    np.testing.assert_allclose(found, 12.0)


def test_sums_of_short_floats_are_accumulated_in_long_ones():
    x = pt.fvector("x")
    values = np.full(1_000_000, 0.1, "float32")
    [found] = JAXFunction([x], [x.sum()])(values)
    assert found.dtype == "float32"
    np.testing.assert_allclose(found, values.astype(float).sum(), rtol=1e-7)


def test_models_of_both_precisions_are_compiled_whatever_jax_was_set_to():
    import jax

    for double in (False, True):
        with jax.enable_x64(double):
            for dtype in ("float32", "float64"):
                x = pt.vector("x", dtype=dtype)
                [found] = JAXFunction([x], [pt.exp(x) / x.sum()])(np.ones(3, dtype))
                assert found.dtype == dtype
