#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Interpreted functions that are made once for all models of the same form.

To rewrite a graph takes longer than to call it. Models that differ in their data alone, such as the
folds of a cross-validation, share its functions.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.configdefaults import config
from pytensor.tensor import TensorType, TensorVariable

from pymc_geodesic.kernel.building import quick_building
from pymc_geodesic.kernel.interpreted import for_many, rewrite_in_place, runs_by_numpy
from pymc_geodesic.kernel.memo import Memo, structure_of

__all__ = ["Interpreted", "InterpretedOnce", "interpreted_once"]


class Shared(NamedTuple):
    """A function of the inputs and the data, which several threads may call in turn."""

    function: Any
    lock: Lock
    runs_by_numpy: bool


# A model has about ten.
MEMO = Memo[Shared](200)


class InterpretedOnce:
    """A function of the inputs with its own data.

    Parameters
    ----------
    shared : Shared
        The function of inputs and data.
    data : sequence of SharedVariable
        The data.
    """

    def __init__(self, shared: Shared, data: Sequence[SharedVariable]) -> None:
        self._shared, self._data = shared, list(data)
        self.runs_by_numpy = shared.runs_by_numpy

    def __call__(self, *arguments: Any) -> list[Any]:
        """Call the function with the present values of the data; infinities do not warn."""
        data = [x.get_value(borrow=True) for x in self._data]
        with self._shared.lock, np.errstate(all="ignore"):
            return self._shared.function(*arguments, *data)


def interpreted_once(
    inputs: Sequence[TensorVariable],
    outputs: Sequence[TensorVariable],
    *,
    varying: Collection[TensorVariable] = (),
) -> InterpretedOnce:
    """Return the function of :func:`~pymc_geodesic.kernel.interpreted.interpreted`.

    Parameters
    ----------
    inputs, outputs : sequence of TensorVariable
        The graph.
    varying : collection of TensorVariable
        Inputs that are given several times at once, along a first axis; see
        :func:`~pymc_geodesic.kernel.interpreted.for_many`.

    Raises
    ------
    NotImplementedError
        If some inputs vary, and PyTensor cannot write an operation for many.
    """
    structure = structure_of(inputs, outputs)
    which = [x in varying for x in inputs]
    key: Hashable = (structure.key, *which)
    if (shared := MEMO.get(key)) is None:
        graph = structure.with_data_as_inputs(inputs, outputs)
        maker = rewrite_in_place(*(for_many(*graph, varying=varying) if varying else graph))
        with config.change_flags(cxx=""):
            function = maker.create()
        shared = Shared(function, Lock(), runs_by_numpy(function))
        MEMO.put(key, shared)
    return InterpretedOnce(shared, structure.data)


class Interpreted:
    """A function like those of :func:`interpreted_once`, which is made when it is first called.

    Where it only returns some of its inputs, none is made: they are copied.

    Parameters
    ----------
    inputs, outputs : sequence of TensorVariable
        The graph.
    """

    def __init__(self, inputs: Sequence[TensorVariable], outputs: Sequence[TensorVariable]) -> None:
        self._graph = list(inputs), list(outputs)
        self._function: InterpretedOnce | None = None
        places = {x: i for i, x in enumerate(inputs)}
        only_inputs = all(x in places for x in outputs)
        self._returned = [places[x] for x in outputs] if only_inputs else None

    def __call__(self, *arguments: Any) -> list[Any]:
        """Call the function."""
        if self._returned is not None:
            return [
                _copied(arguments[i], x.type)
                for x, i in zip(self._graph[1], self._returned, strict=True)
            ]
        if self._function is None:
            with quick_building():
                self._function = interpreted_once(*self._graph)
        return self._function(*arguments)


def _copied(array: Any, kind: TensorType) -> np.ndarray:
    """Copy an array whose type and shape are checked, as those of arguments of functions are."""
    # PyTensor takes ten times as long to see that everything fits.
    fits = type(array) is np.ndarray and (array.dtype, array.shape) == (kind.dtype, kind.shape)
    return array.copy() if fits else np.array(kind.filter(array))
