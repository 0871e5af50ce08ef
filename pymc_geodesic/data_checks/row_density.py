#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The log density of each row that a variable observes, evaluated without a compiler."""

from __future__ import annotations

import math

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytensor

from pymc.model import Model
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors
from pytensor.scalar.basic import Cast
from pytensor.tensor import TensorConstant, TensorVariable
from pytensor.tensor.elemwise import Elemwise

from pymc_geodesic.graph_inputs import LARGE_CONSTANT
from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.potential.batch_structure import batched_variables
from pymc_geodesic.potential.local import find_expectations
from pymc_geodesic.potential.log_density import LogDensity, without_checks
from pymc_geodesic.potential.packed import is_packed
from pymc_geodesic.potential.stream import Source

__all__ = [
    "NoRowDensity",
    "Point",
    "RowDensity",
    "row_densities",
    "with_shared_constants",
]

Point = Mapping[str, np.ndarray]

# Rows evaluated at once: so many that the cost of a call is negligible, and so few that they fit
# into the cache and the memory. At most this number of batches, or 500 rows; of wide rows, at most
# as many as have these numbers.
CHUNK = 10_000
BATCHES = 50
AT_LEAST = 500
NUMBERS = 1_000_000


# Errors of NumPy if shapes do not fit.
UNFIT = (ValueError, TypeError, IndexError, AssertionError, NotImplementedError)


class NoRowDensity(Exception):
    """The log density of single rows cannot be evaluated."""


class RowDensity:
    """Values and unscaled log densities of the rows that a variable observes.

    Functions are built on first use and are not pickled.

    Parameters
    ----------
    model : pymc.Model
        The model.
    rv : TensorVariable
        An observed variable of the model.
    source : BatchSource or StreamSource
        Source of its rows.

    Attributes
    ----------
    has_density : bool
        Whether the log density has a closed form that is cheap to evaluate. Distributions of
        documents and latent words have none, and check their data themselves.
    """

    def __init__(self, model: Model, rv: TensorVariable, source: Source) -> None:
        self.model, self.rv, self.source = model, rv, source
        self.name = rv.name
        self.has_density = not any(is_packed(tensor) for tensor in source.batches)
        self._values_of: Any = None
        self._density_of: Any = None
        self._graph: tuple[TensorVariable, TensorVariable] | None = None
        # The model's shapes are assumed to allow any number of rows, until only a batch fits.
        self._only_batches = False

    def __getstate__(self) -> dict[str, Any]:
        """Drop the functions, which are made anew."""
        return self.__dict__ | {"_values_of": None, "_density_of": None, "_graph": None}

    @property
    def chunk(self) -> int:
        """Number of rows to evaluate at once."""
        shapes = [batch.type.shape[1:] for batch in self.source.batches]
        width = sum(math.prod(n or 1 for n in shape) for shape in shapes)
        by_batches = max(AT_LEAST, BATCHES * self.source.batch_size)
        return min(CHUNK, by_batches, max(1, NUMBERS // width))

    def chunks(self) -> Sequence[np.ndarray]:
        """Split the indices of all rows into chunks."""
        n = self.source.n_rows
        return [np.arange(start, min(start + self.chunk, n)) for start in range(0, n, self.chunk)]

    def values(self, rows: np.ndarray) -> np.ndarray:
        """Return the observed values of rows, before a cast to the type of the variable."""
        if self._values_of is None:
            index = self.source.placeholder("rows", None)
            value = clone_replace(
                [_uncast(self.model.rvs_to_values[self.rv])],
                self.source.replacements(index),
                rebuild_strict=False,
            )
            self._values_of = Interpreted([index], with_shared_constants(value))
        return self._values_of(rows)[0]

    def __call__(self, point: Point, rows: np.ndarray) -> np.ndarray:
        """Return the log density of rows at a point, without ``total_size``, term by term.

        Raises
        ------
        NoRowDensity
            If it has no closed form, or cannot be evaluated for these rows.
        """
        if self._density_of is None:
            self._density_of = self._make_density()
        inputs = [np.asarray(point[v.name], dtype=v.dtype) for v in self.model.value_vars]
        with np.errstate(all="ignore"):
            if not self._only_batches:
                try:
                    return self._density_of(*inputs, rows)[0]
                except UNFIT:
                    self._only_batches = True
            try:
                return self._by_batches(inputs, rows)
            except UNFIT as error:
                raise NoRowDensity(self.name) from error

    def by_row(self, point: Point, rows: np.ndarray) -> np.ndarray | None:
        """Return the log density with the rows as first axis, or None if it is summed over rows."""
        terms = self(point, rows)
        axes = [axis for axis, length in enumerate(terms.shape) if length == len(rows)]
        return np.moveaxis(terms, axes[0], 0) if axes else None

    def _by_batches(self, inputs: Sequence[np.ndarray], rows: np.ndarray) -> np.ndarray:
        """Evaluate one batch of rows at a time; the last batch repeats some rows."""
        n, size = len(rows), self.source.batch_size
        padded = np.take(rows, np.arange(-(-n // size) * size) % n, axis=0)
        batches = padded.reshape(-1, size, *rows.shape[1:])
        found = [self._density_of(*inputs, batch)[0] for batch in batches]
        # NumPy repeats a single row beside data of any length.
        if size == 1 and found[0].shape[:1] not in ((), (1,)):
            raise NoRowDensity(self.name)
        return np.concatenate(found)[:n]

    @property
    def graph(self) -> tuple[TensorVariable, TensorVariable]:
        """The rows, and the log density as a function of them and of the free variables.

        Raises
        ------
        NoRowDensity
            If it has no closed form.
        """
        if self._graph is None:
            rows = self.source.placeholder("rows", None)
            density = LogDensity(self.model, (), rows={self.source: rows}, scaled=False)
            self._graph = rows, density.term_of(self.rv)
        if find_expectations([self._graph[1]]):
            raise NoRowDensity(self.name)
        return self._graph

    def _make_density(self) -> Callable[..., list[np.ndarray]]:
        rows, term = self.graph
        terms = with_shared_constants(without_checks([term], impossible=True))
        return Interpreted([*self.model.value_vars, rows], terms)


def _uncast(value: TensorVariable) -> TensorVariable:
    """Undo the cast with which PyMC rounds numbers to integers."""
    node = value.owner
    if node is not None and isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, Cast):
        return node.inputs[0]
    return value


def with_shared_constants(outputs: Sequence[TensorVariable]) -> list[TensorVariable]:
    """Replace constant data by shared variables, which PyTensor neither compares nor folds."""
    replacements = {
        variable: pytensor.shared(
            variable.data, name=variable.name, shape=variable.type.shape, borrow=True
        )
        for variable in ancestors(list(outputs))
        if isinstance(variable, TensorConstant) and variable.data.size > LARGE_CONSTANT
    }
    return clone_replace(list(outputs), replace=replacements, rebuild_strict=False)


def row_densities(model: Model, sources: Sequence[Source]) -> list[RowDensity]:
    """Return a :class:`RowDensity` for every observed variable that depends on a batch."""
    return [
        RowDensity(model, rv, source)
        for source in sources
        for rv in batched_variables(model, source.batches)
    ]
