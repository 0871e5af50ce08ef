#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The initial frame of a chain: a center of the posterior, and a mass that fits it."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import NamedTuple

import numpy as np

from pymc_geodesic.kernel.host_gradient import FEW, HostGradient
from pymc_geodesic.mass.arrays import JointMass, Mass, MassForm, VariableMasses, joined
from pymc_geodesic.stages import stage
from pymc_geodesic.tuning.anchor import is_gaussian_around
from pymc_geodesic.tuning.approximation import N_ROWS, Approximation, approximate
from pymc_geodesic.tuning.center import Mode, find_center, nearer_mode
from pymc_geodesic.tuning.curvature import curvature_mass
from pymc_geodesic.tuning.long_search import evidence_bounds, lowest_mode
from pymc_geodesic.tuning.scales import first_scales
from pymc_geodesic.tuning.secants import (
    AveragedCurvature,
    dense_mass,
    low_rank_mass,
    with_curvature_of_entries,
)

__all__ = ["Frame", "anchored_frame", "averaged_frame", "dense_pays", "entries_of_row", "frame_at"]


class Frame(NamedTuple):
    """The point at which a chain begins, and its units.

    Attributes
    ----------
    point : list of ndarray
        A center of the posterior, in the embedding.
    mass : Mass
        Mass in whose frame the posterior has about unit variance.
    is_gaussian : bool
        Whether point and mass are mode and curvature; else both are averages over the posterior.
    """

    point: list[np.ndarray]
    mass: Mass
    is_gaussian: bool


@stage("Searching the mode")
def anchored_frame(
    gradient: HostGradient,
    starts: Sequence[Sequence[np.ndarray]],
    *,
    rows: Sequence[np.ndarray],
    form: MassForm,
    fixed: Mass | None,
    rng: np.random.Generator,
) -> Frame:
    """Search a mode; if the posterior is not Gaussian around it, fit an approximation instead.

    Parameters
    ----------
    gradient : HostGradient
        Energies and gradients.
    starts : sequence of points
        The start, and others for a search from the first that does not end.
    rows : sequence of ndarray
        A subsample of the data, for each source of minibatches.
    form : {"diagonal", "dense", "low_rank"}
        Form of the mass.
    fixed : Mass or None
        A given mass, which is kept.
    rng : Generator
        Generator of the chain.
    """
    is_dense = form == "dense"
    is_wide = _is_wide(gradient, starts[0], form, fixed)

    def curvature(point):
        if fixed is not None:
            return fixed
        return curvature_mass(gradient, point, rows=rows, dense=is_dense or is_wide, rng=rng)

    mode = find_center(gradient, starts[0], rows=rows, curvature=curvature)
    if is_wide:
        point, mass = nearer_mode(gradient, mode.point, rng=deepcopy(rng))
        mode = mode._replace(point=point, mass=mass)
    # A separate generator, so that the check does not change the tuning of models that pass it.
    own = deepcopy(rng)
    # Of more entries, which are effects of groups mostly, no mode describes the posterior.
    if is_dense and fixed is None:
        mode = lowest_mode(gradient, mode, starts[1:], rows=rows, rng=deepcopy(rng))
    # A given mass contains no information on the curvature.
    width = mode.mass
    if fixed is not None:
        width = curvature_mass(gradient, mode.point, rows=rows, dense=is_dense, rng=own)
    if is_gaussian_around(gradient, mode.point, width, rng=own):
        return _at_mode(gradient, mode, form, fixed, own)
    found = _approximation(gradient, starts[0], own)
    if found is None:
        return _at_mode(gradient, mode, form, fixed, own)
    at_mode = Frame(mode.point, mode.mass, False)
    if not is_dense or fixed is not None:
        averaged = averaged_frame(gradient, found, form, fixed, own)
        return _best(gradient, [averaged, at_mode], own) if is_wide else averaged
    return _most_evident(gradient, found, at_mode, own)


def _approximation(
    gradient: HostGradient, start: Sequence[np.ndarray], rng: np.random.Generator
) -> Approximation | None:
    """Fit an approximation, to all rows where the noise of some looks like effects."""
    if not gradient.potential.is_standardised or max(gradient.n_rows) <= N_ROWS:
        return approximate(gradient, start, rng=rng)
    mass = first_scales(gradient, start, rng=rng)
    return approximate(gradient, start, mass=mass, is_near=True, rng=rng)


def _best(gradient: HostGradient, frames: Sequence[Frame], rng: np.random.Generator) -> Frame:
    """Return the frame with the most evidence."""
    bounds = evidence_bounds(gradient, [(one.point, one.mass) for one in frames], rng=rng)
    return frames[int(np.argmax(bounds))]


def _most_evident(
    gradient: HostGradient, found: Approximation, at_mode: Frame, rng: np.random.Generator
) -> Frame:
    """Return the frame with the most evidence; others are found from a mode that has more.

    An approximation from far away may be the worse of two optima: that of a network of three units
    had 400 nats less. And where the posterior is far from Gaussian, its averaged curvature may be
    nearly zero along a direction that is not wide: then the approximation itself has more.
    """
    frames = _frames_of(gradient, found, rng)
    rng = deepcopy(rng)
    frames.append(at_mode)
    if (frame := _best(gradient, frames, rng)) is not at_mode:
        return frame
    again = _approximation(gradient, at_mode.point, rng)
    if again is not None:
        frames += _frames_of(gradient, again, rng)
    return _best(gradient, frames, rng)


