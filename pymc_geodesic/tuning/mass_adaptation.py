#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The mass of one chain while it is being learned: E step, M step and resumable state."""

from __future__ import annotations

import math

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pymc_geodesic.mass.arrays import JointMass, Mass, VariableMasses, joined, split
from pymc_geodesic.mass.read import GivenMass, read_mass, require_kind
from pymc_geodesic.potential.variables import SampledVariable
from pymc_geodesic.tuning.monte_carlo_em import MonteCarloEM
from pymc_geodesic.tuning.velocity_moments import cooled, shrunk

__all__ = ["MassAdaptation", "MassArgument", "MassRecord", "begin_mass"]

MassArgument = MonteCarloEM | GivenMass | None
"""The argument ``mass`` of steps."""

# Eigenvalues are limited to these multiples of their geometric mean: beyond them the step size of
# the stiffest direction would be lost in the rounding of the softest.
SMALLEST, LARGEST = 1e-6, 1e6
# A longer E step adds no information to the previous ones.
MOST_SAMPLES = 100_000
# One E step with bad trajectories must not make the next one as long as all the earlier ones.
MOST_GROWTH = 2.0
# Largest number of entries of a mass that is recorded after every M step.
LARGEST_RECORD = 10_000
# Numbers that wait to be added to the sums, a few hundred kilobytes.
MOST_PENDING = 20_000


class MassRecord(NamedTuple):
    """The mass after an M step.

    Attributes
    ----------
    n_draws : int
        Draws of the chain so far.
    mass : ndarray
        Diagonal or matrix, over the entries of all variables.
    """

    n_draws: int
    mass: np.ndarray


def begin_mass(
    mass: MassArgument, variables: Sequence[SampledVariable], *, has_leapfrog: bool = False
) -> tuple[Mass | None, MassAdaptation | None]:
    """Return the initial mass and its adaptation, each None if not requested.

    Parameters
    ----------
    mass : MonteCarloEM, array, mapping or None
        The argument of the step.
    variables : sequence of SampledVariable
        The variables that it moves.
    has_leapfrog : bool, default False
        Whether the step accepts or rejects the ends of leapfrog trajectories.

    Raises
    ------
    ValueError
        See :func:`~pymc_geodesic.mass.read_mass`; also for a mass that is to be learned for a
        variable on a curved manifold, and for E steps whose length depends on acceptance rates
        that the step does not have.
    """
    if mass is None:
        return None, None
    if not isinstance(mass, MonteCarloEM):
        return read_mass(mass, variables), None
    if mass.energy_error is not None and not has_leapfrog:
        raise ValueError(
            "`energy_error` expected a step with a Metropolis test, and so an acceptance rate; got "
            "one without. Use `pmg.GMC`, or leave it out."
        )
    for variable in variables:
        require_kind(variable, "matrix", "a mass that is learned")
    dtype = variables[0].position.dtype
    adaptation = MassAdaptation(mass, shapes=[v.shape for v in variables], dtype=dtype)
    return adaptation.mass, adaptation


