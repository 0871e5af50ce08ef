#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""The angular central Gaussian distribution of axes."""

from __future__ import annotations

from typing import Any

import pymc as pm
import pytensor.tensor as pt

from pymc.distributions.dist_math import check_parameters
from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.distributions.base import RandomGraph, on_manifold, on_support, with_signature
from pymc_geodesic.distributions.transforms import unit_vector
from pymc_geodesic.distributions.unit_vectors import (
    UnitVectorDistribution,
    check_shape,
    common_dimension,
    dimension,
    normalised,
    precision_of,
    quadratic_form,
    sphere_log_area,
)
from pymc_geodesic.distributions.validation import (
    as_float_tensor,
    check_covariance,
    has_unit_norm,
)
from pymc_geodesic.manifolds import ProjectiveSphere

__all__ = ["AngularCentralGaussian", "AngularCentralGaussianRV"]


class AngularCentralGaussianRV(RandomGraph):
    """Random graph of :class:`AngularCentralGaussian`."""

    extended_signature = "[rng],[size],(n,n)->[rng],(n)"

    @classmethod
    def draw(cls, cov, *, size, rng):
        """Return the generator's next state and draws."""
        shape = (*tuple(size), dimension(cov))
        next_rng, noise = pm.Normal.dist(size=shape, rng=rng, return_next_rng=True)
        draws = (pt.linalg.cholesky(cov) * noise[..., None, :]).sum(axis=-1)
        return next_rng, normalised(draws)


@with_signature()
class AngularCentralGaussian(UnitVectorDistribution):
    r"""
    Angular central Gaussian distribution of axes: the direction of a normal vector of mean zero.

    The last axis is a unit vector of :math:`\mathbb{R}^n`, any :math:`n \ge 2`; x and -x
    have the same density. It refers to the surface (Hausdorff) measure of the whole sphere:

    .. math::

        f(x \mid \Sigma) = \frac{\Gamma(n/2)}{2 \pi^{n/2}} \, |\Sigma|^{-1/2}
        \left( x^\top \Sigma^{-1} x \right)^{-n/2}

    ========  ==========================================
    Support   :math:`x \in \mathbb{R}^n, |x| = 1`
    Mean      0
    Modes     the eigenvectors of the largest eigenvalue of the covariance
    ========  ==========================================

    Parameters
    ----------
    cov : tensor_like of float, shape (..., n, n)
        Covariance matrices, symmetric and positive definite. A multiple is the same distribution.

    Raises
    ------
    ValueError
        If known values of ``cov`` are not finite covariance matrices, or ``observed`` does not hold
        unit vectors (norm 1 within 1e-6). Symbolic matrices are checked when the log density is
        evaluated.

    Notes
    -----
    Its tails are those of a Cauchy distribution, so it is more robust to outliers than
    :class:`Bingham`. Draws are exact and have random signs. Samplers of this package
    give free variables a last entry that is not negative, see
    :class:`~pymc_geodesic.manifolds.ProjectiveSphere`, unless the model distinguishes x from -x.
    The log density of a value off the sphere is -inf. The default transform is
    :class:`~pymc_geodesic.distributions.transforms.UnitVectorTransform`.

    References
    ----------
    .. [1] Tyler, D. E. (1987). Statistical analysis for the angular central Gaussian distribution
           on the sphere. Biometrika 74. DOI 10.1093/biomet/74.3.579

    Examples
    --------
    >>> import numpy as np, pymc as pm, pytensor.tensor as pt, pymc_geodesic as pmg
    >>> axes = np.eye(3)
    >>> with pm.Model():
    ...     scales = pm.LogNormal("scales", 0.0, 1.0, shape=3)
    ...     x = pmg.AngularCentralGaussian("x", cov=pt.diag(scales**2), observed=axes)
    >>> x.type.shape
    (3, 3)
    """

    rv_type = AngularCentralGaussianRV
    rv_op = AngularCentralGaussianRV.rv_op

    @classmethod
    def dist(cls, cov: Any, **kwargs) -> TensorVariable:
        """Return a variable that is not registered in a model."""
        cov = as_float_tensor(cov)
        check_covariance(cov, "cov", "AngularCentralGaussian")
        check_shape(kwargs.get("shape"), cov.type.shape[-1], "AngularCentralGaussian")
        return super().dist([cov], **kwargs)

    def support_point(rv, size, cov) -> TensorVariable:
        """Return a principal axis."""
        _, vectors = pt.linalg.eigh(cov)
        return pt.broadcast_to(vectors[..., -1], rv.shape)

    def logp(value, cov) -> TensorVariable:
        """Return the log density with respect to the surface measure."""
        n = common_dimension(value, "AngularCentralGaussian", cov=cov)
        n = pt.as_tensor(n).astype(value.dtype)
        precision = precision_of(cov)
        res = -0.5 * n * pt.log(quadratic_form(value, precision.matrix))
        res = res - precision.half_log_det - sphere_log_area(n, value.dtype)
        res = on_support(res, value, has_unit_norm)
        return check_parameters(res, precision.is_positive, msg="cov positive definite")


on_manifold(AngularCentralGaussian, ProjectiveSphere(), unit_vector)
