#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The manifolds that a run has recorded."""

from __future__ import annotations

import xarray as xr

from pymc_geodesic.manifolds.base import Manifold
from pymc_geodesic.manifolds.circle import Circle
from pymc_geodesic.manifolds.registry import manifold_named
from pymc_geodesic.run_record import read_records

__all__ = ["recorded_manifolds"]


def recorded_manifolds(idata: xr.DataTree) -> dict[str, Manifold]:
    """Return the recorded manifolds of the variables of a run, Deterministics that are angles too.

    Parameters
    ----------
    idata : DataTree
        Result of ``pm.sample``, with any step; empty for steps of other packages.
    """
    records = read_records(idata)
    names = {key: name for record in records for key, name in record.manifolds.items()}
    names |= {key: Circle.name for record in records for key in record.angles}
    found = {key: manifold_named(name) for key, name in names.items()}
    return {key: manifold for key, manifold in found.items() if manifold is not None}
