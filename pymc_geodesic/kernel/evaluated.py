#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Functions that the host evaluates, many times at once: JAX compiles them, or NumPy interprets.

A call from the host takes as long as a function of a thousand rows, or of some thousand with the
copies of its arguments. So one call makes many evaluations in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import batched, groupby
from typing import Any

import numpy as np

from pytensor.tensor import TensorVariable

from pymc_geodesic.kernel.interpreted import Interpreted, clock
from pymc_geodesic.kernel.jax.function import JAXFunction
from pymc_geodesic.kernel.jax.resident import aligned_empty, in_double_precision

__all__ = ["MOST_IN_TURN", "Evaluated"]

# Shapes of arguments for which a function is compiled, which takes half a second. Batches and
# chunks of data in memory have five; files have an own number of rows each.
MOST_SHAPES = 10
# Evaluations of one call, and numbers in the arguments of all of them: four megabytes.
MOST_IN_TURN, MOST_NUMBERS = 32, 2**19


def _with_room(arrays: Sequence[np.ndarray], size: int) -> np.ndarray:
    """Stack arrays, with room for more, which costs nothing: JAX uses the memory as it is."""
    stacked = aligned_empty((size, *arrays[0].shape), arrays[0].dtype)
    for i, array in enumerate(arrays):
        stacked[i] = array
    return stacked


class InTurn(JAXFunction):
    """A function that one call evaluates several times in turn.

    A call from the host takes as long as a function of a thousand rows. It takes the number of
    evaluations, the first arguments, which are common to all, and the others, stacked: there may be
    room for more.

    Parameters
    ----------
    inputs, outputs : sequence of Variable
        Its graph.
    n_common : int
        Number of the inputs that are common to all.
    """

    def __init__(
        self, inputs: Sequence[TensorVariable], outputs: Sequence[TensorVariable], *, n_common: int
    ) -> None:
        super().__init__(inputs, outputs)
        self._n_common, self._n_inputs = n_common, len(self._inputs)
        self.how = "in turn", n_common, self._n_inputs

    def form(self, function: Callable[..., Any]) -> Callable[..., Any]:
        # What is kept for other data must not hold these.
        return _in_turn(function, n_common=self._n_common, n_inputs=self._n_inputs)


def _in_turn(function: Callable[..., Any], *, n_common: int, n_inputs: int) -> Callable[..., Any]:
    """Return the function of a number, common arguments, stacked ones, and data."""
    import jax
    import jax.numpy as jnp

    # Traced once, for the shapes of results and for the loop.
    once = jax.jit(function)

    def run(n: Any, *values: Any) -> list[Any]:
        common, each, data = values[:n_common], values[n_common:n_inputs], values[n_inputs:]

        def at(i: Any) -> list[Any]:
            return once(*common, *(x[i] for x in each), *data)

        def one(i: Any, kept: list[Any]) -> list[Any]:
            return [x.at[i].set(y) for x, y in zip(kept, at(i), strict=True)]

        room = [jnp.zeros((len(each[0]), *x.shape), x.dtype) for x in jax.eval_shape(at, 0)]
        return jax.lax.fori_loop(0, n, one, room)

    return run


class Evaluated:
    """A function of arrays.

    Parameters
    ----------
    inputs, outputs : sequence of TensorVariable
        The graph.
    n_common : int
        Number of the first inputs that are common to all evaluations of a call.

    Attributes
    ----------
    seconds_of_making : ndarray, shape (3,)
        Time of the processor that first calls took, by the clocks of :func:`clock`.
    """

    def __init__(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        *,
        n_common: int = 0,
    ) -> None:
        self.compiled = InTurn(inputs, outputs, n_common=n_common)
        self.interpreted = Interpreted(inputs, outputs)
        self.seconds_of_making, self._n_shapes = np.zeros(3), 0
        self._n_common, self._dtypes = n_common, [x.dtype for x in inputs]

    def __call__(
        self,
        common: Sequence[np.ndarray],
        each: Iterable[Sequence[np.ndarray]],
        *,
        interprets: bool = False,
    ) -> list[list[np.ndarray]]:
        """Evaluate the outputs for all of ``each``; JAX compiles anew for other shapes."""
        # Entries of arrays are NumPy's scalars, for which JAX would compile anew. The host computes
        # in double precision, whatever that of the model.
        common = [*map(np.asarray, common, self._dtypes)]
        others = self._dtypes[self._n_common :]
        typed = ([*map(np.asarray, arguments, others)] for arguments in each)
        found: list[list[np.ndarray]] = []
        for _, alike in groupby(typed, key=lambda arguments: [x.shape for x in arguments]):
            some = [*alike]
            size = max(1, min(MOST_IN_TURN, MOST_NUMBERS // sum(x.size for x in some[0])))
            for block in batched(some, size):
                found += self._of_block(common, block, size, interprets=interprets)
        return found

    def once(
        self, arguments: Sequence[np.ndarray], *, interprets: bool = False
    ) -> list[np.ndarray]:
        """Evaluate the outputs."""
        common, others = arguments[: self._n_common], arguments[self._n_common :]
        return self(common, [others], interprets=interprets)[0]

    def _of_block(
        self,
        common: Sequence[np.ndarray],
        block: Sequence[Sequence[np.ndarray]],
        size: int,
        *,
        interprets: bool,
    ) -> list[list[np.ndarray]]:
        columns = [_with_room(column, size) for column in zip(*block, strict=True)]
        arguments = [np.asarray(len(block), "int32"), *common, *columns]
        is_new = not self.compiled.is_made_for(*arguments)
        if interprets or (is_new and self._n_shapes == MOST_SHAPES):
            return [self._timed(self.interpreted, [*common, *one]) for one in block]
        self._n_shapes += is_new
        results = self._timed(self.compiled, arguments)
        # With an ellipsis an entry is an array without axes, and not a number.
        return [[x[i, ...] for x in results] for i in range(len(block))]

    def _timed(
        self, evaluate: InTurn | Interpreted, arguments: Sequence[np.ndarray]
    ) -> list[np.ndarray]:
        if not evaluate.is_made_for(*arguments):
            began = clock()
            evaluate(*arguments)
            self.seconds_of_making = self.seconds_of_making + clock() - began
        return [*map(np.asarray, evaluate(*arguments))]

    def along(
        self, arguments: Sequence[np.ndarray], moves: Sequence[np.ndarray], *, n_before: int
    ) -> list[np.ndarray]:
        """Differentiate the outputs forward, along several moves of some arguments.

        Parameters
        ----------
        arguments : sequence of ndarray
            Where to differentiate.
        moves : sequence of ndarray
            For each argument that is moved its moves, stacked.
        n_before : int
            Number of the arguments before these.

        Returns
        -------
        list of ndarray
            For each output its changes, stacked.
        """
        given = [*moves, *map(np.asarray, arguments, self._dtypes)]
        change = partial(_along, n_moved=len(moves), n_before=n_before)
        with in_double_precision():
            run = self.compiled.changed(change, given, how=("along", len(moves), n_before))
            return [*map(np.asarray, run(*given, *self.compiled.data(run, given)))]


def _along(function: Callable[..., Any], *, n_moved: int, n_before: int) -> Callable[..., Any]:
    """Return the function of moves, arguments and data."""
    import jax

    def run(*values: Any) -> list[Any]:
        moves, arguments = values[:n_moved], values[n_moved:]
        before, after = arguments[:n_before], arguments[n_before + n_moved :]
        moved = arguments[n_before : n_before + n_moved]
        _, changes = jax.linearize(lambda *x: function(*before, *x, *after), *moved)
        return list(jax.vmap(changes)(*moves))

    return run
