#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""The configurational temperature of a transition, from the gradient that it evaluates anyway.

For a vector field F that does not depend on the chain,
:math:`E[F \cdot \nabla U] = T E[\operatorname{div} F]` under the density :math:`\exp(-U / T)`. The
fields are those of :mod:`pymc_geodesic.diagnostics.fields`, chosen by a *reference*: means over
past draws.

The splittings evaluate the gradient half a step away from the positions that they return. F is
taken where the transition starts and not there: for a Gaussian target the average is then exactly
the temperature of the draws, while positions half a step away are too wide by
:math:`1 / (1 - \epsilon^2 \omega^2 / 4)`, which is what a thermostat makes of its velocities.

Only the first transition of each batch counts. Later ones start from where the batch's own noise
has moved the chain, and by the virial theorem a thermostat pins the average over *them* to one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import NamedTuple

import numpy as np
import pytensor.tensor as pt

from pytensor.tensor import TensorVariable

from pymc_geodesic.kernel.blocks import Scalars
from pymc_geodesic.manifolds import Euclidean, LogSimplex, Manifold, Point, Product, Simplex, Sphere

__all__ = [
    "Virial",
    "joined_moments",
    "log_ratio_work",
    "mean_where",
    "numbers_of_moments",
    "reference_shapes",
]

# Beyond, the second moments of a unit vector are left out of its field: they are n^2 numbers.
LARGEST_QUADRATIC = 50
# Least expected divergence of a unit vector's field, as a share of its dimension. The field of a
# nearly uniform one is noise, at any temperature; the statistic then stays near one.
LEAST_DIVERGENCE = 0.1


class Visit(NamedTuple):
    """Where a transition starts, and where it evaluates which gradient of the potential energy."""

    start: TensorVariable
    position: TensorVariable
    gradient: TensorVariable


Moments = Sequence[TensorVariable]


def log_ratio_work(p, eta, excess):
    r"""Work :math:`\sum_k (\eta_k - p \cdot \eta)\, e_k` of the field of log ratios.

    ``excess`` is :math:`p_k \partial U / \partial p_k - 1`. Arrays and tensors alike.
    """
    return ((eta - (p * eta).sum(axis=-1, keepdims=True)) * excess).sum()


