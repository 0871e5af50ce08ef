#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Temperatures of positions along directions, and a check of the most extreme ones.

A temperature that is averaged over the directions of a variable can be one where some are too wide
and others too narrow. In coordinates y in which the draws have unit covariance, and with the
gradient s of the potential energy, :math:`E[y s^\top]` is the identity for draws of a flat
posterior. The directions in which it differs most are found with one part of the draws and judged
with the other, so that only two of them are tested, however many there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pymc_geodesic.monte_carlo import mean_and_mcse
from pymc_geodesic.runs.direction_coordinates import DirectionDraws

__all__ = ["Extreme", "extremes", "wrong_direction"]

# Coordinates from which on the principal axes of draws and of gradients are compared, half of each:
# as many as the draws determine.
MOST_COMPARED, FEWEST_COMPARED = 150, 10
# A self-tuned step accepts a tenth. What exceeds it must be four standard errors, and a fifth in
# all: with three errors one of 180 right runs of dependent draws was blamed.
ACCEPTED, WRONG_TEMPERATURE, SIGNIFICANT = 0.1, 0.2, 4.0
# Draws of a part, for each coordinate, that determine its covariance and the slopes.
DRAWS_EACH = 3
NO_WIDTH = 1e-10
# Powers by which principal axes are found. The widest half of those of normal draws in 1,900
# coordinates then have 99 per cent of their squared length in the space.
N_POWERS, SEED = 6, 0


class Extreme(NamedTuple):
    """The direction of the highest or lowest temperature.

    Attributes
    ----------
    temperature, error : float
        With its Monte Carlo standard error.
    owner : str
        The variable that has most of the direction.
    """

    temperature: float
    error: float
    owner: str

    @property
    def is_wrong(self) -> bool:
        """Whether the draws are too wide or too narrow along the direction."""
        excess = abs(self.temperature - 1)
        return excess > WRONG_TEMPERATURE and excess - ACCEPTED > SIGNIFICANT * self.error


class _Frame(NamedTuple):
    """Coordinates in which one part of the draws has unit covariance."""

    mean: np.ndarray
    to_draws: np.ndarray
    to_slopes: np.ndarray


_Fold = tuple[slice, slice]
_Judged = tuple[float, float, np.ndarray]


class _Part(NamedTuple):
    """A part of the draws in a frame: draws, and what there is at those with a gradient."""

    everywhere: np.ndarray
    here: np.ndarray
    slopes: np.ndarray
    laplacians: np.ndarray


def wrong_direction(draws: DirectionDraws) -> str:
    """Describe the direction along which draws are too wide or too narrow, as part of a sentence.

    It is that of the temperature furthest off; empty if none is wrong.
    """
    wrong = [x for x in extremes(draws) if x.is_wrong]
    if not wrong:
        return ""
    worst = max(wrong, key=lambda x: abs(x.temperature - 1))
    width = "wide" if worst.temperature > 1 else "narrow"
    return (
        f"a direction, mostly of `{worst.owner}`, is too {width}: the temperature of its positions "
        f"is {worst.temperature:.2g} instead of 1"
    )


def extremes(draws: DirectionDraws) -> list[Extreme]:
    """Return the directions of the highest and the lowest temperature; none of too few draws."""
    folds = list(zip(_folds(draws.everywhere), _folds(draws.here), strict=True))
    judged = []
    for train, test in (folds, folds[::-1]):
        frame = _frame(draws, *train)
        if frame is None:
            return []
        parts = [_part(draws, frame, *fold) for fold in (train, test)]
        for e in _most_extreme(draws, frame, parts[0], train[1]):
            widths = [_width(draws, frame, e, fold[1]) for fold in (train, test)]
            moved = (frame.to_slopes @ e) / draws.everywhere.std(axis=(0, 1))
            judged.append((*_excess(e, parts, widths), moved**2))
    return [_both(draws.owners, judged[i], judged[i + 2]) for i in (0, 1)]


def _both(owners: Sequence[str], one: _Judged, other: _Judged) -> Extreme:
    names = np.array(owners)
    weights = one[2] / one[2].sum() + other[2] / other[2].sum()
    owner = max(dict.fromkeys(owners), key=lambda name: weights[names == name].sum())
    error = 0.5 * float(np.hypot(one[1], other[1]))
    return Extreme(1 + 0.5 * (one[0] + other[0]), error, owner)


def _folds(x: np.ndarray) -> list[_Fold]:
    """Divide the chains, or the draws of a single one, into two parts."""
    if len(x) > 1:
        return [(slice(0, None, 2), slice(None)), (slice(1, None, 2), slice(None))]
    middle = x.shape[1] // 2
    return [(slice(None), slice(0, middle)), (slice(None), slice(middle, None))]


