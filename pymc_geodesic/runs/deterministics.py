#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Free variables and Deterministics of a model, computed for many draws at once."""

from __future__ import annotations

import math

from collections.abc import Collection, Sequence

import numpy as np
import pytensor.tensor as pt

from pymc.model import Model
from pytensor.graph.replace import vectorize_graph
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorVariable

from pymc_geodesic.graph_inputs import graph_input
from pymc_geodesic.kernel.interpreted import interpreted
from pymc_geodesic.sampling.run import Arrays

__all__ = ["Traced"]

# Bytes of values that are processed at once; intermediate results are several times larger.
MOST_BYTES = 2**26


class Traced:
    """The variables that a run returns, as functions of PyMC's values.

    PyMC calls a compiled function for every draw. Here NumPy processes all draws together, and
    nothing is compiled.

    Parameters
    ----------
    model : Model
        The model.
    var_names : sequence of str, optional
        Free variables and Deterministics to return; by default all.
    without : collection of str
        Those that are left out.

    Attributes
    ----------
    variables : list of TensorVariable
        Graphs of the variables.
    value_names : list of str
        Value variables on which they depend.

    Raises
    ------
    ValueError
        If the model has no such variable, or no variable is requested.
    """

    def __init__(
        self,
        model: Model,
        var_names: Sequence[str] | None,
        *,
        without: Collection[str] = (),
    ) -> None:
        known = [rv.name for rv in model.unobserved_RVs]
        names = [name for name in known if name not in without] if var_names is None else var_names
        variables = [rv for rv in model.unobserved_RVs if rv.name in names]
        if unknown := [name for name in var_names or () if name not in known]:
            raise ValueError(
                f"`var_names` expected variables among {', '.join(known)}; got "
                f"{', '.join(unknown)}."
            )
        if both := [name for name in names if name in without]:
            raise ValueError(
                f"`var_names` expected variables that are not in `keep`, got {', '.join(both)}."
            )
        if not variables and not without:
            raise ValueError("`var_names` expected at least one variable to return, got none.")
        self.variables: list[TensorVariable] = model.replace_rvs_by_values(variables)
        used = set(ancestors(self.variables))
        self._values = [value for value in model.value_vars if value in used]
        self.value_names = [value.name for value in self._values]

    def __call__(self, draws: Arrays, shape: tuple[int, int]) -> Arrays:
        """Return the variables for values of shape ``(chain, draw, ...)``."""
        found = {x.name: draws[x.name] for x in self.variables if x.name in draws}
        computed = [x for x in self.variables if x.name not in draws]
        flat = [draws[name].reshape(-1, *draws[name].shape[2:]) for name in self.value_names]
        arrays = self._computed(computed, flat, math.prod(shape)) if computed else []
        for x, array in zip(computed, arrays, strict=True):
            found[x.name] = array.reshape(*shape, *array.shape[1:])
        return {x.name: found[x.name] for x in self.variables}

    def _computed(
        self, graphs: Sequence[TensorVariable], values: Sequence[np.ndarray], n_draws: int
    ) -> list[np.ndarray]:
        many = [
            graph_input(v.name, dtype=v.dtype, shape=(None, *v.type.shape)) for v in self._values
        ]
        replacements = dict(zip(self._values, many, strict=True))
        n = pt.lscalar("n_draws")
        function = interpreted([n, *many], [_for_each(x, replacements, n) for x in graphs])
        n_bytes = max(sum(x.nbytes for x in values), 1)
        size = max(1, math.floor(n_draws * MOST_BYTES / n_bytes))
        blocks = [
            function(min(size, n_draws - i), *(x[i : i + size] for x in values))
            for i in range(0, n_draws, size)
        ]
        return [np.concatenate(parts) for parts in zip(*blocks, strict=True)]


def _for_each(
    graph: TensorVariable,
    replacements: dict[TensorVariable, TensorVariable],
    n_draws: TensorVariable,
) -> TensorVariable:
    """Write a graph for many draws, even if it is the same for all of them."""
    result = vectorize_graph(graph, replacements) if replacements else graph
    return result if result.ndim > graph.ndim else pt.alloc(result, n_draws, *result.shape)
