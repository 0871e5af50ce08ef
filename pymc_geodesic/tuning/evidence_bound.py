#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Which of several Gaussian approximations describes a posterior best.

The evidence bound of :math:`q = N(c, M^{-1})` is, up to a constant,

.. math::

    -E_q[U] - \tfrac12 \log |M| .

Energies of different rows differ by far more than bounds of two approximations do. So all of them
take the same rows and the same noise, by which most of the error cancels.
"""

from __future__ import annotations

import math

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.mass.arrays import Mass, joined, split
from pymc_geodesic.tuning.anchor import around

__all__ = ["evidence_bounds", "log_volume"]

# As many as a round of the approximation takes; see ``tuning/approximation.py``.
N_ROWS, N_PAIRS = 20_000, 16


def evidence_bounds(
    gradient: HostGradient,
    candidates: Sequence[tuple[Sequence[np.ndarray], Mass]],
    *,
    rng: np.random.Generator,
) -> list[float]:
    """Estimate the evidence bounds of Gaussian approximations, up to a common constant.

    Parameters
    ----------
    gradient : HostGradient
        Energies.
    candidates : sequence of (sequence of ndarray, Mass)
        Center in the embedding, and mass in whose frame the approximation has unit variance.
    rng : Generator
        Source of rows and noise.

    Returns
    -------
    list of float
        Minus infinity where an energy is not finite.
    """
    parts = [rng.permutation(row) for row in gradient.rows(rng, N_ROWS)]
    energies = np.zeros(len(candidates))
    with np.errstate(all="ignore"):
        for pair in range(N_PAIRS):
            rows = [np.array_split(row, N_PAIRS)[pair] for row in parts]
            noise = [rng.standard_normal(np.shape(x)) for x in candidates[0][0]]
            for number, (center, mass) in enumerate(candidates):
                drawn = [np.asarray(z, x.dtype) for z, x in zip(noise, center, strict=True)]
                ends = [around(gradient, center, mass, z) for z in (drawn, [-z for z in drawn])]
                found = gradient.many(ends, [rows, rows])
                energies[number] += sum(one.energy for one in found) / (2 * N_PAIRS)
    volumes = [log_volume(mass, gradient.manifold.shapes) for _, mass in candidates]
    bounds = np.array(volumes) - energies
    return list(np.where(np.isfinite(bounds), bounds, -np.inf))


def log_volume(mass: Mass, shapes: Sequence[tuple[int, ...]]) -> float:
    """Return the logarithm of the volume that a unit of the frame of a mass has.

    ``shapes`` are those of the variables.
    """
    size = sum(math.prod(shape) for shape in shapes)
    columns = [joined(mass.rate(split(unit, shapes))) for unit in np.eye(size)]
    return float(np.linalg.slogdet(np.array(columns))[1])
