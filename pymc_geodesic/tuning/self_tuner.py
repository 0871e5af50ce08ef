#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""All measurements of a tuning phase, for one chain."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from functools import partial
from typing import Literal

import numpy as np

from pymc.exceptions import SamplingError

from pymc_geodesic.algorithms.demands import GradientNoise
from pymc_geodesic.kernel.host_gradient import SUBSAMPLE, HostGradient
from pymc_geodesic.kernel.row_weights import factors_by
from pymc_geodesic.mass.arrays import JointMass, Mass, MassForm, joined
from pymc_geodesic.mass.low_rank import LowRankMass
from pymc_geodesic.stages import stage
from pymc_geodesic.tuning.all_rows_frame import FEW_PAIRS, by_weight, weigh, with_all_rows
from pymc_geodesic.tuning.frame import Frame
from pymc_geodesic.tuning.levels import rows_for_levels, share_evenly
from pymc_geodesic.tuning.spacing import shrunk_covariance, shrunk_variances
from pymc_geodesic.tuning.surroundings import Anchor, Center, Findings, InFrame, OnSimplex
from pymc_geodesic.tuning.unbalanced import with_unbalanced
from pymc_geodesic.tuning.whitening import whitened, with_directions_of_draws, without_runaways

__all__ = ["Center", "Findings", "SelfTuner", "VarianceReduction"]

VarianceReduction = Literal["auto", "control_variates"]

# Points at which noise and curvature are measured. More are needed if the noise of every entry
# matters: it grows with the distance from the center, so the few farthest points dominate it.
N_POINTS, N_POINTS_BY_ENTRY = 8, 32
N_CURVATURE_POINTS = 3
# Energy above the center's, for each entry and one more, of chains that have run off: entries at
# temperature one have a half each.
MOST_ENERGY = 10.0
# Batches of the model together whose noise is measured first if rows are drawn by weight. Groups
# share more rows more evenly, so that the noise of one batch would be too large for several.
FIRST_TIMES = 4
# Control variates need two gradients per transition, so they pay if they halve the noise.
PAYS_BELOW = 0.5


