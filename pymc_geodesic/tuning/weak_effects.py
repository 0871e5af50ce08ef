#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""How much data say of centred effects, beside what their unknown deviation says.

With the estimate :math:`\hat x_g` of an effect by its rows alone, and their information
:math:`I_g`, the density of a deviation s that all effects of a factor share is

.. math::

    p(s) \propto \prod_g N(\hat x_g; m, s^2 + 1 / I_g),

integrated over the mean m. The share of data in the precision of an effect is
:math:`s^2 I_g / (s^2 I_g + 1)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from pymc_geodesic.kernel.host_gradient import SUBSAMPLE, Evaluation, HostGradient
from pymc_geodesic.mass.arrays import VariableMasses, joined
from pymc_geodesic.tuning.center import MOST_WHOLE, descend
from pymc_geodesic.tuning.centering import LEAST
from pymc_geodesic.tuning.scales import Scales, first_scales

__all__ = ["WeakEffects", "centered_shares"]

# Rows of a first look; of more if these are too few to tell.
MORE = 10
# Evaluations of the energy until effects fit the first rows; those of more rows are not far away.
MOST_EVALUATIONS = 60
# Quantile of the deviation at which data must determine effects, and the ratio of the opposite
# quantile to it up to which the deviation is so well known that the widths of effects hardly vary.
QUANTILE, KNOWN = 0.025, 3.0
N_DEVIATIONS = 400
# Half the distance over which gradients are compared, as a share of a first scale; the number of
# comparisons that give a scale, and the widest one.
SHARE, N_PROBES, WIDEST = 0.1, 3, 1.0
# Newton steps to the value of a deviation, the longest, and the distance that tells a slope.
N_NEWTON, LONGEST, DISTANCE = 20, 2.0, 1e-4


class WeakEffects(NamedTuple):
    """Centred effects of which data may say little.

    Attributes
    ----------
    place : int
        Place of the variable.
    parents : set of int
        Places of the variables that its deviation depends on.
    moments : callable
        Returns mean and logarithm of the deviation for PyMC's values.
    """

    place: int
    parents: set[int]
    moments: Callable[..., Sequence[np.ndarray]]


def centered_shares(
    gradient: HostGradient,
    start: Sequence[np.ndarray],
    effects: Sequence[WeakEffects],
    *,
    rng: np.random.Generator,
) -> tuple[dict[int, np.ndarray], list[np.ndarray]]:
    """Measure which effects data determine too little to be sampled centred.

    Deviations keep the values of the start, and all else is fitted to some rows. If these leave
    a deviation open, more rows are taken: to those of a subsample, an effect that is none looks
    as large as the noise of its estimate.

    Parameters
    ----------
    gradient : HostGradient
        Energies and gradients, in the model's own coordinates.
    start : sequence of ndarray
        Where the fit begins.
    effects : sequence of WeakEffects
        Effects of factors.
    rng : Generator
        Draws rows and probes.

    Returns
    -------
    dict of int to ndarray
        The share of data for each effect of the factors of which they say too little.
    list of ndarray
        A start near the posterior: the fit, with medians of the deviations.
    """
    held = set().union(*(one.parents for one in effects))
    point, size, open_effects = list(start), SUBSAMPLE, list(effects)
    medians: dict[int, np.ndarray] = {}
    while True:
        rows = gradient.rows(rng, size)
        pairs = zip(rows, gradient.n_rows, strict=True)
        part = min((len(row) / n for row, n in pairs), default=1.0)
        fit = _Fit(gradient, rows, is_whole=part == 1.0, held=held)
        point = fit.at(point, rng, most=MOST_EVALUATIONS if size == SUBSAMPLE else MOST_WHOLE)
        judged = {one.place: _judged(fit, point, one, part, rng) for one in open_effects}
        medians |= {i: one.medians for i, one in judged.items()}
        open_effects = [one for one in open_effects if judged[one.place].share is not None]
        if part == 1.0 or not open_effects:
            break
        size *= MORE
    for one in effects:
        is_open = one in open_effects
        point = _with_deviations(gradient, point, one, medians[one.place], is_open=is_open)
    shares = {one.place: judged[one.place].share for one in open_effects}
    return {i: share for i, share in shares.items() if share is not None}, point


def _with_deviations(
    gradient: HostGradient,
    point: Sequence[np.ndarray],
    one: WeakEffects,
    deviations: np.ndarray,
    *,
    is_open: bool,
) -> list[np.ndarray]:
    """Return a point at which effects have given deviations, and are zero if they are open."""
    found = list(point)
    mean, log_scale = one.moments(*gradient.to_values(*found))
    if is_open:
        found[one.place] = np.broadcast_to(mean, np.shape(found[one.place])).astype(float)
    i = min(one.parents)
    if len(one.parents) > 1 or not np.size(found[i]) == np.size(log_scale) == deviations.size:
        return found
    target = np.log(deviations).reshape(np.shape(log_scale))

    def missing(x: np.ndarray) -> np.ndarray:
        at = [x if j == i else y for j, y in enumerate(found)]
        return np.reshape(target - one.moments(*gradient.to_values(*at))[1], np.shape(x))

    # Newton's method; transforms are nearly logarithms.
    for _ in range(N_NEWTON):
        x = np.asarray(found[i], float)
        slope = (missing(x) - missing(x + DISTANCE)) / DISTANCE
        with np.errstate(all="ignore"):
            move = np.nan_to_num(missing(x) / slope)
        found[i] = np.asarray(x + np.clip(move, -LONGEST, LONGEST))
    return found


class _Fit:
    """Everything but the deviations, fitted to some rows."""

    def __init__(
        self,
        gradient: HostGradient,
        rows: Sequence[np.ndarray],
        *,
        is_whole: bool = False,
        held: set[int] | None = None,
    ) -> None:
        self.gradient = gradient
        self._rows, self._is_whole, self._held = rows, is_whole, held or set()
        self.widths: list[np.ndarray] = []

    def evaluate(self, point: Sequence[np.ndarray]) -> Evaluation:
        """Evaluate with the rows of the fit."""
        if self._is_whole:
            return self.gradient.whole(point)
        return self.gradient(point, self._rows)

    def at(
        self, start: Sequence[np.ndarray], rng: np.random.Generator, *, most: int
    ) -> list[np.ndarray]:
        """Return where the energy is least, after at most so many evaluations."""

        def evaluate(point: list[np.ndarray]) -> Evaluation:
            found = self.evaluate(point)
            slopes = enumerate(found.pulled_back)
            kept = [np.zeros_like(x) if i in self._held else x for i, x in slopes]
            return found._replace(pulled_back=kept)

        mass = self._mass(start, rng)
        return descend(evaluate, start, project=self.gradient.project, mass=mass, most=most).point

    def _mass(self, point: Sequence[np.ndarray], rng: np.random.Generator) -> VariableMasses:
        """Return a mass by the lengths of the rows of the matrix of second derivatives."""
        curvatures, some = [], _Fit(self.gradient, [row[:SUBSAMPLE] for row in self._rows])
        # A coefficient of a column of money overflows a fixed distance away.
        first = first_scales(self.gradient, point, rng=rng)
        self.widths = first.rate([np.ones_like(x) for x in point])
        for i, (x, width) in enumerate(zip(point, self.widths, strict=True)):
            squares = np.zeros(np.shape(x))
            for _ in range(N_PROBES):
                step = np.asarray(SHARE * width * rng.choice([-1.0, 1.0], np.shape(x)), x.dtype)
                ahead, behind = _around(some.evaluate, point, i, step)
                squares += ((ahead - behind) / (2 * step)) ** 2 / N_PROBES
            curvatures.append(np.sqrt(squares))
        scales = Scales(self.gradient, point)
        widths = (scales.averaged(joined(curvatures)) + WIDEST**-2) ** -0.5
        return scales.mass(np.where(np.isfinite(widths), widths, WIDEST), point[0].dtype.name)


class _Judged(NamedTuple):
    """The share of data for each effect, or None if they may be sampled centred; deviations."""

    share: np.ndarray | None
    medians: np.ndarray


def _judged(
    fit: _Fit,
    point: Sequence[np.ndarray],
    one: WeakEffects,
    part: float,
    rng: np.random.Generator,
) -> _Judged:
    """Judge the effects of a factor, or of several with a deviation each."""
    values = fit.gradient.to_values(*point)
    x = values[one.place].astype(float)
    mean, log_scale = (np.asarray(a, float) for a in one.moments(*values))
    own = np.ones(x.ndim - log_scale.ndim, int)
    varies = np.array([*own, *log_scale.shape]) > 1
    scale = np.broadcast_to(np.exp(log_scale), x.shape)
    slope, bend = _derivatives(fit, point, one.place, scale, rng)
    # Without the prior, as the rows of the fit alone have them.
    information = part * np.maximum(bend - scale**-2.0, 0.0)
    score = part * (slope - (x - mean) / scale**2)
    with np.errstate(all="ignore"):
        estimates = np.where(information > 0, x - mean - score / information, 0.0)
    # One factor for each deviation.
    factors = np.moveaxis(np.stack([estimates, information]), 0, -1)
    axes = [i for i, own_scale in enumerate(varies) if own_scale]
    front = np.moveaxis(factors, axes, range(len(axes)))
    n_scales = int(np.prod([x.shape[i] for i in axes], dtype=int))
    flat = front.reshape(n_scales, -1, 2)
    if flat.shape[1] < 2:
        return _Judged(None, np.zeros(0))
    found = [_share_of_factor(*each.T) for each in flat]
    medians = np.array([one.medians for one in found])
    if all(one.share is None for one in found):
        return _Judged(None, medians)
    kept = [np.ones(flat.shape[1]) if one.share is None else one.share for one in found]
    shares = np.moveaxis(np.array(kept).reshape(front.shape[:-1]), range(len(axes)), axes)
    return _Judged(shares, medians)


def _derivatives(
    fit: _Fit, point: Sequence[np.ndarray], i: int, scale: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return first and second derivatives of the energy by the entries of a variable.

    Entries have rows of their own mostly: what they do to others cancels on average.
    """
    signs = rng.choice([-1.0, 1.0], np.shape(point[i]))
    step = np.asarray(SHARE * np.minimum(scale, fit.widths[i]) * signs, point[i].dtype)
    ahead, behind = _around(fit.evaluate, point, i, step)
    return 0.5 * (ahead + behind), (ahead - behind) / (2 * step)


def _around(
    evaluate: Callable[[list[np.ndarray]], Evaluation],
    point: Sequence[np.ndarray],
    i: int,
    step: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the slopes of a variable ahead of a point and behind it."""
    ends = [[y + s * step if j == i else y for j, y in enumerate(point)] for s in (1, -1)]
    ahead, behind = (evaluate(end).pulled_back[i].astype(float) for end in ends)
    return ahead, behind


def _share_of_factor(estimates: np.ndarray, information: np.ndarray) -> _Judged:
    """Judge the effects of one factor."""
    known = information > 0
    if np.sum(known) < 2:
        return _Judged(np.zeros_like(estimates), np.ones(()))
    low, middle, high = _deviations(estimates[known], 1 / information[known])
    odds = low**2 * information
    share = odds / (1 + odds)
    is_known = high <= KNOWN * low or np.median(share) >= LEAST
    return _Judged(None if is_known else share, np.asarray(middle))


def _deviations(estimates: np.ndarray, variances: np.ndarray) -> np.ndarray:
    """Return a low quantile, the median and a high one of the deviation, with a flat prior."""
    largest = np.std(estimates) + np.sqrt(np.median(variances))
    s = np.geomspace(1e-3 * np.sqrt(variances.min()), 30 * largest, N_DEVIATIONS)
    width = s[:, None] ** 2 + variances
    weight = 1 / width
    total = weight.sum(axis=1)
    mean = (weight @ estimates) / total
    square = np.sum(weight * (estimates - mean[:, None]) ** 2, axis=1)
    log_density = -0.5 * (np.log(width).sum(axis=1) + np.log(total) + square)
    # Points are equally spaced in the logarithm of s.
    density = s * np.exp(log_density - log_density.max())
    below = np.cumsum(density) / density.sum()
    places = np.searchsorted(below, [QUANTILE, 0.5, 1 - QUANTILE])
    return s[np.minimum(places, len(s) - 1)]
