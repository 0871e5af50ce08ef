#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The step methods that follow stochastic gradients: everything but their dynamics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from numpy.typing import ArrayLike
from pymc.model import Model, modelcontext
from pymc.step_methods.compound import StepMethodState
from pymc.step_methods.state import dataclass_state

from pymc_geodesic.algorithms.state import State
from pymc_geodesic.kernel import BatchStream, Kernel, KernelOutput, draw_noise
from pymc_geodesic.kernel.streams import BatchStreamState
from pymc_geodesic.latents.latents import LatentsState
from pymc_geodesic.potential.estimator import noise_model
from pymc_geodesic.schedules import ConstantSchedule, Schedule, as_schedule
from pymc_geodesic.step_methods.arguments import (
    DEFAULT_LEARNING_RATE,
    DEFAULT_MOMENTUM_DECAY,
    Variables,
    step_size_of,
)
from pymc_geodesic.step_methods.monitors import Monitors, MonitorsState
from pymc_geodesic.step_methods.self_tuned import DEFAULT_ACCURACY, SelfTunedStep
from pymc_geodesic.step_methods.transition_statistics import TransitionStatistics, merged
from pymc_geodesic.tuning.mass_adaptation import MassAdaptationState
from pymc_geodesic.tuning.self_tuner import VarianceReduction
from pymc_geodesic.tuning.state import TuningState
from pymc_geodesic.validation import positive, whole

__all__ = ["StochasticGradientState", "StochasticGradientStep"]


@dataclass_state
class StochasticGradientState(StepMethodState):
    """Everything that the next draw depends on, besides the point."""

    velocity: list[np.ndarray]
    thermostat: list[np.ndarray]
    estimator: list[np.ndarray]
    auxiliary: list[np.ndarray]
    n_transitions: int
    batches: BatchStreamState
    mass_adaptation: MassAdaptationState | None
    tuning: TuningState
    latents: LatentsState
    monitors: MonitorsState


