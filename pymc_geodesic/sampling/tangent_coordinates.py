#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Unit vectors with unequal widths in the coordinates of a tangent mass, where a step tunes itself.

The masses are measured when the step is created and are part of its potential. All its chains, in
any process, and those that are resumed then move in the same coordinates.
"""

from __future__ import annotations

import numpy as np

from pymc.model import Model

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.kernel.jax.after_fork import has_computed
from pymc_geodesic.potential.stream import StreamSource
from pymc_geodesic.sampling.log import log
from pymc_geodesic.sampling.problem import Problem
from pymc_geodesic.tuning.starts import default_start, is_default
from pymc_geodesic.tuning.tangent import takes_tangent_mass, tangent_masses

__all__ = ["in_tangent_coordinates"]

SEED = 0


def in_tangent_coordinates(problem: Problem, model: Model) -> tuple[Problem, HostGradient]:
    """Return the problem with tangent masses for the unit vectors that need them.

    It is returned as it is if no variable needs one, and where widths cannot be measured before
    chains begin: they depend on variables of other steps, or the data come from a loader, which a
    step does not read before. The second value evaluates the gradients of the problem on the host.
    """
    potential, manifold = problem.potential, problem.manifold
    pairs = zip(manifold.factors, manifold.shapes, strict=True)
    streams = any(isinstance(source, StreamSource) for source in potential.sources)
    gradient = HostGradient(potential, interprets=not has_computed())
    if streams or potential.conditioned or not any(takes_tangent_mass(*pair) for pair in pairs):
        return problem, gradient
    start = problem.start
    default = default_start(model, problem.names, point=start)
    loose = is_default(default, start, problem.names)
    found = tangent_masses(
        gradient,
        problem.position_of(start),
        loose=loose,
        rng=np.random.default_rng(SEED),
    )
    if not found:
        return problem, gradient
    names = [variable.name for variable in problem.variables]
    for i, one in found.items():
        log.info(
            f"{problem.name} found that the widths of the posterior of `{names[i]}` differ by a "
            f"factor of up to {one.ratio:.0f}. It moves `{names[i]}` in coordinates in which they "
            "are equal."
        )
    problem = problem.with_tangent_masses({names[i]: one.mass for i, one in found.items()})
    return problem, HostGradient(problem.potential, interprets=gradient.interprets)
