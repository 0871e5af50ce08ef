#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A check that the places of a group without a row do not count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pymc_geodesic.data_checks.row_density import NoRowDensity, Point, RowDensity
from pymc_geodesic.potential.minibatch import BatchSource
from pymc_geodesic.potential.packed_groups import has_empty_places, widened

__all__ = ["require_empty_places"]

# Groups whose log densities are compared.
N_GROUPS = 8
# Places added to every group.
N_PLACES = 3


def require_empty_places(densities: Sequence[RowDensity], point: Point) -> None:
    """Refuse an observed variable whose log density depends on how wide packed groups are.

    Parameters
    ----------
    densities : sequence of RowDensity
        Densities of the observed variables.
    point : mapping
        Values of the free variables.

    Raises
    ------
    ValueError
        If more empty places change the log density.
    """
    for here in densities:
        source = here.source
        if not (isinstance(source, BatchSource) and any(map(has_empty_places, source.tensors))):
            continue
        tensors = tuple(widened(tensor, by=N_PLACES) for tensor in source.tensors)
        wider = RowDensity(here.model, here.rv, replace(source, tensors=tensors))
        _require_same(here, wider, point, np.arange(min(N_GROUPS, source.n_rows)))


def _require_same(here: RowDensity, there: RowDensity, point: Point, rows: np.ndarray) -> None:
    try:
        narrow, wide = here(point, rows), there(point, rows)
    except NoRowDensity:
        return
    if not np.allclose(narrow.sum(), wide.sum(), rtol=1e-6, equal_nan=True):
        raise ValueError(
            f"The observed variable `{here.name}` expected a log density of the rows of each group "
            "alone, got one that also counts the empty places of groups with fewer rows than the "
            "largest. Observe the column by `pmg.GroupLikelihood(name, rows, mask, ...)` or "
            "`pmg.MarginalLikelihood`, with `rows.mask` from the same `pm.Minibatch`."
        )
