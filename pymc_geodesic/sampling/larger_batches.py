#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""When batches must be larger than those of the model, and how large.

Gradient noise that friction balances on average still depends on the entries of a position. Each of
thousands of entries is hardly affected, but a scale that they share adds up their errors: 2,000
groups of fifteen rows had scales that were off by half a deviation. Larger batches are the cure.
They cost little where a row concerns few of the entries, as in the models that need them: most of
the time of a transition is then spent on entries and not on rows.

The other case is an entry that few batches concern, such as the effect of a small group. A batch
that holds its rows counts them for all that hold none: with a < 1 such rows in a batch on average
and control variates, the noise at x deviations from their center has the variance
:math:`x^2 / a`, and friction balances its mean, :math:`V = 1 / a`. By the exact second moments of
transitions, the variance of draws is then right to .13 up to :math:`\epsilon^2 V = 1`, for step
sizes from .1 on, and hundreds of times too large, or infinite, from 3 on. Chains with 85 groups of
140 to 60,000 rows ran off.
"""

from __future__ import annotations

import math

from collections.abc import Callable, Sequence

import numpy as np

from pymc_geodesic.algorithms.tuning_rules import GradientNoise, Rule
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.tuning.findings import Findings

__all__ = [
    "HARMLESS_KICK",
    "MOST_GROWTH",
    "is_felt",
    "kick_of",
    "most_times",
    "share_of_noise",
    "times_as_many",
]

# Bias of the scale that n entries share, in its standard deviations, is at most so many times
# s sqrt(n) for a share s of noise: 4,000 effects with 15 logistic rows each and s = .09 had scales
# that were off by half a deviation. It is avoided or reported where it may exceed what most would
# accept.
BIAS_PER_NOISE, ACCEPTED = 0.08, 0.15
# Batches that are too small are enlarged until bias or noise is at most so much of what is
# accepted, so that later measurements seldom enlarge them again: JAX compiles anew each time.
MARGIN = 0.5
# Rows of a batch for each entry of the model, and entries that a row may concern for that. A
# transition then takes about twice as long as with few rows, and longer if the data exceed a cache.
ROWS_PER_ENTRY, FEW_ENTRIES = 2, 8
# Of the squared step size times the noise of an entry that few batches concern. Batches grow from
# half of what is harmless on, because noise is measured at early draws, which are nearer to the
# center than later ones: 61 was found as 26 for a group of two rows in 120,000, which then ran off.
HARMLESS_KICK, LARGEST_KICK = 1.0, 0.5
# By how much batches grow at once for such an entry as long as noise is measured again: draws that
# ran off overstate it, by up to thirty times.
MOST_GROWTH = 8.0
# Share of all rows in the largest batch: more would not be a minibatch.
LARGEST_BATCH = 0.25
# Pairs of rows whose gradients are compared.
N_PAIRS = 8


def share_of_noise(step_size: float, diffusion: float, mean_noise: float) -> float:
    r"""Return the share of an entry's kinetic energy that balanced gradient noise supplies.

    It is :math:`\epsilon \bar V / 2 (A + \epsilon \bar V / 2)`.

    Parameters
    ----------
    step_size : float
        :math:`\epsilon`, in posterior scales.
    diffusion : float
        A.
    mean_noise : float
        Mean variance of the gradient's entries in the frame of the mass, :math:`\bar V`.
    """
    half_noise = 0.5 * step_size * mean_noise
    return half_noise / (diffusion + half_noise)


def is_felt(share: float, *, n_entries: int) -> bool:
    """Return whether a scale that all entries have in common may be off by too much.

    Parameters
    ----------
    share : float
        Share of the kinetic energy of an entry that gradient noise supplies. The entry's friction
        balances its mean, but not its dependence on the entry.
    n_entries : int
        How many they are.
    """
    return BIAS_PER_NOISE * share * np.sqrt(n_entries) >= ACCEPTED


def kick_of(found: Findings, step_size: float) -> float:
    r"""Return :math:`\epsilon^2 V` of the noisiest entry; zero unless noise grows with distance.

    Parameters
    ----------
    found : Findings
        What was measured, with the noise of the batches in use. Noise grows with the distance from
        the center of control variates.
    step_size : float
        :math:`\epsilon`, in posterior scales.
    """
    return step_size**2 * found.noise.largest if found.controlled else 0.0


def times_as_many(
    found: Findings,
    rule: Rule,
    gradient: HostGradient,
    point: Sequence[np.ndarray],
    *,
    now: int,
    accuracy: float,
    most_growth: float = np.inf,
) -> int:
    """Return how many times as many rows as the model's make the noise small enough.

    Parameters
    ----------
    found : Findings
        What was measured, with the noise of the model's batches.
    rule : callable
        Rule of the step size.
    gradient : HostGradient
        Gradients of the model's batches.
    point : sequence of ndarray
        A point of the posterior.
    now : int
        How many times as many they are now.
    accuracy : float
        Tolerated error, in posterior standard deviations.
    most_growth : float
        By which factor batches may grow for the sake of single entries; one if noise was measured
        where draws are not, because single entries are far noisier there.
    """
    n_entries = sum(map(np.size, point))

    def settings(times: int) -> tuple[GradientNoise, float, float]:
        demands = found.of_batches(times).demands(accuracy)
        step_size, parameters = rule(demands)
        return demands.noise, step_size, parameters["diffusion"]

    def moves_scales(times: int, margin: float = 1.0) -> bool:
        noise, step_size, diffusion = settings(times)
        share = share_of_noise(step_size, diffusion, noise.mean)
        return is_felt(share / margin, n_entries=n_entries)

    def kicks(times: int, margin: float = 1.0) -> bool:
        _, step_size, _ = settings(times)
        return kick_of(found.of_batches(times), step_size) > margin * LARGEST_KICK

    times = now
    if moves_scales(times):
        times = _grown(times, moves_scales, most_times(gradient, point), by=2.0)
    if kicks(times):
        # Rows are most of the time of a transition here: no more of them than are needed.
        most = int(min(_most_of_data(gradient), max(times, most_growth * now)))
        times = _grown(times, kicks, most, by=1.25)
    return times


def _grown(times: int, is_too_small: Callable[[int, float], bool], limit: int, *, by: float) -> int:
    while times < limit and is_too_small(times, MARGIN):
        times = min(math.ceil(by * times), limit)
    return times


def most_times(gradient: HostGradient, point: Sequence[np.ndarray]) -> int:
    """Return by which factor batches may grow; a transition then takes about twice as long.

    Parameters
    ----------
    gradient : HostGradient
        Gradients of the model, which tell which entries a row concerns.
    point : sequence of ndarray
        Where to evaluate them.
    """
    # Rows of its own, so that the draws of a chain do not depend on this.
    rng = np.random.default_rng(0)
    rows = [gradient.rows(rng, 1) for _ in range(2 * N_PAIRS)]
    gradients = [found.gradient for found in gradient.many([point] * len(rows), rows)]
    differing = [
        sum(np.count_nonzero(a != b) for a, b in zip(*pair, strict=True))
        for pair in zip(gradients[::2], gradients[1::2], strict=True)
    ]
    of_row = sum(differing) / (2 * N_PAIRS)
    n_entries = sum(map(np.size, point)) * min(1.0, FEW_ENTRIES / max(of_row, 1.0))
    of_cost = ROWS_PER_ENTRY * n_entries / max(gradient.batch_sizes)
    return max(1, min(_most_of_data(gradient), int(of_cost)))


def _most_of_data(gradient: HostGradient) -> int:
    pairs = zip(gradient.n_rows, gradient.batch_sizes, strict=True)
    return max(1, int(min(LARGEST_BATCH * n_rows / batch_size for n_rows, batch_size in pairs)))
