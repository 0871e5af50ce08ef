#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Runs of a model at a step size and at half of it."""

from __future__ import annotations

from typing import NamedTuple, cast

from pymc.model import Model

from pymc_geodesic.runs.choose_step import StepArgument, step_for
from pymc_geodesic.runs.deterministics import Traced
from pymc_geodesic.runs.starts import InitialValues, RandomSeed, begin_chains, seeds
from pymc_geodesic.sampling.advance import prepare
from pymc_geodesic.sampling.chain import GradientChain
from pymc_geodesic.sampling.coupled import paired, require_halvable, run_pairs
from pymc_geodesic.sampling.run import Arrays, run
from pymc_geodesic.step_methods.stochastic import StochasticStep

__all__ = ["Halved", "halve"]

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
