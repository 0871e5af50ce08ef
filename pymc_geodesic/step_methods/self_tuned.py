#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""How a step tunes itself: when it measures, and what it does with what is found."""

from __future__ import annotations

import math

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from numpy.typing import ArrayLike

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.mass import JointMass, Mass, VariableMasses
from pymc_geodesic.schedules import ConstantSchedule
from pymc_geodesic.step_methods.base import GeodesicStep
from pymc_geodesic.step_methods.messages import as_news, log
from pymc_geodesic.tuning.curvature import LARGEST_DENSE
from pymc_geodesic.tuning.rules import Demands, require_step_size
from pymc_geodesic.tuning.self_tuner import (
    Center,
    Findings,
    SelfTuner,
    VarianceReduction,
    round_steps,
    steps_worth_a_draw,
    whitened,
)
from pymc_geodesic.tuning.starts import default_start, is_default
from pymc_geodesic.tuning.state import TuningState

__all__ = ["DEFAULT_ACCURACY", "SelfTunedStep"]

DEFAULT_ACCURACY = 0.05
# Shares of the tuning phase after which the mass is corrected by draws, and after which the number
# of transitions a draw is chosen. The thermostat settles in the second half.
REFINED_AT, COUNTED_AT = (0.2, 0.45), 0.75
# Fewer draws say nothing of a covariance.
FEWEST_DRAWS = 10

Rule = Callable[[Demands], tuple[float, dict[str, float]]]


