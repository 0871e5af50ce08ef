#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Whether a chain has arrived at the posterior, and its friction at the noise, while it tunes."""

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

# Shares of the tuning phase after which a chain is looked at. Until the first one the thermostat
# moves faster; a chain that has not arrived goes on so until the last but one.
CHECKED_AT = (0.5, 0.625, 0.75, 0.875)
# Means of a tenth of a half each. All of one half exceed all of the other once in 184,756.
N_MEANS = 10
# In the square root of the dimension. The energy of a Gaussian posterior varies by 0.7 of these.
LEAST_FALL = 6.0
# A mean temperature beyond these means that the chain still moves; it does not measure noise.
TRUSTED_TEMPERATURES = (0.2, 5.0)
# A friction that is wrong by such a factor, by so many standard errors, is not left to the end.
LARGEST_FACTOR, SIGNIFICANT = 1.5, 4.0
# At the end one correction is left, which is not to be trusted beyond this factor.
BEYOND_REPAIR = TRUSTED_TEMPERATURES[1]
# Friction times step size up to which a correction may raise it: exp(-2) of a velocity is left, and
# more friction only slows the chain.
LARGEST_DAMPING = 2.0


def is_falling(energies: Sequence[float], *, dim: int) -> bool:
    """Return whether energies, estimated from batches, are still falling towards the posterior.

    They are if every mean over some draws of the first half exceeds every one of the second, which
    needs no measure of the batches' noise, and if the fall exceeds what a posterior of this
    dimension varies by. Energies that are not finite count as infinitely high.

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
    r"""Return the friction at which noise and friction balance at temperature one.

    The drift of a thermostat gives the mean temperature, :math:`\bar T = 1 + \Delta \xi /
    \Delta t`, to which friction is inversely proportional.

    Parameters
    ----------
    start, end : ndarray
        Thermostat at the beginning and at the end.
    time : float
        Sum of the step sizes in between.
    step_size : float
        Of the transitions from here.
    falls : bool
        Whether the energy fell meanwhile: such a chain may be hot whatever its friction is, so that
        the friction is not raised.
    """
    coldest, hottest = TRUSTED_TEMPERATURES
    temperature = np.clip(1 + (end - start) / time, coldest, 1.0 if falls else hottest)
    mean = 0.5 * (start + end)
    # Noise with outliers has any temperature, and a correction must not stop the chain.
    friction = np.minimum(mean * temperature, np.maximum(mean, LARGEST_DAMPING / step_size))
    # Arithmetic makes numbers of arrays without axes, for which Numba compiles anew.
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

    With the friction :math:`\xi` the kinetic energy of ``dim`` degrees of freedom forgets itself in
    :math:`1 / 2 \xi`, so that a mean over the time t has a variance of :math:`2 / d \xi t`.

    Parameters
    ----------
    start, end, time
        See :func:`balanced`; any of several thermostats may be off.
    dim : int
        Degrees of freedom of each thermostat.
    factor : float
        How far a temperature must be from one.
    """
    if time <= 0:
        return False
    temperature = 1 + (end - start) / time
    friction = np.maximum(0.5 * np.abs(start + end), np.finfo(float).tiny)
    error = np.sqrt(2 / (dim * friction * time))
    far = (temperature > factor) | (temperature < 1 / factor)
    return bool(np.any(far & (np.abs(temperature - 1) > SIGNIFICANT * error)))
