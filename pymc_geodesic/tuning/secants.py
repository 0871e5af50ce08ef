#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Curvature of a posterior averaged at its own scale, and the directions that a diagonal misses.

In the frame of a mass, the product of the averaged Hessian and a vector v of unit length is a mean
of secants over points :math:`x_k` of the Gaussian approximation,

.. math::

    H v \approx \frac1K \sum_k \frac{g(x_k + h v) - g(x_k - h v)}{2 h},

each at its own rows. It costs two gradients per point, and no second derivatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np

from pymc_geodesic.kernel.host_gradient import SUBSAMPLE, HostGradient
from pymc_geodesic.mass.arrays import JointMass, Mass, VariableMasses, joined, split
from pymc_geodesic.mass.low_rank import LowRankMass
from pymc_geodesic.tuning.levels import MANY_ROWS, rows_for_levels
from pymc_geodesic.tuning.scales import Scales

__all__ = [
    "AveragedCurvature",
    "dense_mass",
    "low_rank_mass",
    "n_directions",
    "with_curvature",
    "with_curvature_of_entries",
    "without_directions",
]

# Directions of a mass that is neither diagonal nor dense. Crossed effects have three that matter,
# and each costs two products with all entries in every drift and kick.
MOST_DIRECTIONS = 12
# Points at which secants are taken, and half their length in posterior standard deviations. At full
# width exponential links would overflow.
N_POINTS, HALF_WIDTH = 4, 0.5
# Limits of the search for directions: products, size of the subspace, and precision.
MOST_PRODUCTS, KRYLOV, PRECISION = 120, 36, 0.02
# Curvatures in the frame beyond which a direction is kept, and bounds of plausible curvatures.
SOFT, STIFF = 0.7, 1.5
SOFTEST, STIFFEST = 1e-4, 1e4
# Along a soft direction the curvature may be another within its width, that of the effects' scale
# above all: the width at which it is the same is found by so many measurements. A direction is bent
# if they differ by more than this factor.
N_WIDTHS, BENT = 4, 1.5
# Relative standard error of the curvature of an entry up to which it is believed.
KNOWN = 0.2
# Seed of the initial vector of the search.
FIRST_VECTOR = 0


class AveragedCurvature:
    """The averaged Hessian in the frame of a mass, as a product with vectors.

    Parameters
    ----------
    gradient : HostGradient
        Energies and gradients.
    center : sequence of ndarray
        Center of the Gaussian approximation.
    mass : Mass
        Mass in whose frame it has unit variance.
    rng : Generator
        Source of points and rows.
    """

    def __init__(
        self,
        gradient: HostGradient,
        center: Sequence[np.ndarray],
        *,
        mass: Mass,
        rng: np.random.Generator,
    ) -> None:
        self._gradient, self._mass = gradient, mass
        self._shapes = [np.shape(x) for x in center]
        self._center = list(center)
        self.size = sum(int(np.prod(shape)) for shape in self._shapes)
        self._noise = [HALF_WIDTH * rng.standard_normal(self.size) for _ in range(N_POINTS)]
        n_rows = rows_for_levels(gradient, SUBSAMPLE)
        self._rows = [gradient.rows(rng, n_rows) for _ in range(N_POINTS)]
        factors = zip(gradient.manifold.factors, self._shapes, strict=True)
        self.is_flat = joined([np.full(shape, factor.is_flat) for factor, shape in factors])

    def in_frame(self, mass: Mass) -> AveragedCurvature:
        """Return the same curvature in the frame of another mass."""
        other = copy(self)
        other._mass = mass
        return other

    def __call__(self, vector: np.ndarray) -> np.ndarray:
        """Return the product with a vector."""
        length = float(np.linalg.norm(vector))
        if length == 0 or not np.isfinite(length):
            return np.zeros_like(vector)
        step = HALF_WIDTH * vector / length
        ends = [noise + sign * step for noise in self._noise for sign in (1, -1)]
        total = np.zeros(self.size)
        with np.errstate(all="ignore"):
            forces = self._forces(ends)
            for ahead, behind in zip(forces[::2], forces[1::2], strict=True):
                change = ahead - behind
                total += np.where(np.isfinite(change), change, 0.0)
        return total / (2 * HALF_WIDTH * N_POINTS) * length

    def _forces(self, ends: Sequence[np.ndarray]) -> list[np.ndarray]:
        found = self._gradient.many(
            [self._moved(end) for end in ends], [rows for rows in self._rows for _ in range(2)]
        )
        return [joined(self._mass.force(one.pulled_back)).astype(float) for one in found]

    def _moved(self, by: np.ndarray) -> list[np.ndarray]:
        moves = self._mass.rate(split(by, self._shapes))
        return [np.asarray(x + m, x.dtype) for x, m in zip(self._center, moves, strict=True)]


