#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What is predicted: variables of rows as functions of the numbers of rows, at all draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from pymc.model import Model
from pymc.model.fgraph import ModelDeterministic, ModelObservedRV
from pytensor.tensor import TensorVariable
from pytensor.tensor.random.basic import CategoricalRV

from pymc_geodesic.manifolds import Euclidean, Manifold, manifold_of
from pymc_geodesic.manifolds.recorded import recorded_manifolds
from pymc_geodesic.predictions.expected import expected
from pymc_geodesic.predictions.new_groups import with_new_groups
from pymc_geodesic.predictions.new_rows import NewRows
from pymc_geodesic.predictions.rows_at_draws import RowsAtDraws, flat_draws, free_variables
from pymc_geodesic.predictions.rows_of_model import ModelRows
from pymc_geodesic.rows.selection import Rows

__all__ = ["Predictor", "Quantity"]


class Quantity(NamedTuple):
    """A variable of rows.

    Attributes
    ----------
    name : str
        Its name.
    n_rows : int
        Number of rows.
    at_rows : callable
        Returns it at all draws, of shape (S, rows, ...), for some rows.
    dims : sequence of str
        Names of its axes, that of the rows first; others may follow.
    coords : mapping
        Coordinates of these.
    manifold : Manifold
        Where its values lie.
    """

    name: str
    n_rows: int
    at_rows: Callable[[np.ndarray], np.ndarray]
    dims: Sequence[str]
    coords: Mapping[str, Any]
    manifold: Manifold


class Predictor:
    """Variables of rows of a model, at the draws of its posterior.

    Parameters
    ----------
    model : Model
        With all of its data.
    idata : DataTree
        Draws of its free variables.
    kind : {"mean", "response"}
        Whether observed variables have their expected value, or are drawn.
    new_groups : bool
        Whether new rows may be of groups that the model does not have.
    rng : Generator
        Source of what is drawn.
    """

    def __init__(
        self,
        model: Model,
        idata: xr.DataTree,
        *,
        kind: str,
        new_groups: bool,
        rng: np.random.Generator,
    ) -> None:
        self._model, self._kind, self._rng = model, kind, rng
        self._found = ModelRows(model)
        self._new_groups = new_groups
        self._draws = flat_draws(idata["posterior"].to_dataset(), model.free_RVs)
        self._manifolds = recorded_manifolds(idata)
        self._require_shapes()

    def names(self, var_names: str | Sequence[str] | None) -> list[str]:
        """Return the names of the variables that are asked for, by default all observed ones."""
        found = self._found
        observed = [
            name for name, x in found.variables.items() if isinstance(x.owner.op, ModelObservedRV)
        ]
        if var_names is None:
            names = [name for name in observed if found.value(name).ndim]
        else:
            names = [var_names] if isinstance(var_names, str) else list(var_names)
        known = observed + [
            name
            for name, x in found.variables.items()
            if isinstance(x.owner.op, ModelDeterministic)
        ]
        for name in names:
            if name not in known or not found.value(name).ndim:
                raise ValueError(
                    "`var_names` expected observed variables and Deterministics with rows, which "
                    f"are among {known}, got {name!r}."
                )
        if not names:
            raise ValueError(
                "`model` expected an observed variable with rows, got none. Name a Deterministic "
                "in `var_names`."
            )
        return names

    def of_model(self, name: str) -> Quantity:
        """Return a variable of the rows of the model."""
        n = self._found.n_rows(name)
        return self._quantity(name, self._found.rows(n), n)

    def of_new(self, name: str, data: Mapping[str, np.ndarray], n: int) -> Quantity:
        """Return a variable of the rows of new data."""
        rows = NewRows(self._found.facts, self._found.data, data, n, new_groups=self._new_groups)
        return self._quantity(name, rows, n)

    def _quantity(self, name: str, rows: Rows, n: int) -> Quantity:
        is_observed = isinstance(self._found.variables[name].owner.op, ModelObservedRV)
        found = self._found
        graph = found.drawn(name, rows) if is_observed else found.computed(name, rows)
        if graph is None or rows.whole:
            raise ValueError(
                f"`{name}` expected rows that do not depend on each other, got some that do "
                f"through {', '.join(sorted({f'`{x}`' for _, x in rows.whole})) or 'each other'}. "
                "`pm.sample_posterior_predictive` predicts all of them together."
            )
        dims = self._dims(name, graph.ndim)
        manifold = self._manifold(name, graph, is_observed=is_observed)
        if is_observed and self._kind == "mean":
            if isinstance(graph.owner.op, CategoricalRV):
                dims = [*dims, f"{name}_category"]
            graph = expected(name, graph)
        self._require_draws([graph])
        self._draws = with_new_groups(found, rows, self._draws, self._rng)
        function = RowsAtDraws(rows, [graph], self._draws, rng=self._rng)
        coords = {d: self._model.coords[d] for d in dims if self._model.coords.get(d) is not None}
        return Quantity(name, n, lambda at: function(at)[0], dims, coords, manifold)

    def _dims(self, name: str, n: int) -> list[str]:
        given = self._model.named_vars_to_dims.get(name) or ()
        own = [None if d is None else str(d) for d in given] or [None] * n
        return [f"{name}_dim_{i}" if d is None else d for i, d in enumerate(own)]

    def _manifold(self, name: str, graph: TensorVariable, *, is_observed: bool) -> Manifold:
        return manifold_of(graph) if is_observed else self._manifolds.get(name, Euclidean())

    def _require_draws(self, graphs: Sequence[TensorVariable]) -> None:
        names = [x.owner.op.name for x in free_variables(graphs)]
        if missing := [name for name in names if name not in self._draws]:
            raise ValueError(
                f"`idata` expected draws of {missing}, on which the rows depend, got draws of "
                f"{sorted(self._draws)}. Sample them too: name them in `var_names`."
            )

    def _require_shapes(self) -> None:
        shapes = {x.owner.op.name: shape for x, shape in self._found.facts.shapes.items()}
        for name, draws in self._draws.items():
            if draws.shape[1:] != shapes[name]:
                raise ValueError(
                    f"`idata` expected draws of `{name}` of the shape {shapes[name]}, as in the "
                    f"model, got {draws.shape[1:]}. Pass the model that was sampled; the data of "
                    "other rows are `new_data`."
                )
