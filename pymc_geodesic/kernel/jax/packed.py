#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Many small arrays as one for each type, in and out of a function.

JAX takes ten microseconds for each array that a call takes or returns: two milliseconds for the
gradient of a model of 100 scalar variables.
"""

from __future__ import annotations

import math

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from pytensor.tensor import TensorVariable

from pymc_geodesic.kernel.jax.function import JAXFunction
from pymc_geodesic.kernel.jax.resident import in_double_precision

__all__ = ["PackedFunction", "unpacked"]

type Shapes = tuple[tuple[int, ...], ...]
"""Shape of each of several arrays."""

type Kinds = tuple[tuple[int, ...], ...]
"""The places of the arrays of each type."""


class PackedFunction:
    """A function whose arguments and results are packed.

    Parameters
    ----------
    inputs, outputs : sequence of TensorVariable
        Its graph; arguments have the types of the inputs.
    """

    def __init__(self, inputs: Sequence[TensorVariable], outputs: Sequence[TensorVariable]) -> None:
        self._function = JAXFunction(inputs, outputs)
        self._of_inputs, self._of_outputs = _kinds_of(inputs), _kinds_of(outputs)
        self._dtypes = tuple(x.dtype for x in outputs)
        self._n_axes = [x.ndim for x in outputs]
        self._runs: dict[Shapes, Callable[..., Any]] = {}

    def __call__(self, *arguments: np.ndarray) -> list[np.ndarray]:
        """Call the function."""
        shapes = tuple(x.shape for x in arguments)
        vectors = [np.concatenate([arguments[i].ravel() for i in some]) for some in self._of_inputs]
        with in_double_precision():
            if (run := self._runs.get(shapes)) is None:
                run = self._runs[shapes] = self._made(vectors, shapes)
            found = run(*vectors, *self._function.data(run, vectors))
            *results, sizes = [np.asarray(x) for x in found]
        each = iter(sizes.tolist())
        of_results = tuple(tuple(next(each) for _ in range(n)) for n in self._n_axes)
        return unpacked(results, of_results, self._of_outputs)

    def _made(self, vectors: Sequence[np.ndarray], shapes: Shapes) -> Callable[..., Any]:
        kinds = self._of_inputs, self._of_outputs
        change = partial(_packed, shapes=shapes, kinds=kinds, dtypes=self._dtypes)
        return self._function.changed(change, vectors, how=("packed", shapes, kinds, self._dtypes))

    def is_made_for(self, *arguments: np.ndarray) -> bool:
        """Return whether the function has been called with arguments of these shapes."""
        return tuple(x.shape for x in arguments) in self._runs

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is compiled: another process compiles its own."""
        return self.__dict__ | {"_runs": {}}


def unpacked(vectors: Sequence[Any], shapes: Shapes, kinds: Kinds) -> list[Any]:
    """Return the arrays that are side by side in one vector for each type.

    Parameters
    ----------
    vectors : sequence of array
        The vectors.
    shapes : tuple of tuple of int
        Shape of each array.
    kinds : tuple of tuple of int
        Which arrays are in each of the vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from pymc_geodesic.kernel.jax.packed import unpacked
    >>> unpacked([np.arange(3.0), np.array([7])], ((2,), (), ()), ((0, 1), (2,)))
    [array([0., 1.]), array(2.), array(7)]
    """
    found: list[Any] = [None] * len(shapes)
    for vector, some in zip(vectors, kinds, strict=True):
        ends = pairwise(accumulate((math.prod(shapes[i]) for i in some), initial=0))
        for i, (a, b) in zip(some, ends, strict=True):
            found[i] = vector[a:b].reshape(shapes[i])
    return found


def _kinds_of(variables: Sequence[TensorVariable]) -> Kinds:
    names = sorted({x.dtype for x in variables})
    return tuple(tuple(i for i, x in enumerate(variables) if x.dtype == n) for n in names)


def _packed(
    function: Callable[..., Any],
    *,
    shapes: Shapes,
    kinds: tuple[Kinds, Kinds],
    dtypes: Sequence[str],
) -> Callable[..., Any]:
    """Return the function of the vectors and the data.

    It returns vectors too, and at last the shapes of the arrays in them.
    """
    import jax.numpy as jnp

    of_inputs, of_outputs = kinds

    def run(*arguments):
        n = len(of_inputs)
        found = function(*unpacked(arguments[:n], shapes, of_inputs), *arguments[n:])
        found = [jnp.asarray(x, dtype) for x, dtype in zip(found, dtypes, strict=True)]
        sizes = np.array([size for x in found for size in x.shape], "int64")
        vectors = [jnp.concatenate([found[i].ravel() for i in some]) for some in of_outputs]
        return [*vectors, jnp.asarray(sizes)]

    return run
