#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A process that is killed at any moment loses draws, and never the run."""

import subprocess
import sys
import time

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import pymc_geodesic as pmg

pytest.importorskip("zarr")

FOLDERS = [str(Path(__file__).parents[i]) for i in (1, 2)]
CODE = f"""
import sys, warnings
warnings.simplefilter("ignore")
sys.path[:0] = {[*FOLDERS, str(Path(__file__).parents[1] / "regression")]!r}
import pymc_geodesic as pmg
from cases import CASES
case = CASES[sys.argv[1]]
with case.model():
    pmg.sample(
        3000, tune=300, chains=2, random_seed=1, progressbar=False, discard_tuned_samples=False,
        step=lambda: case.step(**case.options), compute_convergence_checks=False,
        checkpoint=None if sys.argv[2] == "-" else sys.argv[2], checkpoint_every=0.3,
    ).to_zarr(sys.argv[3], mode="w")
"""
N_KILLS = 10


def start(*arguments):
    return subprocess.Popen(
        [sys.executable, "-c", CODE, *map(str, arguments)], stderr=subprocess.PIPE, text=True
    )


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize(
    "name",
    ["vector-SGNHT-tuned", "mixed-gSGNHT-tuned", "local-SGNHT", "stream-gSGNHT-tuned", "lda-SGRLD"],
)
@pytest.mark.filterwarnings("ignore")
def test_runs_that_are_killed_are_those_that_are_not(name, tmp_path):
    began = time.perf_counter()
    whole = start(name, "-", tmp_path / "whole.zarr")
    assert whole.wait() == 0, whole.stderr.read()
    seconds = time.perf_counter() - began
    path, rng, n_killed = tmp_path / "run.zarr", np.random.default_rng(3), 0
    lengths = []
    while n_killed < N_KILLS:
        process = start(name, path, tmp_path / "found.zarr")
        try:
            # From the first import on.
            process.wait(rng.uniform(0, 0.8 * seconds))
            break
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            n_killed += 1
        if path.exists():
            tree = pmg.read(path)
            lengths.append(sum(tree[g].sizes["draw"] for g in tree.children if "posterior" in g))
    process = start(name, path, tmp_path / "found.zarr")
    assert process.wait() == 0, process.stderr.read()
    assert n_killed >= 3
    assert lengths == sorted(lengths)
    found, expected = (xr.open_datatree(tmp_path / f"{which}.zarr") for which in ("found", "whole"))
    for group in ("warmup_posterior", "warmup_sample_stats", "posterior", "sample_stats"):
        for variable, x in expected[group].to_dataset().data_vars.items():
            np.testing.assert_array_equal(found[group][variable], x, err_msg=variable)
