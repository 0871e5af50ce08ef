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

from collections.abc import Callable, Mapping

import numpy as np

from pymc.exceptions import SamplingError

from pymc_geodesic.algorithms.demands import Demands, GradientNoise

__all__ = [
    "Rule",
    "at_step",
    "balanced_rule",
    "faster_rule",
    "friction_noise",
    "friction_rule",
    "halved_rule",
    "langevin_rule",
    "require_finite",
    "thermostat_rule",
    "trajectory_rule",
    "unbalanced_share",
]


# In the frame of the mass all frequencies are about one. With friction xi a coordinate has the
# autocorrelation time xi, and its square (1 + xi^2) / 2 xi: one is best for the worse of the two.
BEST_FRICTION = 1.0
# Transitions in which velocities should be forgotten: those between draws of the tuning phase,
# whose velocities correct the friction of entries as if they were independent.
LONGEST_MEMORY = 20
# Length of a trajectory: a quarter of a period, after which positions are forgotten.
LONGEST_TRAJECTORY = 1.5
# Error of a variance of the noise that is estimated while sampling.
UNKNOWN_SHARE = 0.1
# Some noise must be injected for the thermostat to be ergodic.
LEAST_INJECTED = 0.05


Rule = Callable[[Demands], tuple[float, dict[str, float]]]


"""Maps measurements to a step size and parameters."""


def at_step(demands: Demands, *, rule: Rule, step_size: float) -> tuple[float, dict[str, float]]:
    r"""Apply a rule to a given step size: it finds the parameters only.

    They are at least those of the rule's own step. A friction that shrank with a shorter step
    would leave the bias as it is, :math:`\Delta V / \lambda \tau`.
    """
    own_step, parameters = rule(demands)
    if step_size > own_step:
        _, of_longer = rule(demands._replace(given_step=step_size))
        parameters = {name: max(value, of_longer[name]) for name, value in parameters.items()}
    return step_size, parameters


def require_finite(step_size: float, parameters: Mapping[str, float], demands: Demands) -> None:
    """Raise an error if settings follow from measurements that are not finite.

    Raises
    ------
    SamplingError
        If the step size or a parameter is not a positive, finite number.
    """
    if not all(np.isfinite(value) and value > 0 for value in (step_size, *parameters.values())):
        raise SamplingError(
            "The tuning phase expected a finite curvature and gradient noise around the start of "
            f"the chain, got a largest curvature of {demands.curvature:.3g} and a noise of "
            f"{demands.noise.largest:.3g} in units of the posterior. Pass other `initvals`, write "
            "scales and rates on the log scale, or pass all of the step's parameters, with which "
            "nothing is measured."
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
    step_size = demands.chosen(min(step_size, demands.stable_step))
    friction = max(BEST_FRICTION, per_step * step_size)
    diffusion = friction - 0.5 * step_size * demands.noise.mean
    return float(step_size), {"diffusion": float(diffusion)}


def balanced_rule(demands: Demands) -> tuple[float, dict[str, float]]:
    r"""Give the step size and the diffusion if friction balances the noise of each entry.

    Each entry has the friction :math:`\xi_i = A + \epsilon V_i / 2`, so that none is too hot. Only
    the correlations of the noise remain, which cause the share :math:`\epsilon V_i / 2 \xi_i` of
    the heat. Its average is at most b: over all entries of a dense mass, and else over those of
    the noisiest variable, :attr:`GradientNoise.of_effects`. Effects are noisier than others on a
    ridge that the mass does not know. Along it there is no noise: velocities are colder by this
    share, and draws narrower. Otherwise their variances are exact for a Gaussian posterior at any
    step size (see ``recorded`` in ``algorithms/gsgnht.py``). The error for others falls with the
    square of the step size, which therefore shrinks with b.

    The noisiest entry, and those that few batches concern, may need more friction; see
    :attr:`Demands.entry_friction`. Steps that need more friction than is best go no farther, and
    are less stable: a scale of 14 effects had a neck, met by one draw in 10,000, in which they
    diverged. So they are no longer than the best friction, or the memory of velocities, allows.
    """
    b = demands.variance_error
    noise = demands.noise.mean if demands.is_dense else demands.noise.of_effects
    per_step = max(noise / (2 * b), demands.entry_friction)
    step_size = min(demands.stable_step, 2 * np.sqrt(b))
    if per_step > 0:
        memory = np.sqrt(1 / (LONGEST_MEMORY * per_step))
        step_size = min(step_size, max(BEST_FRICTION / per_step, memory))
    step_size = demands.chosen(step_size)
    return float(step_size), {"diffusion": float(max(BEST_FRICTION, step_size * per_step))}


def faster_rule(demands: Demands) -> tuple[float, dict[str, float]]:
    """Give the rule of balanced entries, or the faster of the two rules above for a dense mass.

    Noise of row gradients is nearly independent between entries of the frame of a dense mass, and
    what remains of it after balancing is then at most its mean, and at most its differences.
    """
    if not demands.is_dense:
        return balanced_rule(demands)

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
    step_size = demands.chosen(step_size)
    # No friction balances the noise of a given step that is too long.
    tangent = min(per_square * step_size**2, np.tanh(0.5))
    friction = 2 / step_size * np.arctanh(tangent)
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


# Largest heat of a transition that halves of batches balance, in units of b. With it the standard
# deviations of group effects that are multiples of their scale are on average 1.002 times those of
# NUTS; see ``benchmarks/correctness/ridges.py``.
LARGEST_HEAT = 2.0


def unbalanced_share(found: tuple[float, dict[str, float]], noise: GradientNoise) -> float:
    r"""Return the share of the heat that friction for every entry leaves unbalanced.

    It is :math:`\epsilon U / 2 \xi` for the unbalanced noise U. By so much temperatures of single
    directions and places are too high or too low, while all averages are right.

    Parameters
    ----------
    found : tuple
        Step size and diffusion, as rules return them.
    noise : GradientNoise
        The noise of the gradient, with what stays ``unbalanced``.
    """
    step_size, parameters = found
    friction = parameters["diffusion"] + 0.5 * step_size * noise.mean
    return 0.5 * step_size * noise.unbalanced / friction


def halved_rule(demands: Demands) -> tuple[float, dict[str, float]]:
    r"""Give the step size and the diffusion if halves of batches balance the noise.

    A difference of two halves damps one direction at a time, and all directions of the noise only
    on average over transitions. This is right up to the square of the heat of a transition,
    :math:`s = \epsilon^2 \operatorname{tr} V`. What remains heats the velocities, so that the
    thermostat cools all other directions by up to :math:`s^2 / 2 \epsilon \xi`.
    """
    b, total = demands.variance_error, demands.noise.total
    step_size = min(demands.stable_step, 2 * np.sqrt(b))
    if total > 0:
        step_size = min(step_size, np.sqrt(LARGEST_HEAT * b / total))
    return float(step_size), {"diffusion": BEST_FRICTION}
