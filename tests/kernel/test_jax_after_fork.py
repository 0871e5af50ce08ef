#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Forked workers draw, whatever their parent has computed with JAX."""

import os
import subprocess
import sys

import cloudpickle
import numpy as np
import pymc as pm
import pytest

import pymc_geodesic as pmg

PROGRAM = """
import sys
import numpy as np, pymc as pm, pymc_geodesic as pmg

if "jax" in sys.argv:
    import jax.numpy
    jax.numpy.ones(3).sum()
with pm.Model():
    x = pm.Normal("x")
    batch = pm.Minibatch(np.arange(40.0), batch_size=4)
    pm.Normal("y", x, 1.0, observed=batch, total_size=40)
    steps = {
        "SGLD": lambda: pmg.SGLD(step_size=1e-3, variance_reduction=None, n_steps=1),
        "SGNHT": lambda: pmg.SGNHT(),
        "GMC": lambda: pmg.GMC(step_size=0.1, n_leapfrog=3),
    }
    step = steps[sys.argv[1]]()
    for cores in map(int, sys.argv[2].split(",")):
        idata = pm.sample(
            step=step, draws=10, tune=10, chains=2, cores=cores, mp_ctx="fork", random_seed=1,
            progressbar=False, quiet=True, compute_convergence_checks=False,
        )
        print(*idata.posterior["x"].values.ravel())
"""

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def sample(*arguments, timeout=180):
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout)


# Again and again: the parent has not computed with JAX, however often its workers have.
CASES = [
    ("SGNHT", "2,1"),
    pytest.param("SGLD", "2,2,1", marks=pytest.mark.slow),
    pytest.param("GMC", "2,1", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("step", "cores"), CASES)
def test_forked_workers_draw_as_one_process(step, cores):
    result = sample(step, cores)
    assert result.returncode == 0, result.stderr
    first, *others = result.stdout.splitlines()
    assert len(others) == cores.count(",")
    assert set(others) == {first}


# After draws in the parent, or after the user's own code, JAX hangs in a forked process.
@pytest.mark.parametrize("arguments", [("SGNHT", "1,2"), ("SGLD", "2,1", "jax")])
def test_workers_of_a_process_that_has_computed_with_jax_draw_too(arguments):
    result = sample(*arguments)
    assert result.returncode == 0, result.stderr
    assert len(set(result.stdout.splitlines())) == 1


def test_a_step_is_made_without_computing_with_jax():
    program = """
import jax, pymc as pm, pymc_geodesic as pmg
from jax._src import xla_bridge
with pm.Model():
    pmg.VonMisesFisher("x", [1.0, 0.0, 0.0], 1.0)
    for method in (pmg.GMC, pmg.gSGNHT, pmg.SGGMC):
        method()
assert not xla_bridge.backends_are_initialized()
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


def test_a_step_that_has_not_compiled_draws_in_another_process():
    """As forkserver and spawn pickle it: without the potential, from which kernels are made."""
    with pm.Model() as model:
        pm.Normal("x")
        step = pmg.SGLD(step_size=0.1, n_steps=1)
    points = []
    for each in (cloudpickle.loads(cloudpickle.dumps(step)), step):
        each.setup_chain(np.random.default_rng(1), 0, 1)
        points.append(each.step(model.initial_point())[0]["x"])
    np.testing.assert_array_equal(*points)


def test_a_compiled_function_is_left_behind_in_a_pickle():
    with pm.Model() as model:
        pm.Normal("x")
        step = pmg.GMC(step_size=0.1, n_leapfrog=3)
    step.setup_chain(np.random.default_rng(1), 0, 1)
    before = len(cloudpickle.dumps(step))
    expected, _ = step.step(model.initial_point())
    pickled = cloudpickle.dumps(step)
    # Draws and generator aside, which the compiled function is far larger than.
    assert len(pickled) < 1.2 * before
    copy = cloudpickle.loads(pickled)
    copy.setup_chain(np.random.default_rng(1), 0, 1)
    actual, _ = copy.step(model.initial_point())
    np.testing.assert_array_equal(actual["x"], expected["x"])