def _frame(draws: DirectionDraws, every: _Fold, some: _Fold) -> _Frame | None:
    """Find coordinates in which a part of the draws has unit covariance."""
    z = draws.everywhere[every].reshape(-1, len(draws.owners))
    mean, scale = z.mean(axis=0), z.std(axis=0)
    if not np.all(np.isfinite(z)) or not np.all(scale > 0):
        return None
    scaled, slopes = (z - mean) / scale, scale * draws.slopes[some].reshape(-1, len(mean))
    most = min(MOST_COMPARED, len(z) // DRAWS_EACH, len(slopes) // DRAWS_EACH)
    if most < min(FEWEST_COMPARED, len(mean)):
        return None
    axes = np.eye(len(mean))
    if len(mean) > most:
        axes = _principal(scaled, slopes - slopes.mean(axis=0), n=most // 2)
    values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(scaled @ axes, rowvar=False)))
    kept = values > NO_WIDTH * values[-1]
    roots, vectors = np.sqrt(values[kept]), axes @ vectors[:, kept]
    return _Frame(mean, vectors / roots / scale[:, None], vectors * roots * scale[:, None])


def _principal(*samples: np.ndarray, n: int) -> np.ndarray:
    """Return orthonormal axes of the space of the first n principal axes of each sample.

    They are found by powers of the covariance on a random space that is somewhat larger: of
    thousands of coordinates all axes would take many seconds, and most of them are not wanted.
    """
    axes = []
    for x in samples:
        q = np.random.default_rng(SEED).standard_normal((x.shape[1], min(2 * n, x.shape[1])))
        for _ in range(N_POWERS):
            q = np.linalg.qr(x.T @ (x @ q))[0]
        axes.append(np.linalg.svd(x @ q, full_matrices=False)[2][:n] @ q.T)
    return np.linalg.qr(np.concatenate(axes).T)[0]


def _part(draws: DirectionDraws, frame: _Frame, every: _Fold, some: _Fold) -> _Part:
    found = [draws.everywhere[every], draws.here[some]]
    rates = [x[some] @ frame.to_slopes for x in (draws.slopes, draws.laplacians)]
    return _Part(*[(z - frame.mean) @ frame.to_draws for z in found], *rates)


def _is_flat(draws: DirectionDraws) -> np.ndarray:
    flat = np.ones(len(draws.owners), dtype=bool)
    for place, _ in draws.projectors:
        flat[place] = False
    return flat


def _width(draws: DirectionDraws, frame: _Frame, e: np.ndarray, some: _Fold) -> np.ndarray:
    """Return a' P b at each draw, for the vectors a and b of a direction and the projector P."""
    a, b, flat = frame.to_draws @ e, frame.to_slopes @ e, _is_flat(draws)
    found = np.full(draws.here[some].shape[:2], float(a[flat] @ b[flat]))
    for place, projector in draws.projectors:
        found += projector[some] @ b[place] @ a[place]
    return found


def _most_extreme(
    draws: DirectionDraws, frame: _Frame, part: _Part, some: _Fold
) -> list[np.ndarray]:
    """Return the directions in which Stein's identity is violated most, to both sides.

    The matrix that maps positions to slopes comes from a regression, which is exact for a Gaussian
    posterior, where averages of products would need many more draws than coordinates.
    """
    k = part.here.shape[-1]
    y, pull = part.here.reshape(-1, k), (part.slopes - part.laplacians).reshape(-1, k)
    excess = np.linalg.lstsq(y - y.mean(axis=0), pull - pull.mean(axis=0), rcond=None)[0]
    a, b, flat = frame.to_draws, frame.to_slopes, _is_flat(draws)
    excess -= a[flat].T @ b[flat]
    for place, projector in draws.projectors:
        excess -= a[place].T @ projector[some].mean(axis=(0, 1)) @ b[place]
    vectors = np.linalg.eigh(0.5 * (excess + excess.T))[1]
    return [vectors[:, -1], vectors[:, 0]]


def _excess(
    e: np.ndarray, parts: Sequence[_Part], widths: Sequence[np.ndarray]
) -> tuple[float, float]:
    """Return by how much the temperature along a direction exceeds one, and its standard error.

    For a Gaussian posterior the violation of the identity at a draw is a multiple of the squared
    position, whose mean all draws tell. The multiple is that of the other part.
    """
    known, square = _violations(e, parts[0], widths[0])
    centered = square - square.mean()
    slope = float(np.sum(centered * known) / max(np.sum(centered**2), NO_WIDTH))
    found, square = _violations(e, parts[1], widths[1])
    rest, rest_error = mean_and_mcse(found - slope * square)
    of_all, error = mean_and_mcse((parts[1].everywhere @ e) ** 2)
    scale = max(float(widths[1].mean()), NO_WIDTH)
    return (rest + slope * of_all) / scale, float(np.hypot(rest_error, slope * error)) / scale


def _violations(e: np.ndarray, part: _Part, width: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the violation of the identity at each draw, and the squared position."""
    y = part.here @ e
    return y * ((part.slopes - part.laplacians) @ e) - width, y**2
