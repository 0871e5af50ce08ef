#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""How chains use what was measured: their settings, thermostats and transitions per draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pymc_geodesic.algorithms.algorithm import Algorithm
from pymc_geodesic.algorithms.tuning_rules import Rule, halved_rule
from pymc_geodesic.manifolds import Product
from pymc_geodesic.sampling.balance import heated, start_thermostats, with_damping
from pymc_geodesic.sampling.batch_options import can_damp
from pymc_geodesic.sampling.chain import GradientChain, Settings, tuning_of
from pymc_geodesic.sampling.tuned_settings import space_draws, tuned_settings
from pymc_geodesic.sampling.tuning_options import TuningOptions
from pymc_geodesic.tuning.findings import Findings

__all__ = ["AppliedFindings"]


@dataclass(frozen=True)
class AppliedFindings:
    """Apply findings to chains.

    Parameters
    ----------
    algorithm : Algorithm
        The algorithm.
    own_rule : callable or None
        Rule of its step size and parameters.
    options : TuningOptions
        The quantities that tuning finds.
    manifold : Product
        Manifold of the variables.
    has_velocity : bool
        Whether the algorithm has velocities, and hence a mass.
    balances : bool
        Whether the noise of every entry is balanced.
    can_halve : bool
        Whether batches can be divided into halves.
    """

    algorithm: Algorithm
    own_rule: Rule | None
    options: TuningOptions
    manifold: Product
    has_velocity: bool
    balances: bool
    can_halve: bool = False

    @property
    def rule(self) -> Rule | None:
        """Rule of the step size and parameters, or of the parameters at the given step size."""
        return None if self.own_rule is None else self.options.with_step(self.own_rule)

    @property
    def corrects_temperature(self) -> bool:
        """Whether velocities that are too hot are noticed and cooled."""
        is_measured = self.options.tunes_itself and not self.options.noise_is_known
        return is_measured and self.algorithm.heating_noise is not None

    def proposed_step(self, found: Findings) -> float | None:
        """Return the step size that would be found if the user had not given another."""
        if self.own_rule is None or self.options.schedule is None:
            return None
        rule = halved_rule if found.halved else self.own_rule
        return rule(found.demands(self.options.accuracy))[0]

    def require_scales(self, name: str) -> None:
        """Raise an error if a step size is in scales that only the tuning phase would find.

        Raises
        ------
        ValueError
            If it is.
        """
        options = self.options
        finds_mass = options.tunes_itself and self.has_velocity and options.mass is None
        if not finds_mass or options.schedule is None:
            return
        others = " and ".join(f"`{parameter}`" for parameter in self.algorithm.parameters)
        raise ValueError(
            f"`step_size` of `{name}` expected a tuning phase, because it is in the scales of the "
            f"posterior, which are found then; got `tune=0`. Tune; or pass {others} too, with a "
            "`step_size` in the units of the model."
        )

    def apply(self, chain: GradientChain, found: Findings, *, spaces: bool = True) -> None:
        """Apply the settings that follow from the findings, those of spacing if it ``spaces``."""
        options, tuning = self.options, tuning_of(chain)
        tuning.found, tuning.window = found, []
        tuning.moments = None
        if options.reduction is not None:
            tuning.center, tuning.controlled = found.center, found.controlled
            tuning.variance_ratio = found.variance_ratio
        if self.rule is None or not (options.tunes_itself and chain.tune):
            return
        is_free = options.mass is None and chain.mass_adaptation is None
        if can_damp(self.algorithm, self.manifold, can_halve=self.can_halve):
            found = with_damping(found, self.rule, accuracy=options.accuracy)
            tuning.found = found
        chain.settings = tuned_settings(
            chain.settings,
            found,
            self.rule,
            options=options,
            manifold=self.manifold,
            balances=self.balances,
            takes_mass=self.has_velocity and is_free,
            spaces=spaces,
        )
        if (grouping := self.algorithm.grouping) is not None:
            start_thermostats(chain, found, self.manifold, grouping=grouping)

    def cool(self, chains: Sequence[GradientChain], found: Findings) -> bool:
        """Correct the step size if velocities are too hot; return whether they were."""
        if not self.corrects_temperature or self.algorithm.heating_noise is None:
            return False
        corrected = heated(
            chains,
            self.manifold,
            found,
            heating_noise=self.algorithm.heating_noise,
            is_optional=self.options.reduction == "auto",
        )
        if corrected is found:
            return False
        for chain in chains:
            self.apply(chain, corrected, spaces=False)
        return True

    def space(
        self,
        chains: Sequence[GradientChain],
        found: Findings,
        windows: Sequence[Sequence[Sequence[np.ndarray]]],
        *,
        made_with: Settings,
    ) -> None:
        """Choose the transitions per draw by draws of the tuning phase, if they are not given."""
        if self.options.chooses_n_steps:
            space_draws(
                chains, windows, mass=found.mass, manifold=self.manifold, made_with=made_with
            )
