#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Seeds and starts of the chains of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from pymc.initial_point import make_initial_point_fns_per_chain
from pymc.model import Model

from pymc_geodesic.sampling import Chain, begin
from pymc_geodesic.sampling.advance import Sampler

__all__ = ["InitialValues", "RandomSeed", "begin_chains", "seeds"]

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


def begin_chains(
    sampler: Sampler,
    model: Model,
    *,
    chain_seeds: Sequence[np.random.SeedSequence],
    initvals: InitialValues,
    tune: int,
    draws: int,
) -> list[Chain]:
    """Begin chains at the starts of ``pm.sample``."""
    functions = make_initial_point_fns_per_chain(
        model=model, overrides=initvals, jitter_rvs=set(), chains=len(chain_seeds)
    )
    # A separate seed, for a start that is drawn from the prior.
    points = [
        make_point(int(seed.generate_state(1)[0]))
        for make_point, seed in zip(functions, chain_seeds, strict=True)
    ]
    return [
        begin(sampler, random_seed=seed, point=point, tune=tune, draws=draws)
        for seed, point in zip(chain_seeds, points, strict=True)
    ]
