#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What the user's keywords leave to the tuning phase, and mean for data of any size.

Whatever is left out is tuned, and a step size is in the scales in which it is reported. Only with
all of its parameters a step is taken as it is written, in the units of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from pymc.model import Model

from pymc_geodesic.algorithms.algorithm import Algorithm
from pymc_geodesic.potential.minibatch import total_size
from pymc_geodesic.sampling.applied_findings import FRICTIONS
from pymc_geodesic.sampling.variables import Variables
from pymc_geodesic.schedules import Schedule
from pymc_geodesic.validation import positive, pymc_model

__all__ = ["FromLearningRate", "Given", "step_size_of"]


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


class Given(NamedTuple):
    """The keywords that decide what is tuned.

    Attributes
    ----------
    schedule : Schedule or None
        Step sizes.
    parameters : mapping of str to float
        Parameters of the dynamics.
    n_steps : int or None
        Transitions per draw.
    learns_mass : bool
        Whether the mass is learned by Monte Carlo EM.
    can_reduce : bool
        Whether gradients are noisy, and control variates possible.
    keywords : mapping of str to Any
        Other keywords of the step, as they were passed.
    """

    schedule: Schedule | None
    parameters: Mapping[str, float]
    n_steps: int | None
    learns_mass: bool
    can_reduce: bool
    keywords: Mapping[str, Any]

    def tunes(self, algorithm: Algorithm, *, is_local: bool) -> bool:
        """Return whether the tuning phase can find something, and is left something to find."""
        can_tune = algorithm.tuning_rule is not None and not algorithm.needs_step_size
        return can_tune and not is_local and not self.is_complete(algorithm)

    def is_complete(self, algorithm: Algorithm) -> bool:
        """Return whether everything is given that the step would otherwise find."""
        return self.schedule is not None and not self._missing(algorithm)

    def _missing(self, algorithm: Algorithm) -> list[str]:
        """Name the keywords beside the step size whose values are sought."""
        if self.learns_mass:
            return []
        if algorithm.parameters:
            return [name for name in algorithm.parameters if name not in self.parameters]
        is_auto = self.keywords.get("variance_reduction", "auto") == "auto"
        reduces = self.can_reduce and is_auto
        missing = {"n_steps": self.n_steps is None, "variance_reduction": reduces}
        return [name for name, is_missing in missing.items() if is_missing]

    def require_effective(self, algorithm: Algorithm, *, tunes: bool) -> None:
        """Raise an error for keywords that have no effect beside the others.

        Raises
        ------
        ValueError
            If there is one.
        """
        center = self.keywords.get("center")
        reduction = self.keywords.get("variance_reduction")
        seeks_friction = any(
            name in FRICTIONS and name not in self.parameters for name in algorithm.parameters
        )
        of_accuracy = tunes and (self.schedule is None or seeks_friction)
        if (accuracy := self.keywords.get("accuracy")) is not None and not of_accuracy:
            raise ValueError(
                "`accuracy` expected a step size or a friction to be chosen by it, got "
                f"{accuracy!r} with {self._what(algorithm, tunes=tunes)}. Leave out one of them."
            )
        if not tunes and reduction == "auto":
            raise ValueError(
                "`variance_reduction` expected None or 'control_variates' with "
                f"{self._what(algorithm, tunes=tunes)}, because nothing is measured then; got "
                "'auto'."
            )
        if center is not None and not tunes and reduction != "control_variates":
            raise ValueError(
                "`center` expected `variance_reduction='control_variates'` with "
                f"{self._what(algorithm, tunes=tunes)}, because nothing else uses a center then; "
                "got it without. Pass both, or leave out `center`."
            )

    def _what(self, algorithm: Algorithm, *, tunes: bool) -> str:
        """Name what makes the tuning phase superfluous."""
        if not tunes and not self.is_complete(algorithm):
            return "a step that the tuning phase cannot tune"
        given = ["step_size", *(name for name in algorithm.parameters if name in self.parameters)]
        if self.learns_mass:
            given.append("mass")
        elif not tunes and not algorithm.parameters:
            given += ["n_steps", "variance_reduction"]
        return " and ".join(f"`{name}`" for name in given)
