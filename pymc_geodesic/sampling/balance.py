#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Gradient noise and its correction: entry by entry, by halves of batches, by cooler velocities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from pymc_geodesic.algorithms.row_noise import no_covariances, row_axis
from pymc_geodesic.algorithms.thermostat import Grouping, Thermostat
from pymc_geodesic.algorithms.tuning_rules import Rule, unbalanced_share
from pymc_geodesic.manifolds import Manifold, Product
from pymc_geodesic.sampling.chain import GradientChain
from pymc_geodesic.tuning.noise import rebalanced
from pymc_geodesic.tuning.self_tuner import PAYS_BELOW
from pymc_geodesic.tuning.surroundings import Findings
from pymc_geodesic.tuning.velocity_moments import moments_of, pooled, shrunk

__all__ = [
    "heated",
    "judged",
    "no_noise",
    "observe_velocity",
    "rebalance",
    "start_thermostats",
    "with_damping",
]


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
    if not found.damps:
        return found.noise.mean
    triples = zip(manifold.factors, manifold.dims, found.noise.by_entry, strict=False)
    return sum(dim * float(np.mean(v)) for m, dim, v in triples if m.is_flat) / manifold.dim


def _temperatures(factor: Manifold, squares: np.ndarray, dim: int, n_draws: int) -> np.ndarray:
    """Average mean squares of velocities over the directions of each point, and shrink them."""
    short, means = row_axis(factor, np.shape(squares)), factor.over_core(squares) / dim
    along = None if short is None else 1 - short
    means = shrunk(np.asarray(means), n_draws=n_draws * dim, axis=along)
    return np.reshape(means, np.shape(means) + (1,) * factor.ndim_core)


# Share of the heat from which on halves are used, and unevenness of plain gradients' noise. Where
# posteriors are right the second was at most .4 with a hundred rows or more, outliers or not, and
# up to 1.3 with fewer; it was .7 to 1.6 where group effects that are multiples of their scale came
# out too narrow.
LARGEST_UNBALANCED, LARGEST_UNEVEN = 0.25, 0.5
# Share of the heat by which the noisiest direction may exceed the mean before the directions of
# curved points are balanced. Halves cost no rows, but a kernel with two gradients to compile.
LEAST_DIRECTED = 0.01


def judged(
    found: Findings, rule: Rule, *, accuracy: float, can_halve: bool, is_nonsmooth: bool = False
) -> Findings:
    """Decide whether the halves of batches must balance the noise.

    If they do, control variates are used wherever they lower the noise: halves damp one direction
    at a time, so that they balance little noise better than much.

    Parameters
    ----------
    found : Findings
        The last measurement.
    rule : callable
        Rule of the step size with a friction for every entry.
    accuracy : float
        Tolerated error, in posterior standard deviations.
    can_halve : bool
        Whether batches can be divided into halves.
    is_nonsmooth : bool
        Whether the noise changes so much within the posterior that no measurement at a few points
        tells by how much: it then counts as uneven.

    Returns
    -------
    Findings
        The same, with the choice, or with the share of the heat that stays unbalanced because
        batches cannot be divided.
    """
    # Uneven noise has no effect on the variances of a Gaussian posterior to first order.
    if found.is_gaussian and not is_nonsmooth:
        return found
    share = unbalanced_share(rule(found.demands(accuracy)), found.noise)
    is_even = not (share > LARGEST_UNBALANCED and found.noise.uneven > LARGEST_UNEVEN)
    if is_even and not is_nonsmooth:
        return found
    if not can_halve:
        return found._replace(unbalanced=share)
    return found.with_control_variates()._replace(halved=True)


def with_damping(found: Findings, rule: Rule, *, accuracy: float) -> Findings:
    r"""Decide whether halves of batches balance the noise of the points of curved manifolds.

    They do if the noise of a direction exceeds the mean by so much that one thermostat would leave
    positions along it too wide by more than a hundredth, :math:`\epsilon (V_{max} - \bar V) /
    2 \xi`.

    Parameters
    ----------
    found : Findings
        The last measurement.
    rule : callable
        Rule of the step size and the diffusion.
    accuracy : float
        Tolerated error, in posterior standard deviations.

    Returns
    -------
    Findings
        The same, with the choice.
    """
    noise = found.noise
    excess = noise._replace(unbalanced=max(noise.largest - noise.mean, 0.0))
    share = unbalanced_share(rule(found.demands(accuracy)), excess)
    return found._replace(damps=not found.halved and share > LEAST_DIRECTED)


# Standard errors of a temperature, and the factor of the noise, from which on noise is corrected:
# eight points determine its variance no better.
SIGNIFICANT, LEAST_FACTOR = 3.0, 1.25


def heated(
    chains: Sequence[GradientChain],
    manifold: Product,
    found: Findings,
    *,
    heating_noise: Callable[..., float],
    is_optional: bool,
) -> Findings:
    r"""Increase the measured noise to what heats the velocities since the last measurement.

    Noise that grows with the distance from a center is larger on the way than at the points where
    it was measured, if these are from a part of the posterior. The factor of the mean is applied to
    the noise of all directions. Control variates that turn out not to pay are given up.

    Parameters
    ----------
    chains : sequence of GradientChain
        Chains with the same settings.
    manifold : Product
        Manifold of the chains.
    found : Findings
        The last measurement.
    heating_noise : callable
        Noise by temperature; see :class:`~pymc_geodesic.algorithms.algorithm.Algorithm`.
    is_optional : bool
        Whether control variates may be given up.
    """
    observed = [c.tuning.moments for c in chains if c.tuning is not None and c.tuning.moments]
    if not observed or found.noise.mean <= 0:
        return found
    moments = pooled(observed)
    n_squares = moments.n_draws * manifold.dim
    temperature = sum(float(np.sum(x)) for x in moments.squares) / n_squares
    if temperature < 1 + SIGNIFICANT * np.sqrt(2 / n_squares):
        return found
    settings = chains[0].settings
    noise = heating_noise(temperature, step_size=settings.step_size, **settings.parameters)
    factor = noise / found.noise.mean
    if factor < LEAST_FACTOR:
        return found
    if is_optional and found.controlled and factor * found.variance_ratio >= PAYS_BELOW:
        plain = found.noise.times(1 / found.variance_ratio)
        return found._replace(noise=plain, controlled=False)
    return found._replace(noise=found.noise.times(factor))
