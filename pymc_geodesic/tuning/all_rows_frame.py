#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Frames from all rows, and rows drawn by their weight, where few rows matter.

By how much the gradient of each row changes around a center, in the frame of a mass.

With control variates the noise of a batch is that of these changes, and it is least where rows are
drawn in proportion to their norms. For directions z of the frame with random signs, the second
difference of the log likelihood :math:`f_i` of a row,

.. math::

    f_i(c + h z) + f_i(c - h z) - 2 f_i(c) \approx h^2 z^\top H_i z, \qquad
    E (z^\top H_i z)^2 = (\operatorname{tr} H_i)^2 + 4 \sum_{j < k} H_{i, jk}^2,

has a mean square of the order of :math:`\lVert H_i \rVert^2`. For generalised linear models it is
one to three times the square of the leverage; for a row that concerns one effect it is this square
for all signs, so that no group gets few rows by chance. It needs the log likelihood of all rows at
a few points, and no gradients.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from itertools import batched

import numpy as np

from pymc_geodesic.kernel.host_gradient import SUBSAMPLE, HostGradient, TermsOfRows
from pymc_geodesic.kernel.row_weights import RowWeights
from pymc_geodesic.mass.arrays import JointMass, Mass, MassForm, VariableMasses, joined, split
from pymc_geodesic.stages import stage
from pymc_geodesic.tuning.anchor import around, is_gaussian_around
from pymc_geodesic.tuning.approximation import Approximation, approximate
from pymc_geodesic.tuning.center import descend_whole, nearer_mode
from pymc_geodesic.tuning.frame import Frame, averaged_frame, dense_pays
from pymc_geodesic.tuning.levels import smallest_groups
from pymc_geodesic.tuning.scales import Scales, first_scales
from pymc_geodesic.tuning.secants import HALF_WIDTH, with_curvature

__all__ = ["FEW_PAIRS", "by_weight", "sizes_of_rows", "weigh", "with_all_rows"]


# Rows are drawn by weight if it lowers the noise of a batch by more. With normal regressors the
# gain is at most 1.5.
LEAST_GAIN = 3.0
# The same where rows have groups: that these share a batch evenly is most of the gain.
LEAST_OF_GROUPS = 1.5
# Draws that all groups share equally, over those by size.
EQUAL_SHARE = 0.5
# Distance of a center from the mode of all rows, in standard deviations of an entry, from which on
# they improve it. A subsample alone leaves less.
FARTHEST = 2.0
# Rounds in which the frame is measured with rows by weight, and the weights in the frame; or fewer,
# if no variable moves by more scales.
N_ROUNDS, AT_REST = 3, 1.0
# Pairs of points: they determine the size of a row to a third, which costs a tenth of the gain.
# Fewer tell the gain itself, which is an average over rows, and do where rows have groups.
N_PAIRS, FEW_PAIRS = 8, 3


@stage("Reading all rows")
def by_weight(
    gradient: HostGradient,
    start: Sequence[np.ndarray],
    *,
    form: MassForm,
    rng: np.random.Generator,
) -> Frame | None:
    """Fit an approximation with rows by their weight, if they gain from the start on.

    Effects of groups that a uniform subsample has few rows of run off. If rows do not gain at the
    end, they are uniform from then on. For parameters see :func:`with_all_rows`.
    """
    if form == "dense" or dense_pays(gradient, start):
        return None
    rng = deepcopy(rng)
    begin = _at(gradient, start, rng)
    weigh(gradient, start, mass=begin.mass, rng=rng, least=LEAST_GAIN, n_pairs=FEW_PAIRS)
    found = None if gradient.weights is None else _improved(gradient, begin, rng, FEW_PAIRS)
    if found is None:
        gradient.weights = None
        return None
    return averaged_frame(gradient, found, form, None, rng)


def _at(gradient: HostGradient, start: Sequence[np.ndarray], rng) -> Approximation:
    return Approximation(list(start), first_scales(gradient, start, rng=rng), 0)


