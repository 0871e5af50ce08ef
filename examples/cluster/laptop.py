#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A regression on Parquet that is sorted by the response, on all cores of a laptop."""

import os
import tempfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pymc as pm

from distributed import Client, LocalCluster

import pymc_geodesic as pmg

N_ROWS, BATCH = 400_000, 200
COLUMNS = ["age", "dose", "response"]


def write(folder):
    """Stand in for data of your own."""
    rng = np.random.default_rng(1)
    age, dose = rng.normal(size=(2, N_ROWS))
    response = 0.5 * age - 0.2 * dose + rng.normal(size=N_ROWS)
    order = np.argsort(response)
    arrays = (age[order], dose[order], response[order])
    columns = dict(zip(COLUMNS, arrays, strict=True))
    for i in range(8):
        part = slice(i * N_ROWS // 8, (i + 1) * N_ROWS // 8)
        table = pa.table({name: column[part] for name, column in columns.items()})
        pq.write_table(table, f"{folder}/{i}.parquet")


def main(**options):
    """Sample with a worker for each core."""
    with tempfile.TemporaryDirectory() as folder:
        write(folder)
        rows = pmg.ParquetRows(folder, columns=COLUMNS)
        with pm.Model():
            batch = pm.Data("batch", np.zeros((BATCH, 3)))
            slope = pm.Normal("slope", 0.0, 1.0, shape=2)
            scale = pm.HalfNormal("scale", 2.0)
            mean = batch[:, :2] @ slope
            pm.Normal("y", mean, scale, observed=batch[:, 2], total_size=rows.n_rows)
            step = pmg.SGNHT(data={"batch": rows})
            n_workers = min(4, os.cpu_count() or 1)
            with (
                LocalCluster(n_workers=n_workers, threads_per_worker=1) as cluster,
                Client(cluster) as client,
            ):
                return pmg.sample(step=step, client=client, random_seed=1, **options)


# Worker processes import this file.
if __name__ == "__main__":
    print(pmg.summary(main()))
