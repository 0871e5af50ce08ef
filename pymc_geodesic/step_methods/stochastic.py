#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The stochastic-gradient steps: from their keywords to a sampler."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from pymc_geodesic.algorithms.algorithm import Algorithm
from pymc_geodesic.algorithms.default_schedules import default_schedule
from pymc_geodesic.latents.gmc import LocalGMC
from pymc_geodesic.mass import Mass
from pymc_geodesic.sampling.chain import Settings
from pymc_geodesic.sampling.inputs import BatchOptions
from pymc_geodesic.sampling.problem import Options, Problem
from pymc_geodesic.sampling.stochastic import StochasticSampler
from pymc_geodesic.sampling.tuning_options import TuningOptions
from pymc_geodesic.sampling.variables import Variables
from pymc_geodesic.schedules import ConstantSchedule, Schedule, as_schedule
from pymc_geodesic.step_methods.checks import (
    DEFAULTS,
    GradientOptions,
    require_fitting,
    require_shapes,
)
from pymc_geodesic.step_methods.given import Given, step_size_of
from pymc_geodesic.step_methods.progress import Shown
from pymc_geodesic.step_methods.step import Step
from pymc_geodesic.validation import positive, whole

__all__ = ["StochasticStep"]

# The SGGMC paper recommends 0.01 to 0.1; the cautious end suits other models.
DEFAULT_LEARNING_RATE = 0.01


class StochasticStep(Step):
    """A step whose sampler follows stochastic gradients.

    Parameters
    ----------
    vars : variable, name or sequence of these, optional
        Variables to sample.
    algorithm : Algorithm
        The algorithm.
    step_size : float or Schedule, optional
        Step size, or None if the tuning phase finds it.
    parameters : mapping of str to float or None
        Given parameters of the dynamics, or None for each other one.
    keywords : mapping
        Shared keywords, as passed to the public class.
    takes_local : bool
        Whether it can sample a model with variables local to the rows.
    uses_topic_rule : bool
        Whether a distribution of the data may set the step sizes.
    """

    sampler: StochasticSampler
    shared = GradientOptions
    withheld = frozenset({"algorithm", "parameters", "keywords", "takes_local", "uses_topic_rule"})
    shown = (
        Shown("step_size", "Step", "sg_step_size", "0.2g"),
        Shown("configurational_temperature", "Temperature", "temperature", averaged=True),
    )

    def __init__(
        self,
        vars: Variables | None,
        algorithm: Algorithm,
        *,
        step_size: float | Schedule | None,
        parameters: Mapping[str, float | None],
        keywords: Mapping[str, Any],
        takes_local: bool = True,
        uses_topic_rule: bool = False,
    ) -> None:
        given = {name: positive(name, v) for name, v in parameters.items() if v is not None}
        make = partial(
            _sampler,
            type(self).__name__,
            algorithm,
            schedule=None if step_size is None else as_schedule(step_size),
            given=given,
            takes_local=takes_local,
            uses_topic_rule=uses_topic_rule,
        )
        super().__init__(vars, make, keywords)

    @property
    def order(self) -> int:
        """Power of the step size to which the bias is proportional."""
        return self.sampler.algorithm.order


def _sampler(
    name: str,
    algorithm: Algorithm,
    shared: Options,
    options: dict[str, Any],
    *,
    schedule: Schedule | None,
    given: Mapping[str, float],
    takes_local: bool,
    uses_topic_rule: bool,
) -> StochasticSampler:
    """Read the keywords and create the sampler."""
    keywords, options = options, {**DEFAULTS, **options}
    if shared.mass is not None and "velocity" not in algorithm.state._fields:
        raise ValueError(
            f"`{name}` expected no `mass`, because it has no velocities, got {shared.mass!r}. "
            "Leave out `mass`."
        )
    steps_per_batch = whole("steps_per_batch", options["steps_per_batch"])
    n_steps = options.get("n_steps")
    n_steps = None if n_steps in (None, "auto") else whole("n_steps", n_steps)
    problem = Problem(
        name, shared, full_data=algorithm.full_data, coordinates=algorithm.coordinates
    )
    algorithm.require(name, problem.variables)
    if schedule is None and uses_topic_rule:
        schedule = default_schedule(shared.model, problem.variables)
    mass, adaptation = problem.begin_mass()
    potential = problem.potential
    can_reduce = bool(potential.sources) and not potential.conditioned
    what = Given(schedule, given, n_steps, adaptation is not None, can_reduce, keywords)
    is_local = potential.local is not None or bool(potential.expectations)
    if algorithm.bind is not None:
        algorithm = algorithm.bind(problem.variables)
    require_fitting(
        name, algorithm, problem, options.get("gradient_noise"), has_step_size=schedule is not None
    )
    batches = BatchOptions(steps_per_batch, options["replacement"], options.get("gradient_noise"))
    if is_local:
        _require_takes_local(name, shared.local, takes_local)
        n_steps = steps_per_batch if n_steps is None else n_steps
        _require_local_options(name, algorithm, schedule, n_steps, batches, options)
    tunes = what.tunes(algorithm, is_local=is_local)
    tuning = _tuning_options(problem, what, options, mass, tunes_itself=tunes)
    what.require_effective(algorithm, tunes=tunes)
    _require_diagonal(mass, batches)
    if schedule is None:
        rate = step_size_of(DEFAULT_LEARNING_RATE, shared.model)
        schedule = ConstantSchedule(rate**algorithm.step_size_power)
    first, dim = float(schedule(np.zeros(1))[0]), problem.manifold.dim
    defaults = {p: default(first, dim) for p, default in algorithm.parameters.items()}
    settings = Settings(schedule, {**defaults, **given}, n_steps or 1, mass, problem.dtype)
    return StochasticSampler(
        problem, algorithm, settings=settings, batches=batches, tuning=tuning, model=shared.model
    )


