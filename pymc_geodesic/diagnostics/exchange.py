#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Whether components may be exchanged: those of a mixture may be, nodes of a network may not."""

from __future__ import annotations

import numpy as np

from pymc.model import Model

from pymc_geodesic.diagnostics.gradients import ModelPoints
from pymc_geodesic.kernel.host_gradient import HostGradient
from pymc_geodesic.potential.missing_rows import missing_rows

__all__ = ["are_exchangeable", "are_rotated"]

# Change of the log density by a permutation that is put down to rounding.
ROUNDING = 1e-3
# Residual of a rotation, as a share of the distances between components, with which it explains
# as much as a permutation.
SMALL_RESIDUAL = 0.25


def are_exchangeable(
    known: ModelPoints | None, model: Model | None, name: str, order: np.ndarray
) -> bool:
    """Return whether the log density is the same for components in another order.

    Every variable with one axis of as many entries is permuted too, such as the weights of a
    mixture. Without a model, and without a log density in closed form, it is taken to be the same.

    Parameters
    ----------
    known : ModelPoints or None
        Draws as points of the model.
    model : Model or None
        The model.
    name : str
        The variable with the components along its first axis.
    order : ndarray of int
        The other order.
    """
    if known is None or model is None or known.latent or known.conditioned or missing_rows(model):
        return True
    if name not in [variable.name for variable in known.variables]:
        return True
    gradient, k = HostGradient(known.potential), len(order)
    point = [x[0, -1] for x in known.points]
    moved = [
        np.take(x, order, axis=x.shape.index(k)) if x.shape.count(k) == 1 or v.name == name else x
        for v, x in zip(known.variables, point, strict=True)
    ]
    before, after = (gradient.whole(x).energy for x in (point, moved))
    return bool(abs(after - before) <= ROUNDING * (1 + abs(before)))


def are_rotated(means: np.ndarray) -> bool:
    """Return whether chains with more components than coordinates differ by rotations alone.

    Points of a latent space, such as positions of nodes, are known up to a rotation. Many points of
    few coordinates are near others in any rotation, so that a permutation seems to fit as well.

    Parameters
    ----------
    means : ndarray, shape (C, K, V)
        Mean components of every chain.
    """
    if means.shape[1] <= means.shape[2]:
        return False
    centred = means - means.mean(axis=1, keepdims=True)
    spread = np.mean(np.sum(centred**2, axis=-1))
    residuals = []
    for other in means[1:]:
        left, _, right = np.linalg.svd(other.T @ means[0])
        residuals.append(np.mean(np.sum((other @ (left @ right) - means[0]) ** 2, axis=-1)))
    return bool(np.mean(residuals) < SMALL_RESIDUAL * spread)