def _frames_of(gradient: HostGradient, found: Approximation, rng) -> list[Frame]:
    """Return the frames of an approximation: with its averaged curvature, and its own widths."""
    averaged = averaged_frame(gradient, found, "dense", None, rng)
    mass = found.mass
    widths = joined(mass.rate([np.ones_like(x) for x in found.center])).astype(float)
    own = JointMass(np.diag(widths**-2.0), shapes=mass.shapes, dtype=mass.dtype)
    return [averaged, Frame(found.center, own, False)]


def _at_mode(gradient: HostGradient, mode: Mode, form: MassForm, fixed: Mass | None, rng) -> Frame:
    mass = mode.mass if fixed is None else fixed
    return Frame(mode.point, _with_directions(gradient, mode.point, mass, form, fixed, rng), True)


def frame_at(
    gradient: HostGradient,
    point: list[np.ndarray],
    *,
    rows: Sequence[np.ndarray],
    form: MassForm,
    fixed: Mass | None,
    rng: np.random.Generator,
) -> Frame:
    """Measure the curvature at a given center."""
    mass = fixed
    if mass is None:
        dense = form == "dense" or _is_wide(gradient, point, form, fixed)
        mass = curvature_mass(gradient, point, rows=rows, dense=dense, rng=rng)
    return Frame(point, _with_directions(gradient, point, mass, form, fixed, rng), True)


def _is_wide(gradient: HostGradient, point, form: MassForm, fixed: Mass | None) -> bool:
    """Return whether a dense mass pays although entries are many."""
    return form == "low_rank" and fixed is None and dense_pays(gradient, point)


def _with_directions(gradient, point, mass: Mass, form: MassForm, fixed, rng) -> Mass:
    """Add to a diagonal mass the directions that it misses, if its form has them."""
    if fixed is not None or form != "low_rank" or not isinstance(mass, VariableMasses):
        return mass
    return low_rank_mass(AveragedCurvature(gradient, point, mass=mass, rng=rng), mass)


def averaged_frame(
    gradient: HostGradient, found: Approximation, form: MassForm, fixed: Mass | None, rng
) -> Frame:
    """Return the frame of an approximation, with the mass of the averaged curvature."""
    center, mass = found.center, found.mass
    if fixed is not None:
        return Frame(center, fixed, False)
    if form == "diagonal":
        return Frame(center, mass, False)
    if form == "low_rank":
        mass = with_curvature_of_entries(gradient, center, mass, rng)
    curvature = AveragedCurvature(gradient, center, mass=mass, rng=rng)
    return Frame(center, (dense_mass if form == "dense" else low_rank_mass)(curvature, mass), False)


# Pairs of rows whose gradients are compared.
N_PAIRS = 8
# Coefficients of a regression up to which a matrix of all, of ten megabytes, stays in a processor's
# cache, and a product with it takes about as long as the gradient of a batch.
LARGEST_WIDE = 1_200


def entries_of_row(gradient: HostGradient, point: Sequence[np.ndarray]) -> float:
    """Return how many entries a row concerns, on average; of rows that concern all, half of them.

    It is half the number of entries in which gradients of rows that differ in one of them differ,
    and at least one. Of a stream it is not measured.

    Parameters
    ----------
    gradient : HostGradient
        Gradients of the model.
    point : sequence of ndarray
        Where to evaluate them.
    """
    if gradient.is_stream:
        return 1.0
    # Rows of its own, so that the draws of a chain do not depend on this.
    rng = np.random.default_rng(0)
    few = [row[1:] for row in gradient.rows(rng, FEW)]
    rows = [
        [np.append(one, others) for one, others in zip(gradient.rows(rng, 1), few, strict=True)]
        for _ in range(2 * N_PAIRS)
    ]
    gradients = [found.gradient for found in gradient.many([point] * len(rows), rows)]
    differing = [
        sum(np.count_nonzero(a != b) for a, b in zip(*pair, strict=True))
        for pair in zip(gradients[::2], gradients[1::2], strict=True)
    ]
    return max(1.0, sum(differing) / (2 * N_PAIRS))


def dense_pays(gradient: HostGradient, point: Sequence[np.ndarray]) -> bool:
    """Return whether a dense mass of many entries takes about as long as the gradients of a batch.

    It does in regressions of up to 1,200 coefficients, all of which a row concerns. A product with
    the matrix takes the square of the number of entries. Where a row concerns few of many, as with
    effects of groups, that is far longer.

    Parameters
    ----------
    gradient : HostGradient
        Gradients of the model.
    point : sequence of ndarray
        Where to evaluate them.
    """
    size = sum(map(np.size, point))
    is_flat = all(factor.mass == "matrix" for factor in gradient.manifold.factors)
    if not (is_flat and gradient.n_rows and size <= LARGEST_WIDE):
        return False
    return size**2 <= 2 * LARGEST_WIDE * entries_of_row(gradient, point)
