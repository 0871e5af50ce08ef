#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A function of points and rows that is evaluated at several points at once.

Calling an interpreted operation takes as long as its work on thousands of numbers.
"""

from __future__ import annotations

import math
import operator

from collections.abc import Callable, Iterator, Sequence
from itertools import batched, groupby
from typing import Any

import numpy as np

from pytensor.tensor import TensorVariable

from pymc_geodesic.kernel.gathered import Gathered, gathered
from pymc_geodesic.kernel.interpreted_once import interpreted_once
from pymc_geodesic.kernel.jax.function import JAXFunction

__all__ = ["AtPoints"]

# Most rows, and most numbers of points, of one evaluation: intermediate results take memory.
MOST_ROWS, MOST_NUMBERS = 20_000, 2**18
# Blocks whose rows of data are kept, and bytes of each: a search uses the same rows many times.
N_KEPT, MOST_BYTES = 2, 2**25

Call = Sequence[np.ndarray]
"""A point, and rows for each source of batches."""


class AtPoints:
    """Evaluate a graph by NumPy's own operations, or compile it if they do not suffice.

    Parameters
    ----------
    fixed, points, rows : sequence of TensorVariable
        Inputs: those that are the same for all points, the parts of a point, and indices of rows.
    outputs : sequence of TensorVariable
        The graph.
    """

    def __init__(
        self,
        fixed: Sequence[TensorVariable],
        points: Sequence[TensorVariable],
        rows: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
    ) -> None:
        self._n_parts = len(points)
        self._function: Callable[..., Any]
        self._gathered: list[Gathered] = []
        self._kept: list[tuple[list[np.ndarray], list[np.ndarray]]] = []
        n_numbers = sum(math.prod(x.type.shape) for x in points)
        self._most = MOST_NUMBERS // max(n_numbers, 1)
        if self._most > 1 and self._interprets_many(fixed, [*points, *rows], rows, outputs):
            return
        self._most, self._gathered = 1, []
        inputs = [*fixed, *points, *rows]
        interpreted = interpreted_once(inputs, outputs)
        is_fast = interpreted.runs_by_numpy
        self._function = interpreted if is_fast else JAXFunction(inputs, outputs)

    def __call__(self, fixed: Sequence[np.ndarray], calls: Sequence[Call]) -> list[Call]:
        """Return the outputs of each call."""
        # Entries of arrays are NumPy's scalars, which a compiled function takes for other types.
        fixed = [*map(np.asarray, fixed)]
        if self._most == 1:
            return [
                [*map(np.asarray, self._function(*fixed, *map(np.asarray, call)))] for call in calls
            ]
        found: list[Call] = []
        for block in self._blocks(calls):
            columns = [*zip(*block, strict=True)]
            rows = columns[self._n_parts :]
            arrays = self._function(*fixed, *self._taken(rows), *map(np.stack, columns))
            # With an ellipsis an entry is an array without axes, and not a number.
            found += [[x[i, ...] for x in arrays] for i in range(len(block))]
        return found

    def _taken(self, rows: Sequence[Sequence[np.ndarray]]) -> list[np.ndarray]:
        """Take the rows of a block from the data, or from the last blocks."""
        # Arrays that are kept keep their identities.
        same = [array for column in rows for array in column]
        for others, taken in self._kept:
            if len(same) == len(others) and all(map(operator.is_, same, others)):
                return taken
        taken = [one.rows(rows[one.source]) for one in self._gathered]
        if sum(x.nbytes for x in taken) <= MOST_BYTES:
            self._kept = [*self._kept[1 - N_KEPT :], (same, taken)]
        return taken

    def _interprets_many(self, fixed, varying, rows, outputs) -> bool:
        outputs, self._gathered = gathered(outputs, rows)
        taken = [one.placeholder for one in self._gathered]
        try:
            interpreted = interpreted_once(
                [*fixed, *taken, *varying], outputs, varying=[*taken, *varying]
            )
        except NotImplementedError:
            return False
        self._function = interpreted
        return interpreted.runs_by_numpy

    def _blocks(self, calls: Sequence[Call]) -> Iterator[Sequence[Call]]:
        """Cut calls into blocks of the same shapes, for which there is memory."""
        for _, alike in groupby(calls, key=lambda call: [np.shape(x) for x in call]):
            same = list(alike)
            n_rows = max((len(x) for x in same[0][self._n_parts :]), default=0)
            yield from batched(same, max(1, min(MOST_ROWS // max(n_rows, 1), self._most)))
