#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Bring chains back that ran off while they were tuned, because steps were too long."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.algorithms.algorithm import Algorithm, Setup
from pymc_geodesic.manifolds import Product
from pymc_geodesic.sampling.chain import GradientChain
from pymc_geodesic.tuning.findings import Findings

__all__ = ["begin_again", "more_careful"]

# The stiffest direction is so many times stiffer than measured: steps a quarter as long.
STIFFER = 16.0


def more_careful(found: Findings) -> Findings:
    """Return findings from which shorter steps follow.

    The curvature was measured at draws of an approximation. Where a posterior ends abruptly, as
    behind the wall of a funnel, these do not meet the part that is too stiff for the steps.
    """
    return found._replace(curvature=STIFFER * found.curvature)


def begin_again(
    chain: GradientChain,
    position: Sequence[np.ndarray],
    *,
    algorithm: Algorithm,
    manifold: Product,
) -> None:
    """Give a chain a new state, with velocities and thermostats of a beginning.

    Parameters
    ----------
    chain : GradientChain
        The chain.
    position : sequence of ndarray
        Where it begins, in the embedding.
    algorithm : Algorithm
        Makes the state.
    manifold : Product
        Manifold of the variables.
    """
    setup = Setup(tuple(position), manifold, chain.settings.parameters)
    chain.state = algorithm.init(setup, chain.rng)
    if chain.settling is not None:
        chain.settling.restart(chain.state.thermostat)