@singledispatch
def _shapes(manifold: Manifold, shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Shapes of the means that choose the field; none where no field is known."""
    return []


@singledispatch
def _moments(manifold: Manifold, x: TensorVariable) -> Moments:
    """Write what the reference is the mean of."""
    return []


@singledispatch
def _temperature(
    manifold: Manifold, visit: Visit, reference: Moments, *, dim: float
) -> TensorVariable:
    """Temperature of a variable of dimension ``dim`` from one visit."""
    return pt.constant(np.nan, dtype=visit.position.dtype)


@_shapes.register(Euclidean)
@_shapes.register(Simplex)
@_shapes.register(LogSimplex)
def _(manifold, shape):
    return [shape]


@_shapes.register(Sphere)
def _(manifold, shape):
    n = shape[-1]
    return [shape, (*shape, n)] if n <= LARGEST_QUADRATIC else [shape]


@_moments.register(LogSimplex)
def _(manifold, x):
    return [x]


@_moments.register(Sphere)
def _(manifold, x):
    shapes = _shapes(manifold, x.type.shape)
    return [x, x[..., :, None] * x[..., None, :]][: len(shapes)]


@_moments.register(Simplex)
def _(manifold, x):
    return [_log_squares(x)]


@_temperature.register(Euclidean)
def _(manifold, visit, reference, *, dim):
    """``F = x - mean``."""
    [mean] = reference
    return ((visit.start - mean) * visit.gradient).sum() / dim


@_temperature.register(Scalars)
def _(manifold, visit, reference, *, dim):
    """``F = x - mean`` for each scalar by itself."""
    [mean] = reference
    return (visit.start - mean) * visit.gradient


@_temperature.register(Sphere)
def _(manifold, visit, reference, *, dim):
    """``F = -grad (a.x + x'Bx / 2)``, a the mean and B the second moment less I / n."""
    (mean, *second), n = reference, float(visit.start.type.shape[-1])
    slope = manifold.to_tangent(visit.position, visit.gradient)
    field, divergence = mean, (n - 1) * (mean * visit.start).sum()
    expected = (n - 1) * (mean**2).sum()
    if second:
        matrix = second[0] - pt.eye(int(n), dtype=mean.dtype) / n
        linear = (matrix * visit.start[..., None, :]).sum(axis=-1)
        field = mean + linear
        divergence = divergence + n * (linear * visit.start).sum()
        expected = expected + n * (matrix**2).sum()
    work = -(manifold.to_tangent(visit.start, field) * slope).sum()
    return 1 + (work - divergence) / pt.maximum(expected, LEAST_DIVERGENCE * dim)


@_temperature.register(Simplex)
def _(manifold, visit, reference, *, dim):
    """``F = y - mean`` in log ratios y."""
    x, [mean] = visit.position, reference
    excess = 0.5 * (x * visit.gradient - 1)
    return log_ratio_work(x * x, _log_squares(visit.start) - mean, excess) / dim


@_temperature.register(LogSimplex)
def _(manifold, visit, reference, *, dim):
    """``F = y - mean`` in log ratios, where the gradient is: the start is in other coordinates."""
    log_p, [mean] = visit.position, reference
    return log_ratio_work(pt.exp(log_p), log_p - mean, visit.gradient - 1) / dim


def _log_squares(x: TensorVariable) -> TensorVariable:
    # Squares underflow where the entries themselves do not yet.
    return 2 * pt.log(pt.maximum(pt.abs(x), np.asarray(np.finfo(x.dtype).tiny, dtype=x.dtype)))


def reference_shapes(manifold: Product) -> list[tuple[int, ...]]:
    """Shape of each array of the reference, all variables in a row."""
    pairs = zip(manifold.factors, manifold.shapes, strict=True)
    return [shape for factor, own in pairs for shape in _shapes(factor, own)]


def numbers_of_moments(manifold: Product) -> list[int]:
    """Count the arrays of the reference that belong to each variable."""
    pairs = zip(manifold.factors, manifold.shapes, strict=True)
    return [len(_shapes(factor, own)) for factor, own in pairs]


def joined_moments(
    manifold: Product, values: Sequence[np.ndarray], moments: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Join what the kernel has returned to the moments of all variables."""
    rest, triples = iter(moments), zip(manifold.factors, manifold.shapes, values, strict=True)
    return [
        value if _is_flat(factor) else next(rest)
        for factor, shape, value in triples
        for _ in _shapes(factor, shape)
    ]


def _is_flat(factor: Manifold) -> bool:
    return isinstance(factor, Euclidean)


class Virial:
    """Configurational temperatures of the variables of a kernel.

    Parameters
    ----------
    manifold : Product
        Where the variables are.
    reference : sequence of TensorVariable
        The means that choose the fields.
    """

    def __init__(self, manifold: Product, *, reference: Sequence[TensorVariable]) -> None:
        self.manifold, self.reference = manifold, reference

    def moments(self, position: Point) -> list[TensorVariable]:
        """Write what the reference averages, at the last position of a call.

        Flat variables are left out: :func:`joined_moments` takes their values.
        """
        pairs = zip(self.manifold.factors, position, strict=True)
        return [m for factor, x in pairs if not _is_flat(factor) for m in _moments(factor, x)]

    def temperatures(
        self, start: Point, evaluation: tuple[Point, Point] | None
    ) -> list[TensorVariable]:
        """Temperature of each variable from one transition; not a number if it told no gradient."""
        if evaluation is None:
            pairs = zip(self.manifold.factors, start, strict=True)
            nan = [pt.constant(np.nan, dtype=x.dtype) for x in start]
            return [
                pt.full_like(x, np.nan) if isinstance(factor, Scalars) else none
                for (factor, x), none in zip(pairs, nan, strict=True)
            ]
        found, references = [], iter(self.reference)
        dims = map(float, self.manifold.dims)
        for factor, shape, dim, *visit in zip(
            self.manifold.factors, self.manifold.shapes, dims, start, *evaluation, strict=True
        ):
            own = [next(references) for _ in _shapes(factor, shape)]
            found.append(_temperature(factor, Visit(*visit), own, dim=dim))
        return found


def mean_where(values: TensorVariable, used: TensorVariable) -> TensorVariable:
    """Mean of each column over the rows that are used; not a number if there are none."""
    n_used = used.sum(dtype="int64")
    total = pt.switch(used[:, None], values, 0).sum(axis=0)
    mean = total / pt.maximum(n_used, 1).astype(total.dtype)
    return pt.switch(n_used > 0, mean, np.nan).astype(mean.dtype)
