#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Adaptive Gauss-Hermite quadrature over one or two dimensions, for many groups at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import pytensor.tensor as pt

from pytensor.gradient import disconnected_grad, grad
from pytensor.graph.replace import vectorize_graph
from pytensor.tensor import TensorVariable

from pymc_geodesic.groups.substitution import substituted

__all__ = ["MOST_DIMENSIONS", "Normals", "gauss_hermite_nodes", "log_integral", "normals_at_modes"]

# With seven nodes in each dimension three would need 343 evaluations of every row.
MOST_DIMENSIONS = 2

# Limits of the Newton steps to the mode, in standard deviations of the prior. Exponential
# likelihoods overshoot without a limit. From the prior mean a logistic or Poisson likelihood takes
# five steps; the later ones reach groups that are many standard deviations away.
LIMITS = (1, 1, 1, 1, 2, 4, 8, 16, 32, 64)
# A pivot of the curvature below this share of the prior's is replaced by it: only where the log
# density is not concave.
LEAST_CURVATURE = 1e-3


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


def gauss_hermite_nodes(n_nodes: int, n_dimensions: int) -> tuple[np.ndarray, np.ndarray]:
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
    nodes, log_weights = gauss_hermite_nodes(n_nodes, effect.type.shape[1])
    normals = normals_at_modes(
        log_density, log_prior, effect, start=start, differentiable=n_nodes == 1
    )
    if n_nodes == 1:
        [found] = substituted([log_density], {effect: normals.mode})
        return found + log_weights[0] - normals.log_determinant()
    fixed = pt.stack([normals.at(list(z)) for z in nodes])
    weights = pt.constant(log_weights[:, None].astype(effect.dtype))
    terms = vectorize_graph(log_density, {effect: disconnected_grad(fixed)}) + weights
    return pt.logsumexp(terms, axis=0) - disconnected_grad(normals.log_determinant())


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
    slope, curvature = _derivatives(log_density, effect)
    _, prior_curvature = _derivatives(log_prior, effect)
    least = substituted([row[-1] for row in prior_curvature], {effect: start})
    least = [disconnected_grad(x) for x in least]
    least = [pt.maximum(x, np.finfo(effect.dtype).tiny) for x in least]

    def newton(point: TensorVariable, *, limit: float | None = None) -> TensorVariable:
        here, matrix = _at_point(slope, curvature, effect, point)
        lower = _cholesky(matrix, least)
        step = _solve_transposed(lower, _solve(lower, [here[:, i] for i in range(len(lower))]))
        if limit is not None:
            bounds = [limit / pt.sqrt(x) for x in least]
            step = [pt.clip(s, -b, b) for s, b in zip(step, bounds, strict=True)]
        return point + pt.stack(step, axis=-1)

    mode = disconnected_grad(start)
    for limit in LIMITS:
        mode = disconnected_grad(newton(mode, limit=limit))
    if differentiable:
        mode = newton(mode)
    return Normals(mode, _cholesky(_at_point(slope, curvature, effect, mode)[1], least))


def _at_point(
    slope: TensorVariable,
    curvature: list[list[TensorVariable]],
    effect: TensorVariable,
    point: TensorVariable,
) -> tuple[TensorVariable, list[list[TensorVariable]]]:
    """Write slope and curvature at a point."""
    here, *flat = substituted([slope, *(x for row in curvature for x in row)], {effect: point})
    entries = iter(flat)
    return here, [[next(entries) for _ in row] for row in curvature]


def _derivatives(
    log_density: TensorVariable, effect: TensorVariable
) -> tuple[TensorVariable, list[list[TensorVariable]]]:
    """Return the slope, (B, d), and the lower triangle of minus the second derivatives, (B,)."""
    slope = grad(log_density.sum(), effect)
    rows = []
    for i in range(effect.type.shape[1]):
        second = grad(slope[:, i].sum(), effect, disconnected_inputs="ignore")
        rows.append([-second[:, j] for j in range(i + 1)])
    return slope, rows


def _cholesky(
    matrix: list[list[TensorVariable]], least: Sequence[TensorVariable]
) -> list[list[TensorVariable]]:
    """Factor the matrix of each group, whose pivots are made positive."""
    lower: list[list[TensorVariable]] = []
    for i, row in enumerate(matrix):
        new: list[TensorVariable] = []
        for j in range(i):
            inner = sum((new[k] * lower[j][k] for k in range(j)), pt.zeros_like(row[j]))
            new.append((row[j] - inner) / lower[j][j])
        pivot = row[i] - sum((x**2 for x in new), pt.zeros_like(row[i]))
        new.append(pt.sqrt(pt.maximum(pivot, LEAST_CURVATURE * least[i])))
        lower.append(new)
    return lower


def _solve(lower: list[list[TensorVariable]], vector: Sequence) -> list[TensorVariable]:
    """Solve L x = b for each group."""
    found: list[TensorVariable] = []
    for row, b in zip(lower, vector, strict=True):
        inner = sum((x * y for x, y in zip(row[:-1], found, strict=True)), pt.zeros_like(row[-1]))
        found.append((b - inner) / row[-1])
    return found


def _solve_transposed(lower: list[list[TensorVariable]], vector: Sequence) -> list[TensorVariable]:
    """Solve L' x = b for each group."""
    d = len(lower)
    found: dict[int, TensorVariable] = {}
    for i in reversed(range(d)):
        inner = sum((lower[k][i] * found[k] for k in range(i + 1, d)), pt.zeros_like(lower[i][i]))
        found[i] = (vector[i] - inner) / lower[i][i]
    return [found[i] for i in range(d)]