@stage("Reading all rows")
def with_all_rows(
    gradient: HostGradient,
    frame: Frame,
    *,
    start: Sequence[np.ndarray],
    form: MassForm,
    rng: np.random.Generator,
) -> Frame:
    """Improve a frame by all rows, where a subsample of them has missed what few rows cause.

    Parameters
    ----------
    gradient : HostGradient
        Gradients of the model. If few rows matter, it draws rows by weight from then on.
    frame : Frame
        What was found with uniform rows.
    start : sequence of ndarray
        Where the search for it began.
    form : {"diagonal", "dense", "low_rank"}
        Form of the mass.
    rng : numpy.random.Generator
        A copy is used, so that the draws of other models do not depend on it.
    """
    rng = deepcopy(rng)
    weigh(gradient, frame.point, mass=frame.mass, rng=rng, least=LEAST_GAIN)
    if gradient.weights is None and not _is_far(gradient, frame):
        return frame
    if isinstance(frame.mass, JointMass) and form == "low_rank":
        point, mass = nearer_mode(gradient, frame.point, rng=rng)
        return frame._replace(point=point, mass=mass)
    begin = Approximation(frame.point, _diagonal(gradient, frame), 0)
    if form == "dense":
        at_mode = _at_mode(gradient, frame, rng)
        if is_gaussian_around(gradient, at_mode.point, at_mode.mass, rng=rng):
            return at_mode
    elif gradient.weights is not None:
        begin = _at(gradient, start, rng)
    found = _improved(gradient, begin, rng)
    if found is None:
        gradient.weights = None
        return frame
    return averaged_frame(gradient, found, form, None, rng)


@stage("Weighing rows")
def weigh(
    gradient: HostGradient,
    point: Sequence[np.ndarray],
    *,
    mass: Mass,
    rng: np.random.Generator,
    least: float = 0.0,
    n_pairs: int = N_PAIRS,
) -> None:
    """Draw rows by weight from now on, if the gain is the ``least`` that is asked for.

    Where the density is not finite around the point, nothing is known and rows are drawn as before.
    """
    before, gradient.weights = gradient.weights, None
    sizes = sizes_of_rows(gradient, point, mass=mass, rng=rng, n_pairs=n_pairs)
    if sizes is None or not np.any(sizes > 0):
        gradient.weights = None if sizes is None else before
        return
    groups = smallest_groups(gradient)
    if groups is not None:
        # A scale that is far too small would make the rows of an effect rare, and rows that are
        # rare tell no scale.
        n = np.bincount(groups)
        sizes = sizes + EQUAL_SHARE * sizes.sum() / np.count_nonzero(n) / n[groups]
    weights = RowWeights.proportional_to(sizes, groups)
    if least and groups is not None:
        least = min(least, LEAST_OF_GROUPS)
    if not least or _gain_elsewhere(weights, gradient, point, mass, rng) >= least:
        gradient.weights = weights


def _gain_elsewhere(
    weights: RowWeights, gradient: HostGradient, point: Sequence[np.ndarray], mass: Mass, rng
) -> float:
    """Return what weights gain at a draw: where effects are multiples, other rows may matter."""
    noise = [rng.standard_normal(np.shape(x)).astype(x.dtype) for x in point]
    there = around(gradient, point, mass, noise)
    sizes = sizes_of_rows(gradient, there, mass=mass, rng=rng, n_pairs=FEW_PAIRS)
    return 1.0 if sizes is None else weights.gain(sizes)


def _is_far(gradient: HostGradient, frame: Frame) -> bool:
    forces = joined(frame.mass.force(gradient.whole(frame.point).pulled_back))
    return bool(np.sqrt(np.mean(forces**2)) > FARTHEST)


def _improved(
    gradient: HostGradient, begin: Approximation, rng: np.random.Generator, n_pairs: int = N_PAIRS
) -> Approximation | None:
    """Improve an approximation by gradients of all rows, and weigh rows around it."""
    now = begin
    for _ in range(N_ROUNDS):
        before, found = now, approximate(gradient, now.center, mass=now.mass, is_near=True, rng=rng)
        if found is None:
            return None
        now = found
        weigh(gradient, now.center, mass=now.mass, rng=rng, least=LEAST_GAIN, n_pairs=n_pairs)
        moves = [a - b for a, b in zip(now.center, before.center, strict=True)]
        if Scales(gradient, begin.center).farthest(now.mass.whiten(moves)) < AT_REST:
            break
    return now


