#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""How many transitions apart draws are where nothing else is tuned."""

from __future__ import annotations

import math

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain as joined

import numpy as np

from pymc_geodesic.kernel.representatives import Representatives
from pymc_geodesic.sampling.chain import GradientChain, Settings
from pymc_geodesic.sampling.problem import Problem
from pymc_geodesic.sampling.tuning_stages import Stages
from pymc_geodesic.tuning.spacing import (
    FEWEST_TUNING,
    MOST_TUNING,
    steps_while_tuning,
    steps_worth_a_draw,
)

__all__ = ["DrawSpacing"]

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
