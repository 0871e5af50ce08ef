#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Several draws by one call of a kernel, where nothing on the host leads from one to the next.

What happens on the host between two calls takes as long as a call for a small model.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.kernel.interface import Outputs
from pymc_geodesic.kernel.transitions import TransitionKernel
from pymc_geodesic.sampling.calls import Calls
from pymc_geodesic.sampling.chain import GradientChain
from pymc_geodesic.sampling.moves import KernelCall, Moves

__all__ = ["arrive", "draws_at_once", "make_several"]


def draws_at_once(calls: Calls, chain: GradientChain, stages: Sequence[int]) -> int:
    """Return how many draws of a chain one call may make now; 1 if a draw needs calls of its own.

    Parameters
    ----------
    calls : Calls
        The kernels of the chain's step.
    chain : GradientChain
        A chain that is ready for its next draw.
    stages : sequence of int
        Draws before which tuning changes something.
    """
    if len(calls.parts(calls.length(chain))) > 1 or not calls.makes_several(chain):
        return 1
    kernel = calls.kernel_of(chain)
    until = [chain.monitors.reference.until_change]
    if chain.tune:
        until.append(chain.tuning_draws - chain.n_drawn)
        until += [stage - chain.n_drawn for stage in stages if stage > chain.n_drawn]
        if chain.settling is not None:
            until.append(chain.settling.until_change)
    return int(min(kernel.most_draws, *until)) if isinstance(kernel, TransitionKernel) else 1


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
    inputs = []
    for steps in step_sizes:
        noise, rows, fresh = calls.randomness(chain, len(steps))
        inputs.append(
            calls.inputs(chain, [], step_sizes=steps, noise=noise, rows=rows, fresh=fresh)
        )
    chain.n_transitions += step_sizes.size
    return (yield KernelCall(calls.kernel_of(chain), inputs, chain.rng, in_turn=True))


def arrive(calls: Calls, chain: GradientChain, made: Outputs) -> None:
    """Bring a chain to the state after one of several draws."""
    chain.state, chain.memory = made.state, tuple(made.memory)
    chain.values |= dict(zip(calls.problem.names, made.values, strict=True))
