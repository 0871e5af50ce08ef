#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The mode and curvature of the effect of each group, and integrals by quadrature around it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import pytensor
import pytensor.tensor as pt

from pytensor.gradient import disconnected_grad, grad
from pytensor.graph.replace import vectorize_graph
from pytensor.tensor import TensorVariable

from pymc_geodesic.groups.effect_density import frontier, substituted, with_length_of

__all__ = ["MOST_DIMENSIONS", "Normals", "log_integral", "normals_at_modes"]


# Limits of the Newton steps to the mode, in standard deviations of the prior. Exponential
# likelihoods overshoot without a limit. From the prior mean a logistic or Poisson likelihood takes
# five steps; the later ones reach groups that are many standard deviations away.
LIMITS = (1, 1, 1, 1, 2, 4, 8, 16, 32, 64)
# A pivot of the curvature below this share of the prior's is replaced by it: only where the log
# density is not concave.
LEAST_CURVATURE = 1e-3

Columns = list[TensorVariable]
"""One vector for each dimension of an effect, with an entry for every group."""
Triangle = list[Columns]
"""Lower triangle of a symmetric matrix for each group."""


class Normals(NamedTuple):
    r"""A normal approximation for each group, with covariance :math:`(L L^\top)^{-1}`.

    Attributes
    ----------
    mode : TensorVariable, shape (B, d)
        The modes.
    cholesky : list of list of TensorVariable, shape (B,)
        Entries of the lower triangle of L.
    """

    mode: TensorVariable
    cholesky: list[list[TensorVariable]]

    def at(self, deviation: Sequence[float] | Sequence[TensorVariable]) -> TensorVariable:
        r"""Return the point that is so many standard deviations off, :math:`u + L^{-\top} z`."""
        return self.mode + pt.stack(_solve_transposed(self.cholesky, deviation), axis=-1)

    def log_determinant(self) -> TensorVariable:
        """Return the logarithm of the determinant of L, of shape (B,)."""
        return sum(pt.log(row[-1]) for row in self.cholesky)


def normals_at_modes(
    log_density: TensorVariable,
    log_prior: TensorVariable,
    effect: TensorVariable,
    *,
    start: TensorVariable,
    differentiable: bool = False,
) -> Normals:
    """Find the mode of each group by Newton steps, and the curvature there.

    Parameters
    ----------
    log_density, log_prior, effect, start : TensorVariable
        As for :func:`log_integral`.
    differentiable : bool
        Whether the result shall have the derivatives of the mode and its curvature.
    """
    posterior = _derivatives(log_density, effect, start)
    columns = [start[:, i] for i in range(effect.type.shape[1])]
    _, prior = _derivatives(log_prior, effect, start).at(columns)
    least = [disconnected_grad(row[-1]) for row in prior]
    least = [pt.maximum(x, np.finfo(effect.dtype).tiny) for x in least]

    def newton(point: Columns, *, limit: TensorVariable | None = None) -> Columns:
        slope, curvature = posterior.at(point)
        lower = _cholesky(curvature, least)
        step = _solve_transposed(lower, _solve(lower, slope))
        if limit is not None:
            bounds = [limit / pt.sqrt(x) for x in least]
            step = [pt.clip(s, -b, b) for s, b in zip(step, bounds, strict=True)]
        return [x + s for x, s in zip(point, step, strict=True)]

    mode = [disconnected_grad(x) for x in _repeated(newton, columns)]
    if differentiable:
        mode = newton(mode)
    _, curvature = posterior.at(mode)
    return Normals(pt.stack(mode, axis=-1), _cholesky(curvature, least))


def _repeated(newton: Callable[..., Columns], columns: Columns) -> Columns:
    """Make the limited steps in a loop: ten copies of a step took minutes to compile."""
    limits = pt.constant(np.array(LIMITS, dtype=columns[0].dtype))
    limit, point = limits.type.clone(shape=())(), [x.type() for x in columns]
    step = newton(point, limit=limit)
    outer = frontier(step, [limit, *point])

    def once(limit_: TensorVariable, *others: TensorVariable) -> list[TensorVariable]:
        return substituted(step, dict(zip([limit, *point, *outer], [limit_, *others], strict=True)))

    found = pytensor.scan(
        once,
        sequences=[limits],
        outputs_info=columns,
        non_sequences=outer,
        strict=True,
        return_updates=False,
        return_list=True,
    )
    return [x[-1] for x in found]


class _Derivatives(NamedTuple):
    """Slope and curvature of a density of d effects, as graphs of one input for each."""

    columns: Columns
    slope: Columns
    curvature: Columns

    def at(self, point: Columns) -> tuple[Columns, Triangle]:
        """Write the slopes and the lower triangle of minus the second derivatives at a point."""
        here = dict(zip(self.columns, point, strict=True))
        found = substituted([*self.slope, *self.curvature], here)
        d = len(point)
        entries = iter(found[d:])
        return found[:d], [[next(entries) for _ in range(i + 1)] for i in range(d)]


