#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The vector field of a manifold at draws, for configurational temperatures."""

from __future__ import annotations

import math

from collections.abc import Callable, Sequence

import numpy as np
import pytensor.tensor as pt

from pytensor.graph.replace import vectorize_graph
from pytensor.tensor import TensorVariable

from pymc_geodesic.graph_inputs import graph_input
from pymc_geodesic.kernel.interpreted import Interpreted
from pymc_geodesic.manifolds import Manifold
from pymc_geodesic.manifolds.fields import Visit

__all__ = ["Field"]

# Number of entries of all moments that are held in memory at once.
CHUNK = 5_000_000


class Field:
    """The vector field of a manifold, at draws of one variable.

    Parameters
    ----------
    manifold : Manifold
        The manifold of the points.
    shape : tuple of int
        Shape of the variable.
    dtype : str
        Its type.
    """

    def __init__(self, manifold: Manifold, shape: tuple[int, ...], *, dtype: str) -> None:
        point, slope = (graph_input(name, dtype=dtype, shape=shape) for name in ("point", "slope"))
        shapes = manifold.field_shapes(shape)
        means = [graph_input("mean", dtype=dtype, shape=own) for own in shapes]
        dim = float(manifold.dim_of(shape))
        terms = manifold.field_work(Visit(point, point, slope), means, dim=dim)
        outputs = [pt.as_tensor(terms.work), pt.as_tensor(terms.divergence)]
        self._dtype = dtype
        self._moments_at = _at_draws([point], manifold.field_moments(point), shapes=shapes)
        self._work_at = _at_draws([point, slope], outputs, shapes=shapes, given=means)

    def work_and_divergence(
        self, x: np.ndarray, gradient: np.ndarray, *, reference: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate ``F . dU`` and ``div F`` at every draw; NaN if the manifold has no field.

        Parameters
        ----------
        x, gradient : ndarray
            Points and gradients of the potential energy in the embedding, ``(draw, *shape)``.
        reference : ndarray
            Other draws, in the same form, that choose the field. With the same draws the
            averages would be biased.

        Returns
        -------
        work, divergence : ndarray
            Shape ``(draw,)``.
        """
        found = self._moments_at(reference, reduce=lambda array: array.sum(axis=0))
        means = [np.asarray(sum(sums) / len(reference), dtype=self._dtype) for sums in found]
        work, divergence = map(np.concatenate, self._work_at(x, gradient, *means))
        return work, divergence


def _at_draws(
    inputs: Sequence[TensorVariable],
    outputs: Sequence[TensorVariable],
    *,
    shapes: Sequence[tuple[int, ...]],
    given: Sequence[TensorVariable] = (),
) -> Callable:
    """Turn graphs of one draw into a function of many draws, along the first axis of its arrays.

    For each graph it returns ``reduce`` of the values. The draws are processed in parts, so that
    arrays of these ``shapes`` are held only for one part.
    """
    many = [graph_input(x.name, dtype=x.dtype, shape=(None, *x.type.shape)) for x in inputs]
    graphs = vectorize_graph(list(outputs), dict(zip(inputs, many, strict=True))) if outputs else []
    function = Interpreted([*many, *given], graphs)
    largest = max(math.prod(shape) for shape in [inputs[0].type.shape, *shapes])
    size = max(1, CHUNK // max(1, largest))

    def evaluate(*arrays: np.ndarray, reduce: Callable = np.asarray) -> list[list]:
        draws, rest = arrays[: len(inputs)], arrays[len(inputs) :]
        parts: list[list] = [[] for _ in outputs]
        for start in range(0, len(draws[0]), size):
            chunk = [array[start : start + size] for array in draws]
            for part, graph, one in zip(parts, function(*chunk, *rest), outputs, strict=True):
                # Values that are the same at all draws have kept their shape.
                value = np.asarray(graph)
                full = np.broadcast_to(value, (len(chunk[0]), *value.shape))
                part.append(reduce(value if value.ndim > one.ndim else full))
        return parts

    return evaluate
