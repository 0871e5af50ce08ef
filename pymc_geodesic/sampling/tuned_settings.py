#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The settings of a chain that follow from what was measured."""

from __future__ import annotations

import math

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain as joined
from typing import Any

import numpy as np

from pymc_geodesic.algorithms.row_noise import no_covariances
from pymc_geodesic.algorithms.tuning_rules import Rule, halved_rule, require_finite
from pymc_geodesic.manifolds import Product
from pymc_geodesic.mass import Mass
from pymc_geodesic.sampling.chain import GradientChain, Settings
from pymc_geodesic.sampling.tuning_options import TuningOptions
from pymc_geodesic.schedules import ConstantSchedule
from pymc_geodesic.tuning.findings import Findings
from pymc_geodesic.tuning.spacing import MOST_TUNING, steps_while_tuning, steps_worth_a_draw
from pymc_geodesic.tuning.whitening import whitened

__all__ = ["FRICTIONS", "pace", "space_draws", "tuned_settings"]


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
