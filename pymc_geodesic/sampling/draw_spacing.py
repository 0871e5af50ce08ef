#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""How many transitions apart the draws of chains are."""

from __future__ import annotations

import math

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain as joined

import numpy as np

from pymc_geodesic.manifolds import Product
from pymc_geodesic.mass import Mass
from pymc_geodesic.sampling.chain import GradientChain, Settings
from pymc_geodesic.sampling.tuned_settings import pace
from pymc_geodesic.tuning.spacing import MOST_TUNING, steps_worth_a_draw
from pymc_geodesic.tuning.whitening import whitened

__all__ = ["space_draws"]


def space_draws(
    chains: Sequence[GradientChain],
    windows: Sequence[Sequence[Sequence[np.ndarray]]],
    *,
    mass: Mass,
    manifold: Product,
    made_with: Settings,
) -> None:
    """Choose how many transitions apart the draws of chains are from now on.

    Parameters
    ----------
    chains : sequence of GradientChain
        Chains, with settings that may have changed since.
    windows : sequence of sequence of draws
        Draws of each chain.
    mass : Mass
        Mass in whose frame the posterior has about unit variance.
    manifold : Product
        Manifold of the chains.
    made_with : Settings
        Settings with which the draws were made.
    """
    draws, ends = [*joined.from_iterable(windows)], np.cumsum([*map(len, windows)])[:-1]
    frames = np.split(whitened(mass, draws), ends)
    sizes = [*map(math.prod, manifold.shapes)]
    # Transitions that go farther than those between the draws may be fewer.
    apart = made_with.n_steps * pace(made_with) / pace(chains[0].settings)
    n_steps = steps_worth_a_draw(frames, apart, sizes=sizes)
    for chain in chains:
        chain.settings = replace(chain.settings, n_steps=n_steps)
        if n_steps > MOST_TUNING and chain.tuning is not None:
            chain.tuning.window = []
