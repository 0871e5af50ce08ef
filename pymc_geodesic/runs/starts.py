#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Seeds and starts of the chains of a run; those that read all rows begin around one mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from pymc.initial_point import make_initial_point_fns_per_chain
from pymc.model import Model

from pymc_geodesic.algorithms.default_schedules import default_starts, has_default_schedule
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.mass.arrays import Mass
from pymc_geodesic.potential import Potential
from pymc_geodesic.sampling import Chain, begin
from pymc_geodesic.sampling.advance import Sampler
from pymc_geodesic.sampling.exact import ExactSampler
from pymc_geodesic.tuning.anchor import around
from pymc_geodesic.tuning.frame import anchored_frame
from pymc_geodesic.tuning.starts import best_starts, default_start, is_default

__all__ = [
    "InitialValues",
    "RandomSeed",
    "around_one_mode",
    "begin_chains",
    "by_name",
    "exact_starts",
    "has_mixture",
    "require_starts",
    "seeds",
]

RandomSeed = int | Sequence[int] | np.random.SeedSequence | np.random.Generator | None
"""Source of the seeds of all chains."""

InitialValues = Mapping[str, Any] | Sequence[Mapping[str, Any] | None] | None
"""Values of variables by name, for all chains or for each."""


def seeds(random_seed: RandomSeed, n_chains: int) -> list[np.random.SeedSequence]:
    """Create a seed for each chain, which does not depend on the number of chains.

    Raises
    ------
    ValueError
        If `random_seed` is neither a source of seeds nor whole numbers of at least zero.
    """
    if isinstance(random_seed, np.random.Generator):
        spawned = [rng.bit_generator.seed_seq for rng in random_seed.spawn(n_chains)]
        return cast(list[np.random.SeedSequence], spawned)
    if not isinstance(random_seed, np.random.SeedSequence):
        try:
            random_seed = np.random.SeedSequence(random_seed)
        except (TypeError, ValueError):
            raise ValueError(
                "`random_seed` expected a whole number of at least 0, several of them, or a "
                f"generator of NumPy, got {random_seed!r}."
            ) from None
    return random_seed.spawn(n_chains)


def require_starts(initvals: InitialValues, model: Model, n_chains: int) -> None:
    """Raise an error for initial values that are none, or of variables that the model lacks.

    Raises
    ------
    TypeError, ValueError
        If they are not as in :func:`pymc_geodesic.runs.sample`.
    """
    if initvals is None:
        return
    each = [initvals] if isinstance(initvals, Mapping) else initvals
    is_list = isinstance(each, Sequence) and not isinstance(each, str)
    if not (is_list and all(x is None or isinstance(x, Mapping) for x in each)):
        raise TypeError(
            "`initvals` expected values of variables by name, for all chains or a list of them for "
            f"each, got {initvals!r}. Leave it out: steps that tune themselves find a start."
        )
    if not isinstance(initvals, Mapping) and len(each) != n_chains:
        raise ValueError(
            f"`initvals` expected one mapping for each of {n_chains} chains, got {len(each)}. Pass "
            "as many, or one mapping for all chains."
        )
    names = {rv.name for rv in model.free_RVs} | {value.name for value in model.value_vars}
    given = [getattr(key, "name", key) for x in each if x is not None for key in x]
    if unknown := [str(name) for name in given if name not in names]:
        known = ", ".join(f"`{rv.name}`" for rv in model.free_RVs)
        raise ValueError(
            f"`initvals` expected values of free variables, which are {known}; got `{unknown[0]}`. "
            "Check the name."
        )
    shapes = {rv.name: rv.type.shape for rv in model.free_RVs}
    for key, value in [item for x in each if x is not None for item in x.items()]:
        name = getattr(key, "name", key)
        # Names of PyMC's own strategies, and graphs, have no shape.
        if name in shapes and not isinstance(value, str) and not hasattr(value, "owner"):
            _require_shape(str(name), np.shape(value), shapes[name])


def _require_shape(name: str, shape: tuple[int, ...], expected: tuple[int | None, ...]) -> None:
    """Raise an error unless a value can be repeated to the shape of a variable."""
    pairs = zip(reversed(shape), reversed(expected), strict=False)
    if len(shape) > len(expected) or any(m is not None and n not in (1, m) for n, m in pairs):
        raise ValueError(
            f"`initvals` expected a value of shape {expected} for `{name}`, got shape {shape}. The "
            "model's own are `model.initial_point()`."
        )


def begin_chains(
    sampler: Sampler,
    model: Model,
    *,
    chain_seeds: Sequence[np.random.SeedSequence],
    initvals: InitialValues,
    tune: int,
    draws: int,
) -> list[Chain]:
    """Begin chains at the starts of ``pm.sample``, or at better ones that follow from the data.

    Those of exact samplers of mixtures are around one mode; see ``exact_starts``.
    """
    require_starts(initvals, model, len(chain_seeds))
    functions = make_initial_point_fns_per_chain(
        model=model, overrides=by_name(initvals), jitter_rvs=set(), chains=len(chain_seeds)
    )
    # A separate seed, for a start that is drawn from the prior.
    points: Sequence[Any] = [
        make_point(int(seed.generate_state(1)[0]))
        for make_point, seed in zip(functions, chain_seeds, strict=True)
    ]
    points = default_starts(model, points, np.random.default_rng(chain_seeds[0].generate_state(2)))
    points = around_one_mode(sampler, model, points, np.random.default_rng(chain_seeds[0]))
    return [
        begin(sampler, random_seed=seed, point=point, tune=tune, draws=draws)
        for seed, point in zip(chain_seeds, points, strict=True)
    ]


def by_name(initvals: InitialValues) -> Any:
    """Return values by the names of variables, which may be those of the model that was given."""
    if initvals is None:
        return None
    if not isinstance(initvals, Mapping):
        return [by_name(x) for x in initvals]
    return {getattr(key, "name", key): value for key, value in initvals.items()}


Values = dict[str, np.ndarray]

# Largest width on a compact manifold, in radians: a step must not go around it.
WIDEST = 1.0


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
) -> tuple[list[Values], dict[str, np.ndarray]] | None:
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
    return found, _masses(mass, potential)


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
    return list(points) if found is None else found[0]


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
