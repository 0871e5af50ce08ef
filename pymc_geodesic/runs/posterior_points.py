#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Draws of free variables as points of the embedding, and their mean."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from pymc.model import Model
from pytensor.graph.traversal import ancestors

from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.potential.variables import SampledVariable
from pymc_geodesic.runs.at_draws import at_draws

__all__ = ["Point", "PosteriorPoints"]

type Point = Sequence[np.ndarray]
"""A point of the embedding, one array for each variable."""


class PosteriorPoints:
    """Points of some free variables of a model.

    Parameters
    ----------
    model : Model
        The model.
    variables : sequence of SampledVariable
        The variables.
    """

    def __init__(self, model: Model, variables: Sequence[SampledVariable]) -> None:
        self._model, self.variables = model, list(variables)

    @property
    def names(self) -> list[str]:
        """Names of the variables."""
        return [variable.name for variable in self.variables]

    def of(self, idata: xr.DataTree) -> list[np.ndarray]:
        """Return all draws: for each variable (chain, draw, ...)."""
        graphs = [variable.embed(variable.rv) for variable in self.variables]
        behind = set(ancestors(graphs))
        free = [rv for rv in self._model.free_RVs if rv in behind]
        return at_draws(idata, free, graphs, max_draws=idata["posterior"].sizes["draw"])

    def mean(self, points: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Average points in the embedding, and project the mean onto the manifold."""
        pairs = zip(points, self.variables, strict=True)
        return [np.asarray(v.manifold.project(x.mean(axis=(0, 1))), x.dtype) for x, v in pairs]

    def values(self, point: Point) -> dict[str, np.ndarray]:
        """Return PyMC's values of a point, by their names."""
        positions = [variable.position for variable in self.variables]
        graphs = [v.to_value(x) for v, x in zip(self.variables, positions, strict=True)]
        pairs = zip(self.variables, Interpreted(positions, graphs)(*point), strict=True)
        return {str(variable.value.name): np.asarray(value) for variable, value in pairs}
