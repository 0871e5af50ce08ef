#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Step sizes and starts that follow from the observed data, for distributions with a rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pymc.model import Model
from pytensor.tensor import TensorVariable

from pymc_geodesic.potential.batch_structure import observed_rv
from pymc_geodesic.potential.variables import SampledVariable
from pymc_geodesic.schedules import Schedule

__all__ = [
    "Point",
    "default_schedule",
    "default_starts",
    "has_default_schedule",
    "register_default_schedule",
    "register_default_starts",
]

Rule = Callable[[Model, Sequence[SampledVariable]], Schedule | None]
"""Maps a model and the variables of a step to step sizes; None if it does not apply."""

Point = dict[str, np.ndarray]
"""PyMC's values by name."""

Starts = Callable[[Model, TensorVariable, Sequence[Point], np.random.Generator], Sequence[Point]]
"""Maps a model, an observed variable and the starts of chains to better ones."""

_RULES: dict[type, Rule] = {}
_STARTS: dict[type, Starts] = {}


def register_default_schedule(distribution: type, rule: Rule) -> None:
    """Register the step sizes of `pmg.SGRLD` for the parameters of an observed distribution.

    Parameters
    ----------
    distribution : type
        Class of the random variable operation.
    rule : callable
        Returns the step sizes, or None.
    """
    _RULES[distribution] = rule


def default_schedule(model: Model, variables: Sequence[SampledVariable]) -> Schedule | None:
    """Return the step sizes from the rule of an observed distribution of the model, or None."""
    for rv in model.observed_RVs:
        rule = _RULES.get(type(observed_rv(rv).owner.op))
        if rule is not None:
            return rule(model, variables)
    return None


def register_default_starts(distribution: type, rule: Starts) -> None:
    """Register how chains start for the parameters of an observed distribution.

    Parameters
    ----------
    distribution : type
        Class of the random variable operation.
    rule : callable
        Returns starts; those that need no better one as they are.
    """
    _STARTS[distribution] = rule


def default_starts(
    model: Model, points: Sequence[Point], rng: np.random.Generator
) -> Sequence[Point]:
    """Return the starts of chains, improved by the rules of all observed distributions."""
    for rv in model.observed_RVs:
        rule = _STARTS.get(type(observed_rv(rv).owner.op))
        points = points if rule is None else rule(model, rv, points, rng)
    return points


def has_default_schedule(model: Model) -> bool:
    """Return whether an observed distribution of the model has a rule for step sizes.

    Its likelihood has latent variables, so no tuning phase finds a step size.
    """
    return any(type(observed_rv(rv).owner.op) in _RULES for rv in model.observed_RVs)