def _require_diagonal(mass: Mass | None, batches: BatchOptions) -> None:
    """Refuse a dense mass together with noise that is known for each entry."""
    if batches.gradient_noise is not None and mass is not None and not mass.is_diagonal:
        raise ValueError(
            "`gradient_noise` expected a diagonal mass, because noise that is independent between "
            "entries is correlated in the frame of a dense mass; got a dense `mass`. Use a "
            "diagonal mass, or a thermostat and no `gradient_noise`."
        )


def _tuning_options(
    problem: Problem,
    given: Given,
    options: Mapping[str, Any],
    mass: Mass | None,
    *,
    tunes_itself: bool,
) -> TuningOptions:
    """Decide what the tuning phase finds."""
    reduction, potential = options["variance_reduction"], problem.potential
    if reduction not in (None, "auto", "control_variates"):
        raise ValueError(
            f"`variance_reduction` expected None, 'auto' or 'control_variates', got {reduction!r}."
        )
    always = reduction == "control_variates"
    if potential.conditioned:
        if always and problem.conditioned_names:
            others = ", ".join(f"`{name}`" for name in problem.conditioned_names)
            raise ValueError(
                "`variance_reduction='control_variates'` expected one step for all variables, "
                "because the gradient of the whole data at the center is valid only while all "
                f"other variables are constant; got a step that leaves {others} to another step."
            )
        reduction = None
    if not potential.sources or not (tunes_itself or always):
        reduction = None
    if (center := options.get("center")) is not None:
        require_shapes("center", center, problem.start)
    is_automatic = given.keywords.get("n_steps") == "auto"
    return TuningOptions(
        tunes_itself,
        chooses_n_steps=given.n_steps is None and (tunes_itself or is_automatic),
        reduction=reduction,
        center=center,
        accuracy=float(options["accuracy"]),
        noise_is_known=options.get("gradient_noise") is not None,
        given=given.parameters,
        mass=mass,
        schedule=given.schedule,
    )


def _require_takes_local(name: str, local: LocalGMC | None, takes_local: bool) -> None:
    if not takes_local:
        what = "variables local to the rows" if local else "a likelihood with latent variables"
        raise ValueError(
            f"`{name}` cannot sample a model with {what}. Use `pmg.gSGNHT`, `pmg.SGGMC`, "
            "`pmg.SGNHT`, `pmg.SGHMC`, `pmg.SGLD` or `pmg.SGRLD`; or `pmg.GMCWithinGibbs` for "
            "local variables of the whole data."
        )


def _require_local_options(
    name: str,
    algorithm: Algorithm,
    schedule: Schedule | None,
    n_steps: int,
    batches: BatchOptions,
    options: Mapping[str, Any],
) -> None:
    """Raise an error for options that need the gradient of the rows' marginal likelihood."""
    if schedule is None and algorithm.tuning_rule is not None:
        raise ValueError(
            f"`{name}` expected a `step_size` for a model with local variables, got none. The "
            "tuning phase cannot measure the scales of a posterior whose gradient needs draws of "
            "local variables. Pass a `step_size`, or sample topics with a Dirichlet prior by "
            "`pmg.SGRLD`, which has step sizes of its own."
        )
    controlled = options["variance_reduction"] == "control_variates"
    if isinstance(batches.gradient_noise, str) or controlled:
        raise ValueError(
            "A model with local variables expected neither `gradient_noise='fisher'` nor "
            "`variance_reduction='control_variates'`: the gradients of the rows do not contain the "
            "noise of the local draws."
        )
    if n_steps % batches.steps_per_batch:
        raise ValueError(
            "`n_steps` expected a multiple of `steps_per_batch` for a model with local variables, "
            f"which are drawn once per batch; got {n_steps} and {batches.steps_per_batch}."
        )
