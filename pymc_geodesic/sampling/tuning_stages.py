#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Between the stages of tuning: when chains measure again, agree, and space their draws."""

from __future__ import annotations

import math

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain as joined

import numpy as np

from pymc_geodesic.algorithms.algorithm import Algorithm, Setup
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.kernel.representatives import Representatives
from pymc_geodesic.manifolds import Product
from pymc_geodesic.mass import Mass
from pymc_geodesic.sampling.chain import GradientChain, Settings
from pymc_geodesic.sampling.problem import Problem
from pymc_geodesic.stages import log
from pymc_geodesic.tuning.barrier import BARRIER, barrier_between, farthest_means
from pymc_geodesic.tuning.spacing import (
    FEWEST_TUNING,
    MOST_TUNING,
    steps_while_tuning,
    steps_worth_a_draw,
)
from pymc_geodesic.tuning.surroundings import Findings
from pymc_geodesic.tuning.whitening import FARTHEST_MEANS, distance_of_means

__all__ = ["DrawSpacing", "Stages", "begin_again", "more_careful", "warn_if_apart"]


# Shares of the tuning phase after which the mass is corrected by draws, and after which the number
# of transitions per draw is chosen. The thermostat settles in the second half. Draws that are then
# farther apart than before correct the mass once more: those before may not have gone far enough.
REFINED_AT, COUNTED_AT, LATE_AT = (0.2, 0.45), 0.75, 0.85
# Shares after which the friction of every entry is corrected by temperatures; the mean of all these
# corrections is used at the end.
BALANCED_AT = (0.55, 0.65, 0.75, 0.85, 0.95)
# Share after which velocities tell whether gradients are noisier than measured.
HEATED_AT = 0.95


@dataclass(frozen=True)
class Stages:
    """Draws of a tuning phase before which something is measured.

    Parameters
    ----------
    tuning_draws : int
        Length of the tuning phase.
    """

    tuning_draws: int

    @property
    def refined(self) -> list[int]:
        """Draws before which those so far correct the mass."""
        return [self._after(share) for share in REFINED_AT]

    @property
    def counted(self) -> int:
        """The draw before which the number of transitions per draw is chosen."""
        return self._after(COUNTED_AT)

    @property
    def late(self) -> int:
        """The draw before which the mass of slow chains is corrected once more."""
        return self._after(LATE_AT)

    @property
    def balanced(self) -> list[int]:
        """Draws before which the friction of every entry is corrected."""
        return [self._after(share) for share in BALANCED_AT]

    @property
    def heated(self) -> int:
        """The draw before which the temperature of velocities corrects the step size."""
        return self._after(HEATED_AT)

    def all(self, *, balances: bool, corrects_temperature: bool) -> list[int]:
        """List the draws before which chains measure, if they do, in their order."""
        found = {*self.refined, self.counted, self.late}
        found |= set(self.balanced if balances else ()) | (
            {self.heated} if corrects_temperature else set()
        )
        return sorted(found)

    def _after(self, share: float) -> int:
        return int(share * self.tuning_draws)


def warn_if_apart(
    name: str,
    mass: Mass,
    windows: Sequence[Sequence[Sequence[np.ndarray]]],
    gradient: HostGradient,
) -> None:
    """Warn if the means of the chains of a step are far apart, and tell why.

    Parameters
    ----------
    name : str
        Name of the step.
    mass : Mass
        In whose frame chains are compared.
    windows : sequence of sequence of draws
        Draws of each chain.
    gradient : HostGradient
        Energies of the model.
    """
    if (distance := distance_of_means(mass, windows)) <= FARTHEST_MEANS:
        return
    chains = [[np.array(x) for x in zip(*window, strict=True)] for window in windows]
    barrier = barrier_between(gradient, *farthest_means(chains))
    if barrier > BARRIER:
        why = (
            f"The log density dips by {barrier:.2g} between them, so they may be in different "
            "modes: compare them with `az.plot_trace`, and start all chains in one mode with "
            "`initvals`."
        )
    else:
        why = (
            "The log density hardly dips between them: they have not mixed yet. Increase `tune`, "
            "or reparametrise the model."
        )
    log.warning(
        f"The chains of {name} disagree after most of the tuning phase: their means are "
        f"{distance:.2g} standard deviations apart, so the tuning they share may fit none of "
        f"them. {why}"
    )


