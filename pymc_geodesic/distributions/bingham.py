#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The Bingham distribution of axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.distributions.base import RandomGraph, on_manifold, on_support, with_signature
from pymc_geodesic.distributions.bingham_constant import (
    LARGEST_DIMENSION,
    bingham_log_normalizer,
    bingham_saddle,
)
from pymc_geodesic.distributions.transforms import unit_vector
from pymc_geodesic.distributions.unit_vectors import (
    UnitVectorDistribution,
    check_shape,
    common_dimension,
    dimension,
    normalised,
    quadratic_form,
)
from pymc_geodesic.distributions.validation import (
    as_float_tensor,
    check_square,
    has_unit_norm,
)
from pymc_geodesic.manifolds import ProjectiveSphere

__all__ = ["Bingham", "BinghamRV"]


def _n_proposals(n: int | None) -> int:
    """Return a number of proposals that are all rejected with probability below 1e-12.

    Measured: the angular central Gaussian envelope accepts at least a share 0.8 / sqrt(n).
    """
    acceptance = 0.8 / np.sqrt(n or LARGEST_DIMENSION)
    return int(np.ceil(np.log(1e-12) / np.log1p(-acceptance)))


def _draw_diagonal(theta: TensorVariable, size: Any, rng: TensorVariable):
    r"""Draw from :math:`e^{-\sum_i \theta_i x_i^2}` on the sphere; return the rng and draws.

    Rejection from an angular central Gaussian distribution (Kent, Ganeiber and Mardia 2018), along
    an axis of fixed length.
    """
    n = dimension(theta)
    count = n.astype(theta.dtype) if isinstance(n, TensorVariable) else float(n)
    b = 2.0 * bingham_saddle(theta)[..., None, None]
    theta = theta[..., None, :]
    precision = 1.0 + 2.0 * theta / b
    shape = (*tuple(size), _n_proposals(theta.type.shape[-1]))
    rng, z = pm.Normal.dist(size=(*shape, n), rng=rng, return_next_rng=True)
    rng, u = pm.Uniform.dist(size=shape, rng=rng, return_next_rng=True)
    x = normalised(z / pt.sqrt(precision))
    squares = x * x
    log_ratio = 0.5 * count * pt.log((squares * precision).sum(axis=-1))
    log_ratio = log_ratio - (squares * theta).sum(axis=-1)
    # At most zero for every x and every b, see the reference.
    log_bound = 0.5 * count * pt.log(count / b) - 0.5 * (count - b)
    accepted = pt.le(pt.log(u), log_ratio - log_bound[..., 0])
    first = pt.argmax(accepted, axis=-1)[..., None, None]
    first = pt.broadcast_to(first, (*tuple(size), 1, n))
    return rng, pt.take_along_axis(x, first, axis=-2)[..., 0, :]


class BinghamRV(RandomGraph):
    """Random graph of :class:`Bingham`."""

    extended_signature = "[rng],[size],(n,n)->[rng],(n)"

    @classmethod
    def draw(cls, A, *, size, rng):
        """Return the generator's next state and draws."""
        values, vectors = pt.linalg.eigh(0.5 * (A + A.mT))
        theta = pt.specify_shape(values, A.type.shape[:-1])
        theta = theta.max(axis=-1, keepdims=True) - theta
        next_rng, coordinates = _draw_diagonal(theta, size, rng)
        draws = (vectors * coordinates[..., None, :]).sum(axis=-1)
        return next_rng, normalised(draws)


@with_signature()
class Bingham(UnitVectorDistribution):
    r"""
    Bingham distribution of axes on the unit sphere.

    The last axis is a unit vector of :math:`\mathbb{R}^n`, n from 2 to 100; x and -x have
    the same density. It refers to the surface (Hausdorff) measure of the whole sphere:

    .. math::

        f(x \mid A) = c(A) \, e^{x^\top A x}

    ========  ==========================================
    Support   :math:`x \in \mathbb{R}^n, |x| = 1`
    Mean      0
    Modes     the eigenvectors of the largest eigenvalue of A
    ========  ==========================================

    Parameters
    ----------
    A : tensor_like of float, shape (..., n, n)
        Symmetric matrices, of any eigenvalues. ``A + c I`` is the same distribution.

    Raises
    ------
    ValueError
        If known values of ``A`` are not finite symmetric matrices, or ``observed`` does not hold
        unit vectors (norm 1 within 1e-6). Symbolic matrices are replaced by their symmetric part.

    Notes
    -----
    The normaliser, with its gradient in A, is
    :func:`~pymc_geodesic.distributions.bingham_constant.bingham_log_normalizer`, with a relative
    error below 1e-11. If A is free, its eigenvalues are computed at every gradient.

    Draws have random signs, and are exact up to an event of probability below 1e-12. Samplers of
    this package give free variables a last entry that is not negative, see
    :class:`~pymc_geodesic.manifolds.ProjectiveSphere`, unless the model distinguishes x from -x.
    The log density of a value off the sphere is -inf. The default transform is
    :class:`~pymc_geodesic.distributions.transforms.UnitVectorTransform`.

    References
    ----------
    .. [1] Bingham, C. (1974). An antipodally symmetric distribution on the sphere. Annals of
           Statistics 2. DOI 10.1214/aos/1176342874
    .. [2] Kent, J. T., Ganeiber, A. M. and Mardia, K. V. (2018). A new unified approach for the
           simulation of a wide class of directional distributions. Journal of Computational and
           Graphical Statistics 27. DOI 10.1080/10618600.2017.1390468

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> axes, frame = np.eye(3), np.eye(3)
    >>> with pm.Model():
    ...     shape = pm.Normal("shape", 0.0, 10.0, shape=3)
    ...     x = pmg.Bingham("x", A=(frame * shape) @ frame.T, observed=axes)
    >>> x.type.shape
    (3, 3)
    """

    rv_type = BinghamRV

    @classmethod
    def dist(cls, A: Any, **kwargs) -> TensorVariable:
        """Return a variable that is not registered in a model."""
        A = as_float_tensor(A)
        check_square(A, "A", "Bingham")
        n = A.type.shape[-1]
        if n is not None and n > LARGEST_DIMENSION:
            raise ValueError(
                f"`Bingham` expected matrices of at most {LARGEST_DIMENSION} rows, for which its "
                f"normaliser is accurate, got {n}. For a distribution around one axis use "
                "`pmg.Watson`, for heavier tails `pmg.AngularCentralGaussian`."
            )
        check_shape(kwargs.get("shape"), n, "Bingham")
        return super().dist([A], **kwargs)

    def support_point(rv, size, A) -> TensorVariable:
        """Return an eigenvector of the largest eigenvalue."""
        _, vectors = pt.linalg.eigh(0.5 * (A + A.mT))
        return pt.broadcast_to(vectors[..., -1], rv.shape)

    def logp(value, A) -> TensorVariable:
        """Return the log density with respect to the surface measure."""
        common_dimension(value, "Bingham", A=A)
        res = quadratic_form(value, A) + bingham_log_normalizer(A)
        return on_support(res, value, has_unit_norm)


on_manifold(Bingham, ProjectiveSphere(), unit_vector)
