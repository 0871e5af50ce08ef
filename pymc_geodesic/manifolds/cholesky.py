#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Cholesky factors of correlation matrices, whose rows are unit vectors, and of covariances."""

from __future__ import annotations

import math

from collections.abc import Sequence

import numpy as np

from pymc_geodesic import arrays
from pymc_geodesic.arrays import Array
from pymc_geodesic.manifolds.base import Manifold, Shape
from pymc_geodesic.manifolds.euclidean import Euclidean
from pymc_geodesic.manifolds.fields import Visit, Work
from pymc_geodesic.manifolds.sphere import LEAST_DIVERGENCE, Sphere
from pymc_geodesic.validation import UNIT_NORM_TOLERANCE

__all__ = ["CholeskyCorr", "CholeskyCov"]


SPHERE = Sphere()
# As for probability vectors: this share of a step keeps a gradient away from a pole.
SOFTENING = 0.5


class CholeskyCorr(Manifold):
    r"""Lower triangular matrices L with rows of length one, the factors of correlations L L'.

    Row i is on the sphere :math:`S^{i-1}`, on the hemisphere where its last entry is positive. The
    chain lives on the whole product of spheres with the even extension :math:`|L_{ii}|`: crossing
    :math:`L_{ii} = 0` is the reflection at the wall where correlation matrices are singular. The
    density of the entries below the diagonal, to which :class:`pymc.LKJCorr` refers, becomes with
    respect to the surface measure of the spheres

    .. math::

        \log \pi_H(L) = \log p(L) + \sum_i \log |L_{ii}| ,

    for LKJ with the parameter eta :math:`\sum_i (2 \eta - 1 + n - i) \log |L_{ii}|`, which has no
    pole for eta of one half and more. Intrinsic dimension ``n (n - 1) / 2``.

    For :class:`pymc.LKJCorr` on request.

    References
    ----------
    Lan, S., Holbrook, A., Elias, G. A., Fortin, N. J., Ombao, H. and Shahbaba, B. (2020). Flexible
    Bayesian dynamic modeling of correlation and covariance matrices. Bayesian Analysis 15.

    Examples
    --------
    >>> import pymc as pm, pymc_geodesic as pmg
    >>> with pm.Model():
    ...     factor = pm.LKJCorr("factor", n=3, eta=2.0)
    ...     step = pmg.SGGMC(manifolds={"factor": pmg.CholeskyCorr()})
    """

    name = "Correlations"
    ndim_core = 2
    is_compact = True

    def dim(self, core_shape: Shape) -> int:  # noqa: D102
        n = core_shape[-1]
        return n * (n - 1) // 2

    def to_tangent(self, x: Array, u: Array) -> Array:  # noqa: D102
        return SPHERE.to_tangent(x, _free(u))

    def geodesic(self, x, v, t):  # noqa: D102
        y, w = SPHERE.geodesic(x, v, t)
        return y, _free(w)

    def project(self, x: Array) -> Array:  # noqa: D102
        return SPHERE.project(_lower(x))

    def unembed(self, x: Array) -> Array:  # noqa: D102
        return arrays.where(_is_diagonal(x), arrays.abs(x), x)

    def fold(self, x, v):  # noqa: D102
        negative = _is_diagonal(x) & (x < 0)
        return self.unembed(x), arrays.where(negative, -v, v)

    def log_volume(self, x: Array) -> Array:  # noqa: D102
        return arrays.log(arrays.abs(_diagonal(x))).sum(axis=-1)

    def soften(self, x: Array, width: Array) -> Array:  # noqa: D102
        soft = arrays.sqrt(x * x + (SOFTENING * width) ** 2)
        return self.project(arrays.where(_is_diagonal(x), soft, x))

    def field_shapes(self, shape: Shape) -> list[Shape]:  # noqa: D102
        return [shape]

    def field_moments(self, x: Array) -> list[Array]:
        """Return the entries, of which those on the diagonal are squared."""
        return [arrays.where(_is_diagonal(x), x * x, x)]

    def field_work(self, visit: Visit, moments: Sequence[Array], *, dim: float) -> Work:
        r"""``F = -grad sum_i (a_i . L_i + b_i L_ii^2 / 2)``, even in the diagonal.

        :math:`a_i` are the means below the diagonal, :math:`b_i = E L_{ii}^2 - 1 / i`. The
        divergence has the mean :math:`\sum_i (i - 1) |a_i|^2 + i b_i^2`, zero only for moments like
        those of a uniform distribution, of which any temperature is that of U = 0.
        """
        [mean], x = moments, visit.start
        n = arrays.static_shape(x)[-1]
        count = np.arange(1, n + 1, dtype=x.dtype)
        is_diagonal = _is_diagonal(x)
        below = arrays.where(is_diagonal, 0, mean)
        excess = _diagonal(mean) - 1 / count
        field = arrays.where(is_diagonal, excess[..., :, None] * x, below)
        work = -(self.to_tangent(x, field) * self.to_tangent(visit.position, visit.gradient)).sum()
        of_rows = (count - 1) * (below * x).sum(axis=-1)
        divergence = (of_rows + excess * (count * _diagonal(x) ** 2 - 1)).sum()
        expected = ((count - 1) * (below**2).sum(axis=-1) + count * excess**2).sum()
        return Work(work, divergence, arrays.maximum(expected, LEAST_DIVERGENCE * dim))

    def check(self, value) -> str | None:  # noqa: D102
        value = np.asarray(value)
        norms = np.linalg.norm(value, axis=-1)
        is_lower = np.all(np.triu(value, 1) == 0)
        if is_lower and np.all(np.abs(norms - 1) <= UNIT_NORM_TOLERANCE):
            return None
        return (
            "expected lower triangular matrices with rows of length one, got norms in "
            f"[{np.min(norms):.6g}, {np.max(norms):.6g}]"
            f"{'' if is_lower else ' and entries above the diagonal'}"
        )


def _is_diagonal(x: Array) -> np.ndarray:
    return np.eye(arrays.static_shape(x)[-1], dtype=bool)


def _lower(x: Array) -> Array:
    return x * np.tri(arrays.static_shape(x)[-1], dtype=x.dtype)


def _free(v: Array) -> Array:
    """Leave out what does not move: entries above the diagonal and the first row, which is one."""
    mask = np.tri(arrays.static_shape(v)[-1], dtype=v.dtype)
    mask[0, 0] = 0
    return v * mask


def _diagonal(x: Array) -> Array:
    return arrays.diagonal(x, axis1=-2, axis2=-1)


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
