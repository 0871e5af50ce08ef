#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""An effect for each store: ``python many_stores.py visits.parquet bought store price,age [NEW]``.

Saves the run, and writes the probability of a purchase with an interval for each visit of the
table, or of a NEW one, whose stores may be new too.
"""

import sys

import pandas as pd
import pymc as pm

import pymc_geodesic as pmg


def main(path: str, bought: str, store: str, columns: str, new: str | None = None) -> pd.DataFrame:
    """Go from the file to the summary."""
    names = columns.split(",")
    table = pd.read_parquet(path).dropna(subset=[bought, store, *names])
    stores = pd.Index(table[store].unique())
    with pm.Model(coords={"column": names, "store": stores}) as model:
        x = pm.Data("x", table[names], dims=("visit", "column"))
        number = pm.Data("number", stores.get_indexer(table[store]), dims="visit")
        slope = pm.Normal("slope", 0.0, 1.0, dims="column")
        level, spread = pm.Normal("level", 0.0, 2.0), pm.HalfNormal("spread", 1.0)
        effect = pm.Normal("effect", level, spread, dims="store")
        logit = effect[number] + x @ slope
        pm.Bernoulli("bought", logit_p=logit, observed=table[bought], dims="visit")
    idata = pmg.sample(model=model, random_seed=1)
    pmg.save(idata, "run.zarr")
    if new is not None:
        table = pd.read_parquet(new)
    rows = table.assign(number=stores.get_indexer(table[store]))
    pmg.predict(idata, model, rows, out="expected.parquet", sample_new_groups=True, random_seed=1)
    return pmg.summary(idata)


if __name__ == "__main__":
    print(main(*sys.argv[1:]).to_string())
