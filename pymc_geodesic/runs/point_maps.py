#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""All draws of a run as points of the embedding in which its sampler moves, and back."""

from __future__ import annotations

import math

from collections.abc import Callable, Sequence

import numpy as np
import pytensor.tensor as pt
import xarray as xr

from pymc.model import Model
from pytensor.tensor import TensorVariable

from pymc_geodesic.kernel.interpreted import Interpreted, for_many
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential.variables import as_values
from pymc_geodesic.runs.at_draws import at_draws, to_value
from pymc_geodesic.sampling.run import Arrays

__all__ = ["PointMaps"]

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
        ratios = [v.log_ratio for v in self.variables]
        inside = [
            x if ratio is None else x * pt.exp(ratio)
            for x, ratio in zip(values, ratios, strict=True)
        ]
        outside = [
            x if ratio is None else x * pt.exp(-ratio)
            for x, ratio in zip(values, ratios, strict=True)
        ]
        positions = [variable.position for variable in self.variables]
        self._inside, self._outside = _many(values, inside), _many(values, outside)
        points = [v.to_position(x) for v, x in zip(self.variables, values, strict=True)]
        self._to_points = _many(values, points)
        self._to_values = _many(positions, as_values(potential.variables, tuple(positions)))

    def points(self, idata: xr.DataTree, *, max_draws: int) -> _Columns:
        """Return draws as points, one array ``(chain, draw, *shape)`` for each variable."""
        graphs = [to_value(self._model, rv) for rv in self._free]
        values = at_draws(idata, self._free, graphs, max_draws=max_draws)
        return _flatly(lambda x: self._to_points(self._inside(x)), values)

    def values(self, points: Sequence[np.ndarray]) -> Arrays:
        """Return PyMC's values by name, ``(chain, draw, ...)``."""
        found = _flatly(lambda x: self._outside(self._to_values(x)), points)
        return dict(zip(self._names, found, strict=True))


def _many(
    inputs: Sequence[TensorVariable], outputs: Sequence[TensorVariable]
) -> Callable[[_Columns], _Columns]:
    """Return a function of many draws; what is the same stays the same array."""
    changed = [i for i, (x, y) in enumerate(zip(inputs, outputs, strict=True)) if x is not y]
    if not changed:
        return list
    function = Interpreted(*for_many(inputs, [outputs[i] for i in changed], varying=inputs))

    def call(columns: _Columns) -> _Columns:
        found = list(columns)
        with np.errstate(all="ignore"):
            computed = function(*columns)
        for i, x in zip(changed, computed, strict=True):
            found[i] = x
        return found

    return call


def _flatly(function: Callable[[_Columns], _Columns], columns: Sequence[np.ndarray]) -> _Columns:
    """Call a function of draws along one axis with draws along two."""
    shape = columns[0].shape[:2]
    found = function([x.reshape(-1, *x.shape[2:]) for x in columns])
    return [np.asarray(x).reshape(*shape, *np.shape(x)[1:]) for x in found]
