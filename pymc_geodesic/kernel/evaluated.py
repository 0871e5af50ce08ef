#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A graph that JAX evaluates or PyTensor interprets, and the time that making the function took."""

from __future__ import annotations

from collections.abc import Sequence
from time import process_time, thread_time

import numpy as np

from pytensor.tensor import TensorVariable

from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.kernel.jax.function import JAXFunction
from pymc_geodesic.kernel.jax.packed import PackedFunction

__all__ = ["Evaluated", "clock"]

# Shapes of arguments for which a function is compiled, which takes half a second. Batches and
# chunks of data in memory have five; files have an own number of rows each.
MOST_SHAPES = 10
# Arrays of a call, in and out, from which packing them takes less than JAX does with each of them.
MANY = 40


class Evaluated:
    """A function of arrays.

    Parameters
    ----------
    inputs, outputs : sequence of TensorVariable
        The graph.

    Attributes
    ----------
    seconds_of_making : ndarray, shape (2,)
        Time of the processor that first calls took, by the clocks of :func:`clock`.
    """

    def __init__(self, inputs: Sequence[TensorVariable], outputs: Sequence[TensorVariable]) -> None:
        kind = PackedFunction if len(inputs) + len(outputs) > MANY else JAXFunction
        self.compiled = kind(inputs, outputs)
        self.interpreted = Interpreted(inputs, outputs)
        self.seconds_of_making, self._n_shapes = np.zeros(2), 0
        self._dtypes = [x.dtype for x in inputs]

    def __call__(
        self, arguments: Sequence[np.ndarray], *, interprets: bool = False
    ) -> list[np.ndarray]:
        """Evaluate the outputs; JAX compiles anew for arguments of other shapes."""
        # Entries of arrays are NumPy's scalars, for which JAX would compile anew. The host computes
        # in double precision, whatever that of the model.
        arguments = [*map(np.asarray, arguments, self._dtypes)]
        is_new = not self.compiled.is_made_for(*arguments)
        interprets = interprets or (is_new and self._n_shapes == MOST_SHAPES)
        evaluate = self.interpreted if interprets else self.compiled
        if not evaluate.is_made_for(*arguments):
            began = clock()
            evaluate(*arguments)
            self._n_shapes += not interprets
            self.seconds_of_making = self.seconds_of_making + clock() - began
        return [*map(np.asarray, evaluate(*arguments))]


def clock() -> np.ndarray:
    """Return the time of the processor, by two clocks.

    Where a limit is set to the time of a process, as batch systems do, the clock of all its threads
    advances in steps of milliseconds; that of a single thread does not.
    """
    return np.array([process_time(), thread_time()])
