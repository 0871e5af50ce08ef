#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Sets of planes from angles in degrees: ``python sets_of_planes.py joints.csv dip azimuth 3``.

Writes the set of each plane and how likely it is, and a stereonet; prints the mean planes.
"""

import sys

import numpy as np
import pandas as pd
import pymc as pm

import pymc_geodesic as pmg


def main(path: str, dip: str, direction: str, n_sets: str) -> pd.DataFrame:
    """Go from the file to the mean plane of each set."""
    table = pd.read_csv(path).dropna(subset=[dip, direction])
    poles = pmg.directions.from_dip(table[dip], table[direction])
    with pm.Model(coords={"set": range(int(n_sets))}) as model:
        share = pm.Dirichlet("share", np.ones(int(n_sets)), dims="set")
        pole = pmg.SphericalUniform("pole", shape=(int(n_sets), 3))
        kappa = pm.HalfNormal("kappa", 50.0, dims="set")
        pm.Mixture("plane", share, pmg.Watson.dist(pole, kappa), observed=poles)
    idata = pmg.sample(model=model, random_seed=1)
    membership = pmg.membership(idata, model)
    table["set"] = membership.argmax("set")
    table["probability"] = membership.max("set")
    table.to_csv("sets.csv", index=False)
    axes = pmg.plot_stereonet(idata, data=poles, membership=membership, planes=True)
    axes.figure.savefig("stereonet.png")
    return pmg.directions.summary(idata, "dip", var_names="pole")


if __name__ == "__main__":
    print(main(*sys.argv[1:]).to_string())
