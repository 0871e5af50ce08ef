#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Rules that compute step size and friction from measurements.

In the frame of the mass the posterior has about unit variance. Let :math:`\lambda` be the largest
curvature there, V the variance of the gradient's noise, and :math:`b` twice the accuracy: the
tolerated relative error of a variance.

For a Gaussian posterior of curvature :math:`\lambda` a transition is a linear map, whose
stationary covariance solves Lyapunov's equation. With the friction :math:`\xi`,
:math:`h = \xi \epsilon / 2`, a gradient scaled by f, and injected noise of variance s, the
variances of position and velocity between transitions are

.. math::

    \operatorname{var} x = \frac{\cosh h}{\lambda f} \,
        \frac{s + f^2 \epsilon^2 V}{2 \sinh 2h}, \qquad
    \operatorname{var} v = \lambda \operatorname{var} x \Big/
        \Bigl(\frac{\cosh h}{f} - \frac{\lambda \epsilon^2}{4}\Bigr)

at any step size at which the map is stable. The autocorrelations of x add up to
:math:`\tau = 4 \sinh h / (\lambda f \epsilon^2)` transitions. If the variance of the noise exceeds
by :math:`\Delta V` the one for which a friction was chosen, the variance of x is too large by the
share

.. math::

    \delta = \frac{\Delta V}{\lambda \tau} .

Bias times autocorrelation time depends neither on the step size nor on the friction: only friction
that fits the noise of each entry lowers it. And :math:`\tau` cannot be below :math:`V / \lambda`,
its value if gradient noise supplies all of the heat. Wang, Ding and Huggins (2026) give
discrete-time covariances of first-order and momentum methods.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pymc.exceptions import SamplingError

__all__ = [
    "Demands",
    "GradientNoise",
    "RareEntries",
    "Rule",
    "balanced_rule",
    "faster_rule",
    "friction_noise",
    "friction_rule",
    "langevin_rule",
    "require_step_size",
    "thermostat_rule",
    "trajectory_rule",
]

# In the frame of the mass all frequencies are about one. With friction xi a coordinate has the
# autocorrelation time xi, and its square (1 + xi^2) / 2 xi: one is best for the worse of the two.
BEST_FRICTION = 1.0
# Share of the stability limit 2 / sqrt(curvature) of a step: curvature varies over the posterior,
# and nonlinear forces cause further errors.
LARGEST_STEP = 0.5
# Length of a trajectory: a quarter of a period, after which positions are forgotten.
LONGEST_TRAJECTORY = 1.5
# Error of a variance of the noise that is estimated while sampling.
UNKNOWN_SHARE = 0.1
# Some noise must be injected for the thermostat to be ergodic.
LEAST_INJECTED = 0.05
# Few batches concern an entry if fewer rows of a batch do, on average.
FEW_ROWS = 1.0
# Of the squared step size times the noise of such an entry: half of what is harmless, because noise
# is measured at early draws, which are nearer to the center than later ones.
LARGEST_KICK = 0.5
# Of the heat of such an entry, the share that noise supplies. Where velocities follow the noise at
# their place, a share s turns a Gaussian posterior into a Student one with 1 + 1 / s degrees of
# freedom, of the right variance; skewed ones were too wide by up to a third with a fifth. If no
# batch told the noise, so that no friction balances it, deviations are too large by a twentieth.
RARE_SHARE = 0.1


class RareEntries(NamedTuple):
    """Entries of a position that few batches concern.

    Attributes
    ----------
    n_rows : ndarray, shape (entry,)
        Rows of a batch that concern each of them, on average.
    variance : ndarray, shape (entry,)
        Variance of the gradient's noise, in units in which the posterior deviation of each is one.
    """

    n_rows: np.ndarray
    variance: np.ndarray

    @property
    def largest(self) -> float:
        """Largest variance of those that few batches concern; zero if there are none."""
        return float(np.max(self.variance[self.n_rows < FEW_ROWS], initial=0.0))

    def times(self, factor: float) -> RareEntries:
        """Return the entries for batches with variances that are larger by a factor."""
        return RareEntries(self.n_rows / factor, factor * self.variance)


class GradientNoise(NamedTuple):
    """Variance of a minibatch gradient in the frame of unit mass.

    Attributes
    ----------
    mean, largest : float
        Over the entries of all variables. For a point on a curved manifold the mean is over its
        directions, which are fewer than its entries.
    by_entry : tuple of ndarray
        Variance of each entry, for each variable. On a curved manifold it is the mean over the
        directions of a point, for all its entries.
    unbalanced : float
        What friction for every entry leaves unbalanced, because the noise is correlated or changes
        from place to place; zero where it was not measured.
    uneven : float
        By how much the noise of gradients without control variates changes from place to place,
        relative to its mean; zero where it was not measured. Such noise is proportional to the
        curvature that the data cause, which a Gaussian posterior has the same everywhere.
    total : float
        Sum of the variances over all directions; zero where it was not measured.
    is_outweighed : bool
        Whether a few rows outweigh all others, so that many batches were needed to find it.
    rare : RareEntries, optional
        Entries that few batches concern, whose noise grows with the distance from the center of
        control variates.
    """

    mean: float
    largest: float
    by_entry: tuple[np.ndarray, ...] = ()
    unbalanced: float = 0.0
    uneven: float = 0.0
    total: float = 0.0
    is_outweighed: bool = False
    rare: RareEntries | None = None

    @property
    def of_rare(self) -> float:
        """Largest variance of an entry that few batches concern."""
        return 0.0 if self.rare is None else self.rare.largest

    def times(self, factor: float) -> GradientNoise:
        """Return the noise whose variances are larger by a factor."""
        return self._replace(
            mean=factor * self.mean,
            largest=factor * self.largest,
            by_entry=tuple(np.asarray(factor * v, dtype=v.dtype) for v in self.by_entry),
            unbalanced=factor * self.unbalanced,
            total=factor * self.total,
            rare=None if self.rare is None else self.rare.times(factor),
        )


