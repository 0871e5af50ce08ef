#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Where a tuning phase measures, in the frame of a mass or on the simplex, and what it finds."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pymc_geodesic.algorithms.demands import Demands, GradientNoise
from pymc_geodesic.kernel.host_gradient import SUBSAMPLE, HostGradient
from pymc_geodesic.kernel.row_weights import RowWeights
from pymc_geodesic.mass.arrays import JointMass, Mass, MassForm
from pymc_geodesic.stages import stage
from pymc_geodesic.tuning import simplex
from pymc_geodesic.tuning.anchor import around, is_gaussian_around
from pymc_geodesic.tuning.center import (
    FarCenterError,
    descend_whole,
    distance_from_mode,
    require_near_mode,
)
from pymc_geodesic.tuning.curvature import curvature_mass, largest_curvature
from pymc_geodesic.tuning.frame import anchored_frame, frame_at
from pymc_geodesic.tuning.noise import measure_noise
from pymc_geodesic.tuning.secants import HALF_WIDTH
from pymc_geodesic.tuning.starts import best_starts

__all__ = ["Anchor", "Center", "Findings", "InFrame", "OnSimplex"]

Point = Sequence[np.ndarray]

# In posterior standard deviations per entry. A center so far off adds as much noise as two draws
# have between them; from there on a search pays, which takes a few passes over all rows.
NEAR = 1.5


class Anchor(NamedTuple):
    """The point around which measurements begin, and what was found on the way there.

    Attributes
    ----------
    point : list of ndarray
        The mode, the mean or a given center.
    mass : Mass
        Mass in whose frame the posterior has about unit variance.
    rows : sequence of ndarray
        The subsample of rows on which it was found.
    is_gaussian : bool
        Whether the point and the curvature there describe the posterior.
    curvature : float
        Largest curvature there; needed on the simplex alone.
    """

    point: list[np.ndarray]
    mass: Mass
    rows: Sequence[np.ndarray]
    is_gaussian: bool = True
    curvature: float = np.nan


@dataclass(frozen=True)
class InFrame:
    """Measurements along geodesics, in the frame of a mass.

    Parameters
    ----------
    gradient : HostGradient
        Energies and gradients.
    form : {"diagonal", "dense", "low_rank"}
        Form of the mass.
    center : sequence of ndarray, optional
        A center given by the user, in the embedding.
    mass : Mass, optional
        A mass given by the user, which is kept.
    is_near : bool
        Whether the center is only near the mode, and is to be improved if it is not near enough.
    """

    gradient: HostGradient
    form: MassForm
    center: Point | None
    mass: Mass | None
    is_near: bool = False

    def anchor(self, start: Point, rng: np.random.Generator, *, movable: Sequence[bool]) -> Anchor:
        """Search the mode, or measure the frame at the given center."""
        starts: Sequence[Point] = [start]
        if self.center is None and any(movable):
            starts = best_starts(self.gradient, start, movable=movable, rng=rng)
        rows = self.gradient.rows(rng, SUBSAMPLE)
        if self.center is None:
            frame = anchored_frame(
                self.gradient, starts, rows=rows, form=self.form, fixed=self.mass, rng=rng
            )
        else:
            center = [np.asarray(x) for x in self.center]
            if self.is_near:
                center = self._nearer(center, rows, deepcopy(rng))
            frame = frame_at(
                self.gradient, center, rows=rows, form=self.form, fixed=self.mass, rng=rng
            )
            require_near_mode(self.gradient.whole(frame.point).pulled_back, frame.mass)
        point, mass, is_gaussian = frame
        return Anchor(point, mass, rows, is_gaussian)

    def _nearer(
        self, center: list[np.ndarray], rows: Sequence[np.ndarray], rng: np.random.Generator
    ) -> list[np.ndarray]:
        """Return a center, or if it is off, the mode that a search by all rows finds from there."""
        gradient, is_dense = self.gradient, self.form == "dense"
        mass = curvature_mass(gradient, center, rows=rows, dense=is_dense, rng=rng)
        if distance_from_mode(gradient.whole(center).pulled_back, mass) <= NEAR:
            return center
        found = descend_whole(gradient, center, mass).point
        mass = curvature_mass(gradient, found, rows=rows, dense=is_dense, rng=rng)
        if not is_gaussian_around(gradient, found, mass, rng=rng):
            raise FarCenterError("The posterior is far from Gaussian around the mode near it.")
        return found

    def near(
        self, point: Point, *, mass: Mass, curvature: float, rng: np.random.Generator
    ) -> list[np.ndarray]:
        """Draw from an approximation of the posterior around a point."""
        noise = [rng.standard_normal(np.shape(x)).astype(x.dtype) for x in point]
        return around(self.gradient, point, mass, noise)

    @stage("Measuring curvature")
    def largest_curvature(
        self,
        points: Sequence[Point],
        *,
        mass: Mass,
        rows: Sequence[np.ndarray],
        rng: np.random.Generator,
        is_gaussian: bool,
    ) -> float:
        """Find the largest curvature at some points."""
        width = None if is_gaussian else HALF_WIDTH
        return max(
            largest_curvature(self.gradient, point, rows=rows, mass=mass, rng=rng, half_width=width)
            for point in points
        )

    def measure_noise(
        self,
        points: Sequence[Point],
        *,
        mass: Mass,
        curvature: float,
        center: Point | None,
        rng: np.random.Generator,
    ) -> tuple[GradientNoise, GradientNoise | None]:
        """Measure the plain noise, and that relative to a center if there is one."""
        return measure_noise(self.gradient, points, mass=mass, center=center, rng=rng)


