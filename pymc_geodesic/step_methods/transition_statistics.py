#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What a stochastic-gradient step records of each draw, and shows while it samples."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from pymc.stats.convergence import SamplerWarning

from pymc_geodesic.kernel import KernelOutput
from pymc_geodesic.step_methods.monitors import RAN_OFF_ADVICE
from pymc_geodesic.step_methods.progress import Shown

__all__ = ["TransitionStatistics", "merged"]


class TransitionStatistics:
    """The statistics of a stochastic-gradient step; documented with :class:`SGGMC`."""

    has_virial = True
    shown = (
        Shown("step_size", "Step", "sg_step_size", "0.2g"),
        Shown("configurational_temperature", "Temperature", "temperature", averaged=True),
    )
    stats_dtypes_shapes: ClassVar[dict] = {
        "step_size": (np.float64, []),
        "kinetic_temperature": (np.float64, []),
        "potential_estimate": (np.float64, []),
        "n_steps": (np.int64, []),
        "diverging": (bool, []),
        "warning": (SamplerWarning, None),
    }

    def _declare_statistics(self) -> None:
        """Declare what depends on the model: one of each for every variable."""
        if self.has_virial:
            self._declare_per_variable("configurational_temperature")
        if self.has_velocity:
            self._declare_per_variable("kinetic_temperature")
        self._degrees_of_freedom = self._read_degrees_of_freedom() if self.has_velocity else {}
        self._declare({name: (np.int64, []) for name in self._degrees_of_freedom})
        self._declare({name: (np.float64, []) for name in self._mass_statistics})

    def _declare_per_variable(self, statistic: str) -> None:
        self._declare({statistic: (np.float64, [])})
        if len(self.variables) > 1:
            names = [f"{statistic}_{variable.name}" for variable in self.variables]
            self._declare({name: (np.float64, []) for name in names})

    def _statistics(self, output: KernelOutput, step_sizes: np.ndarray) -> dict[str, Any]:
        ran_off = self.monitors.ran_off
        stats = {
            "step_size": float(step_sizes[-1]),
            "potential_estimate": output.energy,
            "n_steps": self.n_steps,
            "diverging": output.diverging or ran_off is not None,
            "warning": self._warning(output.diverging)
            if ran_off is None
            else self._warning(True, mishap=ran_off, advice=RAN_OFF_ADVICE),
        }
        if self.has_virial:
            positions = output.configurational
            stats |= self._per_variable("configurational_temperature", positions, self._dims)
        if self.variance_reduction is not None:
            stats["gradient_variance_ratio"] = self.variance_ratio
        if self.has_velocity:
            stats |= self._per_variable("kinetic_temperature", output.temperature, self._dims)
        own = stats | self._degrees_of_freedom | self._mass_statistics
        return own | self.latents.take_statistics()

    def _read_degrees_of_freedom(self) -> dict[str, int]:
        """Without them nobody who has only the draws can say how much temperatures may vary."""
        name, total = "degrees_of_freedom", {"degrees_of_freedom": sum(self._dims)}
        if len(self._dims) == 1:
            return total
        pairs = zip(self.variables, self._dims, strict=True)
        return total | {f"{name}_{variable.name}": dim for variable, dim in pairs}

    def _per_variable(self, name: str, values, weights) -> dict[str, float]:
        """One statistic for all variables, weighted by dimension, and one for each."""
        if len(values) == 1:
            return {name: values[0]}
        total = sum(w * value for w, value in zip(weights, values, strict=True)) / sum(weights)
        pairs = zip(self.variables, values, strict=True)
        return {name: total} | {f"{name}_{variable.name}": value for variable, value in pairs}


def merged(outputs: list[KernelOutput]) -> KernelOutput:
    """Join the outputs of consecutive calls: the last state, statistics of all."""
    if len(outputs) == 1:
        return outputs[0]
    temperatures = np.mean([output.temperature for output in outputs], axis=0)
    return outputs[-1]._replace(
        temperature=[float(t) for t in temperatures],
        configurational=_known_means([output.configurational for output in outputs]),
        diverging=any(output.diverging for output in outputs),
    )


def _known_means(rows: list[list[float]]) -> list[float]:
    """Mean of each variable over the calls that have one."""
    table = np.array(rows)
    known = table[np.all(np.isfinite(table), axis=1)]
    return [float(mean) for mean in (known if len(known) else table[:1]).mean(axis=0)]
