#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Functions of the variables of a model, for rows with local variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace
from pytensor.tensor import TensorVariable

from pymc_geodesic.kernel.interpreted import interpreted
from pymc_geodesic.rows.graphs import inputs_for_free, substituted
from pymc_geodesic.rows.integration import RowsOfEntries

__all__ = ["RowFunction"]


class RowFunction:
    """A function of the free variables of a model for all rows with local variables.

    Parameters
    ----------
    rows : RowsOfEntries
        The rows.
    outputs : sequence of TensorVariable
        Graphs of their density.
    observed : mapping
        What stands for observed variables.
    inputs : sequence of TensorVariable
        Further inputs.

    Attributes
    ----------
    names : list of str
        The free variables on which it depends.
    """

    def __init__(
        self,
        rows: RowsOfEntries,
        outputs: Sequence[TensorVariable],
        observed: Mapping[Variable, Variable],
        *,
        inputs: Sequence[TensorVariable],
    ) -> None:
        graphs = clone_replace(list(outputs), replace=observed, rebuild_strict=False)
        given = inputs_for_free(graphs)
        self.names = [x.owner.op.name for x in given]
        leaves = [leaf for leaf, _ in rows.leaves]
        self._data = [data for _, data in rows.leaves]
        graphs = substituted(graphs, given)
        self._function = interpreted([*given.values(), *inputs, *leaves], graphs)

    def __call__(self, values: Mapping[str, np.ndarray], *others: np.ndarray) -> list[np.ndarray]:
        """Evaluate, given values of the free variables by name and of the further inputs."""
        return self._function(*(values[name] for name in self.names), *others, *self._data)
