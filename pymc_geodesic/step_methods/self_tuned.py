#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""How a step tunes itself: when it measures, and what it does with what is found."""

from __future__ import annotations

import logging

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from numpy.typing import ArrayLike

from pymc_geodesic.adaptation import JointMass, Mass, VariableMasses
from pymc_geodesic.engine.host_gradient import HostGradient
from pymc_geodesic.schedules import ConstantSchedule
from pymc_geodesic.step_methods.base import GeodesicStep
from pymc_geodesic.tuning.curvature import LARGEST_DENSE
from pymc_geodesic.tuning.rules import Demands
from pymc_geodesic.tuning.self_tuner import (
    MOST_STEPS,
    Center,
    Findings,
    SelfTuner,
    VarianceReduction,
    steps_worth_a_draw,
    whitened,
)

__all__ = ["DEFAULT_ACCURACY", "SelfTunedStep"]

# The one log line goes where PyMC's own lines on samplers go.
_log = logging.getLogger("pymc")

DEFAULT_ACCURACY = 0.05
# Shares of the tuning phase after which the mass is corrected by draws, and after which the number
# of transitions a draw is chosen. The thermostat settles in the second half.
REFINED_AT, COUNTED_AT = (0.2, 0.45), 0.75

Rule = Callable[[Demands], tuple[float, dict[str, float]]]


class SelfTunedStep(GeodesicStep):
    r"""Base of the steps that find their parameters in the tuning phase.

    At its first draw a chain searches a mode, measures the curvature and the gradient noise there,
    and sets mass, step size and friction by the rule of its dynamics; see
    :mod:`pymc_geodesic.tuning.rules`. Twice in the first half of the tuning phase the mass is
    corrected by the draws so far and everything is measured again.
    """

    tuning_rule: ClassVar[Rule | None] = None

    def _set_up_tuning(
        self,
        *,
        tunes_itself: bool,
        chooses_n_steps: bool,
        variance_reduction: VarianceReduction | None,
        center: Mapping[str, ArrayLike] | None,
        accuracy: float,
    ) -> None:
        """Read the arguments, once the potential is there."""
        if variance_reduction not in (None, "auto", "control_variates"):
            raise ValueError(
                "`variance_reduction` expected None, 'auto' or 'control_variates', got "
                f"{variance_reduction!r}."
            )
        if not 0 < accuracy < 1:
            raise ValueError(
                "`accuracy` expected an error in posterior standard deviations between 0 and 1, "
                f"got {accuracy!r}."
            )
        self.accuracy = float(accuracy)
        self.tunes_itself = tunes_itself and self.tuning_rule is not None
        self._chooses_n_steps = chooses_n_steps and self.tunes_itself
        always = variance_reduction == "control_variates"
        reduction = variance_reduction if self.tunes_itself or always else None
        self.variance_reduction = reduction if self.potential.sources else None
        self.center: Center | None = None
        self.found: Findings | None = None
        self._window: list[list[np.ndarray]] = []
        self._given = dict(self.parameters)
        self._user_mass = self._mass
        if self.tunes_itself and self._mass is None and self.has_velocity:
            self.fixed_mass = self._unit_mass()
        self._tuner = self._make_tuner(center)
        self.controlled = self.variance_reduction is not None
        if self.controlled:
            self._declare({"gradient_variance_ratio": (np.float64, [])})

    def _make_tuner(self, center: Mapping[str, ArrayLike] | None) -> SelfTuner | None:
        if not (self.tunes_itself or self.variance_reduction):
            return None
        manifold = self.potential.manifold
        return SelfTuner(
            HostGradient(self.potential, backend=self.backend),
            flat=[variable.is_flat for variable in self.variables],
            dims=manifold.dims,
            point_dims=manifold.point_dims,
            reduction=self.variance_reduction,
            center=None if center is None else self._read_center(center),
            fixed_mass=self._user_mass if self.has_velocity else self._unit_mass(),
        )

    def _read_center(self, center: Mapping[str, ArrayLike]) -> list[np.ndarray]:
        """Read a point of PyMC's values, as `pm.find_MAP` returns it, on the variables' own scale.

        Variables are looked up by the name of their value first, then by their own.
        """
        values = []
        for variable, value in zip(self.variables, self.vars, strict=True):
            if value.name not in center:
                raise ValueError(
                    f"`center` expected a value for each of {self._names}, the names in "
                    f"`model.initial_point()`; got {sorted(center)}."
                )
            values.append(np.asarray(center[value.name], dtype=variable.position.dtype))
        return [np.array(x) for x in self._positions(values)]

    def _positions(self, values) -> list[np.ndarray]:
        return self._tuner_gradient.to_points(*values)

    def _unit_mass(self) -> Mass:
        """Return a mass of one, of the form that tuning will give it: the kernel compiles that."""
        shapes, dtype = self.potential.manifold.shapes, self.variables[0].position.dtype
        size = sum(int(np.prod(shape)) for shape in shapes)
        flat = [variable.is_flat for variable in self.variables]
        if all(flat) and size <= LARGEST_DENSE and self._may_be_dense:
            return JointMass(np.eye(size), shapes=shapes, dtype=dtype)
        pairs = zip(flat, shapes, strict=True)
        masses = [np.ones(shape if is_flat else ()) for is_flat, shape in pairs]
        return VariableMasses(masses, dense=[False] * len(masses), shapes=shapes, dtype=dtype)

    @property
    def _may_be_dense(self) -> bool:
        return True
