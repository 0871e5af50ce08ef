#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Chains of geodesic Monte Carlo with exact gradients: how they begin, and how a draw is made."""

from __future__ import annotations

import math

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from pymc.stats.convergence import SamplerWarning
from pymc.step_methods.step_sizes import DualAverageAdaptation

from pymc_geodesic.algorithms.metropolis import (
    MetropolisInputs,
    MetropolisKernel,
    MetropolisOutputs,
)
from pymc_geodesic.kernel.streams import draw_noise
from pymc_geodesic.latents.latents import LOCAL_STATISTICS, NOTHING, Drawn
from pymc_geodesic.manifolds import Point, Product
from pymc_geodesic.sampling.chain import ExactChain, Settings, failing
from pymc_geodesic.sampling.news import divergence_of
from pymc_geodesic.sampling.problem import Problem
from pymc_geodesic.schedules import ConstantSchedule

__all__ = ["ExactOptions", "ExactSampler", "longest_step"]

ADVICE = "Pass a `step_size` below {step_size:.2g}."


class ExactState(NamedTuple):
    """Positions; velocities are drawn anew for each trajectory."""

    position: Point


class ExactOptions(NamedTuple):
    """Given step size of the leapfrog, steps per trajectory, jitter, number of trajectories."""

    step_size: float | None
    n_leapfrog: int
    jitter: float
    n_steps: int


