#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Some draws of some chains by one call of a kernel.

What happens on the host between two calls takes as long as a call for a small model. So one call
makes as many draws as it may, of all chains that it is made for: a single draw of a single chain,
which PyMC asks for, is the smallest number of both.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import batched, islice
from typing import Any

import numpy as np

from pymc_geodesic.kernel.interface import Inputs, Outputs
from pymc_geodesic.kernel.transitions import TransitionKernel
from pymc_geodesic.sampling.calls import Calls
from pymc_geodesic.sampling.chain import GradientChain, failing
from pymc_geodesic.sampling.inputs import Randomness
from pymc_geodesic.sampling.statistics import averaged, merged

__all__ = ["Made", "draws_at_once", "make", "trial"]

type Made = list[tuple[Outputs, dict[str, float]]]
"""For each draw of a chain what the kernel returns, and statistics of local variables."""


def draws_at_once(calls: Calls, chain: GradientChain, stages: Sequence[int]) -> int:
    """Return how many draws of a chain one call may make now.

    Parameters
    ----------
    calls : Calls
        The kernels of the chain's step.
    chain : GradientChain
        A chain that is ready for its next draw.
    stages : sequence of int
        Draws before which tuning changes something.
    """
    if not calls.makes_chunks(chain):
        return 1
    until = [chain.monitors.reference.until_change]
    if chain.tune:
        until.append(chain.tuning_draws - chain.n_drawn)
        until += [stage - chain.n_drawn for stage in stages if stage > chain.n_drawn]
        if chain.settling is not None:
            until.append(chain.settling.until_change)
    parts = calls.parts(calls.length(chain))
    return max(1, int(min(calls.kernel_of(chain).most_calls // len(parts), *until)))


def make(
    calls: Calls,
    chains: Sequence[GradientChain],
    n_draws: int = 1,
    *,
    randomness: Sequence[Randomness] | None = None,
) -> list[Made]:
    """Make the transitions of some draws of chains, which end at the last.

    Parameters
    ----------
    calls : Calls
        The kernels of the chains' step.
    chains : sequence of GradientChain
        The chains.
    n_draws : int
        Draws of each chain, as many as :func:`draws_at_once` allows.
    randomness : sequence of Randomness, optional
        Noise and rows of the one draw of each chain; by default its generator draws them.

    Returns
    -------
    list of Made
        Those of each chain.

    Raises
    ------
    ChainFailure
        If a chain fails. An error of a call for several chains is raised unchanged.
    """
    kernels = [calls.kernel_of(chain) for chain in chains]
    outputs: list[list[Outputs]] = [[] for _ in chains]
    local: list[list[dict[str, float]]] = [[] for _ in chains]
    step_sizes = [calls.step_sizes(chain, n_draws) for chain in chains]
    asked = [
        calls.asked(
            chain,
            step_sizes[i].reshape(-1, calls.length(chain)),
            randomness=None if randomness is None else randomness[i],
            statistics=local[i],
        )
        for i, chain in enumerate(chains)
    ]
    while True:
        inputs = []
        for number, (kernel, rest) in enumerate(zip(kernels, asked, strict=True)):
            with failing(number):
                inputs.append([*islice(rest, kernel.most_calls)])
        if not any(inputs):
            break
        found = _called(kernels, inputs)
        for chain, before, made in zip(chains, outputs, found, strict=True):
            before += made
            if made:
                chain.state, chain.memory = made[-1].state, tuple(made[-1].memory)
    for chain, sizes in zip(chains, step_sizes, strict=True):
        chain.n_transitions += sizes.size
    return [
        [*zip(_by_draw(made, n_draws, merged), _by_draw(known, n_draws, averaged), strict=True)]
        for made, known in zip(outputs, local, strict=True)
    ]


def _by_draw(items: Sequence[Any], n_draws: int, join: Any) -> list[Any]:
    return [join(some) for some in batched(items, len(items) // n_draws)]


def _called(
    kernels: Sequence[TransitionKernel], inputs: Sequence[Sequence[Inputs]]
) -> list[list[Outputs]]:
    """Call the kernels of chains, once for those that have the same and equally many calls."""
    alike: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, (kernel, calls) in enumerate(zip(kernels, inputs, strict=True)):
        if calls:
            alike[id(kernel), len(calls)].append(number)
    found: list[list[Outputs]] = [[] for _ in kernels]
    for numbers in alike.values():
        made = kernels[numbers[0]]([inputs[i] for i in numbers])
        for number, outputs in zip(numbers, made, strict=True):
            found[number] = outputs
    return found


def trial(calls: Calls, chains: Sequence[GradientChain]) -> list[float]:
    """Make transitions too short to move, on the first rows of the data; return the energies.

    They are NaN if the gradient is not finite. The chains do not change.

    Raises
    ------
    ChainFailure
        If a chain fails.
    """
    kernels, inputs, finite = [], [], []
    for number, chain in enumerate(chains):
        with failing(number):
            kernels.append(calls.kernel_of(chain))
            asked, is_finite = calls.of_trial(chain)
            inputs.append([asked])
            finite.append(is_finite)
    found = _called(kernels, inputs)
    return [
        float(outputs.energy) if known and not bool(outputs.diverging) else np.nan
        for [outputs], known in zip(found, finite, strict=True)
    ]
