#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What is predicted: variables of rows and their expected values, at all draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from pymc.model import Model
from pymc.model.fgraph import ModelDeterministic
from pytensor.tensor import TensorVariable
from pytensor.tensor.random.basic import CategoricalRV

from pymc_geodesic.manifolds import Manifold, manifold_of
from pymc_geodesic.manifolds.registry import recorded_manifolds
from pymc_geodesic.predictions.expected import expected, probabilities_of
from pymc_geodesic.predictions.local_effects import LocalEffects, with_new_groups
from pymc_geodesic.predictions.new_rows import NewRows
from pymc_geodesic.predictions.rows_of_model import (
    ModelRows,
    RowsAtDraws,
    flat_draws,
    free_variables,
)
from pymc_geodesic.rows.convert import BATCH_SIZE
from pymc_geodesic.rows.selection import Rows
from pymc_geodesic.run_record import batch_size_of

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
    manifold : Manifold, optional
        Where its values lie.
    begin : callable
        Prepares for some rows, before :attr:`at_rows` is called for parts of them.
    least : int
        Rows for which it is called at least, if there are so many.
    n_categories : int
        Number of the categories whose codes its values are; zero of numbers.
    """

    name: str
    n_rows: int
    at_rows: Callable[[np.ndarray], np.ndarray]
    dims: Sequence[str]
    coords: Mapping[str, Any]
    manifold: Manifold | None
    begin: Callable[[np.ndarray], None] = lambda rows: None
    least: int = 1
    n_categories: int = 0


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
        self._batch_size = batch_size_of(idata) or BATCH_SIZE
        self._require_shapes()

    def names(self, var_names: str | Sequence[str] | None) -> list[str]:
        """Return the names of the variables that are asked for, by default all observed ones."""
        found = self._found
        observed = [name for name in found.variables if found.is_observed(name)]
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
        if self._found.is_part(name):
            raise ValueError(
                f"`new_data` expected rows, because the model holds only some of those of `{name}`"
                ", got None. Pass all of them, such as the path of a Parquet file."
            )
        n = self._found.n_rows(name)
        return self._quantity(name, n, partial(self._found.rows, n))

    def all_of_new(self, names: Sequence[str], data: Mapping[str, np.ndarray]) -> list[Quantity]:
        """Return variables of the rows of new data."""
        n = len(next(iter(data.values())))
        return [self.of_new(name, data, n) for name in names]

    def of_new(self, name: str, data: Mapping[str, np.ndarray], n: int) -> Quantity:
        """Return a variable of the rows of new data."""
        found = self._found
        rows = partial(NewRows, found.facts, found.data, data, n, new_groups=self._new_groups)
        return self._quantity(name, n, rows)

    def _quantity(self, name: str, n: int, rows_of: Callable[..., Rows]) -> Quantity:
        rows = rows_of()
        graph, effects = self._graph(name, rows), None
        if missing := [x for x in free_variables([graph]) if x.owner.op.name not in self._draws]:
            self._require_integrated(missing)
            rows = rows_of() if isinstance(rows, NewRows) else rows_of(few=1)
            self._graph(name, rows)
            effects = LocalEffects(
                self._found,
                rows,
                missing,
                self._draws,
                batch_size=self._batch_size,
                rng=self._rng,
            )
            rows = rows_of(local=effects.local)
            graph = self._graph(name, rows)
        dims, coords = self._axes(name, graph)
        manifold = self._manifold(name, graph)
        if self._kind == "mean" and self._found.is_observed(name):
            graph = expected(name, graph)
        self._draws = with_new_groups(self._found, rows, self._draws, self._rng)
        inputs = [] if effects is None else effects.inputs
        function = RowsAtDraws(rows, [graph], self._draws, rng=self._rng, effects=inputs)
        found = Quantity(name, n, lambda at: function(at)[0], dims, coords, manifold)
        if effects is not None:
            of, begin = effects.of, effects.begin
            found = found._replace(at_rows=lambda at: function(at, *of(at))[0], begin=begin)
        return found._replace(n_categories=self._n_categories(name))

    def _graph(self, name: str, rows: Rows) -> TensorVariable:
        found = self._found
        graph = (found.drawn if found.is_observed(name) else found.computed)(name, rows)
        if graph is None:
            through = ", ".join(sorted({f"`{x}`" for _, x in rows.whole})) or "each other"
            raise ValueError(
                f"`{name}` expected rows that do not depend on each other, got some that do "
                f"through {through}. `pm.sample_posterior_predictive` predicts all of them "
                "together."
            )
        return graph

    def _axes(self, name: str, graph: TensorVariable) -> tuple[list[str], dict[str, Any]]:
        """Return names of axes, and their coordinates."""
        given = self._model.named_vars_to_dims.get(name) or (None,) * graph.ndim
        dims = [f"{name}_dim_{i}" if d is None else str(d) for i, d in enumerate(given)]
        if isinstance(graph.owner.op, CategoricalRV) and self._kind == "mean":
            dims.append(f"{name}_category")
        known = self._model.coords
        return dims, {d: known[d] for d in dims if known.get(d) is not None}

    def _n_categories(self, name: str) -> int:
        """Return the number of categories of a variable whose responses are their codes."""
        if self._kind == "mean" or not self._found.is_observed(name):
            return 0
        p = probabilities_of(self._found.value(name))
        return 0 if p is None else self._found.facts.length(p, p.ndim - 1)

    def _manifold(self, name: str, graph: TensorVariable) -> Manifold | None:
        if self._found.is_observed(name):
            return manifold_of(graph)
        return self._manifolds.get(name)

    def _require_integrated(self, missing: Sequence[TensorVariable]) -> None:
        """Raise an error for variables of few entries, which no run integrates out."""
        shapes = self._found.facts.shapes
        few = [x.owner.op.name for x in missing if max(shapes[x], default=1) <= self._batch_size]
        if few:
            raise ValueError(
                f"`idata` expected draws of {few}, on which the rows depend, got those of "
                f"{sorted(self._draws) or None}. Sample them too: name them in `var_names`."
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
