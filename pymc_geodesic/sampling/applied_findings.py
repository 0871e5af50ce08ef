#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""How chains use what was measured: their settings, thermostats and transitions per draw."""

from __future__ import annotations

import math

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain as joined
from typing import Any

import numpy as np

from pymc_geodesic.algorithms.algorithm import Algorithm
from pymc_geodesic.algorithms.row_noise import no_covariances
from pymc_geodesic.algorithms.tuning_rules import Rule, halved_rule, require_finite
from pymc_geodesic.manifolds import Product
from pymc_geodesic.mass import Mass
from pymc_geodesic.sampling.balance import heated, start_thermostats, with_damping
from pymc_geodesic.sampling.chain import GradientChain, Settings, tuning_of
from pymc_geodesic.sampling.inputs import can_damp
from pymc_geodesic.sampling.tuning_options import TuningOptions
from pymc_geodesic.schedules import ConstantSchedule
from pymc_geodesic.tuning.spacing import MOST_TUNING, steps_while_tuning, steps_worth_a_draw
from pymc_geodesic.tuning.surroundings import Findings
from pymc_geodesic.tuning.whitening import whitened

__all__ = ["FRICTIONS", "AppliedFindings", "pace", "space_draws", "tuned_settings"]


def space_draws(
    chains: Sequence[GradientChain],
    windows: Sequence[Sequence[Sequence[np.ndarray]]],
    *,
    mass: Mass,
    manifold: Product,
    made_with: Settings,
) -> None:
    """Choose how many transitions apart the draws of chains are from now on.

    Parameters
    ----------
    chains : sequence of GradientChain
        Chains, with settings that may have changed since.
    windows : sequence of sequence of draws
        Draws of each chain.
    mass : Mass
        Mass in whose frame the posterior has about unit variance.
    manifold : Product
        Manifold of the chains.
    made_with : Settings
        Settings with which the draws were made.
    """
    draws, ends = [*joined.from_iterable(windows)], np.cumsum([*map(len, windows)])[:-1]
    frames = np.split(whitened(mass, draws), ends)
    sizes = [*map(math.prod, manifold.shapes)]
    # Transitions that go farther than those between the draws may be fewer.
    apart = made_with.n_steps * pace(made_with) / pace(chains[0].settings)
    n_steps = steps_worth_a_draw(frames, apart, sizes=sizes)
    for chain in chains:
        chain.settings = replace(chain.settings, n_steps=n_steps)
        if n_steps > MOST_TUNING and chain.tuning is not None:
            chain.tuning.window = []


# Parameters that slow the way, as samplers name them.
FRICTIONS = "friction", "diffusion"


def tuned_settings(
    settings: Settings,
    found: Findings,
    rule: Rule,
    *,
    options: TuningOptions,
    manifold: Product,
    balances: bool,
    takes_mass: bool,
    spaces: bool,
) -> Settings:
    """Return the settings with what follows from the findings.

    Parameters
    ----------
    settings : Settings
        Present settings.
    found : Findings
        The last measurement.
    rule : callable
        Rule of the step size, unless halves of batches balance the noise.
    options : TuningOptions
        The accuracy, and what the user has given.
    manifold : Product
        Manifold of the variables.
    balances : bool
        Whether the noise of every entry is balanced.
    takes_mass : bool
        Whether the mass is the one that was found.
    spaces : bool
        Whether to choose the transitions per draw of the tuning phase.
    """
    demands = found.demands(options.accuracy)
    step_size, parameters = (options.with_step(halved_rule) if found.halved else rule)(demands)
    require_finite(step_size, parameters, demands)
    changes: dict[str, Any] = {
        "schedule": options.schedule or ConstantSchedule(step_size),
        "parameters": {**settings.parameters, **parameters, **options.given},
    }
    if balances:
        changes["measured_noise"] = _measured_noise(found, manifold, settings.dtype)
    if takes_mass:
        changes["mass"] = found.mass
    if options.chooses_n_steps and spaces:
        friction = max([1.0, *parameters.values()], default=1.0)
        friction = max(friction, 0.5 * step_size * found.noise.mean)
        changes["n_steps"] = steps_while_tuning(friction / step_size)
    return replace(settings, **changes)


def pace(settings: Settings) -> float:
    """Return how far a transition goes: friction beyond one slows the way by as much."""
    given = settings.parameters
    return settings.step_size / max([1.0, *(given[name] for name in FRICTIONS if name in given)])


def _measured_noise(found: Findings, manifold: Product, dtype: str) -> tuple[np.ndarray, ...]:
    """Return the noise that friction of entries balances: none where halves of batches do."""
    *entries, excess = found.noise.by_entry
    by_halves = [found.halved or (found.damps and not m.is_flat) for m in manifold.factors]
    entries = [v * (not halved) for v, halved in zip(entries, by_halves, strict=True)]
    excess = excess * (not found.halved)
    noise = [*entries, *no_covariances(manifold, dtype), excess]
    return tuple(np.asarray(v, dtype, order="C") for v in noise)


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
