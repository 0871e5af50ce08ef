#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A run as a sequence of segments, made by this process; complete ones survive interruptions."""

from __future__ import annotations

import math
import time

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np

from pymc.stats.convergence import SamplerWarning, log_warning

from pymc_geodesic.kernel.jax.resident import on_processor
from pymc_geodesic.runs.until import Until
from pymc_geodesic.sampling import Chain, ChainMethod, run
from pymc_geodesic.sampling.advance import Sampler
from pymc_geodesic.sampling.chain import GradientChain
from pymc_geodesic.sampling.ensemble import Ensemble, can_be_arrays, is_ready
from pymc_geodesic.sampling.run import Arrays
from pymc_geodesic.sampling.stochastic import StochasticSampler
from pymc_geodesic.step_methods.progress import Progress
from pymc_geodesic.validation import whole

if TYPE_CHECKING:
    from pymc_geodesic.runs.checkpoints.checkpoint import Checkpoint
    from pymc_geodesic.runs.cluster.on_workers import OnWorkers
    from pymc_geodesic.runs.in_memory import InMemory

__all__ = ["InProcess", "Move", "Phase", "RunLoop", "Stored", "phase_length"]

# Bytes of the draws of a segment.
SEGMENT_BYTES = 2**26
# Segments of a phase whose rows come from a loader, which is read anew for each chain of a segment.
STREAM_SEGMENTS = 10


@dataclass
class Phase:
    """The draws of all chains in one phase of a run.

    Attributes
    ----------
    name : str
        Name of the phase.
    n_draws : int
        Draws of each chain.
    thin : int
        Interval of the draws that are kept.
    is_tuning, is_kept : bool
        Whether it is the tuning phase, and whether its draws are kept.
    n_made : int
        Draws of each chain so far.
    """

    name: str
    n_draws: int
    thin: int
    is_tuning: bool = False
    is_kept: bool = True
    n_made: int = 0

    @property
    def most(self) -> int:
        """Number of draws of each chain that are kept at the end."""
        return self.n_draws // self.thin if self.is_kept else 0

    @property
    def n_kept(self) -> int:
        """Number of draws of each chain that have been kept."""
        return self.n_made // self.thin if self.is_kept else 0


def phase_length(name: str, n_draws: int, thin: int, *, least: int = 1) -> int:
    """Return the length of a phase as a multiple of ``thin``.

    Raises
    ------
    ValueError
        If it is no whole number of at least ``least`` and ``thin`` draws.
    """
    length = whole(name, n_draws, least=least) // whole("thin", thin) * thin
    if length < least:
        raise ValueError(
            f"`{name}` expected at least `thin`={thin} draws, got {n_draws}. Lower `thin`."
        )
    return length


type Stored = InMemory | Checkpoint
"""Where the draws of a run are."""

type Move = InProcess | OnWorkers
"""What moves chains by a segment; see :func:`pymc_geodesic.sampling.run`."""


