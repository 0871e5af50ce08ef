#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""When batches must be larger than those of the model, and how large.

Gradient noise that friction balances on average still depends on the entries of a position. Each of
thousands of entries is hardly affected, but a scale that they share adds up their errors: 2,000
groups of fifteen rows had scales that were off by half a deviation. Larger batches are the cure.
They cost little where a row concerns few of the entries, as in the models that need them: most of
the time of a transition is then spent on entries and not on rows.

The other case is noise that shortens steps, or needs much friction, such as that of an entry that
few batches concern: the effect of a small group. Then twice as many rows need half as many
transitions, each of which also has costs that do not depend on its rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.algorithms.demands import GradientNoise
from pymc_geodesic.algorithms.tuning_rules import Rule
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.tuning.frame import entries_of_row
from pymc_geodesic.tuning.surroundings import Findings

__all__ = [
    "is_noticeable",
    "most_times",
    "share_of_noise",
    "times_as_many",
]

# Bias of the scale that n entries share, in its standard deviations, is at most so many times
# s sqrt(n) for a share s of noise: 4,000 effects with 15 logistic rows each and s = .09 had scales
# that were off by half a deviation. It is avoided or reported where it may exceed what most would
# accept.
BIAS_PER_NOISE, ACCEPTED = 0.08, 0.15
# Batches that are too small are enlarged until the bias is at most so much of what is accepted, so
# that later measurements seldom enlarge them again: JAX compiles anew each time.
MARGIN = 0.5
# Rows of a batch for each entry of the model, and entries that a row may concern for that. A
# transition then takes about twice as long as with few rows, and longer if the data exceed a cache.
ROWS_PER_ENTRY, FEW_ENTRIES = 2, 8
# What a transition costs at least apart from its rows, in rows of the model's batches, as long as
# rows take tens of microseconds: if the entries that each concerns add up to so many. Transitions
# must become cheaper by so much to be worth another compilation.
FIXED_COST, MOST_CONCERNED, WORTH_COMPILING = 1.0, 65_536, 1.5
# By how much batches may grow for it: rows are then most of the cost.
GROWTHS = 1, 2, 4, 8
# Share of all rows in the largest batch: more would not be a minibatch.
LARGEST_BATCH = 0.25


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


def is_noticeable(share: float, *, n_entries: int) -> bool:
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


def times_as_many(
    found: Findings,
    rule: Rule,
    gradient: HostGradient,
    point: Sequence[np.ndarray],
    *,
    now: int,
    accuracy: float,
) -> int:
    """Return how many times as many rows as the model's make noise harmless and draws cheap.

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
    """
    n_entries = sum(map(np.size, point))
    fixed_cost = max(FIXED_COST, _cost_of_entries(gradient, point))

    def settings(times: int) -> tuple[GradientNoise, float, float]:
        demands = found.of_batches(times).demands(accuracy)
        step_size, parameters = rule(demands)
        return demands.noise, step_size, parameters["diffusion"]

    def moves_scales(times: int, margin: float = 1.0) -> bool:
        noise, step_size, diffusion = settings(times)
        share = share_of_noise(step_size, diffusion, noise.mean)
        return is_noticeable(share / margin, n_entries=n_entries)

    def cost(times: int) -> float:
        """Cost of the transitions in which every entry is forgotten."""
        noise, step_size, diffusion = settings(times)
        return (times + fixed_cost) * (diffusion / step_size + 0.5 * noise.of_rare)

    times = now
    most = most_times(gradient, point) if moves_scales(times) else times
    while times < most and moves_scales(times, MARGIN):
        times = min(2 * times, most)
    rows = MOST_CONCERNED / entries_of_row(gradient, point)
    limit = max(times, min(_most_of_data(gradient), int(rows / max(gradient.batch_sizes))))
    best = min((min(k * times, limit) for k in GROWTHS), key=cost)
    return best if cost(times) > WORTH_COMPILING * cost(best) else times


def most_times(gradient: HostGradient, point: Sequence[np.ndarray]) -> int:
    """Return by which factor batches may grow; a transition then takes about twice as long.

    The arguments are those of :func:`entries_of_row`.
    """
    return max(1, min(_most_of_data(gradient), int(_cost_of_entries(gradient, point))))


def _cost_of_entries(gradient: HostGradient, point: Sequence[np.ndarray]) -> float:
    """Return what all entries cost, in rows of the model's batches."""
    share = min(1.0, FEW_ENTRIES / entries_of_row(gradient, point))
    return ROWS_PER_ENTRY * share * sum(map(np.size, point)) / max(gradient.batch_sizes)


def _most_of_data(gradient: HostGradient) -> int:
    pairs = zip(gradient.n_rows, gradient.batch_sizes, strict=True)
    return max(1, int(min(LARGEST_BATCH * n_rows / batch_size for n_rows, batch_size in pairs)))
