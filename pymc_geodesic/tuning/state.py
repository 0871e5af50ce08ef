#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Everything that a step's tuning has measured and set, as one value that can be saved."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from pymc_geodesic.mass.arrays import Mass
from pymc_geodesic.schedules import Schedule
from pymc_geodesic.tuning.self_tuner import Center, Findings

__all__ = ["TuningState"]


@dataclass(frozen=True, kw_only=True)
class TuningState:
    """How far a chain's tuning has got, and what it has found.

    The fields are named as the attributes of a step. A chain that is continued from its state, in
    the middle of the tuning phase too, takes the same draws as if it had not been stopped.

    Attributes
    ----------
    tune : bool
        Whether the chain is in its tuning phase.
    tuning_draws : int
        Length of the tuning phase.
    n_drawn : int
        Draws so far.
    window : list of list of ndarray
        Draws since the last measurement, for the next one.
    found : Findings or None
        The last measurement; None before the first.
    schedule, parameters, n_steps, fixed_mass
        Step sizes, parameters of the dynamics, transitions per draw and mass.
    center, controlled, variance_ratio
        Center of the control variates, whether they are used, and what they do to the noise.
    """

    tune: bool
    tuning_draws: int
    n_drawn: int
    window: list[list[np.ndarray]]
    found: Findings | None
    schedule: Schedule
    parameters: dict[str, float]
    n_steps: int
    fixed_mass: Mass | None
    center: Center | None
    controlled: bool
    variance_ratio: float

    @classmethod
    def of(cls, step: Any) -> Self:
        """Read the state of a step."""
        return cls(**{field.name: getattr(step, field.name) for field in fields(cls)})

    def restore(self, step: Any) -> None:
        """Give the state to a step."""
        for field in fields(self):
            setattr(step, field.name, getattr(self, field.name))
