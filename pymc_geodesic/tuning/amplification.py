#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""How much the temperature of one variable exaggerates errors, because others move with it.

The temperature of a variable b is :math:`T_b = E[(b - E b) \cdot \partial_b U] / d`, one for draws
of the posterior. On a ridge, the position along it, which is wide, multiplies a gradient that
depends on the narrow distance from it. With the mass M as the curvature, an error of a share
:math:`\delta` in the narrow direction, or of a product of both, changes :math:`T_b` by up to

.. math::

    \delta \sqrt{\operatorname{tr}[(M^{-1})_{bb} M_{bb}] / d},

where the square is :math:`1 / (1 - \rho^2)` for a single entry whose multiple correlation with all
others is :math:`\rho`, and one for a variable that is independent of the others, whatever the
correlations within it. For a mean to which the effects of groups are added, the root is its
deviation over that given all effects: ten or more in large data.
"""

from __future__ import annotations

import math

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.mass.arrays import Mass, joined, split

__all__ = ["amplification"]

# Entries of a variable that are looked at: each takes two products with the mass.
MOST_ENTRIES = 64


def amplification(mass: Mass, shapes: Sequence[tuple[int, ...]]) -> np.ndarray:
    """Return the factor by which the temperature of each variable exaggerates errors.

    Parameters
    ----------
    mass : Mass
        The mass that fits the posterior.
    shapes : sequence of tuple of int
        Shape of each variable, which has at least one entry.

    Returns
    -------
    ndarray, shape (variable,)
        At least one, up to rounding. Of variables with more than 64 entries it is that of 64.

    Examples
    --------
    Two variables with a correlation of .8:

    >>> import numpy as np
    >>> from pymc_geodesic.mass import JointMass
    >>> from pymc_geodesic.tuning.amplification import amplification
    >>> precision = np.linalg.inv([[1.0, 0.8], [0.8, 1.0]])
    >>> mass = JointMass(precision, shapes=[(), ()], dtype="float64")
    >>> amplification(mass, [(), ()]).round(2)
    array([1.67, 1.67])
    """
    sizes = [math.prod(shape) for shape in shapes]
    starts = np.cumsum([0, *sizes[:-1]])
    pairs = zip(starts, sizes, strict=True)
    return np.sqrt([_square(mass, start + _chosen(size), shapes) for start, size in pairs])


def _chosen(size: int) -> np.ndarray:
    """Return places that are spread over the entries of a variable."""
    return np.unique(np.linspace(0, size - 1, min(size, MOST_ENTRIES)).astype(int))


def _square(mass: Mass, entries: np.ndarray, shapes: Sequence[tuple[int, ...]]) -> float:
    """Mean over entries of the diagonal of their covariance times their curvature."""
    units = np.zeros((len(entries), sum(map(math.prod, shapes))))
    units[np.arange(len(entries)), entries] = 1.0
    parts = [split(unit, shapes) for unit in units]
    inverse = np.array([joined(mass.force(part)) for part in parts], dtype=float)
    factor = np.array([mass.whiten(part) for part in parts], dtype=float)
    return float(np.mean(np.diag((inverse @ inverse.T) @ (factor @ factor.T))))
