#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Runs of a model at a step size and at half of it, whose chains share their randomness.

One draw is a number of transitions of the coarse chain and twice as many of the fine one. The fine
chain draws its noise and rows as always. For each transition the coarse chain takes

.. math::

    z = (z_1 + z_2) / \sqrt 2

from the normals of the two fine transitions of the same time, and the rows of the first. So both
chains see the same Brownian motion, and the coarse chain sees half of the fine chain's rows. Given
the past, z is standard normal, and the rows are a batch drawn at random: each chain by itself
follows exactly the same distribution as without the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import NamedTuple, cast

import numpy as np

from pymc.model import Model

from pymc_geodesic.runs.choose_step import StepArgument, step_for
from pymc_geodesic.runs.deterministics import Traced
from pymc_geodesic.runs.starts import InitialValues, RandomSeed, begin_chains, seeds
from pymc_geodesic.sampling.advance import prepare
from pymc_geodesic.sampling.chain import GradientChain
from pymc_geodesic.sampling.inputs import Randomness
from pymc_geodesic.sampling.moves import make
from pymc_geodesic.sampling.run import Arrays, run
from pymc_geodesic.sampling.stochastic import StochasticSampler
from pymc_geodesic.schedules import ConstantSchedule
from pymc_geodesic.step_methods.stochastic import StochasticStep

__all__ = ["Halved", "Pair", "halve", "paired", "require_halvable", "run_pairs"]


class Pair(NamedTuple):
    """A chain, and one that makes twice as many transitions of half the step size."""

    coarse: GradientChain
    fine: GradientChain


def require_halvable(sampler: StochasticSampler, chain: GradientChain) -> None:
    """Raise an error if pairs of chains cannot have the distributions of single ones.

    Raises
    ------
    ValueError
        For variables local to the rows, data from a loader, batches without replacement, step
        sizes that change, and draws that end within a batch.
    """
    calls, settings = sampler.calls, chain.settings
    if calls.latents:
        raise ValueError(
            "`step` expected a model without variables local to the rows of a batch, got some. "
            "Compare two runs of `pmg.sample`, one at half the step size."
        )
    if calls.reader is not None:
        raise ValueError(
            "`step` expected rows in memory, got a loader. Pass some of the rows as arrays."
        )
    if not calls.batches.replacement:
        raise ValueError(
            "`step` expected batches with replacement, because half of the batches of a pass "
            "would not contain all rows; got `replacement=False`. Leave it out."
        )
    if not isinstance(settings.schedule, ConstantSchedule):
        raise ValueError(
            f"`step` expected a constant step size, got {settings.schedule!r}. Pass a number."
        )
    if settings.n_steps % calls.batches.steps_per_batch:
        raise ValueError(
            "`n_steps` expected a multiple of `steps_per_batch`, got "
            f"{settings.n_steps} and {calls.batches.steps_per_batch}."
        )


def paired(chains: Sequence[GradientChain]) -> list[Pair]:
    """Give every tuned chain a partner at half the step size, which begins at the same state.

    Half the step halves the friction that a thermostat needs for the noise of gradients. A
    thermostat is slow to find it, so the partners begin with this friction.
    """
    shift = _thermostat_shift(chains)
    return [Pair(chain, _halved(chain, shift)) for chain in chains]


def _halved(chain: GradientChain, shift: Sequence[np.ndarray]) -> GradientChain:
    fine = deepcopy(chain)
    schedule = ConstantSchedule(chain.settings.step_size / 2)
    fine.settings = replace(chain.settings, schedule=schedule)
    fine.rng = np.random.default_rng(chain.rng.integers(2**32, size=4).tolist())
    if shift:
        pairs = zip(fine.state.thermostat, shift, strict=True)
        thermostat = tuple((xi - excess).astype(xi.dtype) for xi, excess in pairs)
        fine.state = fine.state._replace(thermostat=thermostat)
    return fine


def _thermostat_shift(chains: Sequence[GradientChain]) -> list[np.ndarray]:
    """Half of the excess of thermostats over the injected noise, averaged over the chains."""
    diffusion = chains[0].settings.parameters.get("diffusion")
    if diffusion is None or "thermostat" not in chains[0].state._fields:
        return []
    thermostats = zip(*(chain.state.thermostat for chain in chains), strict=True)
    return [(np.mean(xi, axis=0) - diffusion) / 2 for xi in thermostats]


def run_pairs(
    sampler: StochasticSampler, pairs: Sequence[Pair], n_draws: int, *, coupled: bool = True
) -> tuple[Arrays, Arrays, int]:
    """Move pairs of chains, in place.

    Parameters
    ----------
    sampler : StochasticSampler
        Sampler of a step: ``step.sampler``.
    pairs : sequence of Pair
        From :func:`paired`.
    n_draws : int
        Draws of each chain.
    coupled : bool
        Whether the chains of a pair share noise and rows.

    Returns
    -------
    coarse, fine : dict of str to ndarray, shape (pairs, n_draws, ...)
        PyMC's values of the variables at the same times.
    n_diverging : int
        Draws with a transition that was undone, of both chains.
    """
    rows: tuple[list[list], list[list]] = ([], [])
    n_diverging = 0
    for _ in range(n_draws):
        n_diverging += _draw(sampler, pairs, coupled=coupled)
        for of_draw, chains in zip(rows, zip(*pairs, strict=True), strict=True):
            of_draw.append([dict(chain.values) for chain in chains])
    coarse, fine = (_arrays(of_draw) for of_draw in rows)
    return coarse, fine, n_diverging


