#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Functions and points of the free variables of a model, at the draws of a posterior."""

from __future__ import annotations

import math

from collections.abc import Callable, Sequence

import numpy as np
import xarray as xr

from pymc.model import Model
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorVariable

from pymc_geodesic.graph_inputs import graph_input
from pymc_geodesic.kernel.host_functions import Change
from pymc_geodesic.kernel.interpreted import Interpreted, with_batch_axis
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential.centering import inside, outside
from pymc_geodesic.potential.variables import SampledVariable, as_values
from pymc_geodesic.sampling.run import Arrays

__all__ = ["Point", "PointMaps", "PosteriorPoints", "at_draws", "to_value"]


def at_draws(
    idata: xr.DataTree,
    free: Sequence[TensorVariable],
    outputs: Sequence[TensorVariable],
    *,
    max_draws: int,
) -> list[np.ndarray]:
    """Evaluate graphs of free variables at draws, evenly thinned.

    Parameters
    ----------
    idata : DataTree
        Result of ``pm.sample``.
    free : sequence of TensorVariable
        The free variables on which the graphs depend.
    outputs : sequence of TensorVariable
        The graphs.
    max_draws : int
        Maximum number of draws per chain.

    Returns
    -------
    list of ndarray
        For each graph ``(chain, draw, *shape)``.

    Raises
    ------
    ValueError
        If the posterior lacks a variable, or Bambi has changed one.
    """
    draws = _free_draws(idata, free, max_draws=max_draws)
    values = {rv: graph_input(rv.name, dtype=rv.dtype, shape=rv.type.shape) for rv in free}
    graphs = clone_replace(list(outputs), replace=values, rebuild_strict=False)
    inputs, shape = list(values.values()), draws[0].shape[:2]
    try:
        function = Interpreted(*with_batch_axis(inputs, graphs, varying=inputs))
    except NotImplementedError:
        function = Interpreted(inputs, graphs)
        each = [function(*(column[index] for column in draws)) for index in np.ndindex(shape)]
        found = [np.array(part) for part in zip(*each, strict=True)]
    else:
        found = function(*(x.reshape(-1, *x.shape[2:]) for x in draws))
    return [x.reshape(*shape, *x.shape[1:]) for x in found]


def to_value(model: Model, rv: TensorVariable) -> TensorVariable:
    """Write PyMC's value of a free variable."""
    transform = model.rvs_to_transforms[rv]
    return rv if transform is None else transform.forward(rv, *rv.owner.inputs)


def _free_draws(
    idata: xr.DataTree, free: Sequence[TensorVariable], *, max_draws: int
) -> list[np.ndarray]:
    posterior, names = idata["posterior"].to_dataset(), [rv.name for rv in free]
    if posterior.attrs.get("modeling_interface") == "bambi":
        raise ValueError(
            "`idata` expected draws of the variables of the model, got a result of Bambi, whose "
            "intercept is that of its formula. For this, sample `bambi_model.backend.model`."
        )
    if missing := [name for name in names if name not in posterior]:
        raise ValueError(
            f"`idata` expected draws of all free variables of the model, {names}, got no draws of "
            f"{missing}. Pass the model that was sampled, and sample without `var_names`."
        )
    every = -(-posterior.sizes["draw"] // max_draws)
    # If the number is not divisible, the last draws are kept rather than the first.
    start = (posterior.sizes["draw"] - 1) % every
    thinned = posterior.isel(draw=slice(start, None, every))
    return [
        thinned[rv.name].transpose("chain", "draw", ...).to_numpy().astype(rv.dtype) for rv in free
    ]


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


type _Columns = list[np.ndarray]


class PointMaps:
    """Maps between variables, PyMC's values and points, for all draws at once.

    Parameters
    ----------
    model : Model
        The model in whose terms draws are.
    potential : Potential
        The potential whose coordinates points have.

    Attributes
    ----------
    variables : tuple of SampledVariable
        The variables.
    size : int
        Entries of all points together.
    """

    def __init__(self, model: Model, potential: Potential) -> None:
        self.variables = potential.variables
        self.size = sum(math.prod(variable.shape) for variable in self.variables)
        self._names = [variable.value.name for variable in self.variables]
        # Variables that are integrated out have no draws.
        free = [rv for rv in model.free_RVs if model.rvs_to_values[rv].name in self._names]
        self._free = sorted(free, key=lambda rv: self._names.index(model.rvs_to_values[rv].name))
        self._model = model
        values = [variable.value for variable in self.variables]
        outer = outside(self.variables, values)
        positions = [variable.position for variable in self.variables]
        self._inside = Change(values, inside(self.variables, values), many=True)
        self._outside = Change(values, [outer[value] for value in values], many=True)
        points = [v.to_position(x) for v, x in zip(self.variables, values, strict=True)]
        self._to_points = Change(values, points, many=True)
        self._to_values = Change(
            positions, as_values(potential.variables, tuple(positions)), many=True
        )

    def points(self, idata: xr.DataTree, *, max_draws: int) -> _Columns:
        """Return draws as points, one array ``(chain, draw, *shape)`` for each variable."""
        graphs = [to_value(self._model, rv) for rv in self._free]
        values = at_draws(idata, self._free, graphs, max_draws=max_draws)
        return _flatly(lambda x: self._to_points(self._inside(x)), values)

    def values(self, points: Sequence[np.ndarray]) -> Arrays:
        """Return PyMC's values by name, ``(chain, draw, ...)``."""
        found = _flatly(lambda x: self._outside(self._to_values(x)), points)
        return dict(zip(self._names, found, strict=True))


def _flatly(function: Callable[[_Columns], _Columns], columns: Sequence[np.ndarray]) -> _Columns:
    """Call a function of draws along one axis with draws along two."""
    shape = columns[0].shape[:2]
    found = function([x.reshape(-1, *x.shape[2:]) for x in columns])
    return [np.asarray(x).reshape(*shape, *np.shape(x)[1:]) for x in found]
