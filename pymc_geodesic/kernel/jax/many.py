#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A compiled function of JAX that is called for several chains at once.

A call for 16 chains of a small model takes four times as long as a call for one chain.
"""

from __future__ import annotations

import math

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pymc_geodesic.kernel.jax.function import JAXFunction
from pymc_geodesic.kernel.jax.memo import Compiled

__all__ = ["ManyCalls"]

# Bytes of inputs of one call. Chains with more inputs are moved in blocks; in a block of this size
# the cost of a call is negligible.
MOST_BYTES = 2**28


class ManyCalls:
    """Call a function for several lists of arguments at once.

    Parameters
    ----------
    function : JAXFunction
        The function. Its data are the same for all calls.
    """

    def __init__(self, function: JAXFunction) -> None:
        self._function = function
        self._sizes: dict[int, int] = {}

    def __call__(
        self, calls: Sequence[Sequence[Any]], *, is_common: Sequence[bool]
    ) -> list[list[np.ndarray]]:
        """Return the outputs of each call.

        Parameters
        ----------
        calls : sequence of sequence of array
            Arguments of each call.
        is_common : sequence of bool
            Whether each argument is the same for all calls; then that of the first call is used.
        """
        compiled, data = self._function.ready()
        vectorized = _vectorized(compiled, tuple(is_common), n_data=len(data))
        outputs: list[list[np.ndarray]] = []
        # The shapes are always the same, and JAX takes long to tell the size of an array.
        if (size := self._sizes.get(len(calls))) is None:
            size = self._sizes[len(calls)] = _block_size(calls)
        for start in range(0, len(calls), size):
            block = list(calls[start : start + size])
            # All blocks have one size, because JAX compiles anew for another.
            filled = block + [block[-1]] * (size - len(block))
            columns = zip(*filled, strict=True)
            pairs = zip(columns, is_common, strict=True)
            arguments = [column[0] if same else _side_by_side(column) for column, same in pairs]
            results = [np.asarray(x) for x in vectorized(*arguments, *data)]
            # With an ellipsis an entry is an array without axes, and not a number.
            outputs += [[x[i, ...] for x in results] for i in range(len(block))]
        return outputs


def _side_by_side(arrays: Sequence[Any]) -> np.ndarray:
    """Stack arrays; a large one, which is alone in its block, is not copied."""
    return np.stack(arrays) if len(arrays) > 1 else np.asarray(arrays[0])[None]


def _vectorized(
    compiled: Compiled, is_common: tuple[bool, ...], *, n_data: int
) -> Callable[..., Any]:
    """Return the function of several lists of inputs."""
    import jax

    if is_common not in compiled.vectorized:
        axes = [None if same else 0 for same in is_common] + [None] * n_data
        compiled.vectorized[is_common] = jax.jit(jax.vmap(compiled.run, in_axes=axes))
    return compiled.vectorized[is_common]


def _block_size(calls: Sequence[Sequence[Any]]) -> int:
    """Size of the blocks, for the smallest number of equal blocks that are small enough."""
    n_bytes = sum(x.nbytes for x in calls[0]) * len(calls)
    n_blocks = max(1, math.ceil(n_bytes / MOST_BYTES))
    return max(1, math.ceil(len(calls) / n_blocks))
