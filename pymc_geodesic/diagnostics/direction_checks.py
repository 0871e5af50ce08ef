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

from pymc_geodesic.diagnostics.direction_coordinates import DirectionDraws, direction_draws
from pymc_geodesic.diagnostics.findings import Finding
from pymc_geodesic.diagnostics.gradients import GradientDraws
from pymc_geodesic.monte_carlo import mean_and_mcse

__all__ = ["Extreme", "check_directions", "extremes"]

# Coordinates of a variable from which on it is left out, and of all from which on the principal
# axes of draws and of gradients are compared, half of each.
MOST_COORDINATES, MOST_COMPARED = 2000, 60
# A self-tuned step accepts a tenth. What exceeds it must be three standard errors, which two
# directions of right draws do by chance once in 700 runs at the most, and a fifth in all.
ACCEPTED, WRONG_TEMPERATURE, SIGNIFICANT = 0.1, 0.2, 3.0
# Draws of a part, for each coordinate, that determine its covariance.
FEWEST_DRAWS = 4
NO_WIDTH = 1e-10


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


Fold = tuple[slice, slice]
_Judged = tuple[float, float, np.ndarray]


class _Part(NamedTuple):
    """A part of the draws in a frame: draws, and what there is at those with a gradient."""

    everywhere: np.ndarray
    here: np.ndarray
    slopes: np.ndarray
    laplacians: np.ndarray


def check_directions(draws: GradientDraws, points: Sequence[np.ndarray]) -> list[Finding]:
    """Look for directions along which positions are too wide or too narrow.

    Parameters
    ----------
    draws : GradientDraws
        Some draws, with gradients.
    points : sequence of ndarray
        All draws of the same variables, in the embedding, ``(chain, draw, *shape)``.

    Returns
    -------
    list of Finding
        ``directions_too_wide`` or ``directions_too_narrow``, for the temperature furthest off.
    """
    found = direction_draws(draws, points, most=MOST_COORDINATES)
    wrong = [] if found is None else [x for x in extremes(found) if x.is_wrong]
    if not wrong:
        return []
    worst = max(wrong, key=lambda x: abs(x.temperature - 1))
    width = "wide" if worst.temperature > 1 else "narrow"
    named = " and ".join(f"{x.temperature:.3g}, mostly of `{x.owner}`" for x in wrong)
    sentence = (
        f"Positions are too {width} along a direction: configurational temperatures of the widest "
        f"and narrowest directions should be 1, but are {named}."
    )
    advice = (
        "Noise of gradients may prefer directions: use larger batches, control variates, or a "
        "smaller `accuracy` or `step_size`."
    )
    evidence = {"temperatures": [x.temperature for x in wrong], "errors": [x.error for x in wrong]}
    return [Finding(f"directions_too_{width}", "error", sentence, advice, evidence)]


def extremes(draws: DirectionDraws) -> list[Extreme]:
    """Return the directions of the highest and the lowest temperature; none of too few draws."""
    folds = _folds(draws.everywhere), _folds(draws.here)
    judged = []
    for train, test in ((0, 1), (1, 0)):
        frame = _frame(draws, folds[0][train], folds[1][train])
        if frame is None:
            return []
        parts = [_part(draws, frame, folds[0][i], folds[1][i]) for i in (train, test)]
        metrics = [_metric(draws, frame, folds[1][i]) for i in (train, test)]
        for e in _most_extreme(parts[0], metrics[0]):
            excess, error = _excess(e, parts, metrics)
            moved = (frame.to_slopes @ e) / draws.everywhere.std(axis=(0, 1))
            judged.append((excess, error, moved**2))
    return [_both(draws.owners, judged[i], judged[i + 2]) for i in (0, 1)]


def _both(owners: Sequence[str], one: _Judged, other: _Judged) -> Extreme:
    names = np.array(owners)
    weights = one[2] / one[2].sum() + other[2] / other[2].sum()
    owner = max(dict.fromkeys(owners), key=lambda name: weights[names == name].sum())
    error = 0.5 * float(np.hypot(one[1], other[1]))
    return Extreme(1 + 0.5 * (one[0] + other[0]), error, owner)


def _folds(x: np.ndarray) -> list[Fold]:
    """Divide the chains, or the draws of a single one, into two parts."""
    if len(x) > 1:
        return [(slice(0, None, 2), slice(None)), (slice(1, None, 2), slice(None))]
    middle = x.shape[1] // 2
    return [(slice(None), slice(0, middle)), (slice(None), slice(middle, None))]


