#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The gradient noise of every entry, and its correction by chains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pymc_geodesic.algorithms.row_noise import no_covariances, row_axis
from pymc_geodesic.algorithms.thermostat import Grouping, Thermostat
from pymc_geodesic.manifolds import Manifold, Product
from pymc_geodesic.sampling.chain import GradientChain
from pymc_geodesic.tuning.findings import Findings
from pymc_geodesic.tuning.noise import rebalanced
from pymc_geodesic.tuning.velocity_moments import moments_of, pooled, shrunk

__all__ = ["no_noise", "observe_velocity", "rebalance", "start_thermostats"]


def no_noise(manifold: Product, dtype: str, *, n_directions: int) -> tuple[np.ndarray, ...]:
    """Return zero noise in the form of measured noise, for a mass with these directions."""
    pairs = zip(manifold.factors, manifold.shapes, strict=True)
    entries = [
        np.zeros((*factor.batch_shape(shape), *(1,) * factor.ndim_core), dtype)
        for factor, shape in pairs
    ]
    return (*entries, *no_covariances(manifold, dtype), np.zeros(n_directions, dtype))


def observe_velocity(chain: GradientChain, manifold: Product) -> None:
    """Add what a chain's velocity is now to the moments of its draws."""
    tuning = chain.tuning
    assert tuning is not None, "only chains that tune themselves are balanced"
    now = moments_of(manifold, chain.state.velocity, chain.settings.mass)
    tuning.moments = now if tuning.moments is None else pooled([tuning.moments, now])


def rebalance(chains: Sequence[GradientChain], manifold: Product, *, weight: float) -> None:
    """Correct the friction of entries and rows by the velocities since the last time.

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
    observed = [tuning.moments for tuning in tunings if tuning.moments is not None]
    if not observed:
        return
    n, squares, along, of_rows = pooled(observed)
    factors = zip(manifold.factors, manifold.point_dims, squares, strict=True)
    temperatures = [_temperatures(factor, square / n, dim, n) for factor, dim, square in factors]
    settings = chains[0].settings
    noise = rebalanced(
        settings.measured_noise,
        [*temperatures, shrunk(along / n, n_draws=n)],
        of_rows=[products / n for products in of_rows],
        mass=settings.mass,
        shapes=manifold.shapes,
        weight=weight,
        friction=float(np.mean([chain.state.thermostat[0] for chain in chains])),
        step_size=settings.step_size,
    )
    for chain in chains:
        chain.settings = replace(chain.settings, measured_noise=noise)
    for tuning in tunings:
        tuning.moments = None


def start_thermostats(
    chain: GradientChain, found: Findings, manifold: Product, *, grouping: Grouping
) -> None:
    """Start from the friction that the measured noise needs."""
    settings = chain.settings
    friction = settings.parameters["diffusion"]
    if not settings.measured_noise:
        friction = friction + 0.5 * settings.step_size * _left(found, manifold)
    thermostat = Thermostat(manifold, grouping=grouping)
    started = tuple(xi.astype(settings.dtype) for xi in thermostat.initial(friction))
    chain.state = chain.state._replace(thermostat=started)


def _left(found: Findings, manifold: Product) -> float:
    """Return the mean noise that thermostats balance: that of curved points may not be theirs."""
    if not found.calms:
        return found.noise.mean
    triples = zip(manifold.factors, manifold.dims, found.noise.by_entry, strict=False)
    return sum(dim * float(np.mean(v)) for m, dim, v in triples if m.is_flat) / manifold.dim


def _temperatures(factor: Manifold, squares: np.ndarray, dim: int, n_draws: int) -> np.ndarray:
    """Average mean squares of velocities over the directions of each point, and shrink them."""
    short, means = row_axis(factor, np.shape(squares)), factor.over_core(squares) / dim
    along = None if short is None else 1 - short
    means = shrunk(np.asarray(means), n_draws=n_draws * dim, axis=along)
    return np.reshape(means, np.shape(means) + (1,) * factor.ndim_core)
