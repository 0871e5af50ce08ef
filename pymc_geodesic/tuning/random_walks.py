#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""How far random walks that are written as cumulative sums are centred.

For a walk :math:`x = s K z`, with steps :math:`z \sim N(0, 1)` and cumulative sums K, of which data
have the information I at each place, the precision of z at a frequency with
:math:`|K|^2 = 1 / \lambda` is :math:`1 + u^2`, where :math:`u = s \sqrt{I / \lambda}`: the data
determine slow parts of the walk and the prior fast ones. In the coordinates

.. math::

    w = z + c \sqrt I s K z,

it is :math:`(1 + u^2) / (1 + c u)^2`, which varies by a factor of :math:`1 + c^2` at most. With w
held fixed, a change of log s moves this part of the walk by :math:`1 / (1 + c u)` of itself, hence
slow parts less than fast ones. The coordinates are those of z where there are no data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pymc_geodesic.kernel.host_gradient import SUBSAMPLE, HostGradient

__all__ = ["Walk", "shares_of_sums"]

# The constant c. Precisions differ least for 1, but what rows say of s with w held fixed is noise,
# which falls with the square: s of a level of 104 weeks had a temperature of 2.7, and has 1 for 4.
WEIGHT = 4.0
# Half the distance over which gradients are compared, in standard deviations of a step of the walk;
# and the number of comparisons, each with rows of its own.
HALF_WIDTH, N_PROBES = 0.1, 8


class Walk(NamedTuple):
    """The share of the sum in each coordinate, and of data in the precision of the slowest part."""

    shares: np.ndarray
    of_slowest: float


def shares_of_sums(
    gradient: HostGradient,
    center: Sequence[np.ndarray],
    place: int,
    *,
    axis: int,
    sigma: np.ndarray,
    scale: np.ndarray,
    rng: np.random.Generator,
) -> Walk:
    r"""Measure the share a of the sum in each coordinate, :math:`a / (1 - a) = c \sigma \sqrt I`.

    A row concerns one place of a walk. Secants along random signs of all its places hence give the
    information of each.

    Parameters
    ----------
    gradient : HostGradient
        Gradients in the model's own coordinates.
    center : sequence of ndarray
        Where the information is measured.
    place : int
        Place of the steps among the variables.
    axis : int
        The axis along which they are summed.
    sigma, scale : ndarray
        Prior standard deviation of the steps, and what they are multiplied by; they broadcast to
        the steps.
    rng : Generator
        Draws rows and signs.
    """
    shape = np.shape(center[place])
    sigma, scale = np.broadcast_to(sigma, shape), np.broadcast_to(scale, shape)
    found = []
    for _ in range(N_PROBES):
        rows = gradient.rows(rng, SUBSAMPLE)
        moves = HALF_WIDTH * sigma * scale * rng.choice([-1.0, 1.0], shape)
        steps = np.diff(moves, axis=axis, prepend=0.0) / scale
        pair = [_moved(center, place, x) for x in (steps, -steps)]
        ahead, behind = (one.pulled_back[place] for one in gradient.many(pair, [rows, rows]))
        by_steps = (ahead - behind) / 2 - steps / sigma**2
        found.append(-np.diff(by_steps / scale, axis=axis, append=0.0) / moves)
    information = np.maximum(np.mean(found, axis=0), 0.0)
    odds = WEIGHT * sigma * np.sqrt(information)
    behind = np.flip(np.cumsum(np.flip(information, axis), axis), axis)
    # The slowest part has four fifths of the trace of the precision.
    trace = np.max(np.sum((sigma * scale) ** 2 * behind, axis))
    return Walk(odds / (1 + odds), trace / (1 + trace))


def _moved(center: Sequence[np.ndarray], place: int, move: np.ndarray) -> list[np.ndarray]:
    return [np.asarray(x + move, x.dtype) if i == place else x for i, x in enumerate(center)]
