#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Free variables and Deterministics of a model, computed for many draws at once."""

from __future__ import annotations

import math

from collections.abc import Callable, Collection, Sequence
from functools import cached_property

import numpy as np
import pytensor.tensor as pt

from pymc.model import Model
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.replace import vectorize_graph
from pytensor.graph.traversal import ancestors, toposort
from pytensor.tensor import TensorVariable

from pymc_geodesic.graph_inputs import graph_input
from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.runs.memory import bytes_of_draw
from pymc_geodesic.sampling.run import Arrays
from pymc_geodesic.stages import log

__all__ = ["Traced", "how_to_compute"]

# Bytes of the arrays of the draws that are processed at once. There may be several such arrays.
MOST_BYTES = 2**26
# Draws for which a Deterministic is tried that has failed for all of them.
MOST_FAILURES = 100


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
    unless_named : collection of str
        Those that are left out unless ``var_names`` names them.

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
        unless_named: Collection[str] = (),
    ) -> None:
        known = [rv.name for rv in model.unobserved_RVs]
        names = var_names
        if names is None:
            names = [name for name in known if name not in {*without, *unless_named}]
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
        self._set(model, model.replace_rvs_by_values(variables))
        self._model, self._free = model, {rv.name for rv in model.free_RVs}
        # Deterministics that could not be computed, and what has been said of others.
        self._failed: set[str] = set()
        # Shapes of those that could be computed for some draws: all of the next ones may fail.
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._said: set[str] = set()

    @cached_property
    def n_bytes(self) -> dict[str, int]:
        """Bytes of a draw of each variable, by name."""
        return bytes_of_draw(self._model, self.variables)

    @cached_property
    def bytes_of_values(self) -> dict[str, int]:
        """Bytes of a draw of PyMC's values, by variable, where they are stored beside it."""
        there = {x.name for x in self.variables}
        values = [value for value in self._values if value.name not in there]
        found = bytes_of_draw(self._model, values)
        return {self._model.values_to_rvs[value].name: found[value.name] for value in values}

    def is_free(self, name: str) -> bool:
        """Return whether a variable is a free variable of the model."""
        return name in self._free

    def leave_out(self, name: str) -> None:
        """Return a variable no longer."""
        self._set(self._model, [x for x in self.variables if x.name != name])

    def _set(self, model: Model, variables: Sequence[TensorVariable]) -> None:
        self.variables = list(variables)
        used = set(ancestors(self.variables))
        self._values = [value for value in model.value_vars if value in used]
        self.value_names = [value.name for value in self._values]

    def __call__(self, draws: Arrays, shape: tuple[int, int]) -> Arrays:
        """Return the variables for values of shape ``(chain, draw, ...)``."""
        return self._of(self.variables, draws, shape)

    def kept(self, draws: Arrays, shape: tuple[int, int], *, only_free: bool = False) -> Arrays:
        """Return what can be computed of the variables, and say what cannot.

        A Deterministic is NaN at draws for which it fails, and left out if it fails for all.

        Parameters
        ----------
        draws : dict of str to ndarray, shape (chain, draw, ...)
            PyMC's values.
        shape : tuple of int
            Numbers of chains and of draws.
        only_free : bool
            Whether to leave out all Deterministics. If there is no memory for the free variables
            beside PyMC's values, these are returned.
        """
        free = [x for x in self.variables if x.name in self._free]
        try:
            found = self._of(free, draws, shape)
        except MemoryError as error:
            if not only_free:
                raise
            log.warning(f"The result has PyMC's values in place of the variables: {error}.")
            return {name: draws[name] for name in self.value_names}
        if not only_free:
            found |= self._deterministics(draws, shape)
        return {x.name: found[x.name] for x in self.variables if x.name in found}

    def _deterministics(self, draws: Arrays, shape: tuple[int, int]) -> Arrays:
        graphs = [x for x in self.variables if x.name not in self._free | self._failed]
        try:
            return self._of(graphs, draws, shape)
        except Exception:
            alone = {x.name: self._alone(x, draws, shape) for x in graphs}
        return {name: x for name, x in alone.items() if x is not None}

    def _alone(
        self, graph: TensorVariable, draws: Arrays, shape: tuple[int, int]
    ) -> np.ndarray | None:
        """Compute a Deterministic by itself, draw by draw if it fails; None if it fails for all."""
        try:
            return self._of([graph], draws, shape)[graph.name]
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            found = None
            if not isinstance(error, MemoryError):
                found = self._one_by_one(graph, draws, math.prod(shape))
                if found is None and graph.name in self._shapes:
                    n_draws = math.prod(shape)
                    found = np.full((n_draws, *self._shapes[graph.name]), np.nan), n_draws
        if found is None:
            self._failed.add(graph.name)
            log.warning(
                f"`{graph.name}` could not be computed and is left out of the result: {reason}. "
                + how_to_compute(graph.name)
            )
            return None
        values, n_failed = found
        if n_failed and graph.name not in self._said:
            self._said.add(graph.name)
            log.warning(
                f"`{graph.name}` could not be computed for {n_failed:,} of {math.prod(shape):,} "
                f"draws, where it is NaN in the result: {reason}."
            )
        return values.reshape(*shape, *values.shape[1:])

    def _one_by_one(
        self, graph: TensorVariable, draws: Arrays, n_draws: int
    ) -> tuple[np.ndarray, int] | None:
        """Compute a Deterministic for each draw; return it and the number of failures."""
        function, flat = self._function([graph]), self._flat(draws)
        values: np.ndarray | None = None
        n_failed = 0
        for i in range(n_draws):
            try:
                [value] = function(1, *(x[i : i + 1] for x in flat))
            except Exception:
                n_failed += 1
                if values is None and n_failed == MOST_FAILURES:
                    return None
                continue
            if values is None:
                # Integers have no NaN.
                dtype = value.dtype if value.dtype.kind == "f" else np.dtype(float)
                values = np.full((n_draws, *value.shape[1:]), np.nan, dtype)
                self._shapes[graph.name] = value.shape[1:]
            values[i] = value[0]
        return None if values is None else (values, n_failed)

    def _of(
        self, graphs: Sequence[TensorVariable], draws: Arrays, shape: tuple[int, int]
    ) -> Arrays:
        found = {x.name: draws[x.name] for x in graphs if x.name in draws}
        computed = [x for x in graphs if x.name not in draws]
        arrays = self._computed(computed, draws, math.prod(shape)) if computed else []
        for x, array in zip(computed, arrays, strict=True):
            found[x.name] = array.reshape(*shape, *array.shape[1:])
            self._shapes[x.name] = array.shape[1:]
        return {x.name: found[x.name] for x in graphs}

    def _computed(
        self, graphs: Sequence[TensorVariable], draws: Arrays, n_draws: int
    ) -> list[np.ndarray]:
        function, values = self._function(graphs), self._flat(draws)
        # Of one draw: what goes in, what comes out, and the largest array between them.
        first = function(1, *(x[:1] for x in values))
        n_bytes = sum(x.nbytes // max(len(x), 1) for x in values) + sum(x.nbytes for x in first)
        n_bytes = max(n_bytes, _largest_between(self._values, graphs), 1)
        size = max(1, MOST_BYTES // n_bytes)
        found = [np.empty((n_draws, *x.shape[1:]), x.dtype) for x in first]
        for i in range(0, n_draws, size):
            n = min(size, n_draws - i)
            block = function(n, *(x[i : i + n] for x in values))
            for array, part in zip(found, block, strict=True):
                array[i : i + n] = part
        return found

    def _function(self, graphs: Sequence[TensorVariable]) -> Callable[..., list[np.ndarray]]:
        """Return the graphs as a function of the number of draws and of values of all of them."""
        many = [
            graph_input(v.name, dtype=v.dtype, shape=(None, *v.type.shape)) for v in self._values
        ]
        replacements = dict(zip(self._values, many, strict=True))
        n = pt.lscalar("n_draws")
        return Interpreted([n, *many], [_for_each(x, replacements, n) for x in graphs])

    def _flat(self, draws: Arrays) -> list[np.ndarray]:
        return [draws[name].reshape(-1, *draws[name].shape[2:]) for name in self.value_names]


def how_to_compute(*names: str) -> str:
    """Return how Deterministics are computed after a run."""
    listed = ", ".join(f'"{name}"' for name in names)
    return (
        "For some of the draws, `pm.compute_deterministics(idata.posterior.isel(draw=slice(None, "
        f"None, 100)), model=model, var_names=[{listed}])` computes "
        f"{'it' if len(names) == 1 else 'them'}."
    )


def _largest_between(values: Sequence[TensorVariable], graphs: Sequence[TensorVariable]) -> int:
    """Return the bytes of the largest array, of those of known shape, on the way to graphs."""
    found, depends = 0, set(values)
    for node in toposort(graphs):
        if depends.isdisjoint(node.inputs):
            continue
        depends.update(node.outputs)
        for x in node.outputs:
            shape = getattr(x.type, "shape", (None,))
            if None not in shape:
                found = max(found, math.prod(shape) * np.dtype(x.type.dtype).itemsize)
        # An array of unknown shape is seldom larger than the data that it is computed from.
        data = [x.get_value(borrow=True) for x in node.inputs if isinstance(x, SharedVariable)]
        found = max([found, *(getattr(array, "nbytes", 0) for array in data)])
    return found


def _for_each(
    graph: TensorVariable,
    replacements: dict[TensorVariable, TensorVariable],
    n_draws: TensorVariable,
) -> TensorVariable:
    """Write a graph for many draws, even if it is the same for all of them."""
    result = vectorize_graph(graph, replacements) if replacements else graph
    return result if result.ndim > graph.ndim else pt.alloc(result, n_draws, *result.shape)