class Demands(NamedTuple):
    """The quantities that limit the step size.

    Attributes
    ----------
    noise : GradientNoise
        Noise of the estimator in use.
    curvature : float
        Largest curvature in the frame.
    accuracy : float
        Tolerated error, in posterior standard deviations.
    smallest_shape : float
        Smallest concentration of a probability that is near zero; infinite off the simplex.
    """

    noise: GradientNoise
    curvature: float
    accuracy: float
    smallest_shape: float = np.inf

    @property
    def variance_error(self) -> float:
        """Tolerated relative error of a variance, b."""
        return 2 * self.accuracy

    @property
    def stable_step(self) -> float:
        """Step size that the curvature allows."""
        return LARGEST_STEP / np.sqrt(max(self.curvature, 1e-12))

    @property
    def bounded_step(self) -> float:
        r"""Largest step size for entries that few batches concern; infinite without any.

        With control variates and on average a < 1 rows of such an entry in a batch, the noise at x
        deviations from their center has the variance :math:`x^2 V` with :math:`V = 1 / a`, and
        friction balances its mean. By the exact second moments of transitions, the variance of
        draws is then right to .13 up to :math:`\epsilon^2 V = 1`, and hundreds of times too large,
        or infinite, from 3 on. The limit is half of one. It is not from the papers.
        """
        of_rare = self.noise.of_rare
        return float(np.sqrt(LARGEST_KICK / of_rare)) if of_rare > 0 else np.inf

    def friction_of_rare(self, step_size: float) -> float:
        """Return the friction with which noise supplies a tenth of the heat of the noisiest."""
        return (1 / RARE_SHARE - 1) * 0.5 * step_size * self.noise.of_rare


Rule = Callable[[Demands], tuple[float, dict[str, float]]]
"""Maps measurements to a step size and parameters."""


def require_step_size(step_size: float, demands: Demands) -> None:
    """Raise an error if the step size follows from measurements that are not finite.

    Raises
    ------
    SamplingError
        If the step size is not a positive, finite number.
    """
    if not (np.isfinite(step_size) and step_size > 0):
        raise SamplingError(
            "The tuning phase expected a finite curvature and gradient noise around the start of "
            f"the chain, got a largest curvature of {demands.curvature:.3g} and a noise of "
            f"{demands.noise.largest:.3g} in units of the posterior. Pass other `initvals`, write "
            "scales and rates on the log scale, or pass a `step_size`."
        )


def thermostat_rule(demands: Demands) -> tuple[float, dict[str, float]]:
    r"""Give the step size, in posterior scales, and the diffusion of a thermostat.

    Its friction settles at :math:`\xi = A + \epsilon \bar V / 2`. Positions are too wide by
    :math:`\cosh h - 1 \approx (\xi \epsilon)^2 / 8`, and in the noisiest direction also by
    :math:`\epsilon (V_{max} - \bar V) / 2 \xi`. The first error shrinks with the step size at no
    cost, so it gets a tenth of b if the noise asks for more friction than is best without it. The
    least friction has no such freedom, so there the step size solves

    .. math::

        \frac{\epsilon^2}{8} + \frac{\epsilon}{2} (V_{max} - \bar V) = b .
    """
    b = demands.variance_error
    excess = max(demands.noise.largest - demands.noise.mean, 0.0)
    # Friction needed per step size: for differences of the noise, and for its mean.
    per_step = max(excess / (1.8 * b), (0.5 + LEAST_INJECTED) * demands.noise.mean)
    product = np.sqrt(0.8 * b)
    if per_step * product > BEST_FRICTION**2:
        step_size = np.sqrt(product / per_step)
    else:
        step_size = np.sqrt(4 * excess**2 + 8 * b) - 2 * excess
        # Variation of the curvature adds to the width: half of b is reserved for it.
        step_size = min(step_size, 2 * np.sqrt(b))
        if demands.noise.mean > 0:
            step_size = min(step_size, 1 / ((0.5 + LEAST_INJECTED) * demands.noise.mean))
    step_size = min(step_size, demands.stable_step)
    friction = max(BEST_FRICTION, per_step * step_size)
    diffusion = friction - 0.5 * step_size * demands.noise.mean
    return float(step_size), {"diffusion": float(diffusion)}


