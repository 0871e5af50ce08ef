#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Stein identities of frames and rotations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pymc_geodesic.diagnostics.frames import mean_frame
from pymc_geodesic.diagnostics.harmonics import Identity, label, pairs_of, stein_values
from pymc_geodesic.diagnostics.kernel_factors import Products, kernel_factors, positive
from pymc_geodesic.diagnostics.located import located
from pymc_geodesic.manifolds import Stiefel


def _tangent(x: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Project matrices of the embedding onto the tangent spaces at frames."""
    inner = x.mT @ u
    return u - x @ (0.5 * (inner + inner.mT))


@stein_values.register
def _(manifold: Stiefel, x: np.ndarray, gradient: np.ndarray, *, order: int) -> Iterator[Identity]:
    r"""Take entries and their products, with :math:`c = n - (p + 1) / 2`.

    .. math::

        \Delta x_{ia} &= -c\, x_{ia} \\
        \Delta x_{ia} x_{jb} &= 2 \delta_{ij} \delta_{ab} - \delta_{ab} (X X^\top)_{ij}
            - x_{ib} x_{ja} - 2 c\, x_{ia} x_{jb}
    """
    n, p = x.shape[-2:]
    linear, slope = n - 0.5 * (p + 1), _tangent(x, gradient)
    entries = list(np.ndindex(n, p))
    for prefix in np.ndindex(x.shape[2:-2]):
        x_p, g = (array[(slice(None), slice(None), *prefix)] for array in (x, slope))
        for i, a in entries:
            yield f"{{}}{label(*prefix, i, a)}", -linear * x_p[..., i, a] - g[..., i, a]
        if order < 2:
            continue
        outer = x_p @ x_p.mT
        for k, m in [*((k, k) for k in range(n * p)), *pairs_of(n * p)]:
            (i, a), (j, b) = entries[k], entries[m]
            first, second = x_p[..., i, a], x_p[..., j, b]
            value = 2.0 * ((i == j) and (a == b)) - (a == b) * outer[..., i, j]
            value = value - x_p[..., i, b] * x_p[..., j, a] - 2 * linear * first * second
            value = value - first * g[..., j, b] - second * g[..., i, a]
            names = [f"{{}}{label(*prefix, *entries[which])}" for which in (k, m)]
            yield (f"{names[0]}^2" if k == m else " ".join(names)), value


@dataclass(frozen=True)
class FrameFactor:
    """Frames with the tangent score ``-Lambda dU``; distances are in units of ``spread``."""

    points: np.ndarray
    score: np.ndarray
    spread: float

    def products(self, length: float) -> Products:
        r"""Measure in units of ``length``.

        With :math:`M = X^\top Y` and its symmetric part S, the projections onto the tangent spaces
        give :math:`\Lambda_Y (X - Y) = X - Y S` and :math:`\operatorname{tr} \Lambda_X \Lambda_Y =
        n p - p (p + 1) + ((p + 2) |M|^2 + (\operatorname{tr} M)^2) / 4`.
        """
        x, (n, p) = self.points, self.points.shape[1:]
        unit = self.spread * length
        b = unit * (self.score - (n - 0.5 * (p + 1)) * x)
        inner = np.einsum("sna,tnb->stab", x, x, optimize=True)
        symmetric = 0.5 * (inner + inner.mT)
        trace = np.trace(inner, axis1=2, axis2=3)
        own = (b * x).sum(axis=(1, 2))
        pull = np.einsum("sna,tnb->stab", b, x, optimize=True)
        drift = own[:, None] - (pull * symmetric).sum(axis=(2, 3))
        cubes = ((symmetric @ symmetric) * symmetric).sum(axis=(2, 3))
        flat = b.reshape(len(b), -1)
        return Products(
            scores=flat @ flat.T,
            drift=drift / unit,
            trace=n * p - p * (p + 1) + ((p + 2) * (inner**2).sum(axis=(2, 3)) + trace**2) / 4,
            bend=(trace - cubes) / unit**2,
            distance=np.maximum(2 * (p - trace), 0) / unit**2,
        )


@kernel_factors.register
def _(manifold: Stiefel, x: np.ndarray, gradient: np.ndarray) -> Iterator[FrameFactor]:
    slope = _tangent(x, gradient)
    for point in np.ndindex(x.shape[1:-2]):
        here = x[(slice(None), *point)]
        variance = here.var(axis=0).sum() / manifold.dim(here.shape[1:])
        spread = float(positive(np.asarray(variance)) ** 0.5)
        yield FrameFactor(here, -slope[(slice(None), *point)], spread)


@located.register
def _(manifold: Stiefel, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return mean_frame(draws), draws
