#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""How rows are drawn, and whether their batches may be divided."""

from __future__ import annotations

from typing import Any, NamedTuple

from pymc_geodesic.algorithms.algorithm import Algorithm
from pymc_geodesic.manifolds import Product
from pymc_geodesic.potential import Potential
from pymc_geodesic.potential.estimator import has_halves

__all__ = ["BatchOptions", "can_damp", "can_halve"]


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