def _arrays(rows: list[list]) -> Arrays:
    """Join values by draw and pair to arrays ``(pair, draw, ...)``."""
    names = rows[0][0]
    return {
        name: np.array([[values[name] for values in of_draw] for of_draw in rows]).swapaxes(0, 1)
        for name in names
    }


def _draw(sampler: StochasticSampler, pairs: Sequence[Pair], *, coupled: bool) -> int:
    """Make one draw of all chains; return how many of them had to undo a transition."""
    calls, n_steps = sampler.calls, pairs[0].coarse.settings.n_steps
    coarse, fine = map(list, zip(*pairs, strict=True))
    halves = [[calls.randomness(chain, n_steps) for _ in range(2)] for chain in fine]
    if coupled:
        steps_per_batch = calls.batches.steps_per_batch
        given = [_coarse(*both, steps_per_batch=steps_per_batch) for both in halves]
    else:
        given = [calls.randomness(chain, n_steps) for chain in coarse]
    first, second = zip(*halves, strict=True)
    diverging = []
    for chains, randomness in ((coarse, given), (fine, first), (fine, second)):
        made = [outputs for [(outputs, _)] in make(calls, chains, randomness=randomness)]
        diverging.append(np.array([bool(outputs.diverging) for outputs in made]))
        for chain, outputs in zip(chains, made, strict=True):
            chain.values |= sampler.problem.named(outputs.values)
    of_coarse, before, after = diverging
    return int(of_coarse.sum() + (before | after).sum())


def _coarse(first: Randomness, second: Randomness, *, steps_per_batch: int) -> Randomness:
    """Return noise and rows for the coarse chain from those of the fine one."""
    noise = []
    for pair in zip(first.noise, second.noise, strict=True):
        z = np.concatenate(pair)
        noise.append(((z[::2] + z[1::2]) * np.sqrt(0.5)).astype(z.dtype, copy=False))
    steps = np.arange(len(first.fresh))
    # The first of the two fine batches that lie in the time of a coarse one.
    places = 2 * steps_per_batch * (steps // steps_per_batch)
    rows = [np.concatenate(pair)[places] for pair in zip(first.rows, second.rows, strict=True)]
    return Randomness(noise, rows, first.fresh)


# The partners begin where the chains are, but not yet in their own distribution.
DISCARDED = 0.1


class Halved(NamedTuple):
    """Draws at a step size and at half of it, at the same times.

    Attributes
    ----------
    coarse, fine : dict of str to ndarray, shape (chains, draws, ...)
        Variables of the model.
    step_size : float
        The larger of the two.
    order : int
        Power of the step size to which the step's bias is proportional.
    n_transitions : int
        Transitions of all chains after the tuning phase.
    n_diverging : int
        Kept draws with a transition that was undone.
    record : str
        Record of the step.
    """

    coarse: Arrays
    fine: Arrays
    step_size: float
    order: int
    n_transitions: int
    n_diverging: int
    record: str


def halve(
    model: Model,
    step: StepArgument,
    *,
    traced: Traced,
    draws: int,
    tune: int,
    n_chains: int,
    coupled: bool,
    random_seed: RandomSeed,
    initvals: InitialValues,
) -> Halved:
    """Tune chains, give each a partner at half the step size, and move both.

    Raises
    ------
    ValueError
        If the step does not follow stochastic gradients, or cannot be halved.
    """
    made = step_for(step, model=model)
    if not isinstance(made, StochasticStep):
        raise ValueError(
            "`step` expected a stochastic-gradient step of this package, such as `pmg.SGHMC`, got "
            f"{type(made).__name__}."
        )
    sampler = made.sampler
    chains = begin_chains(
        sampler,
        model,
        chain_seeds=seeds(random_seed, n_chains),
        initvals=initvals,
        tune=tune,
        draws=draws,
    )
    if tune:
        chains, _, _ = run(sampler, chains, tune, chain_method="vectorized", thin=tune)
    prepare(sampler, chains)
    moved = cast(list[GradientChain], chains)
    require_halvable(sampler, moved[0])
    pairs = paired(moved)
    discarded = round(DISCARDED * draws)
    if discarded:
        run_pairs(sampler, pairs, discarded, coupled=coupled)
    coarse, fine, n_diverging = run_pairs(sampler, pairs, draws, coupled=coupled)
    settings = moved[0].settings
    return Halved(
        traced(coarse, (n_chains, draws)),
        traced(fine, (n_chains, draws)),
        step_size=settings.step_size,
        order=made.order,
        n_transitions=3 * settings.n_steps * n_chains * (draws + discarded),
        n_diverging=n_diverging,
        record=made.record,
    )