class StochasticGradientStep(TransitionStatistics, SelfTunedStep):
    """Base of the stochastic-gradient steps: streams, kernel, statistics and resumable state.

    A subclass names its scalar ``parameters`` and implements :meth:`transition`, its dynamics,
    whose bias goes with the step size to the power ``order``.
    """

    _state_class = StochasticGradientState
    withheld = frozenset({"parameters"})
    friction_keyword: ClassVar[str | None] = None
    order: ClassVar[int] = 2

    def __init__(
        self,
        vars: Variables | None,
        *,
        step_size: float | Schedule | None,
        parameters: Mapping[str, float | None],
        n_steps: int | None = None,
        steps_per_batch: int = 1,
        replacement: bool = True,
        gradient_noise: Any = None,
        variance_reduction: VarianceReduction | None = "auto",
        center: Mapping[str, ArrayLike] | None = None,
        accuracy: float = DEFAULT_ACCURACY,
        **options: Any,
    ) -> None:
        steps_per_batch = whole("steps_per_batch", steps_per_batch)
        self.n_steps = whole("n_steps", 1 if n_steps is None else n_steps)
        given = {name: positive(name, v) for name, v in parameters.items() if v is not None}
        schedule = None if step_size is None else as_schedule(step_size)
        super().__init__(vars, **options)

        self.schedule = schedule or ConstantSchedule(self._default_step_size())
        self.parameters = {
            name: given[name] if name in given else self._default_parameter(name)
            for name in parameters
        }
        self.batches = BatchStream(
            self.potential.sources, steps_per_batch=steps_per_batch, replacement=replacement
        )
        if self.latents:
            self.n_steps = steps_per_batch if n_steps is None else self.n_steps
            self._require_local_options(step_size, gradient_noise, variance_reduction)
        self._gradient_noise = gradient_noise
        self.noise = noise_model(self.potential, gradient_noise, replacement=replacement)
        if gradient_noise is not None:
            self._require_diagonal_mass()
        self._shapes = self.potential.manifold.shapes
        self._noise_shapes = list(self._shapes)
        self._dtype = self.variables[0].position.dtype
        self._dims = self.potential.manifold.dims
        self.monitors = Monitors(self.variables, manifold=self.potential.manifold)
        self._set_up_tuning(
            tunes_itself=step_size is None,
            chooses_n_steps=n_steps is None,
            variance_reduction=variance_reduction,
            center=center,
            accuracy=accuracy,
            noise_is_known=gradient_noise is not None,
            given=given,
        )
        self._prepare()
        self._reset()
        self._kernels: dict[tuple[bool, int | None], Kernel] = {}
        self._compile()

    def _require_local_options(self, step_size, gradient_noise, variance_reduction) -> None:
        """Refuse what needs the gradient of the marginal likelihood of the rows."""
        if step_size is None and self.tuning_rule is not None:
            raise ValueError(
                f"`{type(self).__name__}` expected a `step_size` for a model with local variables, "
                "got none: it cannot measure the scales of a posterior whose gradient needs draws."
            )
        if isinstance(gradient_noise, str) or variance_reduction == "control_variates":
            raise ValueError(
                "A model with local variables expected neither `gradient_noise='fisher'` nor "
                "`variance_reduction='control_variates'`: the noise of its draws is not in the "
                "gradients of the rows."
            )
        if self.n_steps % self.batches.steps_per_batch:
            raise ValueError(
                "`n_steps` expected a multiple of `steps_per_batch` for a model with local "
                f"variables, which are drawn once a batch; got {self.n_steps} and "
                f"{self.batches.steps_per_batch}."
            )

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
        r"""Set the parameters by quantities that do not change with the size of the data.

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
            As for the class.

        Raises
        ------
        TypeError
            If the step has no friction.
        """
        if cls.friction_keyword is None:
            raise TypeError(f"`{cls.__name__}` has no friction: give it a `step_size`.")
        step_size = step_size_of(learning_rate, modelcontext(model))
        friction = {cls.friction_keyword: positive("momentum_decay", momentum_decay) / step_size}
        return cls(vars, step_size=step_size, model=model, **friction, **keywords)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Give the noise model, which leaves the graph behind, the step's own again."""
        super().__setstate__(state)
        if self.potential is not None:
            self.noise = noise_model(
                self.potential, self._gradient_noise, replacement=self.batches.replacement
            )

    def transition(self, state, manifold, estimator, noise, step_size, parameters) -> State:
        """Write one transition of the dynamics symbolically."""
        raise NotImplementedError

    def enter(self, state: State) -> State:
        """Map a state to the coordinates of :meth:`transition`."""
        return state

    def leave(self, state: State) -> State:
        """Map a state back from the coordinates of :meth:`transition`."""
        return state

    def _default_step_size(self) -> float:
        return step_size_of(DEFAULT_LEARNING_RATE, self.model)

    def _default_parameter(self, name: str) -> float:
        """Friction, or noise that needs it, which takes a fixed share of the velocity."""
        return DEFAULT_MOMENTUM_DECAY / float(self.schedule(np.zeros(1))[0])

    def _compile(self) -> None:
        # Numba compiles in the parent process, for all chains. JAX compiles in the process of each
        # chain, because a parent that has computed with JAX cannot be forked. The kernel's graph is
        # written now, because a pickled step may have left the potential behind.
        if self.backend.is_jax:
            self._kernels = {self._kernel_key: self._make_kernel()}
        else:
            self._dry_run(self.model.initial_point())

    @property
    def _kernel(self) -> Kernel:
        """The kernel for the present estimator and, on JAX, number of transitions."""
        key = self._kernel_key
        if key not in self._kernels:
            self._kernels[key] = self._make_kernel()
        return self._kernels[key]

    @property
    def _kernel_key(self) -> tuple[bool, int | None]:
        return self.controlled, self._call_length if self.backend.is_jax else None

    def _make_kernel(self) -> Kernel:
        return Kernel(
            self.potential,
            transition=self.transition,
            noise_model=self.noise,
            initial=self._state(self.model.initial_point()),
            parameters=list(self._parameter_arrays()),
            noise_shapes=self._noise_shapes,
            n_steps=self._call_length,
            backend=self.backend,
            mass=self._mass,
            control_variates=self.controlled,
            enter=self.enter,
            leave=self.leave,
        )

    def _prepare(self) -> None:
        """Set up what the dynamics need before they are compiled, and declare statistics."""
        self._declare_statistics()

    def _reset(self) -> None:
        shapes = self._shapes if self.has_velocity else ()
        # Any start will do: the kernel projects it on the tangent space of the first point.
        self.velocity = [array[0] for array in draw_noise(self.rng, 1, shapes, self._dtype)]
        self.thermostat: list[np.ndarray] = []
        self.auxiliary: list[np.ndarray] = []
        self.estimator = self.noise.initial()
        self.n_transitions = 0
        self.batches.reset()
        self._reset_tuning()

    def _state(self, point) -> State:
        # Numba compiles anew for arrays in another memory layout.
        values = tuple(np.asarray(point[name], order="C") for name in self._names)
        return State(
            values,
            tuple(self.velocity),
            tuple(self.thermostat),
            tuple(self.estimator),
            tuple(self.auxiliary),
        )

    def setup_chain(self, rng, tune: int, draws: int) -> None:
        """Reset everything that belongs to one chain."""
        self.tuning_draws = tune
        self.monitors.begin(tune=tune, draws=draws)
        super().setup_chain(rng, tune, draws)

    def stop_tuning(self) -> None:
        """Freeze what the tuning phase has found."""
        if self.tune:
            self._report()
        self.monitors.settle()
        super().stop_tuning()

    def _run(self, point) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        point = self._tune(point)
        outputs, step_sizes = [], []
        for _ in range(self.n_steps // self._call_length):
            point, output, sizes = self._run_call(point)
            outputs.append(output)
            step_sizes.append(sizes)
        output, step_sizes = merged(outputs), np.concatenate(step_sizes)
        self.monitors.observe(output, n_steps=self.n_steps, batches=self.batches, tune=self.tune)
        self._observe(output.values, self.velocity)
        self._remember(output.values)
        return point, self._statistics(output, step_sizes)

    @property
    def _call_length(self) -> int:
        """Transitions of one call of the kernel: those that share what is local to a batch."""
        return self.batches.steps_per_batch if self.latents else self.n_steps

    def _run_call(self, point) -> tuple[dict[str, np.ndarray], KernelOutput, np.ndarray]:
        step_sizes = self._step_sizes()
        noise = draw_noise(self.rng, self._call_length, self._noise_shapes, self._dtype)
        fresh = self.monitors.fresh(self.batches, self._call_length)
        rows = self.batches.draw(self.rng, self._call_length)
        if self.latents:
            point = self._draw_latents(point, [row[0] for row in rows])
        output = self._call(point, step_sizes, noise, rows, fresh)
        self.velocity, self.thermostat = output.velocity, output.thermostat
        self.estimator, self.auxiliary = output.estimator, output.auxiliary
        self.n_transitions += self._call_length
        return self._moved(point, output.values), output, step_sizes

    def _step_sizes(self) -> np.ndarray:
        transitions = self.n_transitions + np.arange(self._call_length)
        return np.asarray(self.schedule(transitions), dtype=self._dtype)

    def _parameter_arrays(self) -> dict[str, np.ndarray]:
        """Scalar inputs of the dynamics, by name."""
        dtype = self._dtype
        return {name: np.asarray(value, dtype=dtype) for name, value in self.parameters.items()}

    def _call(self, point, step_sizes, noise, rows, fresh=None) -> KernelOutput:
        return self._kernel(
            self._state(point),
            conditioned=self._conditions(point),
            step_sizes=step_sizes,
            noise=noise,
            rows=rows,
            parameters=self._parameter_arrays(),
            mass=self._mass_arrays,
            center=self._center_arrays(point),
            fresh=np.zeros(len(step_sizes), dtype=bool) if fresh is None else fresh,
            reference=self.monitors.reference.arrays,
        )

    def _dry_run(self, point) -> float:
        """Make transitions too short to move, on the first rows of the data."""
        n_steps = self._call_length if self.backend.is_jax else 1
        rows = self.batches.trial(n_steps)
        if self.latents:
            self.latents.trial(point, [row[0] for row in rows])
        output = self._call(
            point,
            self._trial_step(n_steps),
            [np.zeros((n_steps, *shape), self._dtype) for shape in self._noise_shapes],
            rows,
        )
        return np.nan if output.diverging or not self.latents.finite else output.energy
