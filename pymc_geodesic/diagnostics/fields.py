#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Configurational temperatures of draws, from the vector field of their manifold."""

from __future__ import annotations

import math

from collections.abc import Sequence

import numpy as np
import pytensor.tensor as pt

from pytensor.graph.replace import vectorize_graph
from pytensor.tensor import TensorVariable, tensor

from pymc_geodesic.kernel.graph import placeholders
from pymc_geodesic.kernel.interpreted import interpreted
from pymc_geodesic.manifolds import Manifold
from pymc_geodesic.manifolds.fields import Visit

__all__ = ["work_and_divergence"]

# Entries of all moments that are held at once.
CHUNK = 1_000_000


def work_and_divergence(
    manifold: Manifold, x: np.ndarray, gradient: np.ndarray, *, reference: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Evaluate ``F . dU`` and ``div F`` of the manifold's field at every draw.

    Both are not a number where the manifold knows no field.

    Parameters
    ----------
    manifold : Manifold
        Where the points are.
    x, gradient : ndarray
        Points and gradients of the potential energy in the embedding, ``(draw, *shape)``.
    reference : ndarray
        Other draws, of the same form, that the field is chosen by. With the same ones the averages
        would be biased.

    Returns
    -------
    work, divergence : ndarray
        Shape ``(draw,)``.
    """
    shape, dtype = x.shape[1:], x.dtype.name
    point, slope = (tensor(name, dtype=dtype, shape=shape) for name in ("point", "slope"))
    written = manifold.field_moments(point)
    shapes = manifold.field_shapes(shape)
    sums = [np.zeros(own) for own in shapes]
    largest = max(math.prod(own) for own in [shape, *shapes])
    for [part] in _chunks([reference], largest):
        found = _at_draws([point], written, [part])
        sums = [total + each.sum(axis=0) for total, each in zip(sums, found, strict=True)]
    means = [np.asarray(total / len(reference), dtype=dtype) for total in sums]
    moments = placeholders("moment", means)
    told = manifold.field_work(
        Visit(point, point, slope), moments, dim=float(manifold.dim_of(shape))
    )
    outputs = [pt.as_tensor(told.work), pt.as_tensor(told.divergence)]
    parts = [
        _at_draws([point, slope], outputs, part, constants=dict(zip(moments, means, strict=True)))
        for part in _chunks([x, gradient], largest)
    ]
    work, divergence = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return work, divergence


def _chunks(arrays: Sequence[np.ndarray], largest: int):
    size = max(1, CHUNK // max(1, largest))
    for start in range(0, len(arrays[0]), size):
        yield [array[start : start + size] for array in arrays]


def _at_draws(
    inputs: Sequence[TensorVariable],
    outputs: Sequence[TensorVariable],
    draws: Sequence[np.ndarray],
    *,
    constants: dict[TensorVariable, np.ndarray] | None = None,
) -> list[np.ndarray]:
    """Evaluate graphs of one draw at many, which are along the first axis of all arrays."""
    constants = constants or {}
    many = {x: tensor(x.name, dtype=x.dtype, shape=(None, *x.type.shape)) for x in inputs}
    function = interpreted(
        [*many.values(), *constants], vectorize_graph(list(outputs), many) if outputs else []
    )
    found = map(np.asarray, function(*draws, *constants.values()))
    pairs = zip(found, outputs, strict=True)
    # What is the same for all draws has kept its own shape.
    return [
        np.broadcast_to(array, (len(draws[0]), *array.shape)) if array.ndim == one.ndim else array
        for array, one in pairs
    ]