@dataclass(frozen=True)
class OnSimplex:
    """Measurements relative to the Fisher metric, in coordinates without geodesics.

    Parameters
    ----------
    gradient : HostGradient
        Energies and gradients.
    center : sequence of ndarray, optional
        A center given by the user, in log probabilities.
    mass : Mass
        That of steps without velocities.
    """

    gradient: HostGradient
    center: Point | None
    mass: Mass

    def anchor(self, start: Point, rng: np.random.Generator, *, movable: Sequence[bool]) -> Anchor:
        """Search the mean: posteriors with sparse priors have no mode."""
        rows = self.gradient.rows(rng, SUBSAMPLE)
        start = self.center or simplex.scattered(start, movable, rng)
        point, curvature = simplex.find_mean(self.gradient, start, rows=rows, rng=rng)
        return Anchor(point, self.mass, rows, curvature=curvature)

    def near(  # noqa: D102
        self, point: Point, *, mass: Mass, curvature: float, rng: np.random.Generator
    ) -> list[np.ndarray]:
        return simplex.near(point, curvature, rng)

    def largest_curvature(  # noqa: D102
        self,
        points: Sequence[Point],
        *,
        mass: Mass,
        rows: Sequence[np.ndarray],
        rng: np.random.Generator,
        is_gaussian: bool,
    ) -> float:
        return simplex.largest_curvature(self.gradient, points, rows=rows, rng=rng)

    def measure_noise(  # noqa: D102
        self,
        points: Sequence[Point],
        *,
        mass: Mass,
        curvature: float,
        center: Point | None,
        rng: np.random.Generator,
    ) -> tuple[GradientNoise, GradientNoise | None]:
        return simplex.measure_noise(
            self.gradient, points, curvature=curvature, center=center, rng=rng
        )


# Of the accuracy, where a few rows outweigh all others. Their noise grows with the distance from
# the center of control variates, so that an estimate from draws that are too narrow is too small
# by more than half; noise is then a smaller part of what friction balances.
OUTWEIGHED_SHARE = 0.25


class Center(NamedTuple):
    """The center of control variates, with the gradient of the whole data there.

    If changes of the gradient from there are those of few rows, rows are drawn by ``weights``.
    """

    point: list[np.ndarray]
    gradient: list[np.ndarray]
    weights: RowWeights | None = None


class Findings(NamedTuple):
    """The results of the tuning phase.

    Attributes
    ----------
    mass : Mass
        Mass in whose frame the posterior has about unit variance.
    noise : GradientNoise
        Noise of the estimator in use, in that frame.
    curvature : float
        Largest curvature in that frame.
    variance_ratio : float
        Noise variance with control variates divided by that without; NaN without a center.
    controlled : bool
        Whether control variates are used.
    center : Center or None
        Center of the control variates.
    is_gaussian : bool
        Whether its mode and the curvature there describe the posterior.
    halved : bool
        Whether the two halves of every batch balance the noise.
    damps : bool
        Whether they balance the noise of the points of curved manifolds.
    unbalanced : float
        Share of the heat that nothing balances; zero if that is harmless.
    """

    mass: Mass
    noise: GradientNoise
    curvature: float
    variance_ratio: float
    controlled: bool
    center: Center | None
    is_gaussian: bool = True
    halved: bool = False
    damps: bool = False
    unbalanced: float = 0.0

    def demands(self, accuracy: float) -> Demands:
        """Collect the quantities that limit a step size."""
        if self.noise.is_outweighed:
            accuracy *= OUTWEIGHED_SHARE
        is_dense = isinstance(self.mass, JointMass)
        return Demands(self.noise, self.curvature, accuracy, is_dense=is_dense)

    def of_batches(self, times: float) -> Findings:
        """Return the same for batches of so many times as many rows."""
        return self._replace(noise=self.noise.times(1 / times))

    def with_control_variates(self) -> Findings:
        """Use control variates if they lower the noise at all."""
        if self.controlled or not self.variance_ratio < 1:
            return self
        return self._replace(noise=self.noise.times(self.variance_ratio), controlled=True)
