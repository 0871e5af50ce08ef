#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The step methods whose friction is a thermostat: finding it in the tuning phase."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from pymc.stats.convergence import SamplerWarning, WarningType
from pymc.step_methods.state import dataclass_state

from pymc_geodesic.algorithms.thermostat import Grouping, Thermostat
from pymc_geodesic.step_methods.arguments import Variables
from pymc_geodesic.step_methods.stochastic import StochasticGradientState, StochasticGradientStep
from pymc_geodesic.tuning.rules import thermostat_rule
from pymc_geodesic.tuning.self_tuner import Findings
from pymc_geodesic.tuning.settling import (
    BEYOND_REPAIR,
    CHECKED_AT,
    LARGEST_FACTOR,
    balanced,
    is_falling,
    is_off,
)

__all__ = ["ThermostatedState", "ThermostatedStep"]


# The mean of the fast thermostat begins here: what came before belongs to the way to the posterior.
AVERAGED_FROM = 0.25
# The chain must have arrived by then.
LAST_CHANCE = CHECKED_AT[-2]


@dataclass_state
class ThermostatedState(StochasticGradientState):
    """The state, with what the tuning phase has measured."""

    n_tuned: int
    hurries: bool
    energies: list[float]
    averaged_from: int
    measured_from: list[np.ndarray]
    measured_time: float
    unsettled: str


