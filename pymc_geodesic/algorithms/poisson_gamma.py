#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Transitions of probabilities that are exact if their log density is linear in their logarithms.

Let the posterior be Dirichlet(a). For any rate :math:`\lambda`, the transition

.. math::

    N_k \sim \operatorname{Poisson}(\lambda \pi_k), \qquad
    G_k \sim \operatorname{Gamma}(a_k + N_k), \qquad \pi'_k = G_k / \sum_j G_j

leaves it invariant: given their sum, whose distribution does not depend on :math:`\pi`, the N are
multinomial counts with the probabilities :math:`\pi`, and :math:`\pi'` is a draw given these
counts. The mean moves by the share :math:`\sum_j a_j / (\lambda + \sum_j a_j)` of its distance from
that of the posterior. With :math:`\lambda = 2 / \epsilon` and small steps this is Langevin dynamics
of Patterson and Teh (2013) with a total of one. With a Gamma variable in place of
:math:`\lambda` it is the transition of Baker et al. (2018), the one of a Cox-Ingersoll-Ross
process.

Of other densities :math:`a_k = 1 + \pi_k \partial_k \ell` is that of the present point. Where it is
not positive, the counts have the mean :math:`\lambda \pi_k e^{(a_k - c) / \lambda \pi_k}` and the
shape is a small c, so that the drift is right: the error is of first order in the step size.

A compiled loop needs a number of random inputs that does not depend on the data, so the variables
are functions of standard normals.
"""

from __future__ import annotations

import math

from typing import Any

import numpy as np

from pymc_geodesic import arrays
from pymc_geodesic.algorithms.algorithm import Algorithm
from pymc_geodesic.algorithms.demands import Demands
from pymc_geodesic.algorithms.sgld import State, init
from pymc_geodesic.algorithms.sgrld import simplex_only
from pymc_geodesic.algorithms.simplex_chart import SMALLEST_SHAPE, floor_of
from pymc_geodesic.arrays import Array
from pymc_geodesic.kernel.interface import Dynamics
from pymc_geodesic.manifolds import LogSimplex, Point, Simplex
from pymc_geodesic.potential.estimate import Estimator

__all__ = ["EXACT_SGRLD", "log_gamma", "poisson", "step_rule", "transition"]

# Poisson variables of smaller means are found by adding up so many probabilities.
INVERTED, TERMS = 10.0, 32
# Of the cube root of a Gamma variable, in units of its mode.
LEAST = 1e-3


def poisson(mean: Array, z: Array) -> Array:
    """Poisson variables from standard normals.

    For means of at least ten it is the Cornish-Fisher expansion, which is not a whole number and
    has the right mean, variance and third moment; others are exact.
    """
    small, share = arrays.minimum(mean, INVERTED), arrays.exp(_log_share(z))
    probability = arrays.exp(-small)
    below, count = probability, arrays.zeros_like(mean)
    for n in range(1, TERMS):
        count = count + (share > below)
        probability = probability * small / n
        below = below + probability
    root = arrays.sqrt(arrays.maximum(mean, INVERTED))
    expansion = mean + root * z + (z**2 - 1) / 6 + (z - z**3) / (72 * root)
    return arrays.where(mean < INVERTED, count, arrays.maximum(expansion, 0.0))


def log_gamma(shape: Array, z: Array) -> Array:
    """Logarithms of Gamma variables from four standard normals each.

    Marsaglia and Tsang (2000) for the shape plus one, times a power of a uniform variable. The
    second proposal is not tested: the first is refused with a probability p of at most .049, so
    that the error of a probability is at most the square of p.
    """
    first, second, test, power = z
    mode = shape + 2 / 3
    width = 1 / (3 * arrays.sqrt(mode))
    log_cubes = [3 * arrays.log(arrays.maximum(1 + width * x, LEAST)) for x in (first, second)]
    log_ratio = 0.5 * first**2 + mode * (1 - arrays.exp(log_cubes[0]) + log_cubes[0])
    log_cube = arrays.where(_log_share(test) < log_ratio, *log_cubes)
    return arrays.log(mode) + log_cube + _log_share(power) / shape


def _log_share(z: Array) -> Array:
    """Logarithm of the normal distribution function: that of a uniform variable."""
    return arrays.log(0.5 * arrays.erfc(-z / math.sqrt(2.0)))


def transition(
    state: State, gradient: Estimator, noise: Point, *, step_size: Array, **unused: Any
) -> State:
    """Make one transition of log probabilities, with the rate ``2 / step_size``."""
    estimate = gradient(state.position)
    moved = []
    for x, slope, z in zip(state.position, estimate.gradient, noise, strict=True):
        shapes = 1 - slope
        born = arrays.maximum(shapes, SMALLEST_SHAPE)
        kept = 2 / step_size * arrays.exp(x)
        counts = poisson(kept * arrays.exp((shapes - born) / kept), z[0])
        logs = log_gamma(born + counts, z[1:])
        logs = logs - arrays.logsumexp(logs, axis=-1, keepdims=True)
        # A log density may multiply the logarithm of zero by a count of zero.
        moved.append(arrays.maximum(logs, np.log(floor_of(x))))
    return State(tuple(moved))


def step_rule(demands: Demands) -> tuple[float, dict[str, float]]:
    r"""Step size :math:`2 (e^h - 1) / \kappa`, with which means keep the share :math:`e^{-h}`.

    Gradient noise makes the variance of an entry too large by the share :math:`V \tanh (h / 2)`.
    The counts are those at the start of a step: if a share f of the information is missing, as in
    mixtures, the variance is too small by :math:`f (1 - e^{-h}) / 2`. The limit of both is b.
    """
    b, noise = demands.variance_error, demands.noise.largest
    longest = 2 * b
    if noise > b:
        longest = min(longest, 2 * np.arctanh(b / noise))
    return float(2 * np.expm1(longest) / demands.curvature), {}


EXACT_SGRLD = Algorithm(
    state=State,
    init=init,
    dynamics=Dynamics(transition),
    n_normals=5,
    order=1,
    tuning_rule=step_rule,
    coordinates={Simplex: LogSimplex()},
    require=simplex_only,
    step_size_power=2,
)
