#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The log density of each row of an observed variable, at draws of a posterior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import batched
from typing import NamedTuple

import numpy as np

from pymc.model import Model
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorVariable

from pymc_geodesic.kernel.interpreted import Interpreted, with_batch_axis
from pymc_geodesic.potential.log_density import LogDensity, without_checks
from pymc_geodesic.potential.minibatch import find_batch_sources, has_minibatch, n_rows, total_size
from pymc_geodesic.potential.stream import Source
from pymc_geodesic.potential.variables import sampled_variables
from pymc_geodesic.rows.convert import BATCH_SIZE, converted
from pymc_geodesic.rows.refusals import DependentRowsError
from pymc_geodesic.runs.at_draws import Point, PosteriorPoints

__all__ = ["RowDensities"]

# Rows that are evaluated at once at a point, and at many: intermediate results stay in a
# processor's cache.
CHUNK, MOST_NUMBERS = 10_000, 2**17


class Part(NamedTuple):
    """Rows of an observed variable whose log density is one function of their numbers.

    Attributes
    ----------
    name : str
        Name of the variable in the model of batches.
    places : ndarray of int, optional
        The numbers of its rows among all rows; None if it has all of them.
    """

    name: str
    places: np.ndarray | None = None


class PartDensity:
    """The log density of the rows of a part.

    Parameters
    ----------
    points, numbers : sequence of TensorVariable
        Inputs: a point, and the numbers of rows, without which the term has all of them.
    term : TensorVariable
        Log density of each row.
    n_rows : int
        Number of the rows of the part.
    places : ndarray of int
        Their numbers among all rows.
    """

    def __init__(
        self,
        points: Sequence[TensorVariable],
        numbers: Sequence[TensorVariable],
        term: TensorVariable,
        *,
        n_rows: int,
        places: np.ndarray,
    ) -> None:
        self.takes_numbers, self.n_rows, self.places = bool(numbers), n_rows, places
        inputs = [*points, *numbers]
        self._takes_many = True
        try:
            graph = with_batch_axis(inputs, [term], varying=points)
        except NotImplementedError:
            self._takes_many, graph = False, (inputs, [term])
        self._function = Interpreted(*graph)

    def __call__(self, points: Sequence[Point], numbers: np.ndarray) -> np.ndarray:
        """Evaluate rows at points; return ``(point, row)``."""
        given = [numbers] if self.takes_numbers else []
        if self._takes_many:
            size = max(1, MOST_NUMBERS // max(len(numbers), 1))
            parts = [
                self._function(*map(np.stack, zip(*block, strict=True)), *given)[0]
                for block in batched(points, size)
            ]
            found = np.concatenate(parts)
        else:
            found = np.array([self._function(*point, *given)[0] for point in points])
        return found if given else found[:, numbers]


class RowDensities:
    """The log density of each row of an observed variable, given the free variables.

    Rows are those of its first axis, and are not scaled by ``total_size``. Variables with an entry
    for each row are integrated out, as by :func:`pymc_geodesic.minibatch`.

    Parameters
    ----------
    model : Model
        With all of its data, or with minibatches.
    name : str, optional
        An observed variable, or a potential that is a sum over rows; by default the only one.

    Attributes
    ----------
    name : str
        Name of the variable.
    n_rows : int
        Number of all rows.
    points : PosteriorPoints
        Points of the free variables on which the rows depend.

    Raises
    ------
    DependentRowsError
        If rows depend on each other.
    ValueError
        If there is no such variable, or there are several and no ``name`` is given.
    """

    def __init__(self, model: Model, name: str | None) -> None:
        batches, of_variables = _in_batches(model)
        self.name, self._model = _chosen(of_variables, name), batches
        variables = sampled_variables(
            batches,
            batches.continuous_value_vars,
            initial_point=batches.initial_point(),
            coordinates={},
        )
        rows: dict[Source, TensorVariable] = {
            source: source.placeholder("rows", None) for source in find_batch_sources(batches)
        }
        density = LogDensity(batches, variables, rows=rows, scaled=False)
        parts = of_variables[self.name]
        terms = [_of_each_row(part.name, density.term_of(batches[part.name])) for part in parts]
        above = set(ancestors(terms))
        own = [variable for variable in variables if variable.position in above]
        if not own:
            raise ValueError(
                f"The rows of `{self.name}` expected a density that depends on a sampled variable, "
                "got one that is known. Add up `model.logp` instead."
            )
        self._inputs = tuple(variable.position for variable in own)
        self._parts = [self._part(*pair, rows) for pair in zip(parts, terms, strict=True)]
        self.n_rows = sum(part.n_rows for part in self._parts)
        self.points = PosteriorPoints(batches, own)

    def of_rows(self, points: Sequence[Point], numbers: np.ndarray) -> np.ndarray:
        """Return the log densities of some rows at points: (point, row)."""
        found = np.empty((len(points), len(numbers)))
        for part in self._parts:
            own = np.searchsorted(part.places, numbers)
            own[own == part.n_rows] = 0
            is_own = part.places[own] == numbers
            if is_own.any():
                found[:, is_own] = part(points, own[is_own])
        return found

    def of_all_rows(self, point: Point) -> np.ndarray:
        """Return the log density of every row at a point."""
        found = np.empty(self.n_rows)
        for part in self._parts:
            most = CHUNK if part.takes_numbers else part.n_rows
            for start in range(0, part.n_rows, most):
                numbers = np.arange(start, min(start + most, part.n_rows))
                found[part.places[numbers]] = part([point], numbers)[0]
        return found

    def _part(
        self, part: Part, term: TensorVariable, rows: Mapping[Source, TensorVariable]
    ) -> PartDensity:
        above = set(ancestors([term]))
        own = [source for source, numbers in rows.items() if numbers in above]
        if len(own) > 1:
            raise ValueError(
                f"The rows of `{self.name}` expected data of one `pm.Minibatch`, got {len(own)} "
                "of them. Pass all arrays of the same rows to one call of `pm.Minibatch`."
            )
        model = self._model
        n = own[0].n_rows if own else n_rows(model.rvs_to_values[model[part.name]])
        places = np.arange(n) if part.places is None else part.places
        numbers = [rows[source] for source in own]
        return PartDensity(self._inputs, numbers, term, n_rows=n, places=places)


def _in_batches(model: Model) -> tuple[Model, dict[str, list[Part]]]:
    """Return a model with minibatches, and the parts of each of its observed variables.

    A model with fewer rows than a batch stays as it is.
    """
    lengths = [n_rows(model.rvs_to_values[rv]) for rv in model.observed_RVs if rv.ndim]
    longest = max(lengths, default=0)
    if not has_minibatch(model) and (n := total_size(model)) > max(longest, 1):
        raise ValueError(
            f"`model` expected all of its {n:,} rows, got {longest:,} of them, as a loader "
            "replaces them. Pass the same model of rows that fit into memory."
        )
    if has_minibatch(model) or longest <= BATCH_SIZE:
        return model, {rv.name: [Part(rv.name)] for rv in model.observed_RVs}
    found = converted(model, batch_size=BATCH_SIZE)
    parts = {rv.name: [Part(rv.name)] for rv in found.model.observed_RVs}
    for one in found.conversion.integrated:
        has_entry = one.local.has_entry
        if (others := parts.pop(f"{one.name}_others", None)) is not None:
            with_entry, without = np.flatnonzero(has_entry), np.flatnonzero(~has_entry)
            parts[one.name] = [Part(one.name, with_entry), Part(others[0].name, without)]
    return found.model, parts


def _chosen(known: Mapping[str, object], name: str | None) -> str:
    listed = ", ".join(f"`{one}`" for one in known)
    if name is None and len(known) == 1:
        return next(iter(known))
    if name is None or name not in known:
        got = "None" if name is None else f"`{name}`"
        raise ValueError(
            f"`var_name` expected an observed variable, which are {listed or 'none'}; got {got}."
        )
    return name


def _of_each_row(name: str, term: TensorVariable) -> TensorVariable:
    """Sum a term over all axes but the first."""
    if not term.ndim:
        raise DependentRowsError(
            f"The observed variable `{name}` expected a log density that is a sum over rows, got "
            "one number for all of them. Leave out other parts than rows instead, such as the "
            "future: `az.lfo_cv`."
        )
    [term] = without_checks([term], impossible=True)
    return term.sum(axis=tuple(range(1, term.ndim)))
