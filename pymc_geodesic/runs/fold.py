#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A run as a fold over segments: whatever ends it, what the segments before have drawn is kept."""

from __future__ import annotations

import time

from collections.abc import Iterator, Sequence

import numpy as np

from pymc.stats.convergence import SamplerWarning, log_warning

from pymc_geodesic.runs.progress import Progress
from pymc_geodesic.sampling import Chain, ChainMethod, run
from pymc_geodesic.sampling.advance import Sampler
from pymc_geodesic.sampling.run import Arrays

__all__ = ["Fold", "Phase"]

# Seconds of a segment. Copies of chains and one refresh of the progress bar cost some milliseconds,
# and what a segment has drawn is lost when it is interrupted.
SEGMENT_SECONDS = 0.3
# Segments of a phase whose rows come from a loader, which is read anew for each chain of a segment.
STREAM_SEGMENTS = 10


class Phase:
    """Draws of all chains of one phase, in arrays that are there before the first draw.

    Parameters
    ----------
    name : str
        What is going on.
    n_draws : int
        Draws of each chain.
    thin : int
        Every so many draws are kept.
    is_kept : bool
        Whether they are kept at all.

    Attributes
    ----------
    most, n_kept : int
        Draws of each chain for which there is room, and those that are there.
    """

    def __init__(self, name: str, n_draws: int, *, thin: int, is_kept: bool = True) -> None:
        self.name, self.n_draws, self.thin = name, n_draws, thin
        self.most = n_draws // thin if is_kept else 0
        self._values: Arrays = {}
        self._statistics: Arrays = {}
        self.n_kept = 0

    def put(self, values: Arrays, statistics: Arrays) -> None:
        """Append what a segment has drawn."""
        n = next(iter(statistics.values())).shape[1]
        if not self.most or not n:
            return
        for store, found in ((self._values, values), (self._statistics, statistics)):
            for name, array in found.items():
                if name not in store:
                    shape = (len(array), self.most, *array.shape[2:])
                    store[name] = np.empty(shape, array.dtype)
                store[name][:, self.n_kept : self.n_kept + n] = array
        self.n_kept += n

    @property
    def arrays(self) -> tuple[Arrays, Arrays]:
        """The values and the statistics that there are."""
        values, statistics = (
            {name: array[:, : self.n_kept] for name, array in store.items()}
            for store in (self._values, self._statistics)
        )
        return values, statistics


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
    ) -> None:
        self._sampler, self.chains = sampler, list(chains)
        self._chain_method, self._names = chain_method, names
        self._said: set[str] = set()

    def draw(self, phase: Phase, progress: Progress) -> None:
        """Make the draws of a phase, and put them into its arrays."""
        for n_draws in self._segments(phase):
            self.chains, values, statistics = run(
                self._sampler,
                self.chains,
                n_draws,
                chain_method=self._chain_method,
                thin=phase.thin,
                names=self._names,
            )
            phase.put(values, statistics)
            self._log(statistics["warning"])
            progress.update(statistics, n_draws, phase=phase.name, thin=phase.thin)

    def _segments(self, phase: Phase) -> Iterator[int]:
        """Cut a phase into segments that take about as long as a user likes to wait."""
        left = phase.n_draws // phase.thin
        n = max(1, left // STREAM_SEGMENTS) if self._sampler.reads_stream else 1
        while left:
            n = min(n, left)
            begin = time.perf_counter()
            yield n * phase.thin
            seconds = time.perf_counter() - begin
            left -= n
            if not self._sampler.reads_stream:
                # Not too many at once: the first segment of a kernel compiles it.
                n = max(1, min(4 * n, int(n * SEGMENT_SECONDS / max(seconds, 1e-6))))

    def _log(self, warnings: np.ndarray) -> None:
        """Say what chains have to say, and the same thing once."""
        for warning in warnings.ravel():
            if isinstance(warning, SamplerWarning) and warning.message not in self._said:
                self._said.add(warning.message)
                log_warning(warning)
