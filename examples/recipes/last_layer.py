#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Probabilities by a Bayesian last layer: ``python last_layer.py train.npz test.npz``.

Files have the ``features`` that a frozen network finds in each input, and ``labels`` from 0.
"""

import sys

import numpy as np
import pymc as pm

from sklearn.calibration import CalibrationDisplay

import pymc_geodesic as pmg


def main(path: str, test: str) -> dict[str, float]:
    """Fit the layer, predict the test file, and draw how calibrated that is."""
    seen, new = np.load(path), np.load(test)
    mean, scale = seen["features"].mean(axis=0), seen["features"].std(axis=0) + 1e-9
    with pm.Model(coords={"kind": range(seen["labels"].max() + 1)}) as model:
        x = pm.Data("x", (seen["features"] - mean) / scale, dims=("row", "feature"))
        weight = pm.Normal("weight", 0, 1, dims=("feature", "kind"))
        bias = pm.Normal("bias", 0, 1, dims="kind")
        pm.Categorical("label", logit_p=x @ weight + bias, observed=seen["labels"], dims="row")
        idata = pmg.sample(random_seed=1)
    pmg.save(idata, "last_layer.zarr")
    found = pmg.predict(idata, model, {"x": (new["features"] - mean) / scale}, out="new.zarr")
    p = found["label"].sel(summary="mean").values
    right, sure = p.argmax(axis=1) == new["labels"], p.max(axis=1)
    shown = CalibrationDisplay.from_predictions(right, sure, n_bins=15, strategy="quantile")
    shown.figure_.savefig("calibration.png")
    loss = -np.log(p[np.arange(len(p)), new["labels"]]).mean()
    error = np.abs(shown.prob_true - shown.prob_pred).mean()
    return {"log loss": loss, "calibration error": error}


if __name__ == "__main__":
    print(main(*sys.argv[1:]))
