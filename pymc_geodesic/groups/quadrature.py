#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Adaptive Gauss-Hermite quadrature over one or two dimensions, for many groups at once."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytensor.tensor as pt

from pytensor.gradient import disconnected_grad
from pytensor.graph.replace import vectorize_graph
from pytensor.tensor import TensorVariable

from pymc_geodesic.groups.effect_density import substituted, with_length_of
from pymc_geodesic.groups.modes import normals_at_modes

__all__ = ["MOST_DIMENSIONS", "gauss_hermite_nodes", "log_integral"]

# With seven nodes in each dimension three would need 343 evaluations of every row.
MOST_DIMENSIONS = 2


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
    [once] = with_length_of(start, [log_density], [effect])
    terms = vectorize_graph(once, {effect: disconnected_grad(fixed)}) + weights
    return pt.logsumexp(terms, axis=0) - disconnected_grad(normals.log_determinant())
