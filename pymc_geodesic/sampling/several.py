#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Several draws by one call of a kernel, where nothing on the host leads from one to the next.

What happens on the host between two calls takes as long as a call for a small model.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import batched

import numpy as np

from pymc_geodesic.kernel.interface import Outputs
from pymc_geodesic.kernel.transitions import TransitionKernel
from pymc_geodesic.sampling.calls import Calls
from pymc_geodesic.sampling.chain import GradientChain
from pymc_geodesic.sampling.moves import KernelCall, Moves
from pymc_geodesic.sampling.statistics import merged

__all__ = ["arrive", "draws_at_once", "make_several"]


def draws_at_once(calls: Calls, chain: GradientChain, stages: Sequence[int]) -> int:
    """Return how many draws of a chain one call may make now; 0 if a draw needs calls of its own.

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
        return 0
    parts = calls.parts(calls.length(chain))
    kernel = calls.kernel_of(chain)
    if not isinstance(kernel, TransitionKernel) or kernel.most_calls == 1:
        return 0
    until = [chain.monitors.reference.until_change]
    if chain.tune:
        until.append(chain.tuning_draws - chain.n_drawn)
        until += [stage - chain.n_drawn for stage in stages if stage > chain.n_drawn]
        if chain.settling is not None:
            until.append(chain.settling.until_change)
    return max(1, int(min(kernel.most_calls // len(parts), *until)))


def make_several(
    calls: Calls, chain: GradientChain, step_sizes: np.ndarray
) -> Moves[list[Outputs]]:
    """Make the transitions of several draws; return the outputs of each.

    The chain does not move: the outputs have the states to which :func:`arrive` brings it.

    Parameters
    ----------
    calls : Calls
        The kernels of the chain's step.
    chain : GradientChain
        The chain, whose generator and position in the data move.
    step_sizes : ndarray, shape (draws, transitions)
        Step sizes of every draw.
    """
    parts, inputs = calls.parts(step_sizes.shape[1]), []
    for steps in step_sizes:
        randomness = calls.randomness(chain, len(steps))
        inputs += [
            calls.inputs(chain, [], step_sizes=steps[part], randomness=randomness.part(part))
            for part in parts
        ]
    chain.n_transitions += step_sizes.size
    kernel = calls.kernel_of(chain)
    assert isinstance(kernel, TransitionKernel), "other kernels make each draw by calls of its own"
    made: list[Outputs] = []
    for some in batched(inputs, kernel.most_calls):
        first, *others = some
        if made:
            first = first._replace(state=made[-1].state, memory=tuple(made[-1].memory))
        made += yield KernelCall(kernel, [first, *others], chain.rng, in_chunks=True)
    lengths = [step_sizes.shape[1] // len(parts)] * len(parts)
    return [merged(some, lengths) for some in batched(made, len(parts))]


def arrive(calls: Calls, chain: GradientChain, made: Outputs) -> None:
    """Bring a chain to the state after one of several draws."""
    chain.state, chain.memory = made.state, tuple(made.memory)
    chain.values |= calls.problem.named(made.values)
