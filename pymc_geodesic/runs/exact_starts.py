#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Starts and scales for chains that read all rows: around one mode, so that labels agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pymc.model import Model

from pymc_geodesic.algorithms.default_schedules import has_default_schedule
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.mass.arrays import Mass
from pymc_geodesic.potential import Potential
from pymc_geodesic.sampling.advance import Sampler
from pymc_geodesic.sampling.exact import ExactSampler
from pymc_geodesic.tuning.anchor import around
from pymc_geodesic.tuning.frame import anchored_frame
from pymc_geodesic.tuning.starts import best_starts, default_start, is_default

__all__ = ["ExactStarts", "around_one_mode", "exact_starts", "has_mixture"]

Values = dict[str, np.ndarray]

# Largest width on a compact manifold, in radians: a step must not go around it.
WIDEST = 1.0


class ExactStarts(NamedTuple):
    """Where chains start, and how wide the posterior is there.

    Attributes
    ----------
    points : list of dict of str to ndarray
        PyMC's values for each chain.
    masses : dict of str to ndarray
        The mass of each variable, for steps in posterior standard deviations.
    """

    points: list[Values]
    masses: dict[str, np.ndarray]


def has_mixture(model: Model) -> bool:
    """Return whether a model has mixtures, whose components a search by clusters tells apart."""
    if model.discrete_value_vars or has_default_schedule(model):
        return False
    return whole_potential(model).shared_out() is not None


def whole_potential(model: Model) -> Potential:
    """Return the potential of all variables and all rows."""
    values, point = model.continuous_value_vars, model.initial_point()
    return Potential(model, values, initial_point=point, full_data=True)


def exact_starts(
    potential: Potential, model: Model, points: Sequence[Values], rng: np.random.Generator
) -> ExactStarts | None:
    """Search the posterior, and draw a start for each chain from a normal distribution around it.

    Values that the user has given stay. None if the search has not come to a finite density, or all
    values are given.

    Parameters
    ----------
    potential : Potential
        Of all rows.
    model : Model
        The model.
    points : sequence of dict of str to ndarray
        PyMC's values at the start of each chain.
    rng : Generator
        Source of the starts.
    """
    variables = potential.variables
    names = [v.value.name for v in variables]
    movable = _movable(model, names, points)
    if not any(movable):
        return None
    gradient = HostGradient(potential)
    first = gradient.to_points(*(np.asarray(points[0][name]) for name in names))
    starts = best_starts(gradient, first, movable=movable, rng=rng)
    if not np.isfinite(gradient(starts[0], []).energy):
        return None
    point, mass, _ = anchored_frame(gradient, starts, rows=[], form="diagonal", fixed=None, rng=rng)
    found = []
    for given in points:
        noise = [rng.standard_normal(np.shape(x)).astype(x.dtype) for x in point]
        near = around(gradient, point, mass, noise)
        near = near if np.isfinite(gradient(near, []).energy) else point
        values = dict(zip(names, map(np.asarray, gradient.to_values(*near)), strict=True))
        free = {name for name, is_movable in zip(names, movable, strict=True) if is_movable}
        found.append({n: values[n] if n in free else np.asarray(x) for n, x in given.items()})
    return ExactStarts(found, _masses(mass, potential))


def around_one_mode(
    sampler: Sampler, model: Model, points: Sequence[Values], rng: np.random.Generator
) -> list[Values]:
    """Return starts near one mode for chains of a mixture that read all rows.

    The points of other models and other samplers, which tune in common, are returned as they are.

    Parameters
    ----------
    sampler : Sampler
        Moves the chains.
    model, points, rng
        As for :func:`exact_starts`.
    """
    problem = sampler.problem
    if not isinstance(sampler, ExactSampler) or problem.conditioned_names or sampler.latents:
        return list(points)
    if not any(_movable(model, problem.names, points)) or problem.potential.shared_out() is None:
        return list(points)
    found = exact_starts(problem.potential, model, points, rng)
    return list(points) if found is None else found.points


def _movable(model: Model, names: Sequence[str], points: Sequence[Values]) -> list[bool]:
    """Return for each variable whether its start is PyMC's default in all chains."""
    default = default_start(model, names, point=model.initial_point())
    are_default = [is_default(default, point, names) for point in points]
    return [all(each) for each in zip(*are_default, strict=True)]


def _masses(mass: Mass, potential: Potential) -> dict[str, np.ndarray]:
    """Return the mass of each variable by its name; none where steps have a longest length."""
    variables = potential.variables
    if all(v.manifold.is_compact for v in variables):
        return {}
    widths = mass.rate([np.ones(v.shape, v.position.dtype) for v in variables])
    found = {}
    for variable, width in zip(variables, widths, strict=True):
        manifold = variable.manifold
        if manifold.is_compact:
            width = np.minimum(width, WIDEST)
        shape = manifold.mass_shape(variable.shape)
        # A point of a curved manifold has one width.
        index = tuple(slice(0, 1) if n == 1 else slice(None) for n in shape)
        found[variable.name] = np.asarray(width[index], float) ** -2.0
    return found