# The stiffest direction is so many times stiffer than measured: steps a quarter as long.
STIFFER = 16.0


def more_careful(found: Findings) -> Findings:
    """Return findings from which shorter steps follow.

    The curvature was measured at draws of an approximation. Where a posterior ends abruptly, as
    behind the wall of a funnel, these do not meet the part that is too stiff for the steps.
    """
    return found._replace(curvature=STIFFER * found.curvature)


def begin_again(
    chain: GradientChain,
    position: Sequence[np.ndarray],
    *,
    algorithm: Algorithm,
    manifold: Product,
) -> None:
    """Give a chain a new state, with velocities and thermostats of a beginning.

    Parameters
    ----------
    chain : GradientChain
        The chain.
    position : sequence of ndarray
        Where it begins, in the embedding.
    algorithm : Algorithm
        Makes the state.
    manifold : Product
        Manifold of the variables.
    """
    setup = Setup(tuple(position), manifold, chain.settings.parameters)
    chain.state = algorithm.init(setup, chain.rng)
    if chain.settling is not None:
        chain.settling.restart(chain.state.thermostat)


# Fewer draws say nothing of correlations.
FEWEST_DRAWS = 10


class DrawSpacing:
    """Choose the transitions per draw where every other setting is given.

    Draws of the tuning phase tell it, at the stages of chains that tune themselves.

    Parameters
    ----------
    problem : Problem
        The problem to sample.
    multiple : int
        The number of transitions is a multiple of this.
    """

    def __init__(self, problem: Problem, *, multiple: int) -> None:
        self._name, self._multiple = problem.name, multiple
        self._sizes = [*map(math.prod, problem.manifold.shapes)]
        self._representatives = Representatives(problem.manifold)

    def begin(self, settings: Settings) -> Settings:
        """Return the settings of a new chain."""
        return replace(settings, n_steps=self._rounded(FEWEST_TUNING))

    def stages(self, chain: GradientChain) -> list[int]:
        """Return the draws before which the number of transitions is chosen."""
        stages = Stages(chain.tuning_draws)
        return sorted({*stages.refined, stages.counted, stages.late})

    def before_draw(self, chains: Sequence[GradientChain]) -> None:
        """Choose the transitions per draw of chains of equal length, if it is due.

        Raises
        ------
        ValueError
            If there is no tuning phase.
        """
        first = chains[0]
        if not first.tune and not first.n_drawn:
            raise ValueError(
                f"`n_steps='auto'` of `{self._name}` expected a tuning phase, whose draws show how "
                "correlated they are; got `tune=0`. Tune, or pass a number."
            )
        if not first.tune or first.n_drawn not in self.stages(first):
            return
        stages = Stages(first.tuning_draws)
        # Draws as far apart as those to be kept may tell more than those before.
        is_late = first.n_drawn == stages.late
        if is_late and first.settings.n_steps <= MOST_TUNING:
            return
        if sum(len(chain.window) for chain in chains) >= FEWEST_DRAWS:
            n_steps = self._chosen(chains)
            if first.n_drawn < stages.counted:
                n_steps = steps_while_tuning(n_steps)
            for chain in chains:
                chain.settings = replace(chain.settings, n_steps=self._rounded(n_steps))
        for chain in chains:
            chain.window = []

    def after_draw(self, chain: GradientChain) -> None:
        """Keep the draw for the next choice."""
        if chain.tune:
            chain.window.append([np.array(x) for x in chain.state.position])

    def _chosen(self, chains: Sequence[GradientChain]) -> int:
        """Return the number of transitions in which the slowest entries decorrelate."""
        windows = self._representatives.of_chains([chain.window for chain in chains])
        draws = np.array(
            [np.concatenate([x.ravel() for x in draw]) for draw in joined.from_iterable(windows)]
        )
        frames = np.split(draws - draws.mean(axis=0), np.cumsum([*map(len, windows)])[:-1])
        return steps_worth_a_draw(frames, chains[0].settings.n_steps, sizes=self._sizes)

    def _rounded(self, n_steps: int) -> int:
        return math.ceil(n_steps / self._multiple) * self._multiple
