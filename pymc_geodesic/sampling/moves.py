#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A draw as a generator: it requests calls of kernels, and the driver sends back their outputs.

A chain does not know whether its kernel is called for it alone or for all chains at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = ["ChainFailure", "Drive", "KernelCall", "Moves", "alone", "one_by_one", "together"]


class KernelCall(NamedTuple):
    """A request of a chain for a call of a kernel.

    Attributes
    ----------
    kernel : kernel
        The kernel.
    inputs : NamedTuple or list of NamedTuple
        Inputs of the call, or with ``in_chunks`` those of each of several draws.
    rng : numpy.random.Generator
        Source of random numbers of kernels that draw some.
    in_chunks : bool
        Whether several draws are asked for, which only :func:`together` can answer.
    """

    kernel: Any
    inputs: Any
    rng: np.random.Generator
    in_chunks: bool = False


type Moves[T] = Generator[KernelCall, Any, T]
"""Yields calls, is sent their outputs, and returns a result."""

type Drive = Callable[[Sequence[Moves[Any]]], list[Any]]
"""Brings the moves of several chains to their ends; returns their results."""


class ChainFailure(Exception):
    """One of several chains failed; the cause is the error itself.

    Parameters
    ----------
    chain : int
        Index of the chain.
    """

    def __init__(self, chain: int) -> None:
        super().__init__(f"Chain {chain} failed.")
        self.chain = chain

    def __reduce__(self) -> tuple[type[ChainFailure], tuple[int]]:
        """Make the error picklable, so that another process can raise it."""
        return type(self), (self.chain,)


def alone[T](moves: Moves[T]) -> T:
    """Complete the moves of one chain."""
    try:
        call = next(moves)
        while True:
            call = moves.send(call.kernel(call.inputs, call.rng))
    except StopIteration as end:
        return end.value


def one_by_one[T](moves: Sequence[Moves[T]]) -> list[T]:
    """Complete the moves of several chains, one chain after another.

    Raises
    ------
    ChainFailure
        If a chain fails.
    """
    results = []
    for number, move in enumerate(moves):
        try:
            results.append(alone(move))
        except Exception as error:
            raise ChainFailure(number) from error
    return results


def together[T](moves: Sequence[Moves[T]]) -> list[T]:
    """Complete the moves of several chains, with one call of a kernel for all of them.

    Kernels that cannot be called for several chains are called for each.

    Raises
    ------
    ChainFailure
        If a chain fails. An error of a call for several chains is raised unchanged.
    """
    results: dict[int, T] = {}

    def proceed(number: int, outputs: Any) -> KernelCall | None:
        """Send a chain its outputs; return its next request."""
        try:
            return moves[number].send(outputs)
        except StopIteration as end:
            results[number] = end.value
        except Exception as error:
            raise ChainFailure(number) from error
        return None

    asked = [(number, proceed(number, None)) for number in range(len(moves))]
    while waiting := [(number, call) for number, call in asked if call is not None]:
        alike: dict[int, list[tuple[int, KernelCall]]] = defaultdict(list)
        for number, call in waiting:
            alike[id(call.kernel)].append((number, call))
        asked = []
        for group in alike.values():
            answers = _answered([call for _, call in group])
            pairs = zip(group, answers, strict=True)
            asked += [(number, proceed(number, outputs)) for (number, _), outputs in pairs]
    return [results[number] for number in range(len(moves))]


def _answered(calls: Sequence[KernelCall]) -> list[Any]:
    kernel = calls[0].kernel
    if calls[0].in_chunks:
        return kernel.in_chunks([call.inputs for call in calls])
    if len(calls) > 1 and hasattr(kernel, "batched"):
        return kernel.batched([call.inputs for call in calls])
    return [kernel(call.inputs, call.rng) for call in calls]