class MassAdaptation:
    """Collect the momenta or positions of draws, and update the mass when there are enough.

    Parameters
    ----------
    scheme : MonteCarloEM
        The learning scheme.
    shapes : sequence of tuple of int
        Shape of each variable.
    dtype : str
        Type of the variables.
    """

    def __init__(
        self, scheme: MonteCarloEM, *, shapes: Sequence[tuple[int, ...]], dtype: str
    ) -> None:
        self.scheme = scheme
        self.shapes = [tuple(shape) for shape in shapes]
        self.dtype = dtype
        self.size = sum(math.prod(shape) for shape in self.shapes)
        self.reset()

    def reset(self) -> None:
        """Begin a chain, with unit mass."""
        self.matrix = np.eye(self.size) if self.scheme.is_dense else np.ones(self.size)
        self.n_samples = self.n_draws = 0
        self.window = self.scheme.first_samples(self.size)
        self.history: list[MassRecord] = []
        self._derived_from: np.ndarray | None = None
        self._begin_window()

    def observe(
        self,
        position: Sequence[np.ndarray],
        velocity: Sequence[np.ndarray],
        *,
        tune: bool,
        acceptance: float = 1.0,
    ) -> None:
        """Store one draw; make an M step if it completes an E step."""
        self.n_draws += 1
        if not (tune or self.scheme.adapt_after_tune):
            return
        self.energy_error -= math.log(max(acceptance, np.finfo(float).tiny))
        self.pending.append(list(position if self.scheme.from_positions else velocity))
        if self.scheme.from_positions:
            self.heat += joined([np.square(v, dtype=float) for v in velocity])
        if len(self.pending) * self.size >= MOST_PENDING or self._is_complete:
            self._collect()
        if self.count >= self.window:
            self.update()

    @property
    def _is_complete(self) -> bool:
        return self.count + len(self.pending) >= self.window

    def update(self) -> None:
        """Make the M step."""
        estimate = self._estimate()
        if not np.all(np.isfinite(estimate)):
            # Draws of a chain that diverged, or did not move, say nothing of the mass.
            self._begin_window()
            return
        within_error = self._within_error(estimate)
        old, weight = self.matrix, self._weight()
        if self.scheme.from_positions:
            mixed = (1 - weight) * _inverse(old) + weight * estimate
            self.matrix = _inverse(_bounded(mixed))
        else:
            self.matrix = _bounded((1 - weight) * old + weight * estimate)
        if self.scheme.keeps_determinant:
            self.matrix = self.matrix / np.exp(np.mean(np.log(_eigenvalues(self.matrix))))
        self.n_samples += self.count
        growth = self._growth(within_error)
        self.window = min(math.ceil(growth * self.window), MOST_SAMPLES)
        if self.matrix.size <= LARGEST_RECORD:
            self.history.append(MassRecord(self.n_draws, self.matrix.copy()))
        self._begin_window()

    @property
    def mass(self) -> Mass:
        """The current mass."""
        return self._derived()[0]

    @property
    def statistics(self) -> dict[str, float]:
        """Scalar summaries of the mass."""
        return self._derived()[1]

    def _derived(self) -> tuple[Mass, dict[str, float]]:
        """Compute, once per M step, the quantities that every draw reads."""
        if self._derived_from is not self.matrix:
            eigenvalues = _eigenvalues(self.matrix)
            summary = {
                "mass_log_determinant": float(np.sum(np.log(eigenvalues))),
                "mass_ratio": float(eigenvalues.max() / eigenvalues.min()),
            }
            self._values = self._as_mass(), summary
            self._derived_from = self.matrix
        return self._values

    def _as_mass(self) -> Mass:
        if self.scheme.is_dense:
            return JointMass(self.matrix, shapes=self.shapes, dtype=self.dtype)
        masses = split(self.matrix, self.shapes)
        return VariableMasses(
            masses, dense=[False] * len(masses), shapes=self.shapes, dtype=self.dtype
        )

    def _weight(self) -> float:
        # The first window of positions replaces the unit mass, which is unrelated to their scale.
        # For momenta this would make the estimate singular if the window is short.
        first = 0 if self.scheme.from_positions else 1
        return (first + 1 + self.n_samples / self.count) ** -self.scheme.decay

    def _growth(self, within_error: bool) -> float:
        """Return the factor by which the E step grows after this M step."""
        if self.scheme.energy_error is not None:
            mean = self.energy_error / self.count
            return min(max(1.0, mean / self.scheme.energy_error), MOST_GROWTH)
        return self.scheme.growth if within_error or self.scheme.from_positions else 1.0

    def _begin_window(self) -> None:
        zeros = np.zeros(self.size)
        self.count, self.energy_error = 0, 0.0
        self.pending: list[list[np.ndarray]] = []
        self.total, self.lagged, self.last = zeros.copy(), zeros.copy(), zeros.copy()
        self.square, self.heat = np.zeros_like(self.matrix), zeros.copy()

    def _collect(self) -> None:
        """Add pending draws to the sums: many draws at once cost little more than one."""
        samples = np.array([joined(parts) for parts in self.pending], dtype=float)
        if not self.scheme.from_positions:
            samples = self._momenta(samples)
        squared = samples**2
        self.count += len(samples)
        self.total += samples.sum(axis=0)
        self.square += samples.T @ samples if self.scheme.is_dense else squared.sum(axis=0)
        before = np.concatenate([self.last[None], squared[:-1]])
        self.lagged += (before * squared).sum(axis=0)
        self.last = squared[-1]
        self.pending = []

    def _momenta(self, velocities: np.ndarray) -> np.ndarray:
        if self.scheme.is_dense:
            return velocities @ np.linalg.cholesky(self.matrix).T
        return velocities * np.sqrt(self.matrix)

    def _estimate(self) -> np.ndarray:
        """Second moments of momenta, or covariance of positions, of this window."""
        moment = self.square / self.count
        if self.scheme.from_positions:
            mean = self.total / self.count
            moment = moment - (np.outer(mean, mean) if self.scheme.is_dense else mean**2)
            if np.any(_diagonal(moment) <= 0):
                return np.full_like(moment, np.nan)
            temperatures = shrunk(self.heat / self.count, n_draws=self.count)
            moment = cooled(moment, temperatures, mass=self.matrix)
        if not self.scheme.is_dense:
            return moment
        share = self.scheme.regularization
        return (1 - share) * moment + share * np.diag(np.diag(moment))

    def _within_error(self, estimate: np.ndarray) -> bool:
        r"""Return whether the estimate differs from the mass only by chance.

        The relative error of a mean of S squares of normals is :math:`\sqrt{2 \tau / S}`, with the
        autocorrelation time :math:`\tau` of a first-order process that has the measured lag.
        """
        mass = _diagonal(self.matrix)
        ratio = _diagonal(estimate) / mass
        mean_square = np.mean((_diagonal(self.square) / self.count / mass) ** 2)
        lagged = np.mean(self.lagged / max(1, self.count - 1) / mass**2)
        # Squares of a normal of variance r have the variance 2 r^2 and the mean r.
        correlation = np.clip((lagged - mean_square) / (2 * mean_square), 0.0, 0.99)
        time = (1 + correlation) / (1 - correlation)
        # Two standard errors of the root mean square over the entries.
        bound = 2 * 2 * time / self.count
        return bool(np.mean((ratio - 1) ** 2) <= bound)


def _diagonal(matrix: np.ndarray) -> np.ndarray:
    return matrix if matrix.ndim == 1 else np.diag(matrix)


def _eigenvalues(matrix: np.ndarray) -> np.ndarray:
    return matrix if matrix.ndim == 1 else np.linalg.eigvalsh(matrix)


def _inverse(matrix: np.ndarray) -> np.ndarray:
    return 1 / matrix if matrix.ndim == 1 else np.linalg.inv(matrix)


def _bounded(matrix: np.ndarray) -> np.ndarray:
    """Limit eigenvalues that are too far from their geometric mean."""
    if matrix.ndim == 1:
        return _clipped(matrix)
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    clipped = _clipped(values)
    return matrix if np.array_equal(clipped, values) else (vectors * clipped) @ vectors.T


def _clipped(values: np.ndarray) -> np.ndarray:
    positive = np.maximum(values, np.finfo(float).tiny)
    center = np.exp(np.mean(np.log(positive)))
    return np.clip(values, SMALLEST * center, LARGEST * center)
