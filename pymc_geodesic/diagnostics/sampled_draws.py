#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The draws of what a run has sampled: as its sampler moved them, and as named scalars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr

from pytensor.tensor import tensor

from pymc_geodesic.diagnostics.geometry import geometries, geometry_manifold
from pymc_geodesic.diagnostics.gradients import ModelPoints
from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.kernel.representatives import without_seam
from pymc_geodesic.manifolds import Manifold
from pymc_geodesic.manifolds.registry import recorded_manifolds
from pymc_geodesic.monte_carlo import halves
from pymc_geodesic.run_record import RunRecord

__all__ = ["Scalars", "points_of_run", "sampled_draws", "worst_mixing"]


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


# ArviZ takes tenths of a millisecond per scalar, so a fast screening selects them.
N_CHOSEN = 32
# Larger values come from divergences, and overflow in every summary.
LARGEST = 1e100


class Scalars(NamedTuple):
    """Scalars followed along the chains.

    Attributes
    ----------
    names : list of str
        The variable with the index of the entry, such as ``"w[1,3]"``; a scalar has no index.
    values : ndarray
        Shape ``(chain, draw, scalar)``.
    """

    names: list[str]
    values: np.ndarray

    @classmethod
    def of(cls, variables: Mapping[str, np.ndarray]) -> Scalars:
        """Join the entries of variables ``(chain, draw, *shape)``, without constant ones."""
        names = [
            name + (f"[{','.join(map(str, index))}]" if index else "")
            for name, x in variables.items()
            for index in np.ndindex(x.shape[2:])
        ]
        columns = [x.reshape(*x.shape[:2], -1) for x in variables.values()]
        values = np.concatenate(columns, axis=-1)
        size = np.abs(values).max(axis=(0, 1))
        kept = size < LARGEST
        kept[kept] = np.ptp(values[..., kept], axis=(0, 1)) > 0
        return cls(
            [name for name, keep in zip(names, kept, strict=True) if keep], values[..., kept]
        )


def worst_mixing(scalars: Scalars) -> list[tuple[str, np.ndarray]]:
    """Choose the scalars whose chains agree least and those that move most slowly.

    Classical split R-hats of each entry and of its distance from the median, and correlations of
    neighbouring draws, are computed for all scalars at once.
    """
    if not scalars.names:
        return []
    x = scalars.values
    spread = np.abs(x - np.median(x, axis=(0, 1)))
    ranks = [_split_r_hat(x), _split_r_hat(spread), _lagged(x)]
    chosen = np.unique(np.concatenate([np.argsort(rank)[-N_CHOSEN:] for rank in ranks]))
    return [(scalars.names[i], x[..., i]) for i in chosen]


def _split_r_hat(x: np.ndarray) -> np.ndarray:
    parts = halves(x)
    within = parts.var(axis=1, ddof=1).mean(axis=0)
    between = parts.mean(axis=1).var(axis=0, ddof=1)
    return between / np.maximum(within, np.finfo(float).tiny)


def _lagged(x: np.ndarray) -> np.ndarray:
    centred = x - x.mean(axis=(0, 1))
    products = (centred[:, 1:] * centred[:, :-1]).mean(axis=(0, 1))
    return products / np.maximum((centred**2).mean(axis=(0, 1)), np.finfo(float).tiny)