def dense_mass(curvature: AveragedCurvature, mass: VariableMasses) -> JointMass:
    """Return the mass of the averaged Hessian, from measurements of all its columns."""
    columns = np.array([curvature(direction) for direction in np.eye(curvature.size)])
    values, vectors = np.linalg.eigh(0.5 * (columns + columns.T))
    inner = (vectors * _believed(values)) @ vectors.T
    scales = _scales_of(mass)
    matrix = inner / np.outer(scales, scales)
    return JointMass(matrix, shapes=mass.shapes, dtype=mass.dtype)


def n_directions(n_flat: int) -> int:
    """Return the number of directions of a low-rank mass: all of a few flat entries."""
    return n_flat if n_flat <= KRYLOV else MOST_DIRECTIONS


def low_rank_mass(curvature: AveragedCurvature, mass: VariableMasses) -> LowRankMass:
    """Return the diagonal mass with the softest and stiffest directions that it misses."""
    rank = n_directions(int(curvature.is_flat.sum()))
    find = _all_directions if rank == curvature.is_flat.sum() else _extremes
    values, vectors = find(curvature, rank)
    values = _believed(values)
    chosen = (values < SOFT) | (values > STIFF)
    values, vectors = values[chosen], vectors[:, chosen]
    values = _at_their_width(curvature, mass, vectors, values, rank)
    return _with_directions(mass, vectors, values, rank)


def _at_their_width(
    curvature: AveragedCurvature,
    mass: VariableMasses,
    vectors: np.ndarray,
    values: np.ndarray,
    rank: int,
) -> np.ndarray:
    """Return curvatures that are larger where soft directions are bent within their width.

    Half of the correction is made in each round, because a narrower direction is less bent.
    """
    is_open = values < 1
    for _ in range(N_WIDTHS):
        if not is_open.any():
            break
        wide = curvature.in_frame(_with_directions(mass, vectors, values, rank))
        pairs = zip(vectors.T, is_open, strict=True)
        ratios = np.array([vector @ wide(vector) if x else 1.0 for vector, x in pairs])
        values = values * np.clip(ratios, 1.0, 1 / np.minimum(values, 1)) ** 0.5
        is_open = ratios > BENT
    return values


def _all_directions(curvature: AveragedCurvature, rank: int) -> tuple[np.ndarray, np.ndarray]:
    basis = np.eye(curvature.size)[curvature.is_flat]
    columns = np.array([curvature(direction)[curvature.is_flat] for direction in basis])
    values, vectors = np.linalg.eigh(0.5 * (columns + columns.T))
    return values, basis.T @ vectors


