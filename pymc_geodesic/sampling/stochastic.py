#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Chains that follow stochastic gradients: how they begin, and how a draw is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np

from pymc.model import Model

from pymc_geodesic.algorithms.algorithm import Algorithm, Setup
from pymc_geodesic.algorithms.thermostat import Grouping, Thermostat
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.kernel.interface import Outputs
from pymc_geodesic.kernel.streams import BatchStream
from pymc_geodesic.mass import LowRankMass
from pymc_geodesic.sampling.balance import no_noise
from pymc_geodesic.sampling.calls import Calls
from pymc_geodesic.sampling.centered_coordinates import in_suitable_coordinates
from pymc_geodesic.sampling.chain import GradientChain, Settings, failing
from pymc_geodesic.sampling.inputs import BatchOptions
from pymc_geodesic.sampling.monitors import Monitors
from pymc_geodesic.sampling.moves import Made, draws_at_once, make, trial
from pymc_geodesic.sampling.news import warning_of
from pymc_geodesic.sampling.problem import Problem
from pymc_geodesic.sampling.self_tuning import SelfTuning
from pymc_geodesic.sampling.statistics import TransitionStatistics
from pymc_geodesic.sampling.tuning_options import TuningOptions, unit_mass
from pymc_geodesic.sampling.tuning_stages import DrawSpacing
from pymc_geodesic.tuning.thermostat_settling import ThermostatSettling

__all__ = ["StochasticSampler"]


