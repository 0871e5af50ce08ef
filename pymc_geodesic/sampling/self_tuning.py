#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""How a chain tunes itself: when it measures, and what it does with what is found."""

from __future__ import annotations

import math

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from numpy.typing import ArrayLike
from pymc.model import Model

from pymc_geodesic.algorithms.algorithm import Algorithm
from pymc_geodesic.algorithms.thermostat import Grouping, Thermostat
from pymc_geodesic.algorithms.tuning_rules import require_step_size
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.mass import JointMass, Mass, VariableMasses
from pymc_geodesic.sampling.chain import GradientChain, Tuning
from pymc_geodesic.sampling.problem import Problem
from pymc_geodesic.schedules import ConstantSchedule
from pymc_geodesic.tuning.curvature import LARGEST_DENSE
from pymc_geodesic.tuning.self_tuner import (
    Findings,
    SelfTuner,
    VarianceReduction,
    round_steps,
    steps_worth_a_draw,
    whitened,
)
from pymc_geodesic.tuning.starts import default_start, is_default

__all__ = ["SelfTuning", "TuningOptions", "unit_mass"]

# Shares of the tuning phase after which the mass is corrected by draws, and after which the number
# of transitions per draw is chosen. The thermostat settles in the second half.
REFINED_AT, COUNTED_AT = (0.2, 0.45), 0.75
# Fewer draws say nothing of a covariance.
FEWEST_DRAWS = 10


class TuningOptions(NamedTuple):
    """What the user leaves to tuning, and how.

    Attributes
    ----------
    tunes_itself : bool
        Whether step size, parameters and mass are found.
    chooses_n_steps : bool
        Whether the number of transitions per draw is chosen too.
    reduction : {"auto", "control_variates"} or None
        Whether gradients are taken relative to those at a center.
    center : mapping or None
        The center, if it is given.
    accuracy : float
        Bias allowed, in posterior standard deviations.
    noise_is_known : bool
        Whether the gradient noise is given, which is independent between entries.
    given : mapping of str to float
        Parameters of the dynamics that are given.
    mass : Mass or None
        The mass that is given.
    """

    tunes_itself: bool
    chooses_n_steps: bool
    reduction: VarianceReduction | None
    center: Mapping[str, ArrayLike] | None
    accuracy: float
    noise_is_known: bool
    given: Mapping[str, float]
    mass: Mass | None


