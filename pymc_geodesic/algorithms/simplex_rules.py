#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Step sizes of Langevin dynamics on the simplex, from measurements.

Let :math:`\kappa` be the largest curvature relative to the Fisher metric, V the largest variance of
the gradient noise in units of the posterior, and b the tolerated relative error of a variance.
"""

from __future__ import annotations

import warnings

import numpy as np

from pymc_geodesic.algorithms.demands import Demands

__all__ = ["cir_rule", "euler_rule"]

# Reflection at zero moves the mean of an entry of concentration a by this number times rate^a of
# its standard deviations: a fit to simulated posteriors, a from 0.1 to 1, rates from 0.01 to 0.1.
REFLECTED = 0.7
# Slower chains would take thousands of transitions for a draw.
SLOWEST_RATE = 1e-3
# Errors of a mean in standard deviations above which the user is told.
TOLD_ABOVE = 0.15


def euler_rule(demands: Demands, *, total: float) -> tuple[float, dict[str, float]]:
    r"""Step size of Euler's method in expanded-mean coordinates.

    A transition brings a probability nearer to its mean by the share :math:`\rho = \epsilon \kappa
    / 2 r`, where r is the total of the coordinates. Its variance is too large by
    the share :math:`\rho (1 + V) / 2`; the limit is b. Reflection at zero moves the mean of an
    entry near zero by :math:`0.7 \rho^a` standard deviations, where a is its concentration; the
    limit is b too. Concentrations below 0.3 would need steps too small to be of use.

    Parameters
    ----------
    demands : Demands
        The measurements.
    total : float
        Smallest shape of the Gamma distributions of the totals.

    Returns
    -------
    step_size : float
        :math:`\epsilon`.
    parameters : dict
        Empty.
    """
    b, shape = demands.variance_error, max(demands.smallest_shape, 1e-3)
    rate = 2 * b / (1 + demands.noise.largest)
    if np.isfinite(shape):
        rate = min(rate, max((b / REFLECTED) ** (1 / shape), SLOWEST_RATE))
        if (error := REFLECTED * rate**shape) > TOLD_ABOVE:
            warnings.warn(
                "`SGRLD` with `dynamics='euler'` moves the means of probabilities near zero by "
                f"about {error:.1g} of their standard deviations at any useful step size, because "
                f"their smallest concentration is {shape:.2g}. Use `dynamics='cir'`.",
                UserWarning,
                stacklevel=2,
            )
    # One over the mean of 1 / r, for r with a Gamma distribution of this shape.
    typical = max(total - 1, 1.0)
    return float(2 * rate * typical / demands.curvature), {}


def cir_rule(demands: Demands) -> tuple[float, dict[str, float]]:
    r"""Step size of exact Cox-Ingersoll-Ross transitions.

    Gradient noise makes the variance of a Gamma coordinate too large by the share :math:`V \tanh
    (h / 2)`. The counts are those at the start of a step: if a share f of the information is
    missing, as in mixtures, the variance is too small by :math:`f (1 - e^{-h}) / 2`. The limit of
    both is b.
    """
    # In units of the entries' own concentrations, if they were measured.
    largest = [float(np.max(v)) for v in demands.noise.by_entry]
    b, noise = demands.variance_error, max(largest, default=demands.noise.largest)
    longest = 2 * b
    if noise > b:
        longest = min(longest, 2 * np.arctanh(b / noise))
    return float(longest), {}
