#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""A Gaussian approximation of a posterior: a center and scales, if there is no useful mode.

With :math:`q = N(c, \operatorname{diag} s^2)` the center and the scales solve

.. math::

    E_q[\nabla U] = 0, \qquad 1 / s_i^2 = E_q[\partial_i^2 U].

Curvature is averaged at the posterior's own scale, so kinks and spikes do not matter. The energy of
a center is averaged over its surroundings, so a hierarchy gains nothing by a vanishing scale.
Both expectations are means over antithetic pairs :math:`c \pm s z`, each at its own rows. With
the pairs held fixed, the mean energy is an ordinary function of the center, which L-BFGS minimises
(Giordano, Ingram and Broderick 2024). The scales follow from secants along the same pairs,

.. math::

    E_q[\partial_i^2 U] \approx z_i (g^+_i - g^-_i) / 2 s_i,

by Price's theorem. These rounds are repeated with other pairs and rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pymc_geodesic.kernel.host_gradient import CHUNK, FEW, HostGradient
from pymc_geodesic.mass.arrays import VariableMasses, joined, split
from pymc_geodesic.stages import stage
from pymc_geodesic.tuning.levels import rows_for_levels
from pymc_geodesic.tuning.scales import Scales, first_scales

__all__ = ["N_ROWS", "Approximation", "approximate"]

# Pairs of a round, and the rows that are divided among them. With fewer rows per pair the cost of a
# call would dominate; with fewer pairs the scales would be too noisy.
N_PAIRS, N_ROWS = 16, 16 * FEW
# Evaluations of the mean energy in a round.
MOST_EVALUATIONS = 25
# Rounds until the evidence bound stops rising, and the number of final centers to average.
FEWEST_ROUNDS, MOST_ROUNDS, N_AVERAGED = 3, 14, 3
# Scales that a variable may move in the last of these rounds, as a root mean square. Moves count
# because the bound is noisy: it may fall while the deviation of effects, which began at one value,
# still grows by a tenth a round. After so many rounds rest is enough.
AT_REST, NOISY_ROUNDS = 2.5, 8
# Initial scales, in PyMC's unconstrained coordinates, in which priors have about unit scale.
FIRST_SCALE, UNIT_SCALE = 0.1, 1.0
# A scale changes by at most these factors in a round: averages over few pairs can be far off.
NARROWEST, WIDEST = 0.1, 2.0
# With an anchor an entry moves by at most 3 in PyMC's unconstrained coordinates, which is far, and
# by 1e5 scales, which may be far too small at first; 3 scales are always allowed.
FAR, MOST_SCALES, FEW_SCALES = 3.0, 1e5, 3.0
# If a round led to where the energy is infinite, it is made again with a tenth of these, and again.
SHORTEST = 1e-4
# Largest number of halvings of the scales until the energies of a round are finite; of a common
# scale, if rows can tell others.
MOST_HALVINGS, FEW_HALVINGS = 20, 6


class Approximation(NamedTuple):
    """A Gaussian distribution on the sampled coordinates, independent between entries.

    Attributes
    ----------
    center : list of ndarray
        A point of the embedding.
    mass : VariableMasses
        Mass in whose frame the approximation has unit variance.
    n_gradients : int
        Number of evaluated gradients, each for some rows.
    """

    center: list[np.ndarray]
    mass: VariableMasses
    n_gradients: int


