#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Chains moved by this process."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pymc_geodesic.sampling import Chain, ChainMethod, run
from pymc_geodesic.sampling.advance import Sampler
from pymc_geodesic.sampling.run import Arrays

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
    """

    seconds = SEGMENT_SECONDS

    def __init__(
        self, sampler: Sampler, *, chain_method: ChainMethod, names: Collection[str]
    ) -> None:
        self._sampler, self._chain_method, self._names = sampler, chain_method, names
        self.reads_stream = sampler.reads_stream

    def __call__(
        self, chains: Sequence[Chain], n_draws: int, *, thin: int
    ) -> tuple[list[Chain], Arrays, Arrays]:
        """Return the chains some draws later, the draws and their statistics."""
        return run(
            self._sampler,
            chains,
            n_draws,
            chain_method=self._chain_method,
            thin=thin,
            names=self._names,
        )

    def close(self) -> None:
        """Do nothing."""
