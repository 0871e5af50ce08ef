#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The draws of the variables that a run has sampled, as the sampler has moved them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from pytensor.tensor import tensor

from pymc_geodesic.diagnostics.geometry import geometries, geometry_manifold
from pymc_geodesic.diagnostics.gradients import ModelPoints
from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.kernel.representatives import without_seam
from pymc_geodesic.manifolds import Manifold
from pymc_geodesic.manifolds.registry import recorded_manifolds
from pymc_geodesic.run_record import RunRecord

__all__ = ["points_of_run", "sampled_draws"]


def points_of_run(
    idata: xr.DataTree, known: ModelPoints | None, records: Sequence[RunRecord]
) -> dict[str, np.ndarray]:
    """Return draws in the sampler's coordinates if the model is known, otherwise in their own.

    Without a model, transforms are unknown; only embeddings, such as square roots of probability
    vectors, are known. Variables that were not sampled are functions of those that were.
    """
    if known is not None:
        pairs = zip(known.variables, known.points, strict=True)
        arrays = {v.name: without_seam(v.manifold, points) for v, points in pairs}
    else:
        arrays = sampled_draws(idata, records)
        posterior = idata["posterior"].to_dataset()
        manifolds = recorded_manifolds(idata)
        kinds = geometries(posterior[list(arrays)], manifolds=manifolds)
        found = {
            name: manifolds.get(str(name)) or geometry_manifold(kinds[name]) for name in arrays
        }
        arrays = {
            name: without_seam(found[name], _embedded(found[name], x)) for name, x in arrays.items()
        }
    return arrays


def sampled_draws(idata: xr.DataTree, records: Sequence[RunRecord]) -> dict[str, np.ndarray]:
    """Return the draws of variables that were sampled, or of all if that is unknown."""
    recorded = {name for record in records for name in record.manifolds}
    posterior = idata["posterior"].to_dataset()
    return {
        str(name): posterior[name].transpose("chain", "draw", ...).to_numpy()
        for name in posterior.data_vars
        if posterior[name].dtype.kind == "f" and (not records or name in recorded)
    }


def _embedded(manifold: Manifold, x: np.ndarray) -> np.ndarray:
    value = tensor("value", dtype=x.dtype, shape=(None,) * x.ndim)
    point = manifold.embed(value)
    return x if point is value else Interpreted([value], [point])(x)[0]