class ExactSampler:
    """The parts that the chains of a step share.

    Parameters
    ----------
    problem : Problem
        The problem to sample.
    options : ExactOptions
        Options of the leapfrog.
    """

    reads_stream = False
    tunes_in_common = False
    divisible = None

    def __init__(self, problem: Problem, *, options: ExactOptions) -> None:
        self.problem, self.options = problem, options
        self.latents = problem.make_latents()
        self._dim, self._shapes = problem.manifold.dim, problem.manifold.shapes
        # A quarter of d^(-1/4), the initial step size of NUTS in PyMC.
        self._first_step = options.step_size or 0.25 / self._dim**0.25
        mass, _ = problem.begin_mass()
        # With a mass the units of a step are those of the posterior, not of the manifold.
        self._longest_step = longest_step(problem.manifold) if mass is None else math.inf
        self.settings = Settings(
            ConstantSchedule(self._first_step), {}, options.n_steps, mass, problem.dtype
        )
        chain = self.begin(np.random.default_rng(0), problem.start, tune=0, draws=0)
        self._kernel = MetropolisKernel(
            problem.potential,
            example=self._trial_inputs(chain, options.n_steps, NOTHING),
            n_leapfrog=options.n_leapfrog,
            mass=chain.mass,
        )

    def begin(
        self, rng: np.random.Generator, point: dict[str, np.ndarray], *, tune: int, draws: int
    ) -> ExactChain:
        """Return a new chain, at PyMC's values ``point``."""
        problem = self.problem
        return ExactChain(
            rng=rng,
            state=ExactState(problem.position_of(point)),
            values=problem.values_in(point),
            others={name: np.asarray(point[name]) for name in problem.conditioned_names},
            settings=self.settings,
            tuning_draws=tune,
            tune=bool(tune),
            latents=self.latents.begin(),
            mass_adaptation=problem.begin_mass()[1],
            # The constants are those of NUTS in PyMC.
            step_size_adaptation=DualAverageAdaptation(
                self._first_step, target=0.8, gamma=0.05, k=0.75, t0=10
            ),
        )

    def stop_tuning(self, chain: ExactChain) -> None:
        """Fix the step size."""
        chain.tune = False

    def adapt(self, chains: Sequence[ExactChain]) -> None:
        """Do nothing: these chains adapt separately, after each draw."""

    def stages(self, chain: ExactChain) -> list[int]:
        """Return none."""
        return []

    def draws_at_once(self, chain: ExactChain) -> int:
        """Return one: the step size is adapted after each draw."""
        return 1

    def draws(self, chains: Sequence[ExactChain], n_draws: int) -> list[Iterator[dict[str, Any]]]:
        """Make the trajectories of one draw; return what moves each chain, with its statistics."""
        asked = []
        for number, chain in enumerate(chains):
            with failing(number):
                asked.append(self._asked(chain))
        made = self._kernel([inputs for inputs, _, _ in asked])
        return [
            iter([self._moved(chain, outputs, step_size=step_size) | local])
            for chain, outputs, (_, step_size, local) in zip(chains, made, asked, strict=True)
        ]

    def _asked(self, chain: ExactChain) -> tuple[MetropolisInputs, float, dict[str, float]]:
        """Return the inputs of a draw, its step size, and statistics of local variables."""
        drawn = self.problem.draw_latents(self.latents, chain, [], chain.rng)
        chain.values |= drawn.values
        dtype, n_steps = self.problem.dtype, self.options.n_steps
        tuned = min(float(chain.step_size_adaptation.current(chain.tune)), self._longest_step)
        step_size = self.options.step_size or tuned
        spread = self.options.jitter * chain.rng.uniform(-1, 1, n_steps)
        inputs = MetropolisInputs(
            conditioned=[*self.problem.conditioned_in(chain.others), *drawn.arrays],
            position=chain.state.position,
            step_sizes=(step_size * (1 + spread)).astype(dtype),
            log_uniforms=np.log(chain.rng.uniform(size=n_steps)).astype(dtype),
            noise=draw_noise(chain.rng, n_steps, self._shapes, dtype),
            mass=_mass_arrays(chain),
        )
        return inputs, step_size, drawn.statistics

    def _moved(
        self, chain: ExactChain, outputs: MetropolisOutputs, *, step_size: float
    ) -> dict[str, Any]:
        """Move a chain by the draw that was made; return its statistics."""
        chain.state = ExactState(tuple(outputs.position))
        chain.values |= dict(zip(self.problem.names, outputs.values, strict=True))
        acceptance, energy = float(outputs.acceptance_rate), float(outputs.energy)
        if chain.mass_adaptation is not None:
            chain.mass_adaptation.observe(
                outputs.values, outputs.velocity, tune=chain.tune, acceptance=acceptance
            )
        if self.options.step_size is None and chain.tune:
            chain.step_size_adaptation.update(acceptance, chain.tune)
        chain.n_drawn += 1
        chain.n_transitions += self.options.n_steps
        potential, diverging = float(outputs.potential), bool(outputs.diverging)
        stats = {
            "step_size": step_size,
            "acceptance_rate": acceptance,
            "accepted": float(outputs.accepted),
            "energy": energy,
            "kinetic_temperature": 2 * (energy - potential) / self._dim,
            "degrees_of_freedom": self._dim,
            "potential_estimate": potential,
            "diverging": diverging,
            "warning": divergence_of(self.problem.name, chain, diverging, advice=ADVICE),
        }
        learned = {} if chain.mass_adaptation is None else chain.mass_adaptation.statistics
        return stats | learned

    def types(self, chain: ExactChain) -> dict[str, tuple[Any, list | None]]:
        """Return the type of every statistic, as PyMC requires."""
        numbers = ["step_size", "acceptance_rate", "accepted", "energy", "kinetic_temperature"]
        numbers.append("potential_estimate")
        numbers += LOCAL_STATISTICS if self.latents.sampler is not None else ()
        if chain.mass_adaptation is not None:
            numbers += list(chain.mass_adaptation.statistics)
        types: dict[str, tuple[Any, list | None]] = dict.fromkeys(numbers, (np.float64, []))
        types["degrees_of_freedom"] = (np.int64, [])
        types |= {"diverging": (bool, []), "warning": (SamplerWarning, None)}
        return types

    def trial(self, chains: Sequence[ExactChain]) -> list[float]:
        """Make trajectories too short to move; return the energies, which may be NaN."""
        n_steps, rng = self.options.n_steps, np.random.default_rng
        drawn = [self.problem.draw_latents(self.latents, x, [], rng(0), trial=True) for x in chains]
        pairs = [*zip(chains, drawn, strict=True)]
        made = self._kernel([self._trial_inputs(chain, n_steps, x) for chain, x in pairs])
        return [
            np.nan if bool(outputs.diverging) or not x.finite else float(outputs.potential)
            for outputs, x in zip(made, drawn, strict=True)
        ]

    def _trial_inputs(self, chain: ExactChain, n_steps: int, drawn: Drawn) -> MetropolisInputs:
        return MetropolisInputs(
            conditioned=[*self.problem.conditioned_in(chain.others), *drawn.arrays],
            position=chain.state.position,
            step_sizes=self.problem.trial_steps(n_steps),
            log_uniforms=np.full(n_steps, -1.0, self.problem.dtype),
            noise=self.problem.zero_noise(n_steps, self._shapes),
            mass=_mass_arrays(chain),
        )

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the graph: a worker needs only compiled functions."""
        return self.__dict__ | {"problem": self.problem.without_graph()}


def longest_step(manifold: Product) -> float:
    """Return the step in which a point of compact manifolds moves by about half a turn.

    A density that is nearly uniform accepts any step. Adaptation would then lengthen steps without
    limit, until a geodesic of thousands of turns has no correct digits.
    """
    if not all(factor.is_compact for factor in manifold.factors):
        return math.inf
    return math.pi / math.sqrt(max(manifold.point_dims))


def _mass_arrays(chain: ExactChain) -> list[np.ndarray]:
    return [] if chain.mass is None else chain.mass.arrays
