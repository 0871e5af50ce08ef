#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The same draws whatever has been compiled before."""

import os
import subprocess
import sys

from pathlib import Path

import numpy as np
import pytest

TESTS = Path(__file__).parents[1]
SCRIPT = """
import sys
import numpy as np
from local_models import local_gmc, scale_mixture, students
import pymc_geodesic as pmg

with scale_mixture(students(500, seed=1), batch_size=20) as model:
    local = local_gmc("w", draws=3, tune=6, n_leapfrog=3)
    step = pmg.SGNHT(["mu"], local=local, step_size=1e-2, diffusion=2.0)
step.setup_chain(np.random.default_rng(3), 10, 10)
point = model.initial_point()
for i in range(20):
    if i == 10:
        step.stop_tuning()
    point, _ = step.step(point)
np.save(sys.argv[1], np.concatenate([np.ravel(x) for x in point.values()]))
"""


@pytest.mark.slow
def test_draws_from_a_cold_cache_and_a_warm_one(tmp_path):
    # Of two settings of a flag the last one counts.
    flags = f"{os.environ.get('PYTENSOR_FLAGS', '')},base_compiledir={tmp_path}".lstrip(",")
    environment = os.environ | {
        "PYTENSOR_FLAGS": flags,
        "PYTHONPATH": os.pathsep.join([str(TESTS), *filter(None, sys.path)]),
    }

    def draws(name):
        file = tmp_path / f"{name}.npy"
        command = [sys.executable, "-c", SCRIPT, str(file)]
        subprocess.run(command, env=environment, check=True, capture_output=True)
        return np.load(file)

    cold = draws("cold")
    np.testing.assert_array_equal(cold, draws("warm"))
