#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Products of a variable and its scale in partially centred coordinates, where a step tunes itself.

The exponents are measured when the step is created and are part of its potential, like tangent
masses: all its chains, in any process, and those that are resumed move in the same coordinates.
"""

from __future__ import annotations

import numpy as np

from pymc.model import Model

from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.kernel.interpreted_once import interpreted_once
from pymc_geodesic.potential.scaled_products import scaled_products
from pymc_geodesic.potential.stream import StreamSource
from pymc_geodesic.sampling.log import log
from pymc_geodesic.sampling.problem import Problem
from pymc_geodesic.tuning.centering import centering_exponents

__all__ = ["in_centered_coordinates"]

SEED = 0


def in_centered_coordinates(
    problem: Problem, model: Model, gradient: HostGradient
) -> tuple[Problem, HostGradient]:
    """Return the problem with partially centred coordinates for the products that need them.

    It is returned as it is if it has no such products, and where they cannot be measured before
    chains begin: there are variables of other steps or of the rows of a batch, or the data come
    from a loader.
    """
    potential = problem.potential
    streams = any(isinstance(source, StreamSource) for source in potential.sources)
    if streams or potential.conditioned or not potential.sources:
        return problem, gradient
    values = [variable.value for variable in potential.variables]
    products = scaled_products(model, values)
    if not products:
        return problem, gradient
    names = [variable.name for variable in potential.variables]
    found = centering_exponents(
        gradient,
        problem.position_of(problem.start),
        {names.index(name): product.deviation for name, product in products.items()},
        log_scales=interpreted_once(values, [x.log_scale for x in products.values()]),
        rng=np.random.default_rng(SEED),
    )
    if not found:
        return problem, gradient
    for i in found:
        log.info(
            f"{problem.name} found that the data determine `{names[i]}` times its scale better "
            f"than `{names[i]}`. It moves the products and returns `{names[i]}`."
        )
    problem = problem.with_centering({names[i]: exponents for i, exponents in found.items()})
    return problem, HostGradient(problem.potential)
