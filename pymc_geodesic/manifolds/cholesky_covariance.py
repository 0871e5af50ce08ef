#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Cholesky factors of covariance matrices: standard deviations and correlations apart."""

from __future__ import annotations

import math

from collections.abc import Sequence

import numpy as np

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds.base import Manifold, Shape
from pymc_geodesic.manifolds.cholesky import CholeskyCorr
from pymc_geodesic.manifolds.euclidean import Euclidean
from pymc_geodesic.manifolds.fields import Visit, Work

__all__ = ["CholeskyCov"]

ROWS = CholeskyCorr()


class CholeskyCov(Manifold):
    r"""Packed Cholesky factors of covariance matrices, a cylinder for each row.

    A row of the factor is a standard deviation :math:`\sigma_i` times a unit vector. The logarithms
    of the standard deviations are moved on straight lines, the unit vectors as on
    :class:`CholeskyCorr`. Points have shape ``(n, n + 1)``, with the logarithms first. The density
    of the packed entries, to which :class:`pymc.LKJCholeskyCov` refers, becomes with respect to the
    surface measure

    .. math::

        \log \pi_H = \log p(L) + \sum_i i \log \sigma_i .

    Intrinsic dimension ``n (n + 1) / 2``. For :class:`pymc.LKJCholeskyCov` on request.

    Examples
    --------
    >>> import pymc as pm, pymc_geodesic as pmg
    >>> with pm.Model():
    ...     sd = pm.Exponential.dist(1.0, shape=3)
    ...     chol, corr, sds = pm.LKJCholeskyCov("chol", n=3, eta=2.0, sd_dist=sd)
    ...     step = pmg.SGGMC(manifolds={"chol": pmg.CholeskyCov()})
    """

    name = "Covariances"
    ndim_core = 2

    def embedded_shape(self, shape: Shape) -> Shape:  # noqa: D102
        n = (math.isqrt(8 * shape[-1] + 1) - 1) // 2
        return (*shape[:-1], n, n + 1)

    def dim(self, core_shape: Shape) -> int:  # noqa: D102
        n = core_shape[0]
        return n * (n + 1) // 2

    def to_tangent(self, x: Array, u: Array) -> Array:  # noqa: D102
        (_, rows), (rates, turns) = _apart(x), _apart(u)
        return _joined((rates, ROWS.to_tangent(rows, turns)))

    def geodesic(self, x, v, t):  # noqa: D102
        (logs, rows), (rates, turns) = _apart(x), _apart(v)
        rows, turns = ROWS.geodesic(rows, turns, t)
        return _joined((logs + t * rates, rows)), _joined((rates, turns))

    def project(self, x: Array) -> Array:  # noqa: D102
        logs, rows = _apart(x)
        return _joined((logs, ROWS.project(rows)))

    def embed(self, value: Array) -> Array:  # noqa: D102
        n = self.embedded_shape(arrays.static_shape(value))[-2]
        places = np.zeros((n, n), dtype=int)
        places[np.tril_indices(n)] = np.arange(n * (n + 1) // 2)
        factor = value[..., places] * np.tri(n, dtype=value.dtype)
        sizes = arrays.sqrt((factor * factor).sum(axis=-1, keepdims=True))
        return _joined((arrays.log(sizes), factor / sizes))

    def unembed(self, x: Array) -> Array:  # noqa: D102
        logs, rows = _apart(x)
        factor = arrays.exp(logs) * ROWS.unembed(rows)
        return factor[..., *np.tril_indices(arrays.static_shape(x)[-2])]

    def fold(self, x, v):  # noqa: D102
        (logs, rows), (rates, turns) = _apart(x), _apart(v)
        rows, turns = ROWS.fold(rows, turns)
        return _joined((logs, rows)), _joined((rates, turns))

    def log_volume(self, x: Array) -> Array:  # noqa: D102
        count = np.arange(1, arrays.static_shape(x)[-2] + 1, dtype=x.dtype)
        return (count * x[..., 0]).sum(axis=-1)

    def soften(self, x: Array, width: Array) -> Array:  # noqa: D102
        logs, rows = _apart(x)
        return _joined((logs, ROWS.soften(rows, width)))

    def field_shapes(self, shape: Shape) -> list[Shape]:  # noqa: D102
        return [shape]

    def field_moments(self, x: Array) -> list[Array]:  # noqa: D102
        logs, rows = _apart(x)
        return [_joined((logs, *ROWS.field_moments(rows)))]

    def field_work(self, visit: Visit, moments: Sequence[Array], *, dim: float) -> Work:
        """Add the fields of both parts."""
        logs, rows = map(Visit._make, zip(*map(_apart, visit), strict=True))
        log_mean, mean = _apart(*moments)
        n = float(arrays.static_shape(visit.start)[-2])
        n_logs = dim * 2 / (n + 1)
        first = Euclidean().field_work(logs, [log_mean], dim=n_logs)
        second = ROWS.field_work(rows, [mean], dim=dim - n_logs)
        return Work(*map(sum, zip(first, second, strict=True)))

    def check(self, value) -> str | None:  # noqa: D102
        value = np.asarray(value)
        ends = np.cumsum(np.arange(1, self.embedded_shape(value.shape)[-2] + 1)) - 1
        if np.all(value[..., ends] >= 0):
            return None
        return f"expected a diagonal of numbers of zero or more, got {np.min(value[..., ends]):.6g}"


def _apart(x: Array) -> tuple[Array, Array]:
    return x[..., :1], x[..., 1:]


def _joined(parts: Sequence[Array]) -> Array:
    return arrays.concatenate(list(parts), axis=-1)