class ThermostatedStep(StochasticGradientStep):
    r"""Base of the steps with a thermostat.

    If the dynamics have a ``tuning`` parameter, the thermostat moves faster in the first half of
    the tuning phase, and longer if energies still fall. In the rest it moves as published, and its
    drift gives the mean temperature,

    .. math::

        \bar T = 1 + \Delta \xi / \Delta t, \qquad
        \xi \leftarrow \bar \xi \, \bar T,

    which is the friction at which noise and friction balance at temperature one. A friction that
    is far from it is corrected at once and measured again; see
    :mod:`pymc_geodesic.tuning.settling`. Every draw that is kept follows the published dynamics
    from there. A chain that has not arrived by then says so.
    """

    _state_class = ThermostatedState
    tunes_thermostat = True
    tuning_rule = staticmethod(thermostat_rule)
    friction_keyword = "diffusion"
    stats_dtypes_shapes: ClassVar[dict] = StochasticGradientStep.stats_dtypes_shapes | {
        "thermostat": (np.float64, [])
    }

    def __init__(
        self,
        vars: Variables | None,
        *,
        diffusion: float | None,
        thermostat: Grouping,
        **options: Any,
    ) -> None:
        self._grouping = thermostat
        super().__init__(vars, parameters={"diffusion": diffusion}, **options)

    def _prepare(self) -> None:
        self._thermostat = Thermostat(self.potential.manifold, grouping=self._grouping)
        super()._prepare()
        names = [variable.name for variable in self.variables]
        if len(names) > 1 and self._grouping != "shared":
            self._declare({f"thermostat_{name}": (np.float64, []) for name in names})

    def _reset(self) -> None:
        super()._reset()
        start = self._thermostat.initial(self.parameters["diffusion"])
        self.thermostat = [xi.astype(self._dtype) for xi in start]
        self.n_tuned = 0
        self.hurries = self.tunes_thermostat and self.tuning_draws >= 2
        self.energies: list[float] = []
        self.averaged_from = int(AVERAGED_FROM * self.tuning_draws)
        self._measure_from_here()
        self.unsettled = ""

    @property
    def _is_hurrying(self) -> bool:
        return self.tune and self.hurries

    @property
    def _group_dims(self) -> tuple[int, ...]:
        """Degrees of freedom of one thermostat of each array of them."""
        manifold = self._thermostat.manifold
        if self._grouping == "shared":
            return (manifold.dim,)
        return manifold.dims if self._grouping == "per_variable" else manifold.point_dims

    def stop_tuning(self) -> None:
        """Start the draws that are kept from the friction that balances the measured noise."""
        if self.tune and self.measured_time > 0:
            falls = self._is_falling(self.energies[int(LAST_CHANCE * self.tuning_draws) :])
            if falls:
                self.unsettled = "the potential energy was still falling"
            elif self._is_off(BEYOND_REPAIR):
                self.unsettled = "the friction was far from balance"
            self.thermostat = self._balanced(falls)
        super().stop_tuning()

    def _warning(self, diverging: bool) -> SamplerWarning | None:
        if diverging or self.tune or not self.unsettled:
            return super()._warning(diverging)
        what, self.unsettled = self.unsettled, ""
        message = (
            f"{type(self).__name__} had not settled at the end of the tuning phase: {what}. Its "
            "first draws, or all of them, do not follow the posterior. Increase `tune`, or start "
            "nearer to the posterior (`initvals`)."
        )
        return SamplerWarning(WarningType.CONVERGENCE, message, "warn")

    def _apply(self, found: Findings) -> None:
        """Start from the friction that the measured noise needs."""
        super()._apply(found)
        if self.tunes_itself and self.tune:
            step_size = float(self.schedule(np.zeros(1))[0])
            friction = self.parameters["diffusion"] + 0.5 * step_size * found.noise.mean
            start = self._thermostat.initial(friction)
            self.thermostat = [xi.astype(self._dtype) for xi in start]

    def _measure_from_here(self) -> None:
        self.measured_from = [xi.copy() for xi in self.thermostat]
        self.measured_time = 0.0

    def _balanced(self, falls: bool) -> list[np.ndarray]:
        step_size = float(self.schedule(np.array([self.n_transitions]))[0])
        return [
            balanced(start, end, self.measured_time, step_size=step_size, falls=falls)
            for start, end in zip(self.measured_from, self.thermostat, strict=True)
        ]

    def _is_falling(self, energies: list[float]) -> bool:
        return is_falling(energies, dim=sum(self._dims))

    def _is_off(self, factor: float = LARGEST_FACTOR) -> bool:
        groups = zip(self.measured_from, self.thermostat, self._group_dims, strict=True)
        return any(
            is_off(start, end, self.measured_time, dim=dim, factor=factor)
            for start, end, dim in groups
        )

    def _run(self, point) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        before = self.n_transitions
        point, stats = super()._run(point)
        if self.tune and self.tunes_thermostat:
            self.n_tuned += 1
            self.energies.append(stats["potential_estimate"])
            if self.hurries:
                self._average()
            else:
                transitions = np.arange(before, self.n_transitions)
                self.measured_time += float(np.sum(self.schedule(transitions)))
            if self.n_tuned in [int(share * self.tuning_draws) for share in CHECKED_AT]:
                self._check()
        return point, stats

    def _average(self) -> None:
        """Average the fast thermostat."""
        weight = 1 / max(1, self.n_tuned - self.averaged_from)
        self.measured_from = [
            np.asarray(mean + weight * (xi - mean), dtype=xi.dtype)
            for mean, xi in zip(self.measured_from, self.thermostat, strict=True)
        ]

    def _check(self) -> None:
        """Hurry on where the chain has not arrived; else measure, from a friction near balance."""
        since = int(AVERAGED_FROM * self.tuning_draws)
        falls = self._is_falling(self.energies[max(since, self.n_tuned - since) :])
        if falls and self.n_tuned < int(LAST_CHANCE * self.tuning_draws):
            self.hurries, self.averaged_from = True, self.n_tuned
            return
        if self.hurries:
            self.thermostat = [xi.copy() for xi in self.measured_from]
        elif self._is_off():
            self.thermostat = self._balanced(falls)
        elif not falls:
            return
        self.hurries = False
        self._measure_from_here()

    def _parameter_arrays(self) -> dict[str, np.ndarray]:
        arrays = super()._parameter_arrays()
        if self.tunes_thermostat:
            arrays["tuning"] = np.asarray(float(self._is_hurrying), dtype=self._dtype)
        return arrays

    def _statistics(self, output, step_sizes) -> dict[str, Any]:
        stats = super()._statistics(output, step_sizes)
        # `mean` of a single number costs several times what reading it does.
        means = [float(xi.mean()) if xi.ndim else xi.item() for xi in self.thermostat]
        if self._grouping == "shared":
            return stats | {"thermostat": means[0]}
        return stats | self._per_variable("thermostat", means, self._dims)
