#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""A warning about densities with poles, on which geodesic samplers fail."""

from __future__ import annotations

import warnings

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.distributions.concentration import known_concentration
from pymc_geodesic.potential.variables import SampledVariable

__all__ = ["warn_of_poles"]


def warn_of_poles(variables: Sequence[SampledVariable]) -> None:
    """Warn of Dirichlet variables whose density is infinite at the facets of the simplex."""
    for variable in variables:
        least = variable.manifold.poles_below
        if not least:
            continue
        alpha = known_concentration(variable.rv)
        if alpha is not None and np.min(alpha) < least:
            warnings.warn(
                f"The Dirichlet variable `{variable.name}` has concentrations down to "
                f"{np.min(alpha):g}. Below {least:g} its density in the square-root coordinates is "
                "infinite at entries of zero, where geodesic samplers fail unless the data fills "
                "every entry. Sample it with `pmg.SGRLD`.",
                UserWarning,
                stacklevel=2,
            )
