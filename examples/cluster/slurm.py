#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The same on a cluster with SLURM: `sbatch --time=04:00:00 --wrap "python slurm.py"`.

It needs `pip install dask-jobqueue`, a folder that all machines see, and this environment on it.
"""

import os

import numpy as np
import pymc as pm

from dask_jobqueue import SLURMCluster
from distributed import Client

import pymc_geodesic as pmg

SHARED = f"/scratch/{os.environ['USER']}"
COLUMNS = ["age", "dose", "response"]
N_CHAINS = 16


def model_of(n_rows, batch_size=200):
    """Write the model for batches of the rows."""
    with pm.Model() as model:
        batch = pm.Data("batch", np.zeros((batch_size, 3)))
        slope = pm.Normal("slope", 0.0, 1.0, shape=2)
        scale = pm.HalfNormal("scale", 2.0)
        mean = batch[:, :2] @ slope
        pm.Normal("y", mean, scale, observed=batch[:, 2], total_size=n_rows)
    return model


def main():
    """Sample with a job for each chain."""
    cluster = SLURMCluster(
        cores=1,  # threads of a job ...
        processes=1,  # ... in one worker
        memory="4GB",
        walltime="01:00:00",
        # A worker of an hour ends before its job is ended, and another takes its place.
        worker_extra_args=["--lifetime", "55m", "--lifetime-stagger", "4m"],
        # Of the machine itself, where there is one: what is compiled is written here.
        local_directory=os.environ.get("TMPDIR", "/tmp"),
        log_directory=f"{SHARED}/logs",
    )
    cluster.adapt(minimum_jobs=N_CHAINS, maximum_jobs=N_CHAINS)
    rows = pmg.ParquetRows(f"{SHARED}/trials", columns=COLUMNS)
    with Client(cluster) as client, model_of(rows.n_rows):
        client.wait_for_workers(N_CHAINS)
        idata = pmg.sample(
            10_000,
            chains=N_CHAINS,
            step=pmg.SGNHT(data={"batch": rows}),
            client=client,
            # The same command continues, if this job is ended too.
            checkpoint=f"{SHARED}/run.zarr",
            random_seed=1,
            progressbar=False,
        )
    print(pmg.summary(idata))


if __name__ == "__main__":
    main()
