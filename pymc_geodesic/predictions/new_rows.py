#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Rows of new data, of a model that was written for other rows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pymc.model.fgraph import ModelFreeRV, ModelObservedRV
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import explicit_graph_inputs
from pytensor.tensor import TensorVariable

from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.rows.facts import Facts
from pymc_geodesic.rows.graphs import name_of
from pymc_geodesic.rows.selection import Positions, Rows, rule

__all__ = ["NewRows"]


class NewRows(Rows):
    """The rows of new data, of every variable that is asked for.

    Only data of rows are new. What a model computes from all of its data, such as their mean, keeps
    its value.

    Parameters
    ----------
    facts : Facts
        Values and lengths of the model.
    named : mapping of Variable to str
        Names of the data of the model.
    data : mapping of str to ndarray
        The new data of rows, by these names.
    n_rows : int
        Their number.
    new_groups : bool
        Whether indices may be those of groups that the model does not have.
    local : mapping, optional
        What stands for the rows of free variables.
    """

    def __init__(
        self,
        facts: Facts,
        named: Mapping[Variable, str],
        data: Mapping[str, np.ndarray],
        n_rows: int,
        *,
        new_groups: bool,
        local: Mapping[Variable, TensorVariable] | None = None,
    ) -> None:
        super().__init__(facts, n_rows, 1, local=local)
        self._named, self._new, self._accepts_groups = named, data, new_groups
        self._indices: dict[tuple[TensorVariable, int, TensorVariable], np.ndarray] = {}

    def at(self, positions: Positions) -> np.ndarray:
        """Return the position of each row, where an operation has one for new rows."""
        if positions is None:
            raise ValueError(
                "`new_data` expected a model whose rows do not depend on their place among all "
                "rows, as in slices and joined arrays, got one in which they do. Build the model "
                "with the new rows, and pass it without `new_data`."
            )
        return positions

    def _of(self, var: TensorVariable, axis: int, positions: Positions) -> TensorVariable:
        node = var.owner
        if positions is not None:
            return super()._of(var, axis, positions)
        if self._named.get(var) in self._new:
            return self.leaf_of(self._new[self._named[var]], axis)
        if node is not None and isinstance(node.op, ModelFreeRV):
            return self._all_new(var, axis)
        if self.facts.is_random(var):
            return super()._of(var, axis, positions)
        is_given = node is None or var in self._named or isinstance(node.op, ModelObservedRV)
        found = None if is_given else rule(node.op, self, var, axis, positions)
        if found is None:
            self._refuse(var)
        return found

    def leaf_of(self, array: np.ndarray, axis: int = 0) -> TensorVariable:
        """Return a placeholder for data of the new rows."""
        return super().leaf(array, axis)

    def leaf(self, array: np.ndarray, axis: int = 0, positions: Positions = None) -> TensorVariable:
        """Return a placeholder for what is found at known positions."""
        return super().leaf(array, axis, self.at(positions))

    def index(self, var: TensorVariable, axis: int, positions: Positions) -> TensorVariable:
        """Rows of a variable at known positions."""
        return var[(*[slice(None)] * axis, self.leaf_of(self.at(positions).astype("int64")))]

    @property
    def length(self) -> TensorVariable:
        """Number of rows of a block, as part of a graph."""
        if not self.leaves:
            self.leaf_of(np.arange(self.n_rows))
        return self.leaves[0][0].shape[0]

    def known_index(
        self, x: TensorVariable, axis: int, index: TensorVariable, positions: Positions
    ) -> np.ndarray:
        """Return which entries rows have; groups that the model does not have come last.

        Negative numbers are one new group.
        """
        if positions is not None:
            return self._known_of_entries(x, axis, index, positions)
        key = (x, axis, index)
        if key not in self._indices:
            along = int(np.argmax([not b for b in index.type.broadcastable]))
            self._indices[key] = self._checked(x, axis, self._value(self.of(index, along)), index)
        return self._indices[key]

    def index_of(
        self, x: TensorVariable, axis: int, index: TensorVariable, along: int, positions: Positions
    ) -> TensorVariable:
        """Rows of an index that no new group may have."""
        found = self.of(index, along, positions)
        if positions is None and not self.facts.is_random(index):
            values = self._value(found)
            if np.any((values < 0) | (values >= self.facts.length(x, axis))):
                self._refuse_groups(index, values, self.facts.length(x, axis), alone=False)
        return found

    def _checked(
        self, x: TensorVariable, axis: int, values: np.ndarray, index: TensorVariable
    ) -> np.ndarray:
        values, n = np.asarray(values, dtype="int64").reshape(-1), self.facts.length(x, axis)
        if not self._accepts_groups and np.any((values < 0) | (values >= n)):
            self._refuse_groups(index, values, n, alone=True)
        # The first place after those of the model is that of groups whose number is not known.
        return np.where(values < 0, n, np.where(values < n, values, values + 1))

    def _known_of_entries(
        self, x: TensorVariable, axis: int, index: TensorVariable, positions: np.ndarray
    ) -> np.ndarray:
        try:
            return super().known_index(x, axis, index, positions)
        except IndexError:
            raise ValueError(
                f"`sample_new_groups` expected groups that differ in nothing known, got new ones "
                f"in {self._called(index)}, which belong to others. Pass groups of the model."
            ) from None

    def _all_new(self, var: TensorVariable, axis: int) -> TensorVariable:
        """Take entries of a variable of the rows, which are others than those of the model."""
        if not self._accepts_groups:
            raise ValueError(
                f"`new_data` expected rows without an entry of their own, got `{var.owner.op.name}`"
                ", which has one for each row. Pass `sample_new_groups=True` to draw those of new "
                "rows from their prior."
            )
        prior = var.owner.inputs[0]
        if (found := rule(prior.owner.op, self, prior, axis, None)) is None:
            self._refuse(prior)
        return found

    def _value(self, graph: TensorVariable) -> np.ndarray:
        known = dict(self.leaves)
        inputs = [x for x in explicit_graph_inputs([graph]) if x in known]
        [found] = Interpreted(inputs, [graph])(*(known[x] for x in inputs))
        return found

    def _refuse(self, var: TensorVariable) -> None:
        node = var.owner
        if var in self._named:
            raise ValueError(
                f"`new_data` expected `{self._named[var]}`, on which the rows depend, got "
                f"{sorted(self._new)}. Add it."
            )
        if node is None or isinstance(node.op, ModelObservedRV):
            shape = self.facts.array(var).shape
            raise ValueError(
                "`new_data` expected a model whose data are `pm.Data`, so that they have names, "
                f"got an array of shape {shape} without a name. Write `pm.Data(name, array)` "
                "in its place; or build the model with the new rows, and pass it without "
                "`new_data`."
            )
        raise ValueError(
            "`new_data` expected rows that do not depend on each other, got some that do through "
            f"`{name_of(node.op)}`. Build the model with the new rows, and pass it without "
            "`new_data`."
        )

    def _refuse_groups(
        self, index: TensorVariable, values: np.ndarray, n: int, *, alone: bool
    ) -> None:
        bad = values[(values < 0) | (values >= n)]
        way = (
            "Pass `sample_new_groups=True` to draw the effects of others from their prior."
            if alone
            else "Those of others cannot be drawn here."
        )
        raise ValueError(
            f"`new_data` expected groups of the model, 0 to {n - 1}, in {self._called(index)}, got "
            f"{int(bad.flat[0])}. {way}"
        )

    def _called(self, index: TensorVariable) -> str:
        return f"`{self._named[index]}`" if index in self._named else "an index"
