#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The initial frame of a chain: a center of the posterior, and a mass that fits it."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import NamedTuple

import numpy as np

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.mass.arrays import Mass, VariableMasses
from pymc_geodesic.mass.form import MassForm
from pymc_geodesic.tuning.anchor import is_gaussian_around
from pymc_geodesic.tuning.approximation import approximate
from pymc_geodesic.tuning.center import find_center
from pymc_geodesic.tuning.curvature import curvature_mass
from pymc_geodesic.tuning.secants import AveragedCurvature, dense_mass, low_rank_mass

__all__ = ["Frame", "anchored_frame", "frame_at"]


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


def anchored_frame(
    gradient: HostGradient,
    start: Sequence[np.ndarray],
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
    start : sequence of ndarray
        The start.
    rows : sequence of ndarray
        A subsample of the data, for each source of minibatches.
    form : {"diagonal", "dense", "low_rank"}
        Form of the mass.
    fixed : Mass or None
        A given mass, which is kept.
    rng : Generator
        Generator of the chain.
    """

    def curvature(point):
        if fixed is not None:
            return fixed
        dense = form == "dense"
        return curvature_mass(gradient, point, rows=rows, dense=dense, rng=rng)

    point, mass = find_center(gradient, start, rows=rows, curvature=curvature)
    # A separate generator, so that the check does not change the tuning of models that pass it.
    own = deepcopy(rng)
    # A given mass contains no information on the curvature.
    width = mass
    if fixed is not None:
        width = curvature_mass(gradient, point, rows=rows, dense=form == "dense", rng=own)
    if is_gaussian_around(gradient, point, width, rng=own):
        return Frame(point, _with_directions(gradient, point, mass, form, fixed, own), True)
    found = approximate(gradient, start, rng=own)
    if found is None:
        return Frame(point, _with_directions(gradient, point, mass, form, fixed, own), True)
    averaged = _averaged(gradient, found.center, found.mass, form, own) if fixed is None else fixed
    return Frame(found.center, averaged, False)


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
        mass = curvature_mass(gradient, point, rows=rows, dense=form == "dense", rng=rng)
    return Frame(point, _with_directions(gradient, point, mass, form, fixed, rng), True)


def _with_directions(gradient, point, mass: Mass, form: MassForm, fixed, rng) -> Mass:
    """Add to a diagonal mass the directions that it misses, if its form has them."""
    if fixed is not None or form != "low_rank" or not isinstance(mass, VariableMasses):
        return mass
    return low_rank_mass(AveragedCurvature(gradient, point, mass=mass, rng=rng), mass)


def _averaged(gradient, center, mass: VariableMasses, form: MassForm, rng) -> Mass:
    """Return the mass of the averaged curvature."""
    if form == "diagonal":
        return mass
    curvature = AveragedCurvature(gradient, center, mass=mass, rng=rng)
    return (dense_mass if form == "dense" else low_rank_mass)(curvature, mass)
