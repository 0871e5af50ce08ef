#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Coordinates in which a step tunes itself: partially centred scales, tangents of unit vectors.

Exponents and masses are measured when the step is created and are part of its potential. All its
chains, in any process, and those that are resumed then move in the same coordinates.
"""

from __future__ import annotations

import numpy as np

from pymc.model import Model
from pytensor.graph.traversal import ancestors

from pymc_geodesic.algorithms.algorithm import Algorithm
from pymc_geodesic.kernel.host_gradient import SUBSAMPLE, HostGradient
from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.kernel.jax.processes import has_computed
from pymc_geodesic.potential.centered_effects import centered_effects
from pymc_geodesic.potential.matrix_products import matrix_products
from pymc_geodesic.potential.scaled_products import ScaledProduct, scaled_products
from pymc_geodesic.potential.stream import StreamSource
from pymc_geodesic.sampling.inputs import BatchOptions, can_halve
from pymc_geodesic.sampling.problem import Problem
from pymc_geodesic.sampling.tuning_options import TuningOptions, tuned_form
from pymc_geodesic.stages import log
from pymc_geodesic.tuning.centering import centering_exponents
from pymc_geodesic.tuning.log_ratios import is_inside, takes_log_ratios
from pymc_geodesic.tuning.starts import default_start, is_default
from pymc_geodesic.tuning.tangent import mode_of, takes_tangent_mass, tangent_masses
from pymc_geodesic.tuning.weak_effects import WeakEffects, centered_shares

__all__ = ["in_suitable_coordinates", "in_tangent_coordinates"]

SEED = 0


def in_tangent_coordinates(problem: Problem, model: Model) -> tuple[Problem, HostGradient]:
    """Return the problem with its curved variables in coordinates in which they are round.

    Unit vectors get tangent masses. Probability vectors that the data keep away from zero move in
    log ratios if there are flat variables, with which a mass can mix them then. The problem is
    returned as it is if no variable needs either, and where widths cannot be measured before
    chains begin: they depend on variables of other steps, or the data come from a loader, which a
    step does not read before. The second value evaluates the gradients of the problem on the host.
    """
    potential, manifold = problem.potential, problem.manifold
    pairs = [*zip(manifold.factors, manifold.shapes, strict=True)]
    streams = any(isinstance(source, StreamSource) for source in potential.sources)
    gradient = HostGradient(potential, interprets=not has_computed())
    names = [variable.name for variable in problem.variables]
    has_flat = any(factor.is_flat for factor in manifold.factors)
    of_simplex = [
        i
        for i, pair in enumerate(pairs)
        if has_flat and takes_log_ratios(*pair) and names[i] not in problem.requested
    ]
    takes = any(takes_tangent_mass(*pair) for pair in pairs) or of_simplex
    if streams or potential.conditioned or not takes:
        return problem, gradient
    start = problem.start
    default = default_start(model, problem.names, point=start)
    movable = is_default(default, start, problem.names)
    rng = np.random.default_rng(SEED)
    rows = gradient.rows(rng, SUBSAMPLE)
    position = problem.position_of(start)
    mode = mode_of(gradient, position, rows=rows, movable=movable, rng=rng)
    found = tangent_masses(gradient, mode, rows=rows, rng=rng)
    inside = [names[i] for i in of_simplex if is_inside(gradient, mode, i, rows=rows)]
    if not (found or inside):
        return problem, gradient
    for i, (_, ratio) in found.items():
        log.info(
            f"{problem.name} found that the widths of the posterior of `{names[i]}` differ by a "
            f"factor of up to {ratio:.0f}. It moves `{names[i]}` in coordinates in which they "
            "are equal."
        )
    for name in inside:
        log.info(
            f"{problem.name} found that the data keep the entries of `{name}` away from zero. It "
            "moves their log ratios."
        )
    problem = problem.with_coordinates(
        {names[i]: mass for i, (mass, _) in found.items()}, log_ratios=inside
    )
    return problem, HostGradient(problem.potential, interprets=gradient.interprets)


def in_suitable_coordinates(
    problem: Problem,
    model: Model,
    algorithm: Algorithm,
    *,
    tuning: TuningOptions,
    batches: BatchOptions,
) -> tuple[Problem, HostGradient]:
    """Return the problem in coordinates in which one mass suits, with its gradients.

    Parameters
    ----------
    problem, model : Problem, pymc.Model
        The problem, and its model.
    algorithm : Algorithm
        The algorithm, which may balance noise that changes from place to place.
    tuning, batches : TuningOptions, BatchOptions
        What tuning finds, and how rows are drawn.
    """
    problem, gradient = in_tangent_coordinates(problem, model)
    can_balance = (
        algorithm.balances
        and not tuning.noise_is_known
        and tuned_form(problem, dense=True) == "dense"
        and can_halve(problem.potential, batches)
    )
    problem, gradient = _in_centered_coordinates(
        problem,
        model,
        gradient,
        can_balance=can_balance,
        # Control variates of energies take gradients at the center as they are.
        moves_effects="trajectory" not in algorithm.state._fields,
    )
    gradient.interprets = False
    return problem, gradient


def _in_centered_coordinates(
    problem: Problem,
    model: Model,
    gradient: HostGradient,
    *,
    can_balance: bool,
    moves_effects: bool,
) -> tuple[Problem, HostGradient]:
    """Return the problem with effects of groups in the coordinates that their data ask for.

    It is returned as it is if it has no such effects, and where they cannot be measured before
    chains begin: there are variables of other steps or of the rows of a batch, or the data come
    from a loader.

    Parameters
    ----------
    problem : Problem
        The problem.
    model : pymc.Model
        Its model.
    gradient : HostGradient
        Gradients of the problem on the host.
    can_balance : bool
        Whether halves of batches can balance noise that changes from place to place. In centred
        coordinates it does where scales differ from entry to entry, as those of features of a
        Gaussian process, and only products whose entries share a scale are moved without it: a
        friction for every entry made others too narrow by a third.
    moves_effects : bool
        Whether centred effects may be moved.

    Returns
    -------
    Problem, HostGradient
        The same, or the problem in other coordinates, with its gradients.
    """
    potential = problem.potential
    streams = any(isinstance(source, StreamSource) for source in potential.sources)
    if streams or potential.conditioned or not potential.sources:
        return problem, gradient
    weak, near = _weak_effects(problem, model, gradient) if moves_effects else ({}, None)
    products, is_nonsmooth = _products(problem, model, gradient, can_balance=can_balance)
    if not weak and not products:
        return problem, gradient
    for name in weak:
        log.info(
            f"{problem.name} found that the data say little of `{name}` and of its standard "
            f"deviation. It moves standardised entries and returns `{name}`."
        )
    problem = problem.with_centering(products | weak, is_nonsmooth=is_nonsmooth, near=near)
    return problem, HostGradient(problem.potential)


def _products(
    problem: Problem, model: Model, gradient: HostGradient, *, can_balance: bool
) -> tuple[dict[str, np.ndarray], bool]:
    """Return how far products with a scale are centred, and whether noise may then be uneven."""
    potential = problem.potential
    values = [variable.value for variable in potential.variables]
    found_products = scaled_products(model, values) | matrix_products(model, values)
    products = {name: x for name, x in found_products.items() if can_balance or x.shares_scales}
    if not products:
        return {}, False
    names = [variable.name for variable in potential.variables]
    # Thousands of gradients, for which an interpreter takes longer than workers of PyMC that begin
    # anew because JAX has computed before them.
    gradient.interprets = False
    axes = {
        names.index(name): product.axis
        for name, product in products.items()
        if isinstance(product, ScaledProduct) and product.axis is not None
    }
    found = centering_exponents(
        gradient,
        problem.position_of(problem.start),
        {names.index(name): product.deviation for name, product in products.items()},
        log_scales=Interpreted(values, [x.log_scale for x in products.values()]),
        axes=axes,
        rng=np.random.default_rng(SEED),
    )
    exponents = {names[i]: a for i, a in found.items()}
    for i in found:
        what, moved = ("sums of ", "sums") if i in axes else ("", "products")
        log.info(
            f"{problem.name} found that the data determine {what}`{names[i]}` times its scale "
            f"better than `{names[i]}`. It moves the {moved} and returns `{names[i]}`."
        )
    return exponents, not all(products[name].shares_scales for name in exponents)


def _weak_effects(
    problem: Problem, model: Model, gradient: HostGradient
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray] | None]:
    """Return how far effects of which data say little stay centred, and a start if there are."""
    variables = problem.potential.variables
    values = [variable.value for variable in variables]
    names = [variable.name for variable in variables]
    effects = []
    for name, effect in centered_effects(model, values).items():
        behind = set(ancestors([effect.log_scale]))
        parents = {i for i, value in enumerate(values) if value in behind}
        moments = Interpreted(values, [effect.mean, effect.log_scale])
        effects.append(WeakEffects(names.index(name), parents, moments))
    if not effects:
        return {}, None
    start = problem.position_of(problem.start)
    found, near = centered_shares(gradient, start, effects, rng=np.random.default_rng(SEED))
    weak = {names[i]: share for i, share in found.items()}
    return weak, problem.named(gradient.to_values(*near)) if weak else None