def _frame(draws: DirectionDraws, every: Fold, some: Fold) -> _Frame | None:
    """Find coordinates in which a part of the draws has unit covariance."""
    z = draws.everywhere[every].reshape(-1, len(draws.owners))
    mean, scale = z.mean(axis=0), z.std(axis=0)
    if not np.all(np.isfinite(z)) or not np.all(scale > 0):
        return None
    scaled = (z - mean) / scale
    axes = np.eye(len(mean))
    if len(mean) > MOST_COMPARED:
        slopes = scale * draws.slopes[some].reshape(-1, len(mean))
        axes = _principal(scaled, slopes - slopes.mean(axis=0))
    if len(z) < FEWEST_DRAWS * axes.shape[1]:
        return None
    values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(scaled @ axes, rowvar=False)))
    kept = values > NO_WIDTH * values[-1]
    roots, vectors = np.sqrt(values[kept]), axes @ vectors[:, kept]
    return _Frame(mean, vectors / roots / scale[:, None], vectors * roots * scale[:, None])


def _principal(*samples: np.ndarray) -> np.ndarray:
    """Return orthonormal axes of the space of the first principal axes of each sample."""
    n = MOST_COMPARED // len(samples)
    axes = [np.linalg.svd(x, full_matrices=False)[2][:n] for x in samples]
    return np.linalg.qr(np.concatenate(axes).T)[0]


def _part(draws: DirectionDraws, frame: _Frame, every: Fold, some: Fold) -> _Part:
    found = [draws.everywhere[every], draws.here[some]]
    rates = [x[some] @ frame.to_slopes for x in (draws.slopes, draws.laplacians)]
    return _Part(*[(z - frame.mean) @ frame.to_draws for z in found], *rates)


def _metric(draws: DirectionDraws, frame: _Frame, some: Fold) -> np.ndarray:
    """Return a' P b at each draw for the pairs of vectors of the frame, and the projector P."""
    n_chains, n_draws = draws.here[some].shape[:2]
    flat = np.ones(len(draws.owners), dtype=bool)
    for place, _ in draws.projectors:
        flat[place] = False
    a, b = frame.to_draws, frame.to_slopes
    found = np.broadcast_to(a[flat].T @ b[flat], (n_chains, n_draws, a.shape[1], a.shape[1])).copy()
    for place, projector in draws.projectors:
        found += a[place].T @ projector[some] @ b[place]
    return found


def _most_extreme(part: _Part, metric: np.ndarray) -> list[np.ndarray]:
    """Return the directions in which Stein's identity is violated most, to both sides."""
    k = part.here.shape[-1]
    y, pull = part.here.reshape(-1, k), (part.slopes - part.laplacians).reshape(-1, k)
    excess = y.T @ pull / len(y) - metric.mean(axis=(0, 1))
    vectors = np.linalg.eigh(0.5 * (excess + excess.T))[1]
    return [vectors[:, -1], vectors[:, 0]]


def _excess(
    e: np.ndarray, parts: Sequence[_Part], metrics: Sequence[np.ndarray]
) -> tuple[float, float]:
    """Return by how much the temperature along a direction exceeds one, and its standard error.

    For a Gaussian posterior the violation of the identity at a draw is a multiple of the squared
    position, whose mean all draws tell. The multiple is that of the other part.
    """
    known, square, _ = _violations(e, parts[0], metrics[0])
    centered = square - square.mean()
    slope = float(np.sum(centered * known) / max(np.sum(centered**2), NO_WIDTH))
    found, square, width = _violations(e, parts[1], metrics[1])
    rest, rest_error = mean_and_mcse(found - slope * square)
    of_all, error = mean_and_mcse((parts[1].everywhere @ e) ** 2)
    scale = max(float(width.mean()), NO_WIDTH)
    return (rest + slope * of_all) / scale, float(np.hypot(rest_error, slope * error)) / scale


def _violations(
    e: np.ndarray, part: _Part, metric: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the violation of the identity at each draw, the squared position and a' P b."""
    y, width = part.here @ e, np.einsum("i,cdij,j->cd", e, metric, e)
    violation = y * ((part.slopes - part.laplacians) @ e) - width
    return violation, y**2, width
