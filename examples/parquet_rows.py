#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Ten million rows on a disk.

Which of ten properties make a flight late? Ten million flights lie in a hundred Parquet files. In
each file the rows are sorted by whether the flight was late, which would ruin a sampler that reads
them in order. The step reads random rows while it samples, so that memory does not grow with the
data.

The program generates the files, 880 MB, and removes them at the end.

Conclusion: the estimates agree with the coefficients that generated the data. The process needed no
more memory than with a million rows. Nothing has to be sorted or shuffled beforehand. If the rows
are already in random order, `shuffled=True` makes the pools unnecessary.
"""

from __future__ import annotations

import resource
import tempfile

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pymc as pm
import xarray as xr

from matplotlib.figure import Figure
from scipy.special import expit
from shared import main, without_box

import pymc_geodesic as pmg

N_ROWS, N_FILES, BATCH_SIZE = 10_000_000, 100, 300
TRUTH = np.linspace(-1, 1, 10)
NAMES = [f"x{i}" for i in range(len(TRUTH))]


def write_files(folder: Path, n_rows: int) -> None:
    """Write files with the properties of the flights, and whether they were late, sorted by it."""
    for part in range(N_FILES):
        rng = np.random.default_rng(part)
        x = rng.standard_normal((n_rows // N_FILES, len(TRUTH)))
        late = rng.random(len(x)) < expit(x @ TRUTH)
        order = np.argsort(late)
        columns = dict(zip(NAMES, x[order].T, strict=True), late=late[order].astype(float))
        pq.write_table(pa.table(columns), folder / f"flights-{part}.parquet")


def build_model(rows: pmg.ParquetRows) -> pm.Model:
    """Write the model of a batch, whose rows the step replaces by rows of the files."""
    with pm.Model(coords={"property": NAMES}) as model:
        batch = pm.Data("batch", np.zeros((BATCH_SIZE, len(NAMES) + 1)))
        beta = pm.Normal("beta", 0.0, 2.0, dims="property")
        late = batch[:, -1]
        pm.Bernoulli("late", logit_p=batch[:, :-1] @ beta, observed=late, total_size=rows.n_rows)
    return model


def run(quick: bool = False) -> xr.DataTree:
    """Write the files and sample; `quick` makes a short run on few rows for tests."""
    n_rows, draws, tune, chains = (20_000, 200, 200, 1) if quick else (N_ROWS, 1000, 1000, 4)
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), n_rows)
        rows = pmg.ParquetRows(folder, columns=[*NAMES, "late"])
        with build_model(rows):
            step = pmg.SGNHT(data={"batch": rows})
            idata = pmg.sample(
                draws, tune=tune, chains=chains, step=step, random_seed=1, progressbar=False
            )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    idata.attrs.update(n_rows=n_rows, gigabytes=peak / 1e6)
    return idata


def plot(idata: xr.DataTree) -> Figure:
    """Plot the differences of the coefficients from those that the data were generated with."""
    beta = idata.posterior["beta"]
    mean, sd = (getattr(beta, name)(("chain", "draw")).values for name in ("mean", "std"))
    figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
    ax.errorbar(range(len(NAMES)), mean - TRUTH, 2 * sd, fmt="o", color="#0072B2")
    ax.axhline(0, color="0.5", linewidth=0.8)
    ax.set(xticks=range(len(NAMES)), xticklabels=NAMES, ylabel="estimate less truth, 2 sd")
    without_box(ax)
    return figure


def report(idata: xr.DataTree) -> str:
    """Print the largest error, the memory and the number of effective draws."""
    beta = idata.posterior["beta"]
    mean, sd = (getattr(beta, name)(("chain", "draw")).values for name in ("mean", "std"))
    ess = pmg.summary(idata)["ess_bulk"].astype(float).min()
    return (
        f"{idata.attrs['n_rows']:,} rows: estimates within {np.abs((mean - TRUTH) / sd).max():.1f} "
        f"sd of the truth, {ess:,.0f} effective draws, {idata.attrs['gigabytes']:.2f} GB at most"
    )


if __name__ == "__main__":
    main(__doc__, run=run, plot=plot, report=report)
