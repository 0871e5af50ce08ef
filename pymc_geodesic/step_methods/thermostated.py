#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The step methods whose friction is a thermostat: finding it in the tuning phase."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from pymc.step_methods.state import dataclass_state

from pymc_geodesic.dynamics.thermostat import Grouping, Thermostat
from pymc_geodesic.step_methods.arguments import Variables
from pymc_geodesic.step_methods.stochastic import StochasticGradientState, StochasticGradientStep
from pymc_geodesic.tuning.rules import thermostat_rule
from pymc_geodesic.tuning.self_tuner import Findings

__all__ = ["ThermostatedState", "ThermostatedStep"]


# A mean temperature beyond these says that the chain is still moving, not how noisy it is.
TRUSTED_TEMPERATURES = (0.2, 5.0)


@dataclass_state
class ThermostatedState(StochasticGradientState):
    """The state, with what the tuning phase has measured."""

    n_tuned: int
    measured_from: list[np.ndarray]
    measured_time: float


class ThermostatedStep(StochasticGradientStep):
    r"""Base of the steps with a thermostat.

    If the dynamics have a ``tuning`` parameter, the thermostat moves faster in the first half of
    the tuning phase. In the second half it moves as published, and its drift tells the mean
    temperature,

    .. math::

        \bar T = 1 + \Delta \xi / \Delta t, \qquad
        \xi \leftarrow \bar \xi \, \bar T,

    which is the friction at which noise and friction balance at temperature one. Every draw that is
    kept follows the published dynamics from there.
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
        self.measured_from = [xi.copy() for xi in self.thermostat]
        self.measured_time = 0.0

    @property
    def _is_hurrying(self) -> bool:
        return self.tune and self.tunes_thermostat and self.n_tuned < self.tuning_draws // 2

    def stop_tuning(self) -> None:
        """Start the draws that are kept from the friction that balances the measured noise."""
        if self.tune and self.measured_time > 0:
            self.thermostat = [
                self._balanced(start, end)
                for start, end in zip(self.measured_from, self.thermostat, strict=True)
            ]
        super().stop_tuning()

    def _apply(self, found: Findings) -> None:
        """Start from the friction that the measured noise needs."""
        super()._apply(found)
        if self.tunes_itself and self.tune:
            step_size = float(self.schedule(np.zeros(1))[0])
            friction = self.parameters["diffusion"] + 0.5 * step_size * found.noise.mean
            start = self._thermostat.initial(friction)
            self.thermostat = [xi.astype(self._dtype) for xi in start]

    def _balanced(self, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        temperature = 1 + (end - start) / self.measured_time
        mean = 0.5 * (start + end)
        balanced = mean * np.clip(temperature, *TRUSTED_TEMPERATURES)
        # Arithmetic makes numbers of arrays without axes, for which Numba compiles anew.
        return np.asarray(balanced, dtype=end.dtype)

    def _run(self, point) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        was_hurrying = self._is_hurrying
        before = self.n_transitions
        point, stats = super()._run(point)
        if self.tune and self.tunes_thermostat:
            self.n_tuned += 1
            if was_hurrying:
                self._smooth_thermostat()
            else:
                transitions = np.arange(before, self.n_transitions)
                self.measured_time += float(np.sum(self.schedule(transitions)))
        return point, stats

    def _smooth_thermostat(self) -> None:
        """Average the fast thermostat; measure from its mean once it stops hurrying."""
        # The mean begins anew half-way: what came before belongs to the way to the posterior.
        weight = 1 / max(1, self.n_tuned - self.tuning_draws // 4)
        self.measured_from = [
            np.asarray(mean + weight * (xi - mean), dtype=xi.dtype)
            for mean, xi in zip(self.measured_from, self.thermostat, strict=True)
        ]
        if not self._is_hurrying:
            self.thermostat = [xi.copy() for xi in self.measured_from]

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
