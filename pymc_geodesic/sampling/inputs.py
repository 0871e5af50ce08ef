#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""What goes into transitions: random inputs, how rows are drawn, where control variates are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pymc_geodesic.algorithms.algorithm import Algorithm
from pymc_geodesic.kernel.interface import CenterArrays
from pymc_geodesic.kernel.row_weights import RowWeights, factors_by
from pymc_geodesic.manifolds import Product
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential.estimator import has_halves
from pymc_geodesic.sampling.chain import GradientChain

__all__ = [
    "BatchOptions",
    "Randomness",
    "can_damp",
    "can_halve",
    "center_of",
    "factors_of",
    "is_controlled",
    "weights_of",
]


class Randomness(NamedTuple):
    """What transitions take from a chain's generator and its data.

    Attributes
    ----------
    noise : sequence of ndarray
        Standard normals for each transition.
    rows : sequence of ndarray
        Rows of each source of batches, for each transition.
    fresh : ndarray of bool
        Whether each transition is the first to see its batch.
    """

    noise: Sequence[np.ndarray]
    rows: Sequence[np.ndarray]
    fresh: np.ndarray

    def part(self, part: slice) -> Randomness:
        """Return those of some transitions."""
        if part == slice(None):
            # The same array objects for the whole draw, so that they are copied to a device once.
            return self
        return Randomness(
            [x[part] for x in self.noise], [x[part] for x in self.rows], self.fresh[part]
        )


def is_controlled(chain: GradientChain) -> bool:
    """Return whether control variates are used."""
    return chain.tuning is not None and chain.tuning.controlled


def weights_of(chain: GradientChain) -> RowWeights | None:
    """Return the weights by which a chain draws rows; None if each is drawn independently.

    Noise was measured with them, also that of gradients without control variates.
    """
    center = None if chain.tuning is None else chain.tuning.center
    return None if center is None else center.weights


def factors_of(chain: GradientChain) -> list[np.ndarray]:
    """Return by what the terms of rows are multiplied: nothing where all rows are alike."""
    return factors_by(weights_of(chain))


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


class BatchOptions(NamedTuple):
    """How to draw rows, and the model of the noise of their gradients."""

    steps_per_batch: int = 1
    replacement: bool = True
    gradient_noise: Any = None

    @property
    def are_free(self) -> bool:
        """Whether tuning may divide or enlarge batches."""
        return self.gradient_noise is None and self.steps_per_batch == 1


def can_halve(potential: Potential, batches: BatchOptions) -> bool:
    """Return whether the halves of batches can balance the noise of gradients."""
    return batches.are_free and has_halves(potential, replacement=batches.replacement)


def can_damp(algorithm: Algorithm, manifold: Product, *, can_halve: bool) -> bool:
    """Return whether halves of batches can balance the noise of the points of curved manifolds.

    It can prefer directions, in which no single entry moves, where there is more than one.
    """
    is_flat = all(factor.is_flat for factor in manifold.factors)
    return can_halve and algorithm.damps and manifold.dim > 1 and not is_flat
