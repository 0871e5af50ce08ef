#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Chains moved by this process."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import cast

from pymc_geodesic.sampling import Chain, ChainMethod, run
from pymc_geodesic.sampling.advance import Sampler
from pymc_geodesic.sampling.chain import GradientChain
from pymc_geodesic.sampling.ensemble import Ensemble, is_ready
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
        sampler = self._sampler
        if self._as_arrays and (self._ensemble or is_ready(sampler, chains[0])):
            if self._ensemble is None:
                tuned = cast(Sequence[GradientChain], chains)
                self._ensemble = Ensemble(cast(StochasticSampler, sampler), tuned, self._n_chains)
            return self._ensemble.advance(n_draws, thin=thin, names=self._names)
        return run(
            sampler,
            chains,
            n_draws,
            chain_method=self._chain_method,
            thin=thin,
            names=self._names,
        )

    def close(self) -> None:
        """Do nothing."""