class RunLoop:
    """Chains that are moved segment by segment.

    Parameters
    ----------
    move : InProcess or OnWorkers
        Moves the chains, in this process or elsewhere.
    chains : sequence of Chain
        From :func:`~pymc_geodesic.sampling.begin`.
    keep : InMemory or Checkpoint
        Storage of the draws.
    longest : float, optional
        Largest duration of a segment in seconds, if rows come from a loader.

    Attributes
    ----------
    chains : list of Chain
        The chains after the last segment.
    """

    def __init__(
        self,
        move: Move,
        chains: Sequence[Chain],
        *,
        keep: Stored,
        longest: float = math.inf,
    ) -> None:
        self._move, self.chains = move, list(chains)
        self._keep, self._longest = keep, longest
        self._said: set[str] = set()
        # Of one draw of all chains.
        self._n_bytes = 0

    def draw(self, phase: Phase, progress: Progress, *, until: Until | None = None) -> None:
        """Make and keep the remaining draws of a phase, or as many as are needed."""
        for n_draws in self._segments(phase, until):
            self.chains, values, statistics = self._move(self.chains, n_draws, thin=phase.thin)
            self._n_bytes = sum(x.nbytes for x in values.values()) * phase.thin // n_draws
            self._keep.put(phase, values, statistics, self.chains)
            phase.n_made += n_draws
            if until is not None:
                until.put(values, next(iter(statistics.values())).shape)
            self._log(statistics["warning"])
            progress.update(statistics, n_draws, phase=phase.name, thin=phase.thin)
            # Large draws would otherwise be held until those of the next segment are there.
            del values

    def close(self) -> None:
        """Release resources."""
        self._move.close()

    def _segments(self, phase: Phase, until: Until | None) -> Iterator[int]:
        """Divide a phase into segments of about the intended duration."""
        left = (phase.n_draws - phase.n_made) // phase.thin
        size = max(1, left // STREAM_SEGMENTS) if self._move.reads_stream else 1
        rate = math.inf
        while left and not (until is not None and until.met):
            n = min(size, left if until is None else min(left, until.n_draws(rate)))
            begin = time.perf_counter()
            yield n * phase.thin
            seconds = time.perf_counter() - begin
            left -= n
            rate = n / max(seconds, 1e-6)
            if not self._move.reads_stream:
                # Not too many at once: the first segment of a kernel compiles it.
                most = SEGMENT_BYTES // max(self._n_bytes, 1)
                size = max(1, min(4 * size, int(rate * self._move.seconds), most))
            elif seconds > self._longest:
                size = max(1, int(rate * self._longest))

    def _log(self, warnings: np.ndarray) -> None:
        """Log the messages of chains, each text once."""
        for warning in warnings.ravel():
            if isinstance(warning, SamplerWarning) and warning.message not in self._said:
                self._said.add(warning.message)
                log_warning(warning)


# Copies of chains and one refresh of the progress bar cost milliseconds, and the draws of a
# segment are lost if it is interrupted.
SEGMENT_SECONDS = 0.3


class InProcess:
    """Move chains in this process.

    Parameters
    ----------
    sampler : Sampler
        Sampler of the step.
    chain_method : {"vectorized", "sequential"}
        How to move the chains.
    names : collection of str
        Value variables to keep.
    n_chains : int
        Number of chains after the tuning phase, of which some may be tuned.
    as_arrays : bool
        Whether all chains may be arrays after it: on an accelerator, or if not all are tuned.
    """

    seconds = SEGMENT_SECONDS

    def __init__(
        self,
        sampler: Sampler,
        *,
        chain_method: ChainMethod,
        names: Collection[str],
        n_chains: int,
        as_arrays: bool,
    ) -> None:
        self._sampler, self._chain_method, self._names = sampler, chain_method, names
        self.reads_stream = sampler.reads_stream
        self._n_chains, self._as_arrays = n_chains, as_arrays
        self._ensemble: Ensemble | None = None

    def __call__(
        self, chains: Sequence[Chain], n_draws: int, *, thin: int
    ) -> tuple[list[Chain], Arrays, Arrays]:
        """Return the chains some draws later, the draws and their statistics."""
        names = self._names
        advance = partial(run, self._sampler, chains, n_draws, thin=thin, names=names)
        if not self._as_arrays or not can_be_arrays(self._sampler, chains[0]):
            return advance(chain_method=self._chain_method)
        with on_processor():
            if not is_ready(chains[0]):
                # What tuning decides is the same for any accelerator, and sooner known.
                return advance(chain_method="vectorized")
            if self._ensemble is None:
                sampler = cast(StochasticSampler, self._sampler)
                tuned = cast(Sequence[GradientChain], chains)
                self._ensemble = Ensemble(sampler, tuned, self._n_chains, thin=thin)
            return self._ensemble.advance(n_draws, names=names)

    def close(self) -> None:
        """Do nothing."""
