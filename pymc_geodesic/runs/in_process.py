#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Chains moved by this process."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import cast

from pymc_geodesic.kernel.jax.resident import on_processor
from pymc_geodesic.sampling import Chain, ChainMethod, run
from pymc_geodesic.sampling.advance import Sampler
from pymc_geodesic.sampling.chain import GradientChain
from pymc_geodesic.sampling.ensemble import Ensemble, can_be_arrays, is_ready
from pymc_geodesic.sampling.run import Arrays
from pymc_geodesic.sampling.stochastic import StochasticSampler

__all__ = ["InProcess"]

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
