#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What Ctrl-C does to ``pm.sample``, also while a loader blocks: nothing keeps the process."""

import signal
import subprocess
import sys
import time

import pytest

# Seconds, on a machine that does other things too.
WAIT, AT_ONCE = 4.0, 30.0
PROGRAM = """
import signal, sys, time
import numpy as np, pymc as pm, pymc_geodesic as pmg

# A shell that runs the tests in the background has them ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)

cores, tune, blocks = map(int, sys.argv[1:])

class Loader:
    n_passes = 0
    def __iter__(self):
        self.n_passes += 1
        for i in range(100):
            if blocks and self.n_passes > 1 and i == 90:
                time.sleep(1_000)
            yield np.ones((2, 1))

# The loader hangs after the first buffer of 64 batches, each of which gives a draw.
announced = 60 if blocks else 10

def announce(trace, draw):
    if draw.draw_idx == announced:
        print("drawing", draw.chain, flush=True)
    time.sleep(0.002)

with pm.Model():
    data = pm.Data("data", np.zeros((2, 1)))
    x = pm.Normal("x")
    pm.Normal("y", x, 1.0, observed=data[:, 0], total_size=200)
    step = pmg.SGLD(
        step_size=1e-4, n_steps=1, variance_reduction=None,
        data={"data": Loader()},
    )
    try:
        idata = pm.sample(
            step=step, draws=100_000, tune=tune, chains=2, cores=cores, mp_ctx="fork",
            callback=announce, progressbar=False, quiet=True, compute_convergence_checks=False,
        )
    except ValueError as error:
        print("error", error)
    else:
        print("returned", *idata.posterior["x"].shape)
print("end", flush=True)
"""


def _skip_news(process):
    """Read on until a chain draws: what is compiled is said before."""
    for line in process.stdout:
        if line.startswith("drawing"):
            return
    raise AssertionError("no chain drew")


def interrupt(*, cores, tune=0, blocks=False):
    """Press Ctrl-C while chains draw; return the last words and the seconds until the end."""
    arguments = [sys.executable, "-c", PROGRAM, *(str(int(a)) for a in (cores, tune, blocks))]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(arguments, **streams) as process:
        try:
            # In several processes all chains draw, in one they come one after another.
            for chain in range(2):
                if chain == 0 or not blocks or cores == 2:
                    _skip_news(process)
                if cores == 1 or chain == 1:
                    # Until the chain waits for the batch that does not come.
                    time.sleep(WAIT if blocks else 0.0)
                    process.send_signal(signal.SIGINT)
            start = time.monotonic()
            rest, _ = process.communicate(timeout=60)
            assert process.returncode == 0, rest
            return time.monotonic() - start, rest.splitlines()
        finally:
            process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [False, True])
def test_one_interrupt_ends_the_chains_of_several_processes(blocks):
    seconds, [*_, returned, end] = interrupt(cores=2, blocks=blocks)
    assert seconds < AT_ONCE
    assert returned.startswith("returned")
    assert end == "end"


@pytest.mark.parametrize("blocks", [False, True])
def test_each_interrupt_ends_one_chain_of_one_process(blocks):
    seconds, [*_, returned, end] = interrupt(cores=1, blocks=blocks)
    assert seconds < AT_ONCE
    assert returned.startswith("returned")
    assert end == "end"


@pytest.mark.slow
def test_an_interrupt_in_the_tuning_phase_keeps_nothing():
    """PyMC's answer, which the documentation promises."""
    seconds, [*_, error, end] = interrupt(cores=2, tune=50_000)
    assert seconds < AT_ONCE
    assert error == "error Not enough samples to build a trace."
    assert end == "end"
