#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""How the gradient of some rows changes along many moves at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymc_geodesic.kernel.host_functions import added
from pymc_geodesic.kernel.host_gradient import HostGradient

__all__ = ["gradients_along"]

# Rows that are taken at once, which stay in a processor's cache with all moves.
FEW_ROWS = 2_500


def gradients_along(
    gradient: HostGradient,
    point: Sequence[np.ndarray],
    moves: Sequence[np.ndarray],
    rows: Sequence[np.ndarray],
) -> list[np.ndarray]:
    """Differentiate the gradient of the projected point along several moves.

    Parameters
    ----------
    gradient : HostGradient
        Gradients of the model.
    point : sequence of ndarray
        Where to differentiate.
    moves : sequence of ndarray
        For each variable its moves, stacked.
    rows : sequence of ndarray
        Rows of each source. Of some thousand at a time the mean is taken.

    Returns
    -------
    list of ndarray
        For each variable the changes of its gradient, stacked.
    """
    (fixed, evaluate), n = gradient.function(), len(point)
    # Parts of equal length, for which one function is compiled.
    n_parts = max(1, min(map(len, rows), default=0) // FEW_ROWS)
    parts = [x[: len(x) // n_parts * n_parts].reshape(n_parts, -1) for x in rows]
    total = added(
        evaluate.along([*fixed, *point, *(x[i] for x in parts)], moves, n_before=len(fixed))
        for i in range(n_parts)
    )[1 + n :]
    return [x / n_parts for x in total]
