#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Chains that begin in different modes: how many in each, and what they have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pymc_geodesic.run_record import ModesRecord
from pymc_geodesic.sampling.chain import Chain, GradientChain, tuning_of
from pymc_geodesic.sampling.forecast import Clock

__all__ = ["by_mode", "level", "modes_of", "restart_clock", "shared_out"]


def shared_out(weights: Sequence[float], n_chains: int) -> list[int]:
    """Return the mode of each chain: one for each mode, and the others in proportion.

    Parameters
    ----------
    weights : sequence of float
        Of the modes, the heaviest first.
    n_chains : int
        Chains.
    """
    counts = np.array([int(i < n_chains) for i in range(len(weights))])
    for _ in range(n_chains - int(counts.sum())):
        # Where the number of chains is farthest below its share.
        counts[np.argmax(np.array(weights) * n_chains - counts)] += 1
    return [int(i) for i in np.repeat(np.arange(len(weights)), counts)]


def by_mode(chains: Sequence[GradientChain]) -> list[list[GradientChain]]:
    """Divide chains into those that began in one mode, in their order."""
    groups: dict[int, list[GradientChain]] = {}
    for chain in chains:
        groups.setdefault(tuning_of(chain).mode, []).append(chain)
    return list(groups.values())


def restart_clock(chains: Sequence[GradientChain]) -> None:
    """Begin to measure the time of draws, of all chains, which move at the same time."""
    first = chains[0]
    tuning = tuning_of(first)
    n_chains = len(chains) if tuning.modes is None else sum(tuning.modes.counts)
    clock = Clock.started(first.n_drawn, n_chains=n_chains, began=tuning.began)
    for chain in chains:
        tuning_of(chain).clock = clock


def level(chains: Sequence[GradientChain]) -> None:
    """Give all chains the largest number of transitions per draw: one call of a kernel moves all.

    Chains that are tuned apart may have chosen different ones.
    """
    most = max(chain.settings.n_steps for chain in chains)
    for chain in chains:
        if chain.settings.n_steps != most:
            chain.settings = replace(chain.settings, n_steps=most)


def modes_of(chains: Sequence[Chain]) -> ModesRecord | None:
    """Return what chains know of the modes; None if they have not looked for others."""
    tuning = getattr(chains[0], "tuning", None)
    return None if tuning is None else tuning.modes
