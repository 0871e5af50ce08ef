#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Calls of the kernels of a step: their inputs, and the choice of the kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np

from pymc_geodesic.algorithms.algorithm import Algorithm
from pymc_geodesic.kernel.interface import Inputs, padded_length
from pymc_geodesic.kernel.streams import BatchStream, draw_noise, reader_of
from pymc_geodesic.kernel.transitions import TransitionKernel
from pymc_geodesic.potential.estimator import Halved, has_any_size
from pymc_geodesic.potential.noise_matrices import noise_model
from pymc_geodesic.potential.noise_models import NoiseModel
from pymc_geodesic.sampling.chain import GradientChain
from pymc_geodesic.sampling.inputs import (
    BatchOptions,
    Randomness,
    can_damp,
    can_halve,
    center_of,
    factors_of,
    is_controlled,
    weights_of,
)
from pymc_geodesic.sampling.problem import Problem
from pymc_geodesic.schedules import ConstantSchedule

__all__ = ["Calls"]


class Calls:
    """The kernels that the chains of a step share, and how a chain calls them.

    Parameters
    ----------
    problem : Problem
        The problem to sample.
    algorithm : Algorithm
        The algorithm.
    batches : BatchOptions
        How to draw rows.
    varies : bool
        Whether the number of transitions of a draw may change.
    tunes_itself : bool
        Whether the tuning phase tells how noise is balanced.
    """

    def __init__(
        self,
        problem: Problem,
        algorithm: Algorithm,
        *,
        batches: BatchOptions,
        varies: bool = False,
        tunes_itself: bool = False,
    ) -> None:
        self.problem, self.algorithm, self.batches = problem, algorithm, batches
        self.reader = reader_of(problem.potential.sources)
        self.latents = problem.make_latents()
        self.noise = self._noise_model()
        several = () if algorithm.n_normals == 1 else (algorithm.n_normals,)
        shapes = [(*several, *shape) for shape in problem.manifold.shapes]
        self.noise_shapes = [*shapes, *[()] * algorithm.scalar_noise]
        self._accelerate = tuple(np.asarray(x, problem.dtype) for x in (0.0, 1.0))
        # Local variables are drawn for one batch after the other, of a constant length.
        pads = varies and not self.latents
        self._padded_length = self._find_padded_length() if pads else None
        self._kernels: dict[tuple[Any, ...], TransitionKernel] = {}
        self.can_halve = can_halve(problem.potential, batches)
        self.can_damp = can_damp(algorithm, problem.manifold, can_halve=self.can_halve)
        self._tunes_itself = tunes_itself
        self.can_enlarge = batches.are_free and has_any_size(
            problem.potential, replacement=batches.replacement
        )

    def length(self, chain: GradientChain) -> int:
        """Return how many transitions have noise and rows drawn at once: a batch's or a draw's."""
        return self.batches.steps_per_batch if self.latents else chain.settings.n_steps

    def randomness(self, chain: GradientChain, length: int) -> Randomness:
        """Draw noise and rows for transitions of a chain."""
        noise = draw_noise(chain.rng, length, self.noise_shapes, self.problem.dtype)
        fresh = chain.monitors.fresh(chain.batches, length)
        reuses, weights = is_controlled(chain), weights_of(chain)
        draw = chain.batches.draw
        rows = draw(chain.rng, length, self.reader, reuses=reuses, weights=weights)
        return Randomness(noise, rows, fresh)

    def asked(
        self,
        chain: GradientChain,
        step_sizes: np.ndarray,
        *,
        randomness: Randomness | None,
        statistics: list[dict[str, float]],
    ) -> Iterator[Inputs]:
        """Yield inputs of one call after another, from where the chain is when each is asked for.

        Noise and rows are drawn unless they are given.

        Parameters
        ----------
        chain : GradientChain
            The chain, whose generator and position in the data move.
        step_sizes : ndarray, shape (times, transitions)
            Step sizes of the transitions that have noise and rows drawn at once.
        randomness : Randomness or None
            These, for the only time.
        statistics : list
            Takes those of local variables, each time.
        """
        for steps in step_sizes:
            given = randomness or self.randomness(chain, len(steps))
            drawn = self.problem.draw_latents(self.latents, chain, given.rows, chain.rng)
            chain.values |= drawn.values
            statistics.append(drawn.statistics)
            for part in self.parts(len(steps)):
                yield self.inputs(
                    chain, drawn.arrays, step_sizes=steps[part], randomness=given.part(part)
                )

    def makes_chunks(self, chain: GradientChain) -> bool:
        """Whether only the kernel and its random inputs lead from one draw to the next."""
        between = self.latents, self.reader, chain.mass_adaptation
        return not any(between)

    def parts(self, length: int) -> list[slice]:
        """Divide transitions into equally long calls for which a kernel has room."""
        if self._padded_length is None or length <= self._padded_length:
            return [slice(None)]
        size = next(n for n in range(self._padded_length, 0, -1) if length % n == 0)
        return [slice(i, i + size) for i in range(0, length, size)]

    def step_sizes(self, chain: GradientChain, n_draws: int = 1) -> np.ndarray:
        """Return the step sizes of the next draws of a chain."""
        settings, begin = chain.settings, chain.n_transitions
        transitions = np.arange(begin, begin + n_draws * settings.n_steps)
        return np.asarray(settings.schedule(transitions), dtype=settings.dtype)

    def of_trial(self, chain: GradientChain) -> tuple[Inputs, bool]:
        """Return inputs of transitions that do not move, and whether local energies are finite."""
        n_steps = self.length(chain)
        rows = chain.batches.trial(n_steps, self.reader)
        # A separate generator, so that a chain that is resumed and checked again continues exactly.
        rng = np.random.default_rng(0)
        drawn = self.problem.draw_latents(self.latents, chain, rows, rng, trial=True)
        return self._without_moving(chain, drawn.arrays, n_steps, rows), drawn.finite

    def kernel_of(self, chain: GradientChain) -> TransitionKernel:
        """Return the kernel for the present estimator and number of transitions."""
        controlled = is_controlled(chain)
        length = self._padded_length or self.length(chain)
        form = controlled, self._halved(chain), self._has_one_step_size(chain), type(chain.mass)
        key = *form, length, chain.batches.times, bool(factors_of(chain))
        if key not in self._kernels:
            self._kernels[key] = self._make_kernel(chain)
        return self._kernels[key]

    def _halved(self, chain: GradientChain) -> Halved | None:
        """Return the variables whose noise is balanced by halves of batches, if there are any."""
        found = None if chain.tuning is None else chain.tuning.found
        if found is not None and found.halved:
            return "all"
        damps = (found is not None and found.damps) if self._tunes_itself else self.can_damp
        return "curved" if damps else None

    def _has_one_step_size(self, chain: GradientChain) -> bool:
        return self._padded_length is not None and isinstance(
            chain.settings.schedule, ConstantSchedule
        )

    def _make_kernel(self, chain: GradientChain) -> TransitionKernel:
        problem, algorithm = self.problem, self.algorithm
        n_steps = self._padded_length or self.length(chain)
        rows = chain.batches.trial(n_steps, self.reader)
        of_rows = problem.potential
        return TransitionKernel(
            of_rows.weighted() if factors_of(chain) else of_rows,
            algorithm.dynamics,
            noise_model=self.noise,
            example=self._without_moving(chain, [], n_steps, rows),
            mass=chain.mass,
            is_counted=self._padded_length is not None,
            has_one_step_size=self._has_one_step_size(chain),
            makes_chunks=self.makes_chunks(chain),
            halves=self._halved(chain),
        )

    def _find_padded_length(self) -> int:
        """Return the number of transitions for which kernels have room, if tuning chooses it."""
        noise = self.problem.zero_noise(1, self.noise_shapes)
        rows = BatchStream(self.problem.potential.sources).trial(1, self.reader)
        return padded_length([*noise, *rows])

    def _without_moving(
        self,
        chain: GradientChain,
        arrays: list[np.ndarray],
        n_steps: int,
        rows: Sequence[np.ndarray],
    ) -> Inputs:
        noise, fresh = self.problem.zero_noise(n_steps, self.noise_shapes), np.zeros(n_steps, bool)
        steps = self.problem.trial_steps(n_steps)
        randomness = Randomness(noise, rows, fresh)
        return self.inputs(chain, arrays, step_sizes=steps, randomness=randomness)

    def example(self, chain: GradientChain, part: slice) -> Inputs:
        """Return the inputs of a part of the next draw of a chain, without noise."""
        step_sizes = self.step_sizes(chain)[part]
        n_steps = len(step_sizes)
        noise = self.problem.zero_noise(n_steps, self.noise_shapes)
        rows = chain.batches.trial(n_steps, self.reader)
        fresh = chain.monitors.fresh(chain.batches, n_steps)
        randomness = Randomness(noise, rows, fresh)
        return self.inputs(chain, [], step_sizes=step_sizes, randomness=randomness)

    def inputs(
        self,
        chain: GradientChain,
        arrays: list[np.ndarray],
        *,
        step_sizes: np.ndarray,
        randomness: Randomness,
    ) -> Inputs:
        """Return the inputs of the kernel: the arguments, and the state of the chain."""
        mass, parameters = chain.mass, chain.settings.parameter_arrays
        if self.algorithm.accelerates and chain.settling is not None:
            accelerates = chain.tune and chain.settling.accelerates
            parameters = parameters | {"tuning": self._accelerate[accelerates]}
        return Inputs(
            conditioned=[*self.problem.conditioned_in(chain.others), *arrays],
            state=chain.state,
            memory=chain.memory,
            step_sizes=step_sizes,
            noise=randomness.noise,
            rows=randomness.rows,
            parameters=parameters,
            mass=() if mass is None else mass.arrays,
            center=center_of(chain),
            fresh=randomness.fresh,
            reference=chain.monitors.reference.arrays,
            weights=factors_of(chain),
        )

    def _noise_model(self) -> NoiseModel:
        noise, replacement = self.batches.gradient_noise, self.batches.replacement
        return noise_model(self.problem.potential, noise, replacement=replacement)

    def without_graph(self) -> Calls:
        """Return the same without the model's graph: a worker needs only compiled functions."""
        other = copy(self)
        other.problem = self.problem.without_graph()
        return other

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Give the noise model, which is pickled without the graph, the sampler's graph again."""
        self.__dict__.update(state)
        if self.problem.has_graph:
            self.noise = self._noise_model()