class SelfTuning:
    r"""The stages of the tuning phase of a chain.

    At its first draw a chain searches a mode, measures the curvature and the gradient noise there,
    and sets mass, step size and friction by the rule of its algorithm; see
    :mod:`pymc_geodesic.algorithms.tuning_rules`. Twice in the first half of the tuning phase the
    mass is corrected by the draws so far and everything is measured again. Control variates with
    given step sizes need the first of these stages only.

    Parameters
    ----------
    problem : Problem
        What is sampled.
    algorithm : Algorithm
        Has the rule.
    model : Model
        For the start of variables for which nobody has given one.
    options : TuningOptions
        What is left to tuning.
    has_velocity : bool
        Whether the algorithm has velocities, and so a mass.
    """

    def __init__(
        self,
        problem: Problem,
        algorithm: Algorithm,
        *,
        model: Model,
        options: TuningOptions,
        has_velocity: bool,
    ) -> None:
        self.options, self._algorithm, self._has_velocity = options, algorithm, has_velocity
        self._names, self._conditioned = problem.names, problem.conditioned_names
        self._manifold = problem.manifold
        self.gradient = HostGradient(problem.potential)
        own_mass = options.mass if has_velocity else unit_mass(problem, dense=True)
        self._tuner = SelfTuner(
            self.gradient,
            dense=not options.noise_is_known,
            reduction=options.reduction,
            center=None if options.center is None else self._read_center(problem, options.center),
            fixed_mass=own_mass,
        )
        self._default_start = default_start(model, problem.names) if options.tunes_itself else {}

    def begin(self) -> Tuning:
        """Return what belongs to a new chain."""
        return Tuning(controlled=self.options.reduction is not None)

    def before_draw(self, chain: GradientChain) -> None:
        """Do what is due before a draw."""
        tuning = chain.tuning
        if tuning is None or (chain.n_drawn > 0 and not chain.tune):
            return
        if not chain.tune and self.options.reduction != "control_variates":
            tuning.controlled = False
            return
        self.gradient.conditioned = [np.asarray(chain.others[name]) for name in self._conditioned]
        if chain.n_drawn == 0:
            self._measure_first(chain, tuning)
        elif self.options.tunes_itself and len(tuning.window) >= FEWEST_DRAWS:
            self._measure_again(chain, tuning)

    def after_draw(self, chain: GradientChain) -> None:
        """Keep the draw for the next measurement."""
        if self.options.tunes_itself and chain.tune and chain.tuning is not None:
            window, position = chain.tuning.window, chain.state.position
            reference = window[0] if window else position
            window.append(list(self.gradient.nearest(*position, *reference)))

    def news(self, chain: GradientChain) -> str | None:
        """Say in one line what was found."""
        tuning = chain.tuning
        if not self.options.tunes_itself or tuning is None or tuning.found is None:
            return None
        named = chain.settings.parameters.items()
        parameters = ", ".join(f"{name} {value:.3g}" for name, value in named)
        gradients = "minibatch gradients"
        if not self.gradient.n_rows:
            gradients = "exact gradients"
        elif tuning.controlled:
            ratio = tuning.variance_ratio
            gradients = f"control variates (noise {ratio:.2g} of the plain gradient's)"
        return (
            f"tuned itself: step size {chain.settings.step_size:.3g} posterior scales, "
            f"{parameters}, {chain.settings.n_steps} transitions per draw, {gradients}"
        )

    def _measure_first(self, chain: GradientChain, tuning: Tuning) -> None:
        """Search the mode, measure there, and start from it."""
        loose = is_default(self._default_start, chain.values, self._names)
        start, found = self._tuner.begin(chain.state.position, chain.rng, loose=loose)
        self._apply(chain, tuning, found)
        if chain.tune:
            position = tuple(np.asarray(x, order="C") for x in start)
            chain.state = chain.state._replace(position=position)
            values = map(np.asarray, self.gradient.to_values(*position))
            chain.values = chain.values | dict(zip(self._names, values, strict=True))

    def _measure_again(self, chain: GradientChain, tuning: Tuning) -> None:
        settings, found = chain.settings, tuning.found
        if found is None:
            return
        if chain.n_drawn in [int(share * chain.tuning_draws) for share in REFINED_AT]:
            self._apply(chain, tuning, self._tuner.refine(found, tuning.window, chain.rng))
        elif chain.n_drawn == int(COUNTED_AT * chain.tuning_draws) and self.options.chooses_n_steps:
            frame = whitened(found.mass, tuning.window)
            n_steps = steps_worth_a_draw(frame, settings.n_steps)
            chain.settings = replace(settings, n_steps=n_steps)

    def _apply(self, chain: GradientChain, tuning: Tuning, found: Findings) -> None:
        """Set what follows from the findings."""
        options, rule = self.options, self._algorithm.tuning_rule
        tuning.found, tuning.window = found, []
        if options.reduction is not None:
            tuning.center, tuning.controlled = found.center, found.controlled
            tuning.variance_ratio = found.variance_ratio
        if rule is None or not (options.tunes_itself and chain.tune):
            return
        demands = found.demands(options.accuracy)
        step_size, parameters = rule(demands)
        require_step_size(step_size, demands)
        changes: dict[str, Any] = {
            "schedule": ConstantSchedule(step_size),
            "parameters": {**chain.settings.parameters, **parameters, **options.given},
        }
        if self._has_velocity and options.mass is None and chain.mass_adaptation is None:
            changes["mass"] = found.mass
        if options.chooses_n_steps:
            friction = max([1.0, *parameters.values()], default=1.0)
            friction = max(friction, 0.5 * step_size * found.noise.mean)
            changes["n_steps"] = round_steps(friction / step_size)
        chain.settings = replace(chain.settings, **changes)
        if (grouping := self._algorithm.grouping) is not None:
            self._set_thermostats(chain, found, grouping)

    def _set_thermostats(self, chain: GradientChain, found: Findings, grouping: Grouping) -> None:
        """Start from the friction that the measured noise needs."""
        settings = chain.settings
        friction = settings.parameters["diffusion"] + 0.5 * settings.step_size * found.noise.mean
        thermostat = Thermostat(self._manifold, grouping=grouping)
        started = tuple(xi.astype(settings.dtype) for xi in thermostat.initial(friction))
        chain.state = chain.state._replace(thermostat=started)

    def _read_center(self, problem: Problem, center: Mapping[str, ArrayLike]) -> Sequence:
        """Read a point such as ``pm.find_MAP`` or ``model.initial_point()`` return."""
        if missing := [name for name in problem.names if name not in center]:
            raise ValueError(
                f"`center` expected values for {problem.names}, as `model.initial_point()` or "
                f"`pm.find_MAP()` return them; got none for {missing}."
            )
        values = [np.asarray(center[name], dtype=problem.dtype) for name in problem.names]
        return [np.asarray(x) for x in self.gradient.to_points(*values)]


def unit_mass(problem: Problem, *, dense: bool) -> Mass:
    """Return a mass of one, of the form that tuning will give it: the kernel compiles that."""
    shapes, dtype = problem.manifold.shapes, problem.dtype
    size = sum(math.prod(shape) for shape in shapes)
    kinds = [factor.mass for factor in problem.manifold.factors]
    if all(kind == "matrix" for kind in kinds) and size <= LARGEST_DENSE and dense:
        return JointMass(np.eye(size), shapes=shapes, dtype=dtype)
    pairs = zip(kinds, shapes, strict=True)
    masses = [np.ones(() if kind == "number" else shape) for kind, shape in pairs]
    return VariableMasses(masses, dense=[False] * len(masses), shapes=shapes, dtype=dtype)
