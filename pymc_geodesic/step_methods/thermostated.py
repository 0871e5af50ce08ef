#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The step methods whose friction is a thermostat: finding it in the tuning phase."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from pymc.step_methods.state import dataclass_state

from pymc_geodesic.dynamics.thermostat import Grouping, Thermostat
from pymc_geodesic.step_methods.base import Variables
from pymc_geodesic.step_methods.stochastic import StochasticGradientState, StochasticGradientStep

__all__ = ["ThermostatedState", "ThermostatedStep"]


@dataclass_state
class ThermostatedState(StochasticGradientState):
    """The state, with the mean thermostat of the tuning phase."""

    tune: bool
    tuning_draws: int
    n_tuned: int
    tuned_thermostat: list[np.ndarray]


class ThermostatedStep(StochasticGradientStep):
    """Base of the steps with a thermostat.

    In the tuning phase the thermostat moves faster, if the dynamics have a ``tuning`` parameter. At
    its end the thermostat is set to its mean over the second half of the phase, and every draw
    that is kept follows the published dynamics.
    """

    _state_class = ThermostatedState
    tunes_thermostat = True
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
        self.tuning_draws = 0
        super().__init__(vars, parameters={"diffusion": diffusion}, **options)

    def _prepare(self) -> None:
        self._thermostat = Thermostat(self.potential.manifold, grouping=self._grouping)
        super()._prepare()
        names = [variable.name for variable in self.variables]
        if len(names) > 1 and self._grouping != "shared":
            self._declare({f"thermostat_{name}": (np.float64, []) for name in names})

    def setup_chain(self, rng, tune: int, draws: int) -> None:
        """Reset everything that belongs to one chain."""
        self.tuning_draws = tune
        super().setup_chain(rng, tune, draws)

    def _reset(self) -> None:
        super()._reset()
        start = self._thermostat.initial(self.parameters["diffusion"])
        self.thermostat = [xi.astype(self._dtypes[0]) for xi in start]
        self.n_tuned = 0
        self.tuned_thermostat = [xi.copy() for xi in self.thermostat]

    def stop_tuning(self) -> None:
        """Start the draws that are kept from the mean thermostat of the tuning phase."""
        if self.tune and self.n_tuned:
            self.thermostat = [xi.copy() for xi in self.tuned_thermostat]
        super().stop_tuning()

    def _run(self, point) -> tuple[list[np.ndarray], dict[str, Any]]:
        values, stats = super()._run(point)
        if self.tune and self.tunes_thermostat:
            self._average_thermostat()
        return values, stats

    def _average_thermostat(self) -> None:
        self.n_tuned += 1
        # The mean begins anew half-way: what came before belongs to the way to the posterior.
        weight = 1 / max(1, self.n_tuned - self.tuning_draws // 2)
        self.tuned_thermostat = [
            (mean + weight * (xi - mean)).astype(xi.dtype)
            for mean, xi in zip(self.tuned_thermostat, self.thermostat, strict=True)
        ]

    def _parameter_arrays(self) -> dict[str, np.ndarray]:
        arrays = super()._parameter_arrays()
        if self.tunes_thermostat:
            arrays["tuning"] = np.asarray(float(self.tune), dtype=self._dtypes[0])
        return arrays

    def _statistics(self, output, step_sizes) -> dict[str, Any]:
        stats = super()._statistics(output, step_sizes)
        means = [float(np.mean(xi)) for xi in self.thermostat]
        if self._grouping == "shared":
            return stats | {"thermostat": means[0]}
        return stats | self._per_variable("thermostat", means, self._dims)
