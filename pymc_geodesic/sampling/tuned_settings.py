#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The settings of a chain that follow from what was measured."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pymc_geodesic.algorithms.halved_rule import halved_rule
from pymc_geodesic.algorithms.row_noise import no_covariances
from pymc_geodesic.algorithms.tuning_rules import Rule, require_finite
from pymc_geodesic.manifolds import Product
from pymc_geodesic.sampling.chain import Settings
from pymc_geodesic.sampling.tuning_options import TuningOptions
from pymc_geodesic.schedules import ConstantSchedule
from pymc_geodesic.tuning.findings import Findings
from pymc_geodesic.tuning.spacing import steps_while_tuning

__all__ = ["FRICTIONS", "pace", "tuned_settings"]

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
    by_halves = [found.halved or (found.calms and not m.is_flat) for m in manifold.factors]
    entries = [v * (not halved) for v, halved in zip(entries, by_halves, strict=True)]
    excess = excess * (not found.halved)
    noise = [*entries, *no_covariances(manifold, dtype), excess]
    return tuple(np.asarray(v, dtype, order="C") for v in noise)