def _diagonal(gradient: HostGradient, frame: Frame) -> VariableMasses:
    """Return the mass of the standard deviations of single entries, without directions."""
    mass, shapes = frame.mass, [np.shape(x) for x in frame.point]
    if isinstance(mass, JointMass):
        units = np.eye(sum(map(np.size, frame.point)))
        rates = [joined(mass.rate(split(unit, shapes))) for unit in units]
        scales = np.sqrt(np.sum(np.square(rates), axis=0))
    else:
        pairs = zip(mass.arrays, shapes, strict=False)
        scales = joined([np.broadcast_to(scale, shape) for scale, shape in pairs])
    return Scales(gradient, frame.point).mass(scales, frame.point[0].dtype.name)


def _at_mode(gradient: HostGradient, frame: Frame, rng: np.random.Generator) -> Frame:
    """Descend to a mode of all rows, in frames of the curvature on the way."""
    point, mass = frame.point, frame.mass
    for _ in range(N_ROUNDS):
        rows = gradient.rows(rng, SUBSAMPLE)
        mass = with_curvature(gradient, point, mass, rows)
        point = descend_whole(gradient, point, mass).point
        mass = with_curvature(gradient, point, mass, rows)
        weigh(gradient, point, mass=mass, rng=rng, least=LEAST_GAIN)
    return Frame(point, mass, True)


def sizes_of_rows(
    gradient: HostGradient,
    point: Sequence[np.ndarray],
    *,
    mass: Mass,
    rng: np.random.Generator,
    n_pairs: int = N_PAIRS,
) -> np.ndarray | None:
    """Measure the changes of the gradients of all rows.

    Parameters
    ----------
    gradient : HostGradient
        The model, with its data in memory.
    point : sequence of ndarray
        The center.
    mass : Mass
        Gives the frame.
    rng : numpy.random.Generator
        Source of the directions.
    n_pairs : int
        Number of directions.

    Returns
    -------
    ndarray or None
        One number for each row; None if the log likelihood is no sum over rows.
    """
    terms = gradient.terms_of_rows
    if terms is None or not _belong_to_rows(terms, gradient, point):
        return None
    points = [point]
    for _ in range(n_pairs):
        signs = [rng.choice([-HALF_WIDTH, HALF_WIDTH], x.shape).astype(x.dtype) for x in point]
        points += [around(gradient, point, mass, [s * z for z in signs]) for s in (1, -1)]
    with np.errstate(invalid="ignore"):
        parts = [_second_differences(terms, gradient, points, rows) for [rows] in gradient.chunks()]
    sizes = np.concatenate(parts)
    finite = np.isfinite(sizes)
    return np.where(finite, sizes, np.max(sizes, where=finite, initial=0.0))


def _second_differences(
    terms: TermsOfRows,
    gradient: HostGradient,
    points: Sequence[Sequence[np.ndarray]],
    rows: np.ndarray,
) -> np.ndarray:
    center, *ends = terms(points, rows)
    squares = [(up + down - 2 * center) ** 2 for up, down in batched(ends, 2)]
    # Each part of the rows is scaled to all of them.
    share = len(rows) / gradient.n_rows[0]
    return share * np.sqrt(np.mean(squares, axis=0)) / HALF_WIDTH**2


def _belong_to_rows(
    terms: TermsOfRows, gradient: HostGradient, point: Sequence[np.ndarray]
) -> bool:
    """Return whether each term is that of one row, whatever other rows there are."""
    # As many as are evaluated at once in any case, so that nothing more is compiled.
    [rows] = next(gradient.chunks())
    [whole], [others] = terms([point], rows), terms([point], np.append(rows[-2::-1], rows[0]))
    is_same = whole.shape == rows.shape and np.allclose(whole[-2::-1], others[:-1], equal_nan=True)
    return bool(is_same)