class SelfTuner:
    """Measure scales, curvature and gradient noise of a posterior.

    Parameters
    ----------
    gradient : HostGradient
        Energies and gradients.
    form : {"diagonal", "dense", "low_rank"}
        Form of the mass.
    reduction : {"auto", "control_variates"}, optional
        Whether to use control variates: if they save time, always, or never (None).
    center : sequence of ndarray, optional
        A center given by the user, in the embedding.
    is_near : bool
        Whether it is only near the mode, and may be improved.
    fixed_mass : Mass, optional
        A mass given by the user, which is kept.
    by_entry : bool
        Whether to measure the noise of every entry, and not only that of all.
    is_nonsmooth : bool
        Whether the posterior may become stiff within a few standard deviations, so that curvature
        must be measured at many points.
    can_weigh : bool
        Whether rows may be drawn by weight.
    names : sequence of str
        Names of the variables, for messages.
    advice : str
        What to do if the gradient at the center is not finite.
    """

    def __init__(
        self,
        gradient: HostGradient,
        *,
        form: MassForm,
        reduction: VarianceReduction | None,
        center: Sequence[np.ndarray] | None = None,
        is_near: bool = False,
        fixed_mass: Mass | None = None,
        by_entry: bool = False,
        is_nonsmooth: bool = False,
        can_weigh: bool = False,
        names: Sequence[str] = (),
        advice: str = "",
    ) -> None:
        self.gradient = gradient
        self._names = names
        self._center_name = "`center`" if center is not None else "the center that tuning found"
        self._advice = "Pass another `center`." if center is not None else advice
        self.reduction = reduction if gradient.n_rows else None
        self.fixed_mass = fixed_mass
        self._surroundings = _surroundings(gradient, form, center, fixed_mass, is_near=is_near)
        self._form = form
        is_free = center is None and fixed_mass is None and self.reduction is not None
        self._sees_all_rows = can_weigh and is_free
        self._by_entry = by_entry
        self.n_points = N_POINTS_BY_ENTRY if by_entry else N_POINTS
        self.n_curvature_points = self.n_points if is_nonsmooth else N_CURVATURE_POINTS
        # Of the processor for a gradient of all rows, as it was last measured.
        self.seconds_per_pass = np.nan

    def begin(
        self,
        start: Sequence[np.ndarray],
        rng: np.random.Generator,
        *,
        movable: Sequence[bool] = (),
    ) -> tuple[list[np.ndarray], Findings]:
        """Find a center from ``start``, and measure around it; return the start of sampling.

        Variables that are ``movable`` may start elsewhere; see
        :func:`~pymc_geodesic.tuning.starts.best_starts`.
        """
        self.gradient.weights, self.gradient.times = None, FIRST_TIMES
        anchor = self._by_weight(start, rng) if self._sees_all_rows else None
        if anchor is None:
            anchor = self._surroundings.anchor(start, rng, movable=movable)
            if self._sees_all_rows:
                anchor = self._with_all_rows(anchor, start, rng)
        if self._sees_all_rows:
            share_evenly(self.gradient)
        point, mass, rows = anchor.point, anchor.mass, anchor.rows
        center = self.center_at(point) if self.reduction is not None else None
        draw = partial(self._surroundings.near, mass=mass, curvature=anchor.curvature, rng=rng)
        points = [draw(point) for _ in range(self.n_points)]
        points = [x for x in points if np.isfinite(self.gradient(x, rows).energy)] or [point]
        return point, self._measure(points, mass, center, rows, rng, is_gaussian=anchor.is_gaussian)

    def _by_weight(self, start: Sequence[np.ndarray], rng: np.random.Generator) -> Anchor | None:
        frame = by_weight(self.gradient, start, form=self._form, rng=rng)
        return None if frame is None else self._anchor_of(frame, rng)

    def _with_all_rows(
        self, anchor: Anchor, start: Sequence[np.ndarray], rng: np.random.Generator
    ) -> Anchor:
        """Improve an anchor by all rows, where a subsample has missed something."""
        before = Frame(list(anchor.point), anchor.mass, anchor.is_gaussian)
        frame = with_all_rows(self.gradient, before, start=start, form=self._form, rng=rng)
        return anchor if frame is before else self._anchor_of(frame, rng)

    def _anchor_of(self, frame: Frame, rng: np.random.Generator) -> Anchor:
        rows = self.gradient.rows(deepcopy(rng), rows_for_levels(self.gradient, SUBSAMPLE))
        return Anchor(frame.point, frame.mass, rows, frame.is_gaussian)

    def center_at(self, point: list[np.ndarray]) -> Center:
        """Evaluate the whole data's gradient at a center.

        Raises
        ------
        SamplingError
            If it is not finite.
        """
        gradient = self.gradient.whole(point).gradient
        self.seconds_per_pass = self.gradient.seconds_per_pass
        if not all(np.all(np.isfinite(g)) for g in gradient):
            pairs = zip(self._names, gradient, strict=True)
            bad = ", ".join(f"`{name}`" for name, g in pairs if not np.all(np.isfinite(g)))
            raise SamplingError(
                f"Control variates expected a finite gradient of the log density at "
                f"{self._center_name}, got one that is not finite for {bad}. {self._advice}"
            )
        return Center(point, gradient, self.gradient.weights)

    def have_run_off(
        self,
        found: Findings,
        draws: Sequence[Sequence[np.ndarray]],
        rng: np.random.Generator,
    ) -> bool:
        """Return whether any of some draws has far more energy than the center, or none.

        A single chain that has run off would spoil all measurements.
        """
        # Those of the chains, which may have begun in another process.
        self.gradient.weights = None if found.center is None else found.center.weights
        if found.center is None:
            return False
        rows = self.gradient.rows(deepcopy(rng), SUBSAMPLE)
        places = np.linspace(0, len(draws) - 1, self.n_points).astype(int)
        points = [found.center.point, *(draws[i] for i in places)]
        center, *others = self.gradient.many(points, [rows] * len(points))
        # Of a million rows a subsample slopes by ten energies for each deviation from the center.
        slope = joined(center.gradient) - joined(found.center.gradient)
        origin = found.center.point
        moves = [
            joined(self.gradient.representatives.of_point(x, origin)) - joined(origin)
            for x in points[1:]
        ]
        most = center.energy + MOST_ENERGY * (1 + moves[0].size)
        energies = [one.energy - slope @ move for one, move in zip(others, moves, strict=True)]
        # An energy that is not a number is not below any other.
        return any(not energy <= most for energy in energies)

    @stage("Measuring again")
    def refine(
        self,
        found: Findings,
        draws: Sequence[Sequence[np.ndarray]],
        rng: np.random.Generator,
    ) -> Findings:
        """Correct the mass by the spread of draws, and measure again at some of them."""
        mass, near = found.mass, without_runaways(found.mass, draws)
        # If most ran off, the scales of the others mean little.
        if self.fixed_mass is None and 2 * len(near) >= len(draws):
            mass = self._refined(mass, near)
        draws = near or draws
        rows = self.gradient.rows(rng, rows_for_levels(self.gradient, SUBSAMPLE))
        chosen = rng.choice(len(draws), min(self.n_points, len(draws)), replace=False)
        points, center = [draws[i] for i in chosen], found.center
        if center is not None and not found.is_gaussian:
            mean = self._mean(draws)
            if factors_by(center.weights):
                weigh(self.gradient, mean, mass=mass, rng=deepcopy(rng), n_pairs=FEW_PAIRS)
            center = self.center_at(mean)
        again = self._measure(points, mass, center, rows, rng, is_gaussian=found.is_gaussian)
        # Later batches may miss the rows that earlier ones met.
        is_outweighed = found.noise.is_outweighed or again.noise.is_outweighed
        return again._replace(noise=again.noise._replace(is_outweighed=is_outweighed))

    def spread(
        self, point: Sequence[np.ndarray], found: Findings, rng: np.random.Generator
    ) -> list[np.ndarray]:
        """Draw a start for one of several chains around a center, with positive density."""
        rows = self.gradient.rows(rng)
        near = self._surroundings.near(point, mass=found.mass, curvature=found.curvature, rng=rng)
        return near if np.isfinite(self.gradient(near, rows).energy) else list(point)

    def _mean(self, draws: Sequence[Sequence[np.ndarray]]) -> list[np.ndarray]:
        """Average draws in the embedding, and project the mean onto the manifold."""
        means = [np.mean(np.array(arrays), axis=0) for arrays in zip(*draws, strict=True)]
        return list(self.gradient.project(*means))

    def _measure(
        self, points, mass: Mass, center: Center | None, rows, rng, *, is_gaussian: bool
    ) -> Findings:
        some = points[: self.n_curvature_points]
        curvature = self._surroundings.largest_curvature(
            some, mass=mass, rows=rows, rng=rng, is_gaussian=is_gaussian
        )
        none = Findings(mass, GradientNoise(0.0, 0.0), curvature, np.nan, False, None, is_gaussian)
        if not self.gradient.n_rows:
            return none
        there = None if center is None else center.point
        plain, controlled = self._surroundings.measure_noise(
            points, mass=mass, curvature=curvature, center=there, rng=rng
        )
        if controlled is None:
            return none._replace(noise=plain)
        ratio = controlled.mean / plain.mean if plain.mean > 0 else 1.0
        is_weighed = bool(factors_by(self.gradient.weights))
        pays = self.reduction == "control_variates" or ratio < PAYS_BELOW or is_weighed
        noise = controlled if pays else plain
        if self._by_entry:
            noise = with_unbalanced(
                noise,
                self.gradient,
                points,
                mass=mass,
                center=there if pays else None,
                rng=rng,
            )
        times = 1 if self.gradient.weights is None else self.gradient.times
        found = Findings(mass, noise, curvature, ratio, pays, center, is_gaussian)
        return found.of_batches(1 / times)

    def _refined(self, mass: Mass, draws: Sequence[Sequence[np.ndarray]]) -> Mass:
        """Fit the mass to draws."""
        frame = whitened(mass, draws)
        if isinstance(mass, JointMass):
            return mass.refined(shrunk_covariance(frame))
        mass = mass.refined(shrunk_variances(frame))
        if not isinstance(mass, LowRankMass):
            return mass
        pairs = zip(self.gradient.manifold.factors, mass.shapes, strict=True)
        is_flat = joined([np.full(shape, factor.is_flat) for factor, shape in pairs])
        return with_directions_of_draws(mass, draws, is_flat=is_flat)


def _surroundings(
    gradient: HostGradient,
    form: MassForm,
    center: Sequence[np.ndarray] | None,
    mass: Mass | None,
    *,
    is_near: bool,
) -> InFrame | OnSimplex:
    if gradient.manifold.has_geodesics:
        return InFrame(gradient, form, center, mass, is_near)
    if mass is None:
        raise RuntimeError("Coordinates without geodesics expected a given mass, got none.")
    return OnSimplex(gradient, center, mass)
