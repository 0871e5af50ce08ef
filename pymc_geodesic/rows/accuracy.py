#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What quadrature over local variables does to a posterior, measured with more nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pymc_geodesic.groups.quadrature import log_integral
from pymc_geodesic.rows.conversion import Conversion
from pymc_geodesic.rows.integration import rows_of_entries
from pymc_geodesic.rows.row_functions import RowFunction

__all__ = ["error_of_quadrature"]

# Rows that are looked at, and how many times as many nodes in each dimension.
N_ROWS, MORE = 300, 3


def error_of_quadrature(
    conversion: Conversion, draws: Sequence[Mapping[str, np.ndarray]], rng: np.random.Generator
) -> dict[str, float]:
    """Measure by how much the error of the log density varies over the posterior.

    A constant error does nothing. One that varies by one moves means by about a standard deviation.

    Parameters
    ----------
    conversion : Conversion
        A model with variables that are integrated out.
    draws : sequence of mapping
        Values of the other free variables, by name.
    rng : Generator
        Chooses the rows.

    Returns
    -------
    dict of str to float
        Standard deviations, by the names of variables.
    """
    found = {}
    for part in conversion.integrated:
        entries = np.unique(part.local.positions[part.local.positions >= 0])
        chosen = rng.choice(entries, min(N_ROWS, len(entries)), replace=False)
        rows = rows_of_entries(
            part.local, part.terms, conversion.facts, batch_size=len(chosen), entries=chosen
        )
        given = rows.joint, rows.prior, rows.effect
        nodes = rows.n_nodes, MORE * rows.n_nodes
        both = [log_integral(*given, start=rows.start, n_nodes=n) for n in nodes]
        function = RowFunction(rows, both, conversion.values, inputs=[])
        errors = np.array([np.subtract(*function(draw)).sum() for draw in draws])
        found[", ".join(f"`{name}`" for name in part.local.names)] = float(
            errors.std() * len(entries) / len(chosen)
        )
    return found