def balanced_rule(demands: Demands) -> tuple[float, dict[str, float]]:
    r"""Give the step size and the diffusion if friction balances the noise of each entry.

    Each entry has the friction :math:`\xi_i = A + \epsilon V_i / 2`, so that none is too hot. Only
    the correlations of the noise remain, which cause the share :math:`\epsilon V_i / 2 \xi_i` of
    the heat; the limit of its average is b. Variances of draws are then exact for a Gaussian
    posterior at any step size (see ``recorded`` in ``algorithms/gsgnht.py``). The error
    for others is proportional to the square of the step size, which therefore shrinks with b.
    Entries that few batches concern need shorter steps and more friction; see
    :attr:`Demands.bounded_step`.
    """
    b, mean = demands.variance_error, demands.noise.mean
    step_size = min(demands.stable_step, demands.bounded_step, 2 * np.sqrt(b))
    if mean > 0:
        # If step size times friction exceeds one, a step forgets its velocity.
        step_size = min(step_size, np.sqrt(2 * b / mean))
    friction = max(BEST_FRICTION, step_size * mean / (2 * b))
    friction = max(friction, demands.friction_of_rare(step_size))
    return float(step_size), {"diffusion": float(friction)}


def faster_rule(demands: Demands) -> tuple[float, dict[str, float]]:
    """Give the faster of the two rules above, for balanced entries of a dense mass.

    Noise of row gradients is nearly independent between entries of the frame of a dense mass, and
    what remains of it after balancing is then at most its mean, and at most its differences.
    """

    def progress(found: tuple[float, dict[str, float]]) -> float:
        step_size, parameters = found
        return step_size / (parameters["diffusion"] + 0.5 * step_size * demands.noise.mean)

    return max(balanced_rule(demands), thermostat_rule(demands), key=progress)


def friction_rule(demands: Demands) -> tuple[float, dict[str, float]]:
    r"""Give the step size, in posterior scales, and the friction if the noise is not known.

    With the scaled gradients of :func:`~pymc_geodesic.algorithms.splitting.balanced_kick` all
    variances are too large by :math:`\epsilon^2 V_{max} / 4 \tanh h`. The limit is b.
    """
    b = demands.variance_error
    # The hyperbolic tangent that balances a squared step size.
    per_square = demands.noise.largest / (4 * b)
    step_size = min(demands.stable_step, 1 / BEST_FRICTION)
    if per_square > 0:
        # If step size times friction exceeds one, a step forgets its velocity and only diffuses.
        step_size = min(step_size, np.sqrt(np.tanh(0.5) / per_square))
    friction = 2 / step_size * np.arctanh(per_square * step_size**2)
    return float(step_size), {"friction": float(max(BEST_FRICTION, friction))}


def friction_noise(temperature: float, *, step_size: float, friction: float) -> float:
    r"""Return the mean variance of the gradient's noise by which velocities are too hot.

    It is the inverse of :func:`friction_rule` for the temperature T of velocities:
    :math:`\bar V = 4 (T - 1) \tanh(h) / \epsilon^2` with :math:`h = \xi \epsilon / 2`.
    """
    return 4 * (temperature - 1) * float(np.tanh(0.5 * friction * step_size)) / step_size**2


def langevin_rule(demands: Demands) -> tuple[float, dict[str, float]]:
    r"""Step size of first-order Langevin dynamics, in units of a variance.

    A direction of curvature :math:`\lambda` and noise V has the variance

    .. math::

        \frac{1}{\lambda} \cdot \frac{1 + \epsilon V / 4}{1 - \epsilon \lambda / 4}.

    The limit of its relative error is b where both are largest.
    """
    b = demands.variance_error
    total = demands.noise.largest + (1 + b) * demands.curvature
    return float(4 * b / max(total, 1e-12)), {}


def trajectory_rule(
    demands: Demands, *, n_leapfrog: int, noise_is_known: bool
) -> tuple[float, dict[str, float]]:
    r"""Step size of trajectories that begin with new velocities and have no injected noise.

    Noise of variance V that no friction balances heats a trajectory of L steps, and makes
    variances too large by the share :math:`\epsilon^2 L V / 2` at most; the limit is b. If V is
    given for each entry, friction balances it, and only its correlations are left: noise of
    gradients of rows is proportional to the curvature, so that the stiffest direction has the
    variance :math:`\lambda V`, of which :math:`(\lambda - 1) V` has no friction. A tenth is added
    for the error of an estimated V. Friction itself makes variances too large by
    :math:`\epsilon^2 V / 8`.
    """
    b, noise = demands.variance_error, demands.noise.largest
    step_size = min(demands.stable_step, 2 * np.sqrt(b), LONGEST_TRAJECTORY / n_leapfrog)
    excess = noise
    if noise_is_known:
        excess = noise * min(1.0, max(1 - 1 / max(demands.curvature, 1.0), 0.0) + UNKNOWN_SHARE)
        step_size = min(step_size, 2 * np.sqrt(b / noise)) if noise > 0 else step_size
    if excess > 0:
        step_size = min(step_size, np.sqrt(2 * b / (n_leapfrog * excess)))
    return float(step_size), {}
