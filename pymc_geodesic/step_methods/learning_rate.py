#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Parameters of steps with friction, from quantities that do not depend on the size of the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from pymc.model import Model

from pymc_geodesic.potential.minibatch import total_size
from pymc_geodesic.sampling.variables import Variables
from pymc_geodesic.validation import positive, pymc_model

__all__ = ["FromLearningRate", "step_size_of"]


class FromLearningRate:
    """Adds another constructor to a step method with a step size and friction."""

    friction_keyword: ClassVar[str]

    @classmethod
    def from_learning_rate(
        cls,
        learning_rate: float,
        momentum_decay: float,
        vars: Variables | None = None,
        *,
        model: Model | None = None,
        **keywords: Any,
    ) -> Self:
        r"""Set the parameters by quantities that do not depend on the size of the data.

        .. math::

            \epsilon = \sqrt{\gamma / N}, \qquad C = \rho / \epsilon

        Parameters
        ----------
        learning_rate : float
            :math:`\gamma`, squared step size per row; the SGGMC paper uses 0.01 to 0.1.
        momentum_decay : float
            :math:`\rho`, share of the velocity lost in a transition when gradients are exact; the
            paper uses 0.01 to 0.1. It sets the friction C, or the diffusion of a thermostat.
        vars, model, **keywords
            See the class.
        """
        step_size = step_size_of(learning_rate, pymc_model(model))
        friction = {cls.friction_keyword: positive("momentum_decay", momentum_decay) / step_size}
        make: Callable[..., Self] = cls
        return make(vars, step_size=step_size, model=model, **friction, **keywords)


def step_size_of(learning_rate: float, model: Model) -> float:
    """Step size ``sqrt(learning_rate / N)`` with N from the model's ``total_size``."""
    return float(np.sqrt(positive("learning_rate", learning_rate) / total_size(model)))
