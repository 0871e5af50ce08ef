#   Copyright 2026 The pymc_geodesic developers
#   SPDX-License-Identifier: Apache-2.0
"""Directions of normal vectors: the projected normal and angular central Gaussian laws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from pymc.distributions.dist_math import check_parameters
from pytensor.tensor.variable import TensorVariable

from pymc_geodesic.distributions.base import RandomGraph, on_manifold, on_support, with_signature
from pymc_geodesic.distributions.transforms import unit_vector
from pymc_geodesic.distributions.unimodal import log_integral
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
    check_lengths,
    check_numbers,
    has_unit_norm,
)
from pymc_geodesic.manifolds import ProjectiveSphere, Sphere

__all__ = [
    "AngularCentralGaussian",
    "AngularCentralGaussianRV",
    "ProjectedNormal",
    "ProjectedNormalRV",
]


class ProjectedNormalRV(RandomGraph):
    """Random graph of :class:`ProjectedNormal`."""

    extended_signature = "[rng],[size],(n),(n,n)->[rng],(n)"

    @classmethod
    def draw(cls, mu, cov, *, size, rng):
        """Return the generator's next state and draws."""
        shape = (*tuple(size), dimension(mu, cov))
        next_rng, noise = pm.Normal.dist(size=shape, rng=rng, return_next_rng=True)
        draws = mu + (pt.linalg.cholesky(cov) * noise[..., None, :]).sum(axis=-1)
        return next_rng, normalised(draws)


def _log_radial_integral(n: TensorVariable, alpha: TensorVariable) -> TensorVariable:
    r"""Return :math:`\log \int_0^\infty r^{n-1} e^{-r^2/2 + \alpha r} \, dr` in ``log(r)``."""
    root = pt.sqrt(alpha**2 + 4.0 * n)
    # The one of the two forms that has no cancellation.
    mode = pt.where(alpha > 0, 0.5 * (alpha + root), 2.0 * n / (root + pt.abs(alpha)))

    def log_density(s):
        r = pt.exp(s)
        return n * s + (alpha[..., None] - 0.5 * r) * r

    return log_integral(log_density, mode=pt.log(mode), width=1.0 / pt.sqrt(mode**2 + n))


@with_signature()
class ProjectedNormal(UnitVectorDistribution):
    r"""
    Projected normal distribution: the direction of a normal vector.

    The last axis is a unit vector of :math:`\mathbb{R}^n`, any :math:`n \ge 2`. The density is with
    respect to the surface (Hausdorff) measure of the sphere. With
    :math:`q = x^\top \Sigma^{-1} x` and :math:`\alpha = x^\top \Sigma^{-1} \mu / \sqrt q`,

    .. math::

        f(x \mid \mu, \Sigma) = \frac{e^{-\mu^\top \Sigma^{-1} \mu / 2}}
        {(2 \pi)^{n/2} |\Sigma|^{1/2} q^{n/2}} \int_0^\infty r^{n-1} e^{-r^2/2 + \alpha r} \, dr

    ========  ==========================================
    Support   :math:`x \in \mathbb{R}^n, |x| = 1`
    ========  ==========================================

    Parameters
    ----------
    mu : tensor_like of float, shape (..., n)
        Mean of the normal vector.
    cov : tensor_like of float, shape (..., n, n)
        Its covariance, symmetric and positive definite.

    Raises
    ------
    ValueError
        If known values of ``cov`` are not finite covariance matrices, known values of ``mu`` are
        not finite or have another length, or ``observed`` does not hold unit vectors (norm 1 within
        1e-6). Symbolic matrices are checked when the log density is evaluated.

    Notes
    -----
    Only the direction is observed: ``c mu`` and ``c^2 cov`` with c > 0 give the same distribution,
    so one of the two needs a fixed scale in a model. It can be skewed and have two modes, also on
    the circle. The integral is computed by quadrature, with relative error below 1e-10 for
    :math:`|\mu|` up to 1,000 standard deviations. Draws are exact. The log density of a value off
    the sphere is -inf. The default transform is
    :class:`~pymc_geodesic.distributions.transforms.UnitVectorTransform`.

    References
    ----------
    .. [1] Wang, F. and Gelfand, A. E. (2013). Directional data analysis under the general projected
           normal distribution. Statistical Methodology 10. DOI 10.1016/j.stamet.2012.07.005

    Examples
    --------
    >>> import numpy as np, pymc as pm, pymc_geodesic as pmg
    >>> data = np.eye(2)
    >>> with pm.Model():
    ...     mu = pm.Normal("mu", 0.0, 2.0, shape=2)
    ...     x = pmg.ProjectedNormal("x", mu=mu, cov=np.eye(2), observed=data)
    >>> x.type.shape
    (2, 2)
    """

    rv_type = ProjectedNormalRV

    @classmethod
    def dist(cls, mu: Any, cov: Any, **kwargs) -> TensorVariable:
        """Return a variable that is not registered in a model."""
        mu, cov = as_float_tensor(mu), as_float_tensor(cov)
        check_numbers(
            mu,
            "mu",
            "ProjectedNormal",
            holds=lambda mu: np.ones(mu.shape, bool),
            expected="means of any size",
            advice="Pass the mean of the normal vector whose direction this is.",
        )
        check_covariance(cov, "cov", "ProjectedNormal")
        lengths = {"mu": mu.type.shape[-1] if mu.ndim else 1, "cov": cov.type.shape[-1]}
        check_lengths(lengths, "ProjectedNormal")
        check_shape(kwargs.get("shape"), cov.type.shape[-1], "ProjectedNormal")
        return super().dist([mu, cov], **kwargs)

    def support_point(rv, size, mu, cov) -> TensorVariable:
        """Return the direction of the mean, or of a principal axis if the mean is zero."""
        _, vectors = pt.linalg.eigh(cov)
        is_zero = pt.eq((mu * mu).sum(axis=-1, keepdims=True), 0.0)
        direction = pt.where(is_zero, vectors[..., -1], mu)
        return pt.broadcast_to(normalised(direction), rv.shape)

    def logp(value, mu, cov) -> TensorVariable:
        """Return the log density with respect to the surface measure."""
        n = pt.as_tensor(common_dimension(value, "ProjectedNormal", mu=mu, cov=cov))
        n = n.astype(value.dtype)
        precision = precision_of(cov)
        squares = quadratic_form(value, precision.matrix)
        pull = (precision.matrix * mu[..., None, :]).sum(axis=-1)
        alpha = (value * pull).sum(axis=-1) / pt.sqrt(squares)
        res = _log_radial_integral(n, alpha) - 0.5 * (mu * pull).sum(axis=-1)
        res = res - precision.half_log_det - 0.5 * n * (np.log(2 * np.pi) + pt.log(squares))
        res = on_support(res.astype(value.dtype), value, has_unit_norm)
        return check_parameters(res, precision.is_positive, msg="cov positive definite")


on_manifold(ProjectedNormal, Sphere(), unit_vector)


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
