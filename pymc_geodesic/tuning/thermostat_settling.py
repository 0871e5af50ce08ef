#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Search for the friction of a thermostat in the tuning phase.

The thermostat moves faster in the first half of the tuning phase, if the dynamics allow it, and
longer if energies still fall. In the rest it moves as published, and its drift gives the mean
temperature,

.. math::

    \bar T = 1 + \Delta \xi / \Delta t, \qquad \xi \leftarrow \bar \xi \, \bar T,

which is the friction that balances the noise at temperature one. A friction that is far from it is
corrected at once and measured again; see :mod:`pymc_geodesic.tuning.settling`. All kept draws
follow the published dynamics with this friction. A chain that has not reached the posterior by then
warns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from pymc_geodesic.tuning.settling import (
    BEYOND_REPAIR,
    CHECKED_AT,
    LARGEST_FACTOR,
    balanced,
    is_falling,
    is_off,
)

__all__ = ["ThermostatSettling"]

# The mean of the fast thermostat begins here; earlier draws belong to the approach.
AVERAGED_FROM = 0.25
# The chain must have reached the posterior by then.
LAST_CHANCE = CHECKED_AT[-2]

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
        return [int(share * self.tuning_draws) for share in CHECKED_AT]

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
        elif self._is_off(thermostat, BEYOND_REPAIR):
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
        elif self._is_off(thermostat, LARGEST_FACTOR):
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
