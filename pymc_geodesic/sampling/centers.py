#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Where the control variates of a chain are centred, and by what it draws rows."""

from __future__ import annotations

import numpy as np

from pymc_geodesic.kernel.interface import CenterArrays
from pymc_geodesic.kernel.row_weights import RowWeights
from pymc_geodesic.sampling.chain import GradientChain

__all__ = ["center_of", "is_controlled", "weights_of"]


def is_controlled(chain: GradientChain) -> bool:
    """Return whether control variates are used."""
    return chain.tuning is not None and chain.tuning.controlled


def weights_of(chain: GradientChain) -> RowWeights | None:
    """Return the weights by which a chain draws rows; None if all are alike."""
    center = chain.tuning.center if chain.tuning is not None and chain.tuning.controlled else None
    return None if center is None else center.weights


def center_of(chain: GradientChain) -> CenterArrays:
    """Return the center of control variates, as a kernel takes it."""
    tuning = chain.tuning
    if tuning is None or not tuning.controlled:
        return CenterArrays()
    if tuning.center is not None:
        return CenterArrays(tuning.center.point, tuning.center.gradient)
    # A trial before the chain has a center uses its own point, where the gradients cancel.
    position = chain.state.position
    return CenterArrays(position, [np.zeros_like(x) for x in position])