def _derivatives(
    log_density: TensorVariable, effect: TensorVariable, start: TensorVariable
) -> _Derivatives:
    """Differentiate by each column alone, so that no array of zeros has to be filled."""
    columns = [pt.vector(dtype=effect.dtype) for _ in range(effect.type.shape[1])]
    [density] = substituted([log_density], {effect: pt.stack(columns, axis=-1)})
    [density] = with_length_of(start, [density], columns)
    slope = grad(density.sum(), columns)
    curvature = [
        -second
        for i, first in enumerate(slope)
        for second in grad(first.sum(), columns[: i + 1], disconnected_inputs="ignore")
    ]
    found = with_length_of(start, [*slope, *curvature], columns)
    return _Derivatives(columns, found[: len(columns)], found[len(columns) :])


def _cholesky(
    matrix: list[list[TensorVariable]], least: Sequence[TensorVariable]
) -> list[list[TensorVariable]]:
    """Factor the matrix of each group, whose pivots are made positive."""
    lower: list[list[TensorVariable]] = []
    for i, row in enumerate(matrix):
        new: list[TensorVariable] = []
        for j in range(i):
            new.append(_minus(row[j], (new[k] * lower[j][k] for k in range(j))) / lower[j][j])
        pivot = _minus(row[i], (x**2 for x in new))
        new.append(pt.sqrt(pt.maximum(pivot, LEAST_CURVATURE * least[i])))
        lower.append(new)
    return lower


def _solve(lower: list[list[TensorVariable]], vector: Sequence) -> list[TensorVariable]:
    """Solve L x = b for each group."""
    found: list[TensorVariable] = []
    for row, b in zip(lower, vector, strict=True):
        products = (x * y for x, y in zip(row[:-1], found, strict=True))
        found.append(_minus(b, products) / row[-1])
    return found


def _solve_transposed(lower: list[list[TensorVariable]], vector: Sequence) -> list[TensorVariable]:
    """Solve L' x = b for each group."""
    d = len(lower)
    found: dict[int, TensorVariable] = {}
    for i in reversed(range(d)):
        products = (lower[k][i] * found[k] for k in range(i + 1, d))
        found[i] = _minus(vector[i], products) / lower[i][i]
    return [found[i] for i in range(d)]


def _minus(x: TensorVariable, products: Iterable[TensorVariable]) -> TensorVariable:
    """Subtract all products; arrays of zeros would make PyTensor look for their shapes."""
    for one in products:
        x = x - one
    return x


# With seven nodes in each dimension three would need 343 evaluations of every row.
MOST_DIMENSIONS = 2


def _gauss_hermite_nodes(n_nodes: int, n_dimensions: int) -> tuple[np.ndarray, np.ndarray]:
    r"""Return the nodes z and the weights of :math:`\int f(z) \, dz`.

    Returns
    -------
    nodes : ndarray, shape (Q, d)
        Zeros of the Hermite polynomial of degree ``n_nodes``, in every combination.
    log_weights : ndarray, shape (Q,)
        Logarithms of :math:`w_q e^{|z_q|^2 / 2}`. A normal density times a polynomial of degree
        ``2 n_nodes - 1`` is integrated exactly.
    """
    zeros, weights = np.polynomial.hermite_e.hermegauss(n_nodes)
    nodes = np.array(list(product(zeros, repeat=n_dimensions)))
    log_weights = np.array(list(product(np.log(weights), repeat=n_dimensions))).sum(axis=1)
    return nodes, log_weights + 0.5 * (nodes**2).sum(axis=1)


def log_integral(
    log_density: TensorVariable,
    log_prior: TensorVariable,
    effect: TensorVariable,
    *,
    start: TensorVariable,
    n_nodes: int,
) -> TensorVariable:
    r"""Logarithm of the integral of a density over the effect of each group.

    .. math::

        \log \int e^{\ell(u)} du \approx \log \sum_q w_q e^{|z_q|^2 / 2}
        e^{\ell(\hat u + L^{-\top} z_q)} - \log |L|,
        \qquad L L^\top = -\nabla^2 \ell(\hat u)

    with the mode :math:`\hat u` and the nodes and weights of Gauss and Hermite. One node is
    Laplace's approximation.

    Parameters
    ----------
    log_density : TensorVariable, shape (B,)
        :math:`\ell`, likelihood and prior of the effect of each group together.
    log_prior : TensorVariable, shape (B,)
        The prior alone, whose curvature limits the Newton steps.
    effect : TensorVariable, shape (B, d)
        The input u of both. The entry of a group must not depend on the effects of others.
    start : TensorVariable, shape (B, d)
        Where the search for the modes begins; it reaches a hundred prior standard deviations.
    n_nodes : int
        Nodes in each dimension.

    Notes
    -----
    The nodes are held fixed when the gradient is taken: any nodes integrate, and the derivative of
    the sum is the quadrature of the derivative. Laplace's approximation is a function of the mode,
    and its gradient passes through the last Newton step, whose derivative is that of the mode.
    """
    nodes, log_weights = _gauss_hermite_nodes(n_nodes, effect.type.shape[1])
    normals = normals_at_modes(
        log_density, log_prior, effect, start=start, differentiable=n_nodes == 1
    )
    if n_nodes == 1:
        [found] = substituted([log_density], {effect: normals.mode})
        return found + log_weights[0] - normals.log_determinant()
    fixed = pt.stack([normals.at(list(z)) for z in nodes])
    weights = pt.constant(log_weights[:, None].astype(effect.dtype))
    [once] = with_length_of(start, [log_density], [effect])
    terms = vectorize_graph(once, {effect: disconnected_grad(fixed)}) + weights
    return pt.logsumexp(terms, axis=0) - disconnected_grad(normals.log_determinant())
