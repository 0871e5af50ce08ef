#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""How far to centre products of a normal variable and a scale, and cumulative sums of them.

In the coordinates :math:`w = z s^a` a product that the data determine (:math:`a = 1`) does not
depend on its scale, and one that only the prior determines (:math:`a = 0`) depends on it as little
as it can. The share of the data in the precision of z is the best exponent of a single product
with a normal likelihood (Papaspiliopoulos, Roberts and Sköld, 2003).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.mass.arrays import joined, split
from pymc_geodesic.tuning.approximation import Approximation, approximate
from pymc_geodesic.tuning.random_walks import shares_of_sums

__all__ = ["LEAST", "centering_exponents"]

# If no entry has so large an exponent, the products are determined by the prior as well, so that
# neither coordinates are good, and those of the model are as its author meant them.
LEAST = 0.75
# A scale that is hardly known may be small enough for the prior to determine the product. Its
# exponent is that for a scale so many of its standard deviations below the center.
N_BELOW = 2.0
N_DRAWS = 64


def centering_exponents(
    gradient: HostGradient,
    start: Sequence[np.ndarray],
    deviations: Mapping[int, np.ndarray],
    *,
    log_scales: Callable[..., Sequence[np.ndarray]],
    axes: Mapping[int, int],
    rng: np.random.Generator,
) -> dict[int, np.ndarray]:
    r"""Measure the share of the data in the precision of some variables.

    With the standard deviation :math:`\sigma_q` of an entry of z in the Gaussian approximation of
    the posterior, that of its prior :math:`\sigma`, and the standard deviation :math:`\delta` of
    the logarithm of its scale,

    .. math::

        r = 1 - \sigma_q^2 / \sigma^2, \qquad \frac{a}{1 - a} = \frac{r}{1 - r} e^{-4 \delta},

    the share for a scale two standard deviations below its center. A scale that varies by powers of
    ten hardly moves its product: :math:`a \delta` is below a tenth for shares up to one half.
    The approximation averages over the posterior: at a mode, scales may be far from those of most
    draws.

    Parameters
    ----------
    gradient : HostGradient
        Energies and gradients, in the model's own coordinates.
    start : sequence of ndarray
        Where the approximation begins.
    deviations : mapping of int to ndarray
        Prior standard deviations of the variables with these numbers.
    log_scales : callable
        Returns the logarithms of the scales of these variables for PyMC's values.
    axes : mapping of int to int
        The axes along which some of the products are summed.
    rng : Generator
        Draws rows and points.

    Returns
    -------
    dict of int to ndarray
        Exponents of the variables that should move in other coordinates, or shares of their sums;
        empty if none should, or if no approximation was found.

    References
    ----------
    O. Papaspiliopoulos, G. O. Roberts and M. Sköld, Non-centered parameterisations for hierarchical
    models and data augmentation, Bayesian Statistics 7 (2003).
    """
    found = approximate(gradient, start, rng=rng)
    if found is None:
        return {}
    shapes = [np.shape(x) for x in start]
    unit = [np.ones(shape) for shape in shapes]
    variances = split(joined(found.mass.rate(unit)) ** 2, shapes)
    points = [_drawn(gradient, found, rng) for _ in range(N_DRAWS)]
    logs = [log_scales(*gradient.to_values(*point)) for point in points]
    exponents = {}
    for (i, sigma), of_one in zip(deviations.items(), zip(*logs, strict=True), strict=True):
        if i in axes:
            continue
        share = np.clip(1 - variances[i] / sigma**2, 0.0, 1.0)
        prior = (1 - share) * np.exp(2 * N_BELOW * np.std(of_one, axis=0))
        exponents[i] = share / (share + prior)
    moved = {i: a for i, a in exponents.items() if np.max(a) >= LEAST}
    here = log_scales(*gradient.to_values(*found.center))
    for (i, sigma), log_scale in zip(deviations.items(), here, strict=True):
        if i in axes:
            walk = shares_of_sums(
                gradient,
                found.center,
                i,
                axis=axes[i],
                sigma=sigma,
                scale=np.exp(log_scale),
                rng=rng,
            )
            if walk.of_slowest >= LEAST:
                moved[i] = walk.shares
    return moved


def _drawn(
    gradient: HostGradient, found: Approximation, rng: np.random.Generator
) -> list[np.ndarray]:
    """Draw a point of the approximation."""
    noise = [rng.standard_normal(np.shape(x)) for x in found.center]
    pairs = zip(found.center, found.mass.rate(noise), strict=True)
    return list(gradient.project(*(np.asarray(x + move, x.dtype) for x, move in pairs)))