def _extremes(curvature: AveragedCurvature, rank: int) -> tuple[np.ndarray, np.ndarray]:
    # Imported on first use: with its imports it takes longer than building a model's graph.
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    flat = curvature.is_flat
    first = np.random.default_rng(FIRST_VECTOR).standard_normal(curvature.size) * flat

    def product(vector: np.ndarray) -> np.ndarray:
        return curvature(vector.ravel() * flat) * flat + vector.ravel() * ~flat

    operator = LinearOperator((curvature.size, curvature.size), matvec=product, dtype=float)
    options = {"k": rank, "which": "BE", "v0": first, "tol": PRECISION}
    options |= {"ncv": min(KRYLOV, curvature.size), "maxiter": MOST_PRODUCTS // KRYLOV}
    try:
        return eigsh(operator, **options)
    except ArpackNoConvergence as found:
        return found.eigenvalues, found.eigenvectors


def without_directions(mass: VariableMasses, rank: int) -> LowRankMass:
    """Return the diagonal mass in the low-rank form, with empty directions."""
    size = sum(int(np.prod(shape)) for shape in mass.shapes)
    return _with_directions(mass, np.zeros((size, 0)), np.zeros(0), rank)


def _with_directions(
    mass: VariableMasses, vectors: np.ndarray, values: np.ndarray, rank: int
) -> LowRankMass:
    size, n = vectors.shape
    directions, curvatures = np.zeros((size, rank)), np.ones(rank)
    directions[:, :n], curvatures[:n] = vectors, values
    return LowRankMass(
        mass.arrays,
        directions=directions,
        curvatures=curvatures,
        shapes=mass.shapes,
        dtype=mass.dtype,
    )


def _believed(values: np.ndarray) -> np.ndarray:
    """Make curvatures positive: if the mean is negative, only draws reveal the width."""
    return np.clip(np.abs(values), SOFTEST, STIFFEST)


def with_curvature(
    gradient: HostGradient,
    point: Sequence[np.ndarray],
    mass: Mass,
    rows: Sequence[np.ndarray],
) -> Mass:
    """Return the mass of the curvature, by secants in the frame of another mass."""
    shapes = [np.shape(x) for x in point]
    ends = []
    for unit in np.eye(sum(map(np.size, point))):
        moves = mass.rate(split(HALF_WIDTH * unit, shapes))
        for sign in (1, -1):
            pairs = zip(point, moves, strict=True)
            ends.append([np.asarray(x + sign * move, x.dtype) for x, move in pairs])
    found = gradient.many(ends, [rows] * len(ends))
    forces = np.array([joined(mass.force(one.pulled_back)) for one in found], dtype=float)
    columns = (forces[::2] - forces[1::2]) / (2 * HALF_WIDTH)
    values, vectors = np.linalg.eigh(0.5 * (columns + columns.T))
    return mass.refined((vectors / _believed(values)) @ vectors.T)


def with_curvature_of_entries(
    gradient: HostGradient,
    center: Sequence[np.ndarray],
    mass: VariableMasses,
    rng: np.random.Generator,
) -> VariableMasses:
    r"""Return the mass of the curvature of single entries, where it is known.

    A row concerns one effect of a factor. Secants along random signs z of the entries of one
    variable hence give the curvature of each effect, in units of its scale s,

    .. math::

        h_i = s_i z_i [g_i(x + s z / 2) - g_i(x - s z / 2)].

    If rows concern several entries, as in regressions, measurements with other signs differ, and
    scales stay as they are.
    """
    scales = split(_scales_of(mass), mass.shapes)
    n_rows = rows_for_levels(gradient, SUBSAMPLE, of_each=MANY_ROWS)
    found = []
    for _ in range(N_POINTS):
        rows = gradient.rows(rng, n_rows)
        noise = mass.rate([HALF_WIDTH * rng.standard_normal(shape) for shape in mass.shapes])
        point = [x + move for x, move in zip(center, noise, strict=True)]
        steps = [HALF_WIDTH * scale * rng.choice([-1, 1], scale.shape) for scale in scales]
        ends = [_moved_in(point, i, move) for i, x in enumerate(steps) for move in (x, -x)]
        slopes = [one.pulled_back for one in gradient.many(ends, [rows] * len(ends))]
        pairs = zip(slopes[::2], slopes[1::2], steps, strict=True)
        changes = [x * (up[i] - down[i]) for i, (up, down, x) in enumerate(pairs)]
        found.append(joined(changes) / (2 * HALF_WIDTH**2))
    curvature = np.mean(found, axis=0)
    error = np.std(found, axis=0, ddof=1) / np.sqrt(N_POINTS)
    flat = [
        np.full(x.shape, f.is_flat) for f, x in zip(gradient.manifold.factors, scales, strict=True)
    ]
    is_known = joined(flat) & (error < KNOWN * curvature)
    factors = np.where(is_known, curvature, 1.0) ** -0.5
    return Scales(gradient, center).mass(joined(scales) * factors, mass.dtype)


def _moved_in(point: Sequence[np.ndarray], number: int, move: np.ndarray) -> list[np.ndarray]:
    """Return a point with one of its arrays moved."""
    return [x + move if i == number else x for i, x in enumerate(point)]


def _scales_of(mass: VariableMasses) -> np.ndarray:
    pairs = zip(mass.arrays, mass.shapes, strict=True)
    return joined([np.broadcast_to(scale, shape) for scale, shape in pairs])
