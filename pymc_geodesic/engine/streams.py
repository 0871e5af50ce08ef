#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Random inputs of the kernel, drawn on the host from the chain's own generator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc.step_methods.state import DataClassState, WithSamplingState, dataclass_state

from pymc_geodesic.potential.minibatch import BatchSource

__all__ = ["BatchStream", "draw_noise"]


def draw_noise(
    rng: np.random.Generator, n_steps: int, shapes: Sequence[tuple[int, ...]], dtype: str
) -> list[np.ndarray]:
    """Draw standard normals for ``n_steps`` transitions, one array a shape."""
    return [rng.standard_normal((n_steps, *shape)).astype(dtype, copy=False) for shape in shapes]


@dataclass_state
class BatchStreamState(DataClassState):
    """Resumable state of a :class:`BatchStream`."""

    current: list[np.ndarray]
    age: int


class BatchStream(WithSamplingState):
    """Rows of each minibatch for each transition, with replacement as in ``pm.Minibatch``.

    Parameters
    ----------
    sources : sequence of BatchSource
        The model's minibatches; each gets indices of its own.
    steps_per_batch : int
        Transitions that share one batch before the next is drawn.
    """

    _state_class = BatchStreamState

    def __init__(self, sources: Sequence[BatchSource], *, steps_per_batch: int = 1) -> None:
        self.sizes = [(source.n_rows, source.batch_size) for source in sources]
        self.steps_per_batch = steps_per_batch
        self.reset()

    def reset(self) -> None:
        """Forget the current batch, so that the next transition draws one."""
        self.current = [np.zeros(size, dtype="int64") for _, size in self.sizes]
        self.age = self.steps_per_batch

    def draw(self, rng: np.random.Generator, n_steps: int) -> list[np.ndarray]:
        """Draw the rows for the next ``n_steps`` transitions: arrays ``(n_steps, batch_size)``."""
        if self.steps_per_batch == 1:
            return [rng.integers(0, n_rows, (n_steps, size)) for n_rows, size in self.sizes]
        which = (self.age + np.arange(n_steps)) // self.steps_per_batch
        batches = []
        for i, (n_rows, size) in enumerate(self.sizes):
            fresh = rng.integers(0, n_rows, (which[-1], size))
            pool = np.concatenate([self.current[i][None], fresh])
            batches.append(pool[which])
            self.current[i] = pool[-1].copy()
        self.age = int((self.age + n_steps - 1) % self.steps_per_batch + 1)
        return batches