class SelfTunedStep(GeodesicStep):
    r"""Base of the steps that find their parameters in the tuning phase.

    At its first draw a chain searches a mode, measures the curvature and the gradient noise there,
    and sets mass, step size and friction by the rule of its dynamics; see
    :mod:`pymc_geodesic.tuning.rules`. Twice in the first half of the tuning phase the mass is
    corrected by the draws so far and everything is measured again.
    """

    tuning_rule: ClassVar[Rule | None] = None
    tuning_draws = 0

    def _set_up_tuning(
        self,
        *,
        tunes_itself: bool,
        chooses_n_steps: bool,
        variance_reduction: VarianceReduction | None,
        center: Mapping[str, ArrayLike] | None,
        accuracy: float,
        noise_is_known: bool,
        given: Mapping[str, float],
    ) -> None:
        """Read the arguments, once the potential is there."""
        if variance_reduction not in (None, "auto", "control_variates"):
            raise ValueError(
                "`variance_reduction` expected None, 'auto' or 'control_variates', got "
                f"{variance_reduction!r}."
            )
        self.accuracy = float(accuracy)
        # Noise that is independent between entries is not so in the frame of a dense mass.
        self.noise_is_known = noise_is_known
        self.tunes_itself = tunes_itself and self.tuning_rule is not None and not self.latents
        self._chooses_n_steps = chooses_n_steps and self.tunes_itself
        always = variance_reduction == "control_variates"
        reduction = variance_reduction if self.tunes_itself or always else None
        if self.potential.conditioned:
            if always and self.potential.conditioned_values:
                others = ", ".join(f"`{value.name}`" for value in self.potential.conditioned_values)
                raise ValueError(
                    "`variance_reduction='control_variates'` expected one step for all variables, "
                    "because the whole data's gradient at the center holds only while the others "
                    f"stay where they are; got a step that leaves {others} to another."
                )
            reduction = None
        self.variance_reduction = reduction if self.potential.sources else None
        self._given = given
        self._user_mass = self._mass
        self.potential_has_batches = bool(self.potential.sources)
        if self.tunes_itself and self._mass is None and self.has_velocity:
            self.fixed_mass = self._unit_mass()
        self._tuner = self._make_tuner(center)
        self._default_start = default_start(self.model, self._names) if self.tunes_itself else {}
        if self.variance_reduction is not None:
            self._declare({"gradient_variance_ratio": (np.float64, [])})
        self._untuned = self.schedule, dict(self.parameters), self.n_steps, self.fixed_mass

    @property
    def tuning(self) -> TuningState:
        """What tuning has measured and set so far, as the step's ``sampling_state`` holds it."""
        return TuningState.of(self)

    @tuning.setter
    def tuning(self, state: TuningState) -> None:
        state.restore(self)
        # The check draws random numbers, which a chain that goes on has not drawn.
        self._start_checked = state.n_drawn > 0

    def __getstate__(self) -> dict[str, Any]:
        """Keep the graph where a kernel may yet be compiled, for what tuning finds."""
        kept = {} if self._tuner is None else {"potential": self.potential}
        return super().__getstate__() | kept

    def _make_tuner(self, center: Mapping[str, ArrayLike] | None) -> SelfTuner | None:
        if not (self.tunes_itself or self.variance_reduction):
            return None
        gradient = HostGradient(self.potential)
        return SelfTuner(
            gradient,
            dense=not self.noise_is_known,
            reduction=self.variance_reduction,
            center=None if center is None else self._read_center(center, gradient),
            fixed_mass=self._user_mass if self.has_velocity else self._unit_mass(),
        )

    def _read_center(self, center: Mapping[str, ArrayLike], gradient: HostGradient) -> list:
        """Read a point such as ``pm.find_MAP`` or ``model.initial_point()`` return."""
        if missing := [name for name in self._names if name not in center]:
            raise ValueError(
                f"`center` expected values for {self._names}, as `model.initial_point()` or "
                f"`pm.find_MAP()` return them; got none for {missing}."
            )
        dtype = self.variables[0].position.dtype
        values = [np.asarray(center[name], dtype=dtype) for name in self._names]
        return [np.asarray(x) for x in gradient.to_points(*values)]

    def _unit_mass(self) -> Mass:
        """Return a mass of one, of the form that tuning will give it: the kernel compiles that."""
        shapes, dtype = self.potential.manifold.shapes, self.variables[0].position.dtype
        size = sum(math.prod(shape) for shape in shapes)
        kinds = [factor.mass for factor in self.potential.manifold.factors]
        if (
            all(kind == "matrix" for kind in kinds)
            and size <= LARGEST_DENSE
            and not self.noise_is_known
        ):
            return JointMass(np.eye(size), shapes=shapes, dtype=dtype)
        pairs = zip(kinds, shapes, strict=True)
        masses = [np.ones(() if kind == "number" else shape) for kind, shape in pairs]
        return VariableMasses(masses, dense=[False] * len(masses), shapes=shapes, dtype=dtype)

    def _center_arrays(self, point: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        if not self.controlled:
            return []
        if self.center is not None:
            return [*self.center.point, *self.center.gradient]
        # A trial run before the chain has a center: at the point itself the gradients cancel.
        values = [np.asarray(point[name]) for name in self._names]
        start = self._tuner.gradient.to_points(*values)
        return [*map(np.asarray, start), *map(np.zeros_like, start)]

    def _reset_tuning(self) -> None:
        """Forget what another chain has found."""
        if self.tunes_itself:
            self.schedule, parameters, self.n_steps, self.fixed_mass = self._untuned
            self.parameters = dict(parameters)
        self.controlled = self.variance_reduction is not None
        self.center: Center | None = None
        self.variance_ratio = np.nan
        self.n_drawn = 0
        self.window: list[list[np.ndarray]] = []
        self.found: Findings | None = None
        self._news: str | None = None

    def _tune(self, point: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
        """Do what is due before a draw; return where to draw from."""
        if self._tuner is None or (self.n_drawn > 0 and not self.tune):
            return point
        if not self.tune and self.variance_reduction != "control_variates":
            self.controlled = False
            return point
        # Set at each draw: a step that continues a saved chain has not been through its start.
        gradient = self._tuner.gradient
        gradient.conditioned = [np.asarray(point[name]) for name in self._conditioned]
        if self.n_drawn == 0:
            point = self._begin(point)
        elif self.tunes_itself:
            if len(self.window) < FEWEST_DRAWS:
                return point
            if self.n_drawn in [int(share * self.tuning_draws) for share in REFINED_AT]:
                self._apply(self._tuner.refine(self.found, self.window, self.rng))
            elif self.n_drawn == int(COUNTED_AT * self.tuning_draws) and self._chooses_n_steps:
                frame = whitened(self.found.mass, self.window)
                self.n_steps = steps_worth_a_draw(frame, self.n_steps)
        return point

    def _begin(self, point: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
        """Search the mode, measure there, and start from it."""
        gradient = self._tuner.gradient
        self.batches.settle()
        values = [np.asarray(point[name]) for name in self._names]
        loose = is_default(self._default_start, point, self._names)
        start, found = self._tuner.begin(gradient.to_points(*values), self.rng, loose=loose)
        self._apply(found)
        if not self.tune:
            return point
        moved = [np.asarray(value) for value in gradient.to_values(*start)]
        return {**point, **dict(zip(self._names, moved, strict=True))}

    def _apply(self, found: Findings) -> None:
        """Set what follows from the findings."""
        self.found, self.window = found, []
        if self.variance_reduction is not None:
            self.center, self.controlled = found.center, found.controlled
            self.variance_ratio = found.variance_ratio
        if not (self.tunes_itself and self.tune):
            return
        demands = found.demands(self.accuracy)
        step_size, parameters = type(self).tuning_rule(demands)
        require_step_size(step_size, demands)
        self.schedule = ConstantSchedule(step_size)
        self.parameters |= parameters | self._given
        if self.has_velocity and self._user_mass is None:
            self.fixed_mass = found.mass
        if self._chooses_n_steps:
            friction = max([1.0, *parameters.values()], default=1.0)
            friction = max(friction, 0.5 * step_size * found.noise.mean)
            self.n_steps = round_steps(friction / step_size)

    def _remember(self, values: list[np.ndarray]) -> None:
        """Keep a draw for the next measurement."""
        self.n_drawn += 1
        if self.tunes_itself and self.tune:
            self.window.append([np.asarray(x) for x in self._tuner.gradient.to_points(*values)])

    def step(self, point):
        """Make the transitions of one draw, and pass on what the tuning phase has found."""
        point, [stats] = super().step(point)
        if self._news is not None and stats["warning"] is None:
            stats["warning"], self._news = as_news(self._news), None
        return point, [stats]

    def _make_progressbar_update_functions(self):
        """Say what happens while the progress bar, which PyMC is about to show, stands at zero."""
        if self._tuner is not None:
            log.info(
                f"{type(self).__name__} begins each chain with a search for the mode, and measures "
                "curvature and gradient noise there"
            )
        return super()._make_progressbar_update_functions()

    def _report(self) -> None:
        """Say in one line what was found."""
        if not self.tunes_itself or self.found is None:
            return
        parameters = ", ".join(f"{name} {value:.3g}" for name, value in self.parameters.items())
        gradients = "minibatch gradients"
        if not self.potential_has_batches:
            gradients = "exact gradients"
        elif self.controlled:
            gradients = (
                f"control variates (noise {self.variance_ratio:.2g} of the plain gradient's)"
            )
        self._news = (
            f"{type(self).__name__} tuned itself: step size "
            f"{float(self.schedule(np.zeros(1))[0]):.3g} posterior scales, {parameters}, "
            f"{self.n_steps} transitions per draw, {gradients}"
        )
