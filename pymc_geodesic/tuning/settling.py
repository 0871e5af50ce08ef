#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Tests whether a chain has reached the posterior, and whether its friction fits the noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = [
    "BEYOND_REPAIR",
    "CHECKED_AT",
    "LARGEST_FACTOR",
    "balanced",
    "is_falling",
    "is_off",
]

# Shares of the tuning phase after which a chain is checked. Until the first check the thermostat
# moves faster. If the chain has not reached the posterior, it does so until the last check but one.
CHECKED_AT = (0.5, 0.625, 0.75, 0.875)
# Means per half. By chance, all means of one half exceed all of the other once in 184,756.
N_MEANS = 10
# In units of the root of the dimension. The energy of a Gaussian posterior has sd 0.7 in them.
LEAST_FALL = 6.0
# A mean temperature beyond these shows a chain that still approaches, and does not measure noise.
TRUSTED_TEMPERATURES = (0.2, 5.0)
# A friction that is wrong by this factor, and by so many standard errors, is corrected at once.
LARGEST_FACTOR, SIGNIFICANT = 1.5, 4.0
# The correction at the end is not reliable beyond this factor.
BEYOND_REPAIR = TRUSTED_TEMPERATURES[1]
# Largest friction times step size after a correction: exp(-2) of a velocity remains, and more
# friction would only slow down the chain.
LARGEST_DAMPING = 2.0


def is_falling(energies: Sequence[float], *, dim: int) -> bool:
    """Return whether energies, estimated from batches, are still falling towards the posterior.

    They are if all means over parts of the first half exceed all means over parts of the second.
    This needs no estimate of the batches' noise. The fall must also exceed the variation of the
    energy for a posterior of this dimension. Energies that are not finite count as infinite.

    Parameters
    ----------
    energies : sequence of float
        Energy of each draw.
    dim : int
        Number of degrees of freedom.

    Examples
    --------
    >>> from pymc_geodesic.tuning.settling import is_falling
    >>> is_falling(range(100, 0, -1), dim=1), is_falling(range(100), dim=1)
    (True, False)
    """
    if len(energies) < 2 * N_MEANS:
        return False
    values = np.nan_to_num(np.asarray(energies, float), nan=np.inf, posinf=np.inf)
    means = np.array([part.mean() for part in np.array_split(values, 2 * N_MEANS)])
    first, second = means[:N_MEANS], means[N_MEANS:]
    fell = first.min() > second.max()
    return bool(fell and first.mean() - second.mean() > LEAST_FALL * np.sqrt(dim))


def balanced(
    start: np.ndarray, end: np.ndarray, time: float, *, step_size: float, falls: bool = False
) -> np.ndarray:
    r"""Return the friction that balances the noise at temperature one.

    The drift of a thermostat gives the mean temperature, :math:`\bar T = 1 + \Delta \xi /
    \Delta t`, to which friction is inversely proportional.

    Parameters
    ----------
    start, end : ndarray
        Thermostat at the beginning and at the end.
    time : float
        Sum of the step sizes in between.
    step_size : float
        Step size of the following transitions.
    falls : bool
        Whether the energy fell meanwhile. Such a chain may be hot whatever its friction is, so
        the friction is not raised.
    """
    coldest, hottest = TRUSTED_TEMPERATURES
    temperature = np.clip(1 + (end - start) / time, coldest, 1.0 if falls else hottest)
    mean = 0.5 * (start + end)
    # Noise with outliers can give any temperature, and a correction must not stop the chain.
    friction = np.minimum(mean * temperature, np.maximum(mean, LARGEST_DAMPING / step_size))
    # Arithmetic turns zero-dimensional arrays into numbers, for which JAX compiles anew.
    return np.asarray(friction, dtype=end.dtype)


def is_off(
    start: np.ndarray,
    end: np.ndarray,
    time: float,
    *,
    dim: int,
    factor: float = LARGEST_FACTOR,
) -> bool:
    r"""Return whether the mean temperature shows a friction that is far from balance.

    With the friction :math:`\xi` the kinetic energy of ``dim`` degrees of freedom decorrelates in
    the time :math:`1 / 2 \xi`, so a mean over the time t has the variance :math:`2 / d \xi t`.

    Parameters
    ----------
    start, end, time
        See :func:`balanced`; any of several thermostats may be off.
    dim : int
        Degrees of freedom of each thermostat.
    factor : float
        Smallest ratio of a temperature to one that counts.
    """
    if time <= 0:
        return False
    temperature = 1 + (end - start) / time
    friction = np.maximum(0.5 * np.abs(start + end), np.finfo(float).tiny)
    error = np.sqrt(2 / (dim * friction * time))
    far = (temperature > factor) | (temperature < 1 / factor)
    return bool(np.any(far & (np.abs(temperature - 1) > SIGNIFICANT * error)))
