#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The gradient noise of every entry, and its correction by chains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pymc_geodesic.manifolds import Manifold, Product
from pymc_geodesic.sampling.chain import GradientChain
from pymc_geodesic.tuning.noise import along_directions, rebalanced
from pymc_geodesic.tuning.secants import N_DIRECTIONS

__all__ = ["add_squares", "no_noise", "rebalance"]

# Weight of a temperature of one against draws: temperatures of fewer draws are mostly noise.
PRIOR_DRAWS = 20


def no_noise(manifold: Product, dtype: str) -> tuple[np.ndarray, ...]:
    """Return zero noise in the form of measured noise."""
    pairs = zip(manifold.factors, manifold.shapes, strict=True)
    entries = [
        np.zeros((*factor.batch_shape(shape), *(1,) * factor.ndim_core), dtype)
        for factor, shape in pairs
    ]
    return (*entries, np.zeros(N_DIRECTIONS, dtype))


def add_squares(chain: GradientChain) -> None:
    """Add the squares of a chain's velocity, by entry and along the directions of its mass."""
    velocity, tuning = chain.state.velocity, chain.tuning
    assert tuning is not None, "only chains that tune themselves are balanced"
    squares = [v**2 for v in (*velocity, along_directions(velocity, chain.settings.mass))]
    before = tuning.squares or [np.zeros_like(square) for square in squares]
    tuning.squares = [a + b for a, b in zip(before, squares, strict=True)]
    tuning.n_squares += 1


def rebalance(chains: Sequence[GradientChain], manifold: Product, *, weight: float) -> None:
    """Correct the friction of every entry by the temperature of its velocity since the last time.

    Parameters
    ----------
    chains : sequence of GradientChain
        Chains, which share their noise.
    manifold : Product
        Manifold of the chains.
    weight : float
        Weight of the correction.
    """
    tunings = [chain.tuning for chain in chains if chain.tuning is not None]
    n_draws = sum(tuning.n_squares for tuning in tunings)
    if n_draws == 0:
        return
    sums = [tuning.squares for tuning in tunings if tuning.n_squares]
    *entries, along = (np.sum(arrays, axis=0) / n_draws for arrays in zip(*sums, strict=True))
    factors = zip(manifold.factors, manifold.point_dims, entries, strict=True)
    temperatures = [_temperatures(factor, square, dim) for factor, dim, square in factors]
    settings = chains[0].settings
    noise = rebalanced(
        settings.measured_noise,
        [*temperatures, along],
        mass=settings.mass,
        shapes=manifold.shapes,
        weight=weight * n_draws / (n_draws + PRIOR_DRAWS),
        friction=float(np.mean([chain.state.thermostat[0] for chain in chains])),
        step_size=settings.step_size,
    )
    for chain in chains:
        chain.settings = replace(chain.settings, measured_noise=noise)
    for tuning in tunings:
        tuning.squares, tuning.n_squares = [], 0


def _temperatures(factor: Manifold, squares: np.ndarray, dim: int) -> np.ndarray:
    """Average mean squares of velocities over the directions of each point."""
    means = factor.over_core(squares) / dim
    return np.reshape(means, np.shape(means) + (1,) * factor.ndim_core)
