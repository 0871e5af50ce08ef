#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The noise that velocities feel, where no thermostat cools them and it was measured too low."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pymc_geodesic.manifolds import Product
from pymc_geodesic.sampling.chain import GradientChain
from pymc_geodesic.tuning.findings import Findings
from pymc_geodesic.tuning.self_tuner import PAYS_BELOW
from pymc_geodesic.tuning.velocity_moments import pooled

__all__ = ["heated"]

# Standard errors of a temperature, and the factor of the noise, from which on noise is corrected:
# eight points determine its variance no better.
SIGNIFICANT, LEAST_FACTOR = 3.0, 1.25


def heated(
    chains: Sequence[GradientChain],
    manifold: Product,
    found: Findings,
    *,
    heating_noise: Callable[..., float],
    is_optional: bool,
) -> Findings:
    r"""Increase the measured noise to what heats the velocities since the last measurement.

    Noise that grows with the distance from a center is larger on the way than at the points where
    it was measured, if these are from a part of the posterior. The factor of the mean is applied to
    the noise of all directions. Control variates that turn out not to pay are given up.

    Parameters
    ----------
    chains : sequence of GradientChain
        Chains with the same settings.
    manifold : Product
        Manifold of the chains.
    found : Findings
        The last measurement.
    heating_noise : callable
        Noise by temperature; see :class:`~pymc_geodesic.algorithms.algorithm.Algorithm`.
    is_optional : bool
        Whether control variates may be given up.
    """
    observed = [c.tuning.moments for c in chains if c.tuning is not None and c.tuning.moments]
    if not observed or found.noise.mean <= 0:
        return found
    moments = pooled(observed)
    n_squares = moments.n_draws * manifold.dim
    temperature = sum(float(np.sum(x)) for x in moments.squares) / n_squares
    if temperature < 1 + SIGNIFICANT * np.sqrt(2 / n_squares):
        return found
    settings = chains[0].settings
    noise = heating_noise(temperature, step_size=settings.step_size, **settings.parameters)
    factor = noise / found.noise.mean
    if factor < LEAST_FACTOR:
        return found
    if is_optional and found.controlled and factor * found.variance_ratio >= PAYS_BELOW:
        plain = found.noise.times(1 / found.variance_ratio)
        return found._replace(noise=plain, controlled=False)
    return found._replace(noise=found.noise.times(factor))
