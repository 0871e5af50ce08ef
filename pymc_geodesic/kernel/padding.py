#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Calls of different lengths for a kernel whose inputs have one shape."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.kernel.interface import Inputs
from pymc_geodesic.kernel.trees import leaves_of

__all__ = ["Padding", "chunk_length_for", "padded_length"]

# In the longest call, the fixed cost of tens of microseconds is negligible.
LENGTHS = (1, 2, 5, 10, 20, 50)
# Bytes of a call that are copied in negligible time: inputs are filled up to full length. Most
# draws have at most ten transitions. For these more bytes are worth it, since every call
# evaluates the energy once.
MOST_BYTES, MOST_BYTES_OF_SHORT, SHORT = 2**16, 2**18, 10


def padded_length(arrays: Sequence[np.ndarray]) -> int:
    """Return the number of transitions for which a kernel should have room.

    Parameters
    ----------
    arrays : sequence of ndarray
        Noise and rows of one transition.
    """
    n_bytes = sum(x.nbytes for x in arrays)

    def has_place(n: int) -> bool:
        return n * n_bytes <= (MOST_BYTES_OF_SHORT if n <= SHORT else MOST_BYTES)

    return max(n for n in LENGTHS if n == 1 or has_place(n))


# A call that stands for so many costs little beside them, and so does the room for them.
MOST_TURNS, BYTES_OF_TURNS = 32, 2**21


def chunk_length_for(inputs: Inputs) -> int:
    """Return for how many calls in turn one call should stand at most, given the inputs of one."""
    arrays = [*inputs.noise, *inputs.rows, *leaves_of(inputs.state)]
    n_bytes = sum(np.asarray(x).nbytes for x in arrays)
    return min(MOST_TURNS, max(1, BYTES_OF_TURNS // max(n_bytes, 1)))


class Padding:
    """Fill inputs up to a number of transitions.

    Parameters
    ----------
    length : int
        The number of transitions.
    """

    def __init__(self, length: int) -> None:
        self.length = length
        places = np.arange(length)
        # The same array objects for all calls, so that they are copied to a device once.
        self._made = [places < n for n in range(length + 1)]

    def filled(self, inputs: Inputs) -> Inputs:
        """Return inputs of the full length; the last entries are repeated and marked as unused."""
        made = self._made[len(inputs.step_sizes)]
        if made.all():
            return inputs._replace(made=made)
        return inputs._replace(
            step_sizes=self._fill(inputs.step_sizes),
            noise=[self._fill(x) for x in inputs.noise],
            # The energy is that of the last rows.
            rows=[self._fill(x) for x in inputs.rows],
            fresh=self._fill(inputs.fresh) & made,
            made=made,
        )

    def _fill(self, array: np.ndarray) -> np.ndarray:
        n = len(array)
        filled = np.empty((self.length, *array.shape[1:]), array.dtype)
        filled[:n], filled[n:] = array, array[-1]
        return filled