class _Round:
    """The mean energy of fixed pairs, as a function of the center.

    With an ``anchor``, the gradient of each pair's rows is corrected by what it is there, as with
    control variates.
    """

    def __init__(
        self,
        gradient: HostGradient,
        parts: Sequence[Sequence[np.ndarray]],
        *,
        shapes: Sequence[tuple[int, ...]],
        dtype: str,
        rng: np.random.Generator,
        anchor: np.ndarray | None = None,
    ) -> None:
        self._gradient, self._parts = gradient, parts
        self._shapes, self._dtype = shapes, dtype
        size = sum(int(np.prod(shape)) for shape in shapes)
        self._noise = rng.standard_normal((len(parts), size))
        self.n_gradients = 0
        self._is_anchored = anchor is not None
        self._anchor = np.zeros(size) if anchor is None else anchor
        self._slopes = np.zeros((len(parts), 1, size))
        if anchor is not None:
            here = [part.astype(dtype) for part in split(anchor, shapes)]
            found = gradient.many([here] * len(parts), parts)
            whole = joined(gradient.whole(here).pulled_back)
            self._slopes[:, 0] = [whole - joined(one.pulled_back) for one in found]

    def __call__(
        self, center: np.ndarray, scales: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the mean energy, and gradient and curvatures in units of the scales."""
        moves = scales * self._noise
        energies, slopes = self._evaluate(center + np.stack([moves, -moves], axis=1), scales)
        bends = np.einsum("ij,ij->j", self._noise, slopes[:, 0] - slopes[:, 1])
        return energies.mean(), slopes.mean(axis=(0, 1)), bends / (2 * len(self._parts))

    def _evaluate(self, ends: np.ndarray, scales: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return energies and gradients at both ends of all pairs, ``(pair, end, entry)``."""
        flat_ends = ends.reshape(-1, ends.shape[-1]).astype(self._dtype)
        points = [list(point) for point in zip(*split(flat_ends, self._shapes), strict=True)]
        found = self._gradient.many(points, [rows for rows in self._parts for _ in range(2)])
        self.n_gradients += len(found)
        gradients = zip(*(one.pulled_back for one in found), strict=True)
        flat = [np.reshape(part, (len(found), -1)) for part in gradients]
        slopes = np.concatenate(flat, axis=1).astype(float).reshape(ends.shape) + self._slopes
        energies = np.array([one.energy for one in found]).reshape(ends.shape[:2])
        energies = energies + np.sum((ends - self._anchor) * self._slopes, axis=2)
        return energies, scales * slopes

    def minimise(self, center: np.ndarray, scales: np.ndarray, *, reach: float) -> np.ndarray:
        """Follow L-BFGS to the center of least mean energy; ``reach`` scales its bounds."""
        # Imported on first use, because SciPy's optimisation takes a quarter of a second to load.
        from scipy.optimize import minimize

        def objective(u):
            energy, slope, _ = self(center + scales * u, scales)
            if not (np.isfinite(energy) and np.all(np.isfinite(slope))):
                return np.inf, np.zeros_like(u)
            return energy, slope

        options = {"maxfun": MOST_EVALUATIONS, "maxiter": MOST_EVALUATIONS, "gtol": 1e-2}
        # Corrected energies of few rows may have no minimum.
        far = reach * np.maximum(np.minimum(MOST_SCALES, FAR / scales), FEW_SCALES)
        bounds = [(-most, most) for most in far] if self._is_anchored else None
        method = {"method": "L-BFGS-B", "bounds": bounds, "options": options}
        found = minimize(objective, np.zeros_like(center), jac=True, **method)
        return center + scales * found.x


@stage("Approximating the posterior")
def approximate(
    gradient: HostGradient,
    start: Sequence[np.ndarray],
    *,
    rng: np.random.Generator,
    mass: VariableMasses | None = None,
    is_near: bool = False,
) -> Approximation | None:
    """Fit a Gaussian approximation.

    Parameters
    ----------
    gradient : HostGradient
        Energies and gradients.
    start : sequence of ndarray
        Start in the embedding. The mode of a hierarchical model is not a good start.
    rng : Generator
        Source of the pairs and rows.
    mass : VariableMasses, optional
        Mass of the first scales.
    is_near : bool
        Whether start and mass are an approximation already, which gradients of all rows improve.

    Returns
    -------
    Approximation or None
        None if no finite energy was found.

    References
    ----------
    R. Giordano, M. Ingram and T. Broderick, Black Box Variational Inference with a Deterministic
    Objective, Journal of Machine Learning Research 25 (2024).
    """
    scaling, dtype = Scales(gradient, start), start[0].dtype.name
    center = joined(start).astype(float)
    scales = scaling.small(FIRST_SCALE)
    if mass is not None:
        scales = joined(mass.rate([np.ones_like(x) for x in start])).astype(float)
    # Where a tail is flat, few pairs see no curvature, and scales would grow without end.
    widest = np.maximum(scales, UNIT_SCALE) if is_near else np.inf
    bounds: list[float] = []
    averaged: list[tuple[np.ndarray, np.ndarray]] = []
    n_gradients, settled, reach = 0, False, 1.0
    kept: tuple[np.ndarray, np.ndarray] | None = None
    with np.errstate(all="ignore"):
        while len(averaged) < N_AVERAGED:
            one = _Round(
                gradient,
                _parts(gradient, rng),
                shapes=scaling.shapes,
                dtype=dtype,
                rng=rng,
                anchor=center if is_near else None,
            )
            is_common = mass is None and bool(gradient.n_rows)
            most = FEW_HALVINGS if is_common and not bounds else MOST_HALVINGS
            narrowed = _narrowed(one, center, scales, most=most)
            if narrowed is None and is_near and kept is not None and reach > SHORTEST:
                # The corrected energy of few rows led to where others have none.
                (center, scales), reach = kept, reach / 10
                continue
            if narrowed is None:
                return _from_first_scales(gradient, start, rng) if is_common else None
            scales = narrowed
            kept = center, scales
            before, center = center, one.minimise(center, scales, reach=reach)
            rests = scaling.farthest((center - before) / scales) <= AT_REST
            center = _projected(gradient, center, scaling.shapes, dtype)
            energy, _, curvature = one(center, scales)
            n_gradients += one.n_gradients
            bounds.append(scaling.entropy(scales) - energy)
            # First all of the correction, later half of it: the mean of noisy factors is not one.
            weight = 0.5 if settled else 1.0
            factor = _factor(scaling.averaged(curvature)) ** weight
            scales = np.minimum(scaling.bounded(scales * factor), widest)
            if settled:
                averaged.append((center, np.log(scales)))
            settled = settled or _has_settled(bounds, rests=rests)
    found, scales = _averaged(gradient, averaged, scaling.shapes, dtype)
    return Approximation(found, scaling.mass(scales, dtype), n_gradients)


def _averaged(
    gradient: HostGradient, rounds: Sequence[tuple], shapes: Sequence[tuple], dtype: str
) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the mean of centers and the geometric mean of scales, from their logarithms."""
    centers = split(np.array([center for center, _ in rounds], dtype), shapes)
    last = split(rounds[-1][0].astype(dtype), shapes)
    # Of angles about pi, one center may be on either side.
    near = gradient.representatives.nearest(centers, last)
    center = joined([x.mean(axis=0, dtype=float) for x in near])
    center = _projected(gradient, center, shapes, dtype).astype(dtype)
    return split(center, shapes), np.exp(np.mean([logs for _, logs in rounds], axis=0))


def _from_first_scales(
    gradient: HostGradient, start: Sequence[np.ndarray], rng: np.random.Generator
) -> Approximation | None:
    """Begin with scales of the rows: columns of very different sizes have no common one.

    A sample stands for a stream, which would be read once in each round.
    """
    mass = first_scales(gradient, start, rng=rng)
    return approximate(gradient, start, mass=mass, is_near=not gradient.is_stream, rng=rng)


def _parts(gradient: HostGradient, rng: np.random.Generator) -> list[list[np.ndarray]]:
    """Divide rows of every source among the pairs; each gets all rows if there are fewer."""
    if (n_rows := rows_for_levels(gradient, N_ROWS)) > N_ROWS:
        # In chunks, so that nothing more is compiled.
        size = CHUNK * -(-n_rows // (N_PAIRS * CHUNK))
        return [gradient.rows(rng, size) for _ in range(N_PAIRS)]
    rows = [rng.permutation(row) for row in gradient.rows(rng, N_ROWS)]
    cut = [np.array_split(x, N_PAIRS) if len(x) >= N_PAIRS else [x] * N_PAIRS for x in rows]
    return [[parts[i] for parts in cut] for i in range(N_PAIRS)]


def _narrowed(
    one: _Round, center: np.ndarray, scales: np.ndarray, *, most: int
) -> np.ndarray | None:
    """Halve the scales until the energies of all pairs are finite, ``most`` times."""
    for _ in range(most):
        energy, slope, _ = one(center, scales)
        if np.isfinite(energy) and np.all(np.isfinite(slope)):
            return scales
        scales = scales / 2
    return None


def _projected(gradient: HostGradient, center: np.ndarray, shapes, dtype: str) -> np.ndarray:
    return joined(gradient.project(*split(center.astype(dtype), shapes))).astype(float)


def _factor(curvature: np.ndarray) -> np.ndarray:
    """Factor by which scales change, from the curvature in their units."""
    finite = np.where(np.isfinite(curvature), curvature, 1.0)
    return np.clip(finite, 1 / WIDEST**2, 1 / NARROWEST**2) ** -0.5


def _has_settled(bounds: Sequence[float], *, rests: bool) -> bool:
    n_rounds = len(bounds)
    if n_rounds < FEWEST_ROUNDS or n_rounds >= MOST_ROUNDS:
        return n_rounds >= MOST_ROUNDS
    return rests and (n_rounds >= NOISY_ROUNDS or bounds[-1] <= max(bounds[:-1]))
