#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""The search of a mode that is hard to find, such as that of a network.

Posterior scales of a network differ by factors of thousands, and its modes by hundreds of nats. A
descent in coordinates of unknown scales takes thousands of evaluations, and where it ends depends
on its start. So several starts are followed, each descent goes on in the frame of the curvature
that the last one has reached, and the worse half is left behind.

Which of several Gaussian approximations describes a posterior best.

The evidence bound of :math:`q = N(c, M^{-1})` is, up to a constant,

.. math::

    -E_q[U] - \tfrac12 \log |M| .

Energies of different rows differ by far more than bounds of two approximations do. So all of them
take the same rows and the same noise, by which most of the error cancels.
"""

from __future__ import annotations

import math

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.mass.arrays import Mass, joined, split
from pymc_geodesic.tuning.anchor import around
from pymc_geodesic.tuning.center import MOST_SUBSAMPLE, Descent, Mode, descend, descend_whole
from pymc_geodesic.tuning.curvature import curvature_mass

__all__ = ["evidence_bounds", "log_volume", "lowest_mode", "search_long"]


# Rows of the last descents. The softest curvatures are small differences of large ones: of fewer
# rows they would be noise.
N_ROWS = 100_000
# Descents from one point, each in the frame where the last has ended.
MOST_ROUNDS = 8
# Starts that are followed to the end.
N_FOLLOWED = 2
# Nats by which another mode must have more evidence to matter.
MARGIN = 10.0


def lowest_mode(
    gradient: HostGradient,
    mode: Mode,
    others: Sequence[Sequence[np.ndarray]],
    *,
    rows: Sequence[np.ndarray],
    rng: np.random.Generator,
) -> Mode:
    """Return a mode that was searched for if it serves, or else that of a long search.

    It does not if its search was stopped, or if a descent from another start finds more evidence,
    by Laplace's approximation. A hierarchy without deviations has a low energy, but little volume.

    Parameters
    ----------
    gradient : HostGradient
        Energies and gradients, of variables that a dense mass fits.
    mode : Mode
        A mode, or where the search for it was stopped.
    others : sequence of points
        Other starts, in the embedding.
    rows : sequence of ndarray
        The subsample, for each source of minibatches, by which the mode was found.
    rng : Generator
        Source of more rows.

    Returns
    -------
    Mode
        The given mode, or that of the long search, which may have been stopped too.
    """
    shapes = gradient.manifold.shapes
    least = mode.energy - log_volume(mode.mass, shapes) - MARGIN

    def outdoes(other: Sequence[np.ndarray]) -> bool:
        end = descend(
            lambda x: gradient(x, rows), other, project=gradient.project, most=MOST_SUBSAMPLE
        )
        mass = curvature_mass(gradient, end.point, rows=rows, rng=rng)
        return end.energy - log_volume(mass, shapes) < least

    if mode.has_ended and not any(map(outdoes, others)):
        return mode
    return search_long(gradient, [mode.point, *others], rows=rows, rng=rng)


def search_long(
    gradient: HostGradient,
    starts: Sequence[Sequence[np.ndarray]],
    *,
    rows: Sequence[np.ndarray],
    rng: np.random.Generator,
) -> Mode:
    """Search the lowest mode from several starts; arguments are those of :func:`lowest_mode`.

    The lowest energy wins, which may be that of a hierarchy without deviations. Such a mode has
    less evidence than the approximation with which it is compared later.
    """

    def mass_at(point: Sequence[np.ndarray], among: Sequence[np.ndarray]) -> Mass:
        return curvature_mass(gradient, point, rows=among, rng=rng)

    def followed(end: Descent, among: Sequence[np.ndarray], n_rounds: int) -> Descent:
        """Descend in the frame of the curvature at the end of the last descent, until it ends."""
        for _ in range(n_rounds):
            end = descend(
                lambda x: gradient(x, among),
                end.point,
                project=gradient.project,
                mass=mass_at(end.point, among),
                most=MOST_SUBSAMPLE,
            )
            if end.has_ended:
                break
        return end

    def lowest(ends: Sequence[Descent], n: int) -> list[Descent]:
        return sorted(ends, key=lambda end: end.energy)[:n]

    ends = [Descent(list(start), np.inf, False) for start in starts]
    ends = lowest([followed(end, rows, 1) for end in ends], N_FOLLOWED)
    ends = [followed(end, rows, MOST_ROUNDS) for end in ends]
    many = gradient.rows(rng, N_ROWS)
    (best,) = lowest([followed(end, many, MOST_ROUNDS) for end in ends], 1)
    mass, point = mass_at(best.point, many), best.point
    if any(len(row) < n for row, n in zip(many, gradient.n_rows, strict=True)):
        point = descend_whole(gradient, point, mass).point
    return Mode(point, mass, best.energy, best.has_ended)


# As many as a round of the approximation takes; see ``tuning/approximation.py``.
N_ROWS_OF_EVIDENCE_BOUND, N_PAIRS = 20_000, 16


def evidence_bounds(
    gradient: HostGradient,
    candidates: Sequence[tuple[Sequence[np.ndarray], Mass]],
    *,
    rng: np.random.Generator,
) -> list[float]:
    """Estimate the evidence bounds of Gaussian approximations, up to a common constant.

    Parameters
    ----------
    gradient : HostGradient
        Energies.
    candidates : sequence of (sequence of ndarray, Mass)
        Center in the embedding, and mass in whose frame the approximation has unit variance.
    rng : Generator
        Source of rows and noise.

    Returns
    -------
    list of float
        Minus infinity where an energy is not finite.
    """
    parts = [rng.permutation(row) for row in gradient.rows(rng, N_ROWS_OF_EVIDENCE_BOUND)]
    energies = np.zeros(len(candidates))
    with np.errstate(all="ignore"):
        for pair in range(N_PAIRS):
            rows = [np.array_split(row, N_PAIRS)[pair] for row in parts]
            noise = [rng.standard_normal(np.shape(x)) for x in candidates[0][0]]
            for number, (center, mass) in enumerate(candidates):
                drawn = [np.asarray(z, x.dtype) for z, x in zip(noise, center, strict=True)]
                ends = [around(gradient, center, mass, z) for z in (drawn, [-z for z in drawn])]
                found = gradient.many(ends, [rows, rows])
                energies[number] += sum(one.energy for one in found) / (2 * N_PAIRS)
    volumes = [log_volume(mass, gradient.manifold.shapes) for _, mass in candidates]
    bounds = np.array(volumes) - energies
    return list(np.where(np.isfinite(bounds), bounds, -np.inf))


def log_volume(mass: Mass, shapes: Sequence[tuple[int, ...]]) -> float:
    """Return the logarithm of the volume that a unit of the frame of a mass has.

    ``shapes`` are those of the variables.
    """
    size = sum(math.prod(shape) for shape in shapes)
    columns = [joined(mass.rate(split(unit, shapes))) for unit in np.eye(size)]
    return float(np.linalg.slogdet(np.array(columns))[1])
