#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Arguments that every step method takes, and the paper's rule for a step size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

import numpy as np

from numpy.typing import ArrayLike
from pymc.model import Model

from pymc_geodesic.adaptation.read import MassArgument
from pymc_geodesic.local.gmc import LocalGMC
from pymc_geodesic.potential.minibatch import total_size
from pymc_geodesic.schedules import positive
from pymc_geodesic.tuning.self_tuner import VarianceReduction

__all__ = ["DEFAULT_LEARNING_RATE", "DEFAULT_MOMENTUM_DECAY", "StepOptions", "step_size_of"]

# The SGGMC paper recommends 0.01 to 0.1 for both; the careful end suits models it has not seen.
DEFAULT_LEARNING_RATE = 0.01
DEFAULT_MOMENTUM_DECAY = 0.01


class StepOptions(TypedDict, total=False):
    """Keywords that every stochastic-gradient step takes."""

    n_steps: int | None
    mass: MassArgument
    variance_reduction: VarianceReduction | None
    center: Mapping[str, ArrayLike] | None
    accuracy: float
    replacement: bool
    data: Mapping[str, Iterable[np.ndarray]] | None
    local: LocalGMC | None
    backend: str | None
    compile_kwargs: dict[str, Any] | None
    model: Model | None
    rng: Any
    initial_point: Mapping[str, np.ndarray] | None
    blocked: bool


def step_size_of(learning_rate: float, model: Model) -> float:
    """Step size ``sqrt(learning_rate / N)`` with N from the model's ``total_size``."""
    return float(np.sqrt(positive("learning_rate", learning_rate) / total_size(model)))
