#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A run as a fold over segments: whatever ends it, what the segments before have drawn is kept."""

from __future__ import annotations

import math
import time

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pymc.stats.convergence import SamplerWarning, log_warning

from pymc_geodesic.runs.progress import Progress
from pymc_geodesic.sampling import Chain, ChainMethod, run
from pymc_geodesic.sampling.advance import Sampler
from pymc_geodesic.sampling.run import Arrays

__all__ = ["Fold", "Keep", "Phase"]

# Seconds of a segment. Copies of chains and one refresh of the progress bar cost some milliseconds,
# and what a segment has drawn is lost when it is interrupted.
SEGMENT_SECONDS = 0.3
# Bytes of the draws of a segment.
SEGMENT_BYTES = 2**26
# Segments of a phase whose rows come from a loader, which is read anew for each chain of a segment.
STREAM_SEGMENTS = 10


@dataclass
class Phase:
    """Draws of all chains that have a purpose in common.

    Attributes
    ----------
    name : str
        What is going on.
    n_draws : int
        Draws of each chain.
    thin : int
        Every so many draws are kept.
    is_tuning, is_kept : bool
        Whether it is the tuning phase, and whether its draws are kept at all.
    n_made : int
        Draws of each chain that have been made.
    """

    name: str
    n_draws: int
    thin: int
    is_tuning: bool = False
    is_kept: bool = True
    n_made: int = 0

    @property
    def most(self) -> int:
        """Draws of each chain that will have been kept at the end."""
        return self.n_draws // self.thin if self.is_kept else 0

    @property
    def n_kept(self) -> int:
        """Draws of each chain that have been kept."""
        return self.n_made // self.thin if self.is_kept else 0


class Keep(Protocol):
    """Where draws go."""

    def put(
        self, phase: Phase, values: Arrays, statistics: Arrays, chains: Sequence[Chain]
    ) -> None:
        """Append what a segment of a phase has drawn; ``chains`` are those after it."""
        ...


class Fold:
    """Chains that are moved segment by segment.

    Parameters
    ----------
    sampler : Sampler
        That of the step.
    chains : sequence of Chain
        From :func:`~pymc_geodesic.sampling.begin`.
    chain_method : {"vectorized", "sequential"}
        How they are moved.
    names : sequence of str
        Value variables to keep.
    keep : Keep
        Where draws go.
    longest : float, optional
        Seconds that a segment may take, where rows come from a loader.

    Attributes
    ----------
    chains : list of Chain
        After the last segment.
    """

    def __init__(
        self,
        sampler: Sampler,
        chains: Sequence[Chain],
        *,
        chain_method: ChainMethod,
        names: Sequence[str],
        keep: Keep,
        longest: float = math.inf,
    ) -> None:
        self._sampler, self.chains = sampler, list(chains)
        self._chain_method, self._names = chain_method, names
        self._keep, self._longest = keep, longest
        self._said: set[str] = set()

    def draw(self, phase: Phase, progress: Progress) -> None:
        """Make the draws of a phase that have not been made, and keep them."""
        for n_draws in self._segments(phase):
            self.chains, values, statistics = run(
                self._sampler,
                self.chains,
                n_draws,
                chain_method=self._chain_method,
                thin=phase.thin,
                names=self._names,
            )
            self._keep.put(phase, values, statistics, self.chains)
            phase.n_made += n_draws
            self._log(statistics["warning"])
            progress.update(statistics, n_draws, phase=phase.name, thin=phase.thin)

    def _segments(self, phase: Phase) -> Iterator[int]:
        """Cut a phase into segments that take about as long as a user likes to wait."""
        left = (phase.n_draws - phase.n_made) // phase.thin
        most = self._most_draws()
        n = max(1, left // STREAM_SEGMENTS) if self._sampler.reads_stream else 1
        while left:
            n = min(n, left)
            begin = time.perf_counter()
            yield n * phase.thin
            seconds = time.perf_counter() - begin
            left -= n
            rate = n / max(seconds, 1e-6)
            if not self._sampler.reads_stream:
                # Not too many at once: the first segment of a kernel compiles it.
                n = max(1, min(4 * n, int(rate * SEGMENT_SECONDS), most))
            elif seconds > self._longest:
                n = max(1, int(rate * self._longest))

    def _most_draws(self) -> int:
        """Return how many draws of all chains there is room for in a segment."""
        values = self.chains[0].values
        n_bytes = sum(np.asarray(values[name]).nbytes for name in self._names if name in values)
        return SEGMENT_BYTES // max(n_bytes * len(self.chains), 1)

    def _log(self, warnings: np.ndarray) -> None:
        """Say what chains have to say, and the same thing once."""
        for warning in warnings.ravel():
            if isinstance(warning, SamplerWarning) and warning.message not in self._said:
                self._said.add(warning.message)
                log_warning(warning)
