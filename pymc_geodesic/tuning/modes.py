#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Other modes of a posterior than the one that a search has found.

Chains stay near the mode where they start, and agree with each other if all start near one. So
descents begin at many points of the prior and around the mode, on some rows, all with one call for
each step. Ends that are separated from each other by a rise of the energy are modes. Laplace's
approximation with all rows tells how much of the probability each of them has,

.. math::

    w_k \propto e^{-U(c_k)} |\nabla^2 U(c_k)|^{-1/2}.
"""

from __future__ import annotations

import math

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pymc_geodesic.kernel.host_gradient import SUBSAMPLE, HostGradient
from pymc_geodesic.mass.arrays import Mass, joined
from pymc_geodesic.stages import stage
from pymc_geodesic.tuning.anchor import around
from pymc_geodesic.tuning.basins import Basins, Peak, peak_near
from pymc_geodesic.tuning.center import descend_whole
from pymc_geodesic.tuning.many_descents import Descents, Frame, Tilt, descend_together

__all__ = ["LARGEST", "LEAST_WEIGHT", "N_DRAWN", "FoundMode", "Modes", "find_modes"]

Point = Sequence[np.ndarray]

# Entries of the variables. Networks have more; the matrix of their frame would not fit.
LARGEST = 400
# Rows of the first descents: for some entries so many that most modes of some rows are those of
# all, and yet so few that all starts fit into one call.
FEWEST_ROWS, ROWS_PER_ENTRY = 1_000, 5
# Starts from the prior, and at each of these distances from the mode, in standard deviations.
N_DRAWN, FAR, N_AROUND = 32, (3.0, 10.0, 30.0), 3
# More entries than this have fewer starts, rows and steps, so that the search takes a few per cent
# of the time of a run.
MANY, OF_MANY = 100, 2
# Variables whose signs are changed.
MOST_SIGNS = 8
# Steps of the first descents, and of the first of them if that needs more.
MOST_STEPS, MOST_OF_FIRST = 100, 300
# Halvings of the distance to the mode for starts without a finite energy.
MOST_HALVINGS = 6
# Ends that are told apart, and those that are followed to the mode, the lowest ones.
MOST_ENDS, MOST_MODES = 16, 6
# Of the probability. Less is not worth a word.
LEAST_WEIGHT = 0.01
# Nats and standard errors by which a mode must be worse, on some of the rows, to be left out.
MARGIN, ERRORS, N_PARTS = 10.0, 4.0, 10
# Nats for each dimension by which volumes may differ: one mode is twenty times as wide as another.
SLACK = 3.0


class FoundMode(NamedTuple):
    """A mode, and its share of the probability."""

    point: list[np.ndarray]
    weight: float


class Modes(NamedTuple):
    """What was found.

    Attributes
    ----------
    found : list of FoundMode
        Modes with more than a hundredth of the probability, the heaviest first, and that of the
        given point if it has less; empty if the search from there did not end at a mode.
    own : int or None
        Which of them is that of the given point.
    n_starts : int
        Starts.
    n_copies : int
        Ends that were one of the modes with other labels or signs.
    """

    found: list[FoundMode]
    own: int | None
    n_starts: int
    n_copies: int


@stage("Searching other modes")
def find_modes(
    gradient: HostGradient,
    point: Point,
    mass: Mass,
    *,
    drawn: Sequence[Point],
    rng: np.random.Generator,
) -> Modes:
    """Look for other modes.

    Parameters
    ----------
    gradient : HostGradient
        Energies and gradients.
    point : sequence of ndarray
        Where a search has come to, in the embedding.
    mass : Mass
        In whose frame the posterior has about unit variance there.
    drawn : sequence of points
        Starts from the prior.
    rng : Generator
        Source of rows and other starts.
    """
    size = sum(math.prod(shape) for shape in gradient.manifold.shapes)
    rows = gradient.rows(rng, SUBSAMPLE)
    few = [row[: max(FEWEST_ROWS, ROWS_PER_ENTRY * min(size, MANY))] for row in rows]
    frame = _frame(gradient, point, mass, few)
    times = OF_MANY if size > MANY else 1
    starts = _finite(frame, _starts(frame, point, mass, drawn, rng)[::times])
    ends = descend_together(frame, starts, most=MOST_STEPS // times)
    if not ends.has_ended[0]:
        first = descend_together(frame, ends.vectors[:1], most=MOST_OF_FIRST)
        ends = Descents(*(np.concatenate([a, b[1:]]) for a, b in zip(first, ends, strict=True)))
    if not ends.has_ended[0]:
        return Modes([], None, len(starts), 0)
    basins = Basins(frame, rng=rng)
    kept = basins.distinct(ends, most=MOST_ENDS)
    if len(kept) > 1:
        kept = basins.without_copies(ends, kept)[:MOST_MODES]
    n_starts, n_copies = len(starts), basins.n_copies
    if len(kept) > 1:
        # Volumes are not known yet.
        likely = _not_far_worse(frame, ends.vectors[kept], slack=SLACK * gradient.manifold.dim)
        kept = [0, *(kept[i] for i in likely if i)]
    if len(kept) == 1:
        return Modes([FoundMode(list(point), 1.0)], 0, n_starts, n_copies)
    frame = _frame(gradient, point, mass, rows)
    peaks = [peak_near(frame, ends.vectors[i], rng=rng) for i in kept]
    if peaks[0] is None:
        return Modes([], None, n_starts, n_copies)
    minima = [peak for peak in peaks if peak is not None]
    kept = Basins(frame, rng=rng).distinct(_ends(minima), most=MOST_MODES)
    found, own = _weighed(frame, [minima[i] for i in kept])
    if own is None:
        found, own = [*found, FoundMode(list(point), 0.0)], len(found)
    return Modes(found, own, n_starts, n_copies)


def _frame(gradient: HostGradient, point: Point, mass: Mass, rows: list[np.ndarray]) -> Frame:
    """Return energies of some rows which near a point are those of all rows."""
    are_all = all(len(row) >= n for row, n in zip(rows, gradient.n_rows, strict=True))
    # By weights, so many rows miss some and have others several times.
    if are_all and gradient.weights is None:
        return Frame(gradient, mass, rows=rows)
    pairs = zip(gradient.whole(point).pulled_back, gradient(point, rows).pulled_back, strict=True)
    # Of a curved manifold it would be a change off the manifold, too.
    slopes = [
        (a - b if factor.is_flat else np.zeros_like(b))
        for (a, b), factor in zip(pairs, gradient.manifold.factors, strict=True)
    ]
    tilt = Tilt(joined(list(point)).astype(float), joined(slopes).astype(float))
    return Frame(gradient, mass, rows=rows, tilt=tilt)


def _starts(frame: Frame, point: Point, mass: Mass, drawn: Sequence[Point], rng) -> np.ndarray:
    """Return the point itself, those from the prior, those around it, and those of other signs."""
    gradient, starts = frame.gradient, [list(point), *drawn]
    for far in FAR * N_AROUND:
        noise = [far * rng.standard_normal(np.shape(x)) for x in point]
        starts.append(around(gradient, point, mass, noise))
    factors = gradient.manifold.factors
    flat = [i for i, factor in enumerate(factors) if factor.is_flat][:MOST_SIGNS]
    for changed in [flat, *([i] for i in flat)]:
        starts.append([-x if j in changed else x for j, x in enumerate(point)])
    return frame.vectors(starts)


def _finite(frame: Frame, starts: np.ndarray) -> np.ndarray:
    """Bring starts without a finite energy nearer to the first one."""
    for _ in range(MOST_HALVINGS):
        off = ~np.isfinite(frame.energies(starts))
        if not off.any():
            break
        starts[off] = (starts[off] + starts[0]) / 2
    return starts


def _ends(peaks: Sequence[Peak]) -> Descents:
    vectors, energies = np.array([p.vector for p in peaks]), np.array([p.energy for p in peaks])
    return Descents(vectors, energies, np.ones(len(peaks), bool))


def _weighed(frame: Frame, peaks: Sequence[Peak]) -> tuple[list[FoundMode], int | None]:
    """Compare the probabilities of modes with all rows; find the first of them among the result."""
    own: Peak | None = peaks[0]
    if frame.tilt is not None:
        vectors = np.array([peak.vector for peak in peaks])
        kept = _not_far_worse(frame, vectors, volumes=[peak.log_volume for peak in peaks])
        own, peaks = peaks[0] if 0 in kept else None, [peaks[i] for i in kept]
        if len(peaks) > 1:
            followed = [_with_all_rows(frame, peak) for peak in peaks]
            own, peaks = None if own is None else followed[0], followed
    scores = np.array([peak.evidence for peak in peaks])
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    points = frame.points(np.array([peak.vector for peak in peaks]))
    order = [int(i) for i in np.argsort(-weights, kind="stable") if weights[i] >= LEAST_WEIGHT]
    found = [FoundMode(points[i], float(weights[i])) for i in order]
    return found, order.index(0) if own is not None and 0 in order else None


def _not_far_worse(
    frame: Frame, vectors: np.ndarray, *, volumes: Sequence[float] = (), slack: float = 0.0
) -> list[int]:
    """Leave out modes that are far worse than the best on some of the rows."""
    parts = list(zip(*(np.array_split(row, N_PARTS) for row in frame.rows), strict=True))
    parts = parts or [[]]
    energies = [
        [one.energy for one in frame.gradient.many([x] * len(parts), parts)]
        for x in frame.points(vectors)
    ]
    scores = np.reshape(volumes or np.zeros(len(vectors)), (-1, 1)) - np.array(energies)
    worse = scores[np.argmax(scores.mean(axis=1))] - scores
    errors = worse.std(axis=1) / np.sqrt(max(len(parts) - 1, 1))
    return [int(i) for i in np.flatnonzero(worse.mean(axis=1) <= MARGIN + slack + ERRORS * errors)]


def _with_all_rows(frame: Frame, peak: Peak) -> Peak:
    """Follow a mode of some rows to that of all."""
    gradient, [point] = frame.gradient, frame.points(peak.vector[None])
    end = descend_whole(gradient, point, peak.mass)
    [vector] = frame.vectors([end.point])
    return peak._replace(vector=vector, energy=end.energy)