class StochasticSampler:
    """The parts that the chains of a step share: kernels, tuning, streams of data.

    Parameters
    ----------
    problem : Problem
        The problem to sample.
    algorithm : Algorithm
        The algorithm.
    settings : Settings
        Initial settings of chains.
    batches : BatchOptions
        How to draw rows.
    tuning : TuningOptions
        The quantities that tuning finds.
    model : Model
        The model.
    """

    def __init__(
        self,
        problem: Problem,
        algorithm: Algorithm,
        *,
        settings: Settings,
        batches: BatchOptions,
        tuning: TuningOptions,
        model: Model,
    ) -> None:
        has_velocity = "velocity" in algorithm.state._fields
        gradient: HostGradient | None = None
        finds_mass = tuning.tunes_itself and tuning.mass is None and has_velocity
        if finds_mass:
            problem, gradient = in_suitable_coordinates(
                problem, model, algorithm, tuning=tuning, batches=batches
            )
        self.problem, self.algorithm = problem, algorithm
        self.calls = Calls(
            problem,
            algorithm,
            batches=batches,
            varies=tuning.chooses_n_steps,
            tunes_itself=tuning.tunes_itself,
        )
        self._tunes_itself = tuning.tunes_itself
        self._first_batches = BatchStream(
            problem.potential.sources,
            steps_per_batch=batches.steps_per_batch,
            replacement=batches.replacement,
        )
        self.tuning: SelfTuning | None = None
        if tuning.tunes_itself or tuning.reduction is not None:
            self.tuning = SelfTuning(
                problem,
                algorithm,
                gradient=gradient or HostGradient(problem.potential),
                model=model,
                options=tuning,
                has_velocity=has_velocity,
                can_halve=self.calls.can_halve,
                can_enlarge=self.calls.can_enlarge,
            )
        self._tuners: list[SelfTuning | DrawSpacing] = [self.tuning] if self.tuning else []
        if tuning.chooses_n_steps and not tuning.tunes_itself:
            spacing = DrawSpacing(problem, multiple=batches.steps_per_batch)
            settings = spacing.begin(settings)
            self._tuners.append(spacing)
        if finds_mass:
            mass = unit_mass(problem, dense=not tuning.noise_is_known)
            settings = replace(settings, mass=mass)
        if self.tuning is not None and self.tuning.balances:
            n = settings.mass.directions.shape[1] if isinstance(settings.mass, LowRankMass) else 0
            none = no_noise(problem.manifold, problem.dtype, n_directions=n)
            settings = replace(settings, measured_noise=none)
        self.settings = settings
        self.statistics = TransitionStatistics(
            problem, algorithm, has_velocity=has_velocity, reduces=tuning.reduction is not None
        )
        self._compile()

    def begin(
        self, rng: np.random.Generator, point: dict[str, np.ndarray], *, tune: int, draws: int
    ) -> GradientChain:
        """Return a new chain, at PyMC's values ``point``."""
        problem, settings = self.problem, self.settings
        position = problem.position_of(point)
        setup = Setup(position, problem.manifold, settings.parameters)
        chain = GradientChain(
            rng=rng,
            state=self.algorithm.init(setup, rng),
            values=problem.values_in(point),
            others={name: np.asarray(point[name]) for name in problem.conditioned_names},
            settings=settings,
            tuning_draws=tune,
            tune=bool(tune),
            memory=tuple(self.calls.noise.initial()),
            batches=deepcopy(self._first_batches),
            monitors=Monitors(
                problem.variables,
                manifold=problem.manifold,
                tune=tune,
                draws=draws,
                tunes_itself=self._tunes_itself,
            ),
            latents=self.calls.latents.begin(),
            mass_adaptation=problem.begin_mass()[1],
            tuning=None if self.tuning is None else self.tuning.begin(),
        )
        if (grouping := self.algorithm.grouping) is not None:
            chain.settling = self._settling(chain, grouping)
        return chain

    def _settling(self, chain: GradientChain, grouping: Grouping) -> ThermostatSettling:
        manifold = self.problem.manifold
        thermostat = Thermostat(manifold, grouping=grouping)
        return ThermostatSettling(
            chain.tuning_draws,
            dim=manifold.dim,
            group_dims=thermostat.group_dims,
            measured_from=tuple(xi.copy() for xi in chain.state.thermostat),
            accelerates=self.algorithm.accelerates and chain.tuning_draws >= 2,
        )

    def stop_tuning(self, chain: GradientChain) -> None:
        """Freeze the results of the tuning phase, and report them."""
        if not chain.tune:
            return
        if chain.settling is not None:
            thermostat = chain.settling.finish(chain.state.thermostat, next_step=_next_step(chain))
            chain.state = chain.state._replace(thermostat=thermostat)
        if self.tuning is not None and (news := self.tuning.news(chain)):
            chain.news = news
        if chain.tuning is not None:
            chain.tuning.forget_draws()
        chain.window = []
        chain.monitors.settle(chain.settings.mass)
        chain.tune = False

    @property
    def reads_stream(self) -> bool:
        """Whether batches come from a loader, which chains read one after another."""
        return self.calls.reader is not None and self.calls.reader.reads_in_turn

    @property
    def tunes_in_common(self) -> bool:
        """Whether chains must be together for :meth:`adapt` in their tuning phase."""
        return bool(self._tuners)

    @property
    def divisible(self) -> HostGradient | None:
        """What sums over partitioned data in the tuning phase, and can be helped by others."""
        gradient = None if self.tuning is None else self.tuning.gradient
        return gradient if gradient is not None and gradient.has_partitions else None

    def adapt(self, chains: Sequence[GradientChain]) -> None:
        """Tune chains of equal length before a draw, if it is due."""
        if self.calls.reader is not None:
            self.calls.reader.settle([chain.batches.stream for chain in chains])
        for tuner in self._tuners:
            tuner.before_draw(chains)

    def stages(self, chain: GradientChain) -> list[int]:
        """Return the draws before which :meth:`adapt` changes something, except the first."""
        return [stage for tuner in self._tuners for stage in tuner.stages(chain)]

    def draws_at_once(self, chain: GradientChain) -> int:
        """Return how many draws :meth:`draws` may make now."""
        return draws_at_once(self.calls, chain, self.stages(chain))

    def draws(
        self, chains: Sequence[GradientChain], n_draws: int
    ) -> list[Iterator[dict[str, Any]]]:
        """Make some draws; return what moves each chain by one at a time, with its statistics."""
        step_sizes = [self.calls.step_sizes(x, n_draws).reshape(n_draws, -1) for x in chains]
        made = make(self.calls, chains, n_draws)
        return [self._arrivals(*each) for each in zip(chains, made, step_sizes, strict=True)]

    def _arrivals(
        self, chain: GradientChain, made: Made, step_sizes: np.ndarray
    ) -> Iterator[dict[str, Any]]:
        for (outputs, local), steps in zip(made, step_sizes, strict=True):
            chain.state, chain.memory = outputs.state, tuple(outputs.memory)
            chain.values |= self.problem.named(outputs.values)
            yield self._observed(chain, outputs, steps) | local

    def _observed(
        self, chain: GradientChain, outputs: Outputs, step_sizes: np.ndarray
    ) -> dict[str, Any]:
        """Observe a draw that a chain has made; return its statistics."""
        n_steps = chain.settings.n_steps
        velocity = getattr(chain.state, "velocity", ())
        chain.monitors.observe(
            outputs, velocity, n_steps=n_steps, batches=chain.batches, tune=chain.tune
        )
        if chain.mass_adaptation is not None:
            chain.mass_adaptation.observe(outputs.values, chain.state.velocity, tune=chain.tune)
        for tuner in self._tuners:
            tuner.after_draw(chain)
        chain.n_drawn += 1
        stats = self.statistics.of_draw(
            chain,
            outputs,
            step_size=float(step_sizes[-1]),
            noise_variance=self.calls.noise.largest(chain.memory),
        )
        stats["warning"] = warning_of(self.problem.name, chain, stats["diverging"])
        if chain.settling is not None and chain.tune and self.algorithm.accelerates:
            thermostat = chain.settling.observe(
                chain.state.thermostat,
                energy=stats["potential_estimate"],
                step_sizes=step_sizes,
                next_step=_next_step(chain),
            )
            chain.state = chain.state._replace(thermostat=thermostat)
        return stats

    def types(self, chain: GradientChain) -> dict[str, tuple[Any, list | None]]:
        """Return the type of every statistic, as PyMC requires."""
        return self.statistics.types(chain)

    def trial(self, chains: Sequence[GradientChain]) -> list[float]:
        """Return the energy at the start of each chain; NaN if the gradient is not finite."""
        if self.tuning is not None:
            energies = []
            for number, chain in enumerate(chains):
                with failing(number):
                    energies.append(self.tuning.energy(chain))
            if np.all(np.isfinite(energies)):
                # The kernel that they need is unknown before they have tuned themselves.
                return energies
        return trial(self.calls, chains)

    def _compile(self) -> None:
        # The process of each chain compiles. The kernel's graph is written now, because a pickled
        # step may have left the potential behind; one that tunes itself does not, and will know
        # which kernel it needs.
        if self.tuning is None:
            chain = self.begin(np.random.default_rng(0), self.problem.start, tune=0, draws=0)
            self.calls.kernel_of(chain)

    def __getstate__(self) -> dict[str, Any]:
        """Keep the graph only if tuning may still need another kernel."""
        if self.tuning is not None:
            return self.__dict__
        calls = self.calls.without_graph()
        return self.__dict__ | {"calls": calls, "problem": calls.problem}


def _next_step(chain: GradientChain) -> float:
    return float(chain.settings.schedule(np.array([chain.n_transitions]))[0])
