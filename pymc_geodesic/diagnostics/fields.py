#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
r"""Vector fields for configurational temperatures, one rule per manifold.

For a field F on a manifold without boundary, or one that vanishes there,
:math:`E[F \cdot \nabla U] = T\, E[\operatorname{div} F]` under the density
:math:`\exp(-U / T)`.
"""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from pymc_geodesic.manifolds import Euclidean, Manifold, Simplex, Sphere

__all__ = ["tangent_gradient", "work_and_divergence"]


def tangent_gradient(x: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Project gradients in the embedding of a sphere onto the tangent spaces."""
    return gradient - x * (x * gradient).sum(axis=-1, keepdims=True)


@singledispatch
def work_and_divergence(
    manifold: Manifold, x: np.ndarray, gradient: np.ndarray, *, reference: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Evaluate ``F . dU`` and ``div F`` of the manifold's field at every draw.

    Parameters
    ----------
    manifold : Manifold
        The manifold of the points.
    x, gradient : ndarray
        Points and gradients of the potential energy in the embedding, ``(draw, *shape)``.
    reference : ndarray
        Other draws of the same shape, which determine the field. With the same draws the averages
        would be biased.

    Returns
    -------
    work, divergence : ndarray
        Shape ``(draw,)``.
    """
    raise NotImplementedError(
        f"Configurational temperatures expected a manifold with a field, got {manifold!r}. "
        "Register one with `pymc_geodesic.diagnostics.fields.work_and_divergence.register`."
    )


@work_and_divergence.register
def _(
    manifold: Euclidean, x: np.ndarray, gradient: np.ndarray, *, reference: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Use the field ``F = x - mean``, of divergence d."""
    field = x - reference.mean(axis=0)
    work = (field * gradient).reshape(len(x), -1).sum(axis=-1)
    return work, np.full(len(x), float(x[0].size))


@work_and_divergence.register
def _(
    manifold: Sphere, x: np.ndarray, gradient: np.ndarray, *, reference: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    r"""Use the gradient of ``-(a.x + x'Bx / 2)``, a the mean and B the second moment less I / n.

    Its divergence ``(n - 1) a.x + n x'Bx`` has the mean :math:`(n - 1) |a|^2 + n |B|^2`, zero only
    for the moments of a uniform distribution, which has U = 0 at every temperature.
    """
    n = x.shape[-1]
    mean = reference.mean(axis=0)
    second = np.einsum("s...i,s...j->...ij", reference, reference) / len(reference) - np.eye(n) / n
    linear = np.einsum("...ij,s...j->s...i", second, x)
    slope = tangent_gradient(x, gradient)
    work = -((mean + linear) * slope)
    divergence = (n - 1) * (mean * x) + n * (linear * x)
    return tuple(part.reshape(len(x), -1).sum(axis=-1) for part in (work, divergence))


@work_and_divergence.register
def _(
    manifold: Simplex, x: np.ndarray, gradient: np.ndarray, *, reference: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    r"""Use ``F = y - mean`` in log ratios y, the coordinates in which PyMC itself samples.

    With :math:`h_k = p_k \partial U / \partial p_k = (x_k g_k + 1) / 2` and :math:`U_y = U - \sum
    \log p_k` it is :math:`F \cdot \nabla U_y = \sum_k (\eta_k - p \cdot \eta) (h_k - 1)`, where
    :math:`\eta = \log p - E \log p`, of divergence K - 1. It is bounded where p is zero.
    """
    log_p = 2 * np.log(x)
    eta = log_p - 2 * np.log(reference).mean(axis=0)
    rate = eta - (x * x * eta).sum(axis=-1, keepdims=True)
    work = 0.5 * rate * (x * gradient - 1)
    dim = x[0].size // x.shape[-1] * (x.shape[-1] - 1)
    return work.reshape(len(x), -1).sum(axis=-1), np.full(len(x), float(dim))
