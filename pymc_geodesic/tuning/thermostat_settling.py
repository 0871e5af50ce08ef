#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Search for the friction of a thermostat in the tuning phase.

The thermostat moves faster in the first half of the tuning phase, if the dynamics allow it, and
longer if energies still fall. In the rest it moves as published, and its drift gives the mean
temperature,

.. math::

    \bar T = 1 + \Delta \xi / \Delta t, \qquad \xi \leftarrow \bar \xi \, \bar T,

which is the friction that balances the noise at temperature one. A friction that is far from it is
corrected at once and measured again. All kept draws follow the published dynamics with this
friction. A chain that has not reached the posterior by then warns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

__all__ = ["ThermostatSettling", "balanced", "is_falling", "is_off"]


# Shares of the tuning phase after which a chain is checked. Until the first check the thermostat
# moves faster. If the chain has not reached the posterior, it does so until the last check but one.
_CHECKED_AT = (0.5, 0.625, 0.75, 0.875)
# Means per half. By chance, all means of one half exceed all of the other once in 184,756.
N_MEANS = 10
# In units of the root of the dimension. The energy of a Gaussian posterior has sd 0.7 in them.
LEAST_FALL = 6.0
# A mean temperature beyond these shows a chain that still approaches, and does not measure noise.
TRUSTED_TEMPERATURES = (0.2, 5.0)
# A friction that is wrong by this factor, and by so many standard errors, is corrected at once.
_LARGEST_FACTOR, SIGNIFICANT = 1.5, 4.0
# The correction at the end is not reliable beyond this factor.
_BEYOND_REPAIR = TRUSTED_TEMPERATURES[1]
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
    >>> from pymc_geodesic.tuning.thermostat_settling import is_falling
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
    factor: float = _LARGEST_FACTOR,
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


# The mean of the fast thermostat begins here; earlier draws belong to the approach.
AVERAGED_FROM = 0.25
# The chain must have reached the posterior by then.
LAST_CHANCE = _CHECKED_AT[-2]

Thermostats = tuple[np.ndarray, ...]


@dataclass
class ThermostatSettling:
    """The state of the search for the frictions of a chain.

    Attributes
    ----------
    tuning_draws : int
        Length of the tuning phase.
    dim : int
        Degrees of freedom of all variables.
    group_dims : tuple of int
        Degrees of freedom of one thermostat in each array.
    measured_from : tuple of ndarray
        Mean of the fast thermostats, then the thermostats at the beginning of the measurement.
    accelerates : bool
        Whether the thermostats move faster.
    n_tuned : int
        Draws of the tuning phase so far.
    energies : list of float
        Energies of these draws.
    averaged_from : int
        Draw at which the mean of the fast thermostats begins.
    measured_time : float
        Sum of the step sizes since the measurement began.
    unsettled : str
        What has not settled at the end of the tuning phase; empty if everything has.
    """

    tuning_draws: int
    dim: int
    group_dims: tuple[int, ...]
    measured_from: Thermostats
    accelerates: bool
    n_tuned: int = 0
    energies: list[float] = field(default_factory=list)
    averaged_from: int = 0
    measured_time: float = 0.0
    unsettled: str = ""

    def __post_init__(self) -> None:
        """Begin to average after the approach to the posterior."""
        self.averaged_from = int(AVERAGED_FROM * self.tuning_draws)

    def restart(self, thermostat: Thermostats) -> None:
        """Forget what was measured: the chain begins again, with these thermostats."""
        self.measured_from = tuple(xi.copy() for xi in thermostat)
        self.averaged_from, self.measured_time = self.n_tuned, 0.0

    @property
    def _checks(self) -> list[int]:
        return [int(share * self.tuning_draws) for share in _CHECKED_AT]

    @property
    def until_change(self) -> float:
        """Draws of the tuning phase after which :meth:`observe` may change the thermostats."""
        return min((n - self.n_tuned for n in self._checks if n > self.n_tuned), default=np.inf)

    def observe(
        self, thermostat: Thermostats, *, energy: float, step_sizes: np.ndarray, next_step: float
    ) -> Thermostats:
        """Observe a draw of the tuning phase; return the thermostats to continue with."""
        self.n_tuned += 1
        self.energies.append(energy)
        if self.accelerates:
            self._average(thermostat)
        else:
            self.measured_time += float(np.sum(step_sizes))
        if self.n_tuned in self._checks:
            return self._checked(thermostat, next_step)
        return thermostat

    def finish(self, thermostat: Thermostats, *, next_step: float) -> Thermostats:
        """Return the friction that balances the measured noise, for the draws that are kept."""
        if not self.measured_time > 0:
            return thermostat
        falls = self._is_falling(self.energies[int(LAST_CHANCE * self.tuning_draws) :])
        self.energies = []
        if falls:
            self.unsettled = "the potential energy was still falling"
        elif self._is_off(thermostat, _BEYOND_REPAIR):
            self.unsettled = "the friction was far from balance"
        return self._balanced(thermostat, next_step, falls)

    def _average(self, thermostat: Thermostats) -> None:
        """Average the fast thermostats."""
        weight = 1 / max(1, self.n_tuned - self.averaged_from)
        self.measured_from = tuple(
            np.asarray(mean + weight * (xi - mean), dtype=xi.dtype)
            for mean, xi in zip(self.measured_from, thermostat, strict=True)
        )

    def _checked(self, thermostat: Thermostats, next_step: float) -> Thermostats:
        """Keep moving faster if the chain still approaches; else measure, from near balance."""
        since = int(AVERAGED_FROM * self.tuning_draws)
        falls = self._is_falling(self.energies[max(since, self.n_tuned - since) :])
        if falls and self.n_tuned < int(LAST_CHANCE * self.tuning_draws):
            self.accelerates, self.averaged_from = True, self.n_tuned
            return thermostat
        if self.accelerates:
            thermostat = tuple(xi.copy() for xi in self.measured_from)
        elif self._is_off(thermostat, _LARGEST_FACTOR):
            thermostat = self._balanced(thermostat, next_step, falls)
        elif not falls:
            return thermostat
        self.accelerates = False
        self.measured_from = tuple(xi.copy() for xi in thermostat)
        self.measured_time = 0.0
        return thermostat

    def _balanced(self, thermostat: Thermostats, next_step: float, falls: bool) -> Thermostats:
        return tuple(
            balanced(start, end, self.measured_time, step_size=next_step, falls=falls)
            for start, end in zip(self.measured_from, thermostat, strict=True)
        )

    def _is_falling(self, energies: Sequence[float]) -> bool:
        return is_falling(energies, dim=self.dim)

    def _is_off(self, thermostat: Thermostats, factor: float) -> bool:
        groups = zip(self.measured_from, thermostat, self.group_dims, strict=True)
        return any(
            is_off(start, end, self.measured_time, dim=dim, factor=factor)
            for start, end, dim in groups
        )
